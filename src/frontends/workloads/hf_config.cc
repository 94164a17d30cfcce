#include "workloads/hf_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/quantity_text.h"
#include "base/text.h"
#include "text/entry_fields.h"
#include "text/read_json.h"
#include "workloads/model_words.h"

namespace hlosim {
namespace {

constexpr EntryFields::Need kNeeded = EntryFields::kNeeded;

/// Keys of weights' files, tokenizers, training and numerics: no time of a step depends on them.
constexpr std::string_view kHfWithoutEffect[] = {"_name_or_path",
                                                 "architectures",
                                                 "attention_dropout",
                                                 "attn_implementation",
                                                 "attn_scale",
                                                 "attn_temperature_tuning",
                                                 "audio_token_id",
                                                 "auto_map",
                                                 "aux_loss_alpha",
                                                 "boa_token_id",
                                                 "boa_token_index",
                                                 "boi_token_id",
                                                 "boi_token_index",
                                                 "bos_token_id",
                                                 "cache_implementation",
                                                 "do_sample",
                                                 "dtype",
                                                 "embd_pdrop",
                                                 "embedding_dropout",
                                                 "eoa_token_id",
                                                 "eoa_token_index",
                                                 "eoi_token_id",
                                                 "eoi_token_index",
                                                 "eos_token_id",
                                                 "ep_size",
                                                 "floor_scale",
                                                 "hidden_dropout",
                                                 "id2label",
                                                 "image_token_id",
                                                 "image_token_index",
                                                 "initial_context_length",
                                                 "initializer_range",
                                                 "is_decoder",
                                                 "label2id",
                                                 "max_position_embeddings",
                                                 "mm_tokens_per_image",
                                                 "model_type",
                                                 "output_router_logits",
                                                 "pad_token_id",
                                                 "pretraining_tp",
                                                 "resid_pdrop",
                                                 "rope_local_base_freq",
                                                 "rope_parameters",
                                                 "rope_scaling",
                                                 "routed_scaling_factor",
                                                 "router_aux_loss_coef",
                                                 "router_jitter_noise",
                                                 "seq_aux",
                                                 "swiglu_limit",
                                                 "torch_dtype",
                                                 "transformers_version",
                                                 "use_cache",
                                                 "video_token_id",
                                                 "vision_soft_tokens_per_image"};

/// What no model file has, and what is done instead.
struct LeftOut {
  std::string_view key, what;
};
constexpr LeftOut kLeftOut[] = {
    {"vision_config", "is left out: the time and the memory of the vision part are not counted"},
    {"audio_config", "is left out: the time and the memory of the audio part are not counted"}};

class ConfigReader;

/// A family: what it adds to the sizes that all have.
struct Family {
  std::string_view type;          // model_type
  std::string_view architecture;  // architectures[0] begins with it
  void (ConfigReader::*fill)();
  int64_t vocab = 0,
          head_dim = 0;  // of files that leave them out; 0: vocab_size is needed, d_model / q_heads
};

class ConfigReader {
 public:
  /// `text`: the object with the sizes of the language model, `root` itself or its text_config.
  ConfigReader(const Value& root, const Value& text, std::string_view type, DiagnosticList& problems)
      : root_(root, "config.json", problems),
        fields_(text, "config.json", problems),
        has_parts_(&root != &text),
        problems_(problems) {
    model_.name = type;
  }

  ImportedModel read(const Family& family) {
    sizes(family);
    (this->*family.fill)();
    list_rest(fields_);
    if (has_parts_) {
      root_.pass_over({"text_config"});
      list_rest(root_);
    }
    return {std::move(model_), std::move(notes_)};
  }

  // ── families ──

  void llama() {
    biases();
    fields_.flag("mlp_bias", model_.mlp_bias);
  }
  void mistral() { window_of_all(); }
  void qwen2() {
    model_.attention.bias = true;  // on q, k and v, whatever the file says
    upper_windows();
  }
  void qwen3() {
    biases();
    model_.attention.qk_norm = true;
    upper_windows();
  }
  void qwen2_moe() {
    model_.attention.bias = true;
    fields_.flag("qkv_bias", model_.attention.bias);
    bool has_windows = false;
    fields_.flag("use_sliding_window", has_windows);
    fields_.pass_over({"sliding_window", "max_window_layers"});
    if (has_windows && !fields_.find("layer_types"))
      wrong("use_sliding_window", "use_sliding_window without layer_types is not supported",
            "versions of transformers differ in which layers have the window");
    if (has_windows) windows("");
    fields_.pass_over({"layer_types"});
    qwen_experts();
    MoeConfig& moe = *model_.moe;
    if (!fields_.whole("shared_expert_intermediate_size", moe.d_ff_shared, 0) || moe.d_ff_shared == 0) return;
    moe.shared_experts = 1;
    note(*fields_.find("shared_expert_intermediate_size"),
         "is modelled without the shared expert's gate, a product with one column");
  }
  void qwen3_moe() {
    qwen3();
    qwen_experts();
  }
  void gemma() {
    biases();
    gemma_embeddings();
  }
  void gemma2() {
    gemma();
    model_.post_norms = true;
    scale_of_queries();
    fields_.positive("attn_logit_softcapping", model_.attention.soft_cap);
    fields_.positive("final_logit_softcapping", model_.final_soft_cap);
    windows("LG");
  }
  void gemma3() {
    gemma2();
    model_.attention.qk_norm = true;
    int64_t period = 6;
    fields_.whole("sliding_window_pattern", period, 1);
    fields_.whole("_sliding_window_pattern", period, 1);
    if (fields_.find("layer_types") == nullptr && model_.attention.window > 0)
      model_.attention.pattern =
          std::string(static_cast<size_t>(std::min(period, most_of("layers")) - 1), 'L') + 'G';
  }
  void gemma4() {
    gemma();
    model_.post_norms = model_.attention.qk_norm = true;
    fields_.positive("final_logit_softcapping", model_.final_soft_cap);
    refuse_above_zero("hidden_size_per_layer_input", 256, "embeddings for each layer");
    refuse_above_zero("num_kv_shared_layers", 0, "layers that share keys and values");
    fields_.pass_over({"vocab_size_per_layer_input", "use_double_wide_mlp"});  // of what was refused
    if (fields_.find("per_layer_config"))
      wrong("per_layer_config", "per_layer_config is not supported",
            "global_head_dim and num_global_key_value_heads are read");
    std::string both_ways;
    if (fields_.text("use_bidirectional_attention", both_ways) && both_ways != "vision")
      wrong("use_bidirectional_attention", "attention to later tokens is not supported");
    gemma4_windows();
    gemma4_experts();
  }
  void llama4() {
    biases();
    if (!fields_.find("rope_theta") && !fields_.find("rope_parameters")) model_.rope_theta = 500000;
    MoeConfig moe = experts("num_local_experts", "num_experts_per_tok", "intermediate_size");
    moe.shared_experts = 1, moe.d_ff_shared = moe.d_ff;
    moe.score = MoeConfig::Score::kSigmoid, moe.normalize_top_k = false;
    fields_.whole("interleave_moe_layer_step", moe.every, 1);
    if (const Value* sparse = fields_.find("moe_layers")) moe.every = step_of(*sparse);
    model_.d_ff = 0;
    int64_t dense = 0;
    fields_.whole("intermediate_size_mlp", dense, 1,
                  moe.every > 1 ? EntryFields::kNeeded : EntryFields::kOptional);
    if (moe.every > 1) model_.d_ff = dense;
    model_.moe = moe;
    model_.attention.qk_norm = true;
    fields_.flag("use_qk_norm", model_.attention.qk_norm);
    int64_t chunk = 0;
    if (fields_.whole("attention_chunk_size", chunk, 1))
      note(*fields_.find("attention_chunk_size"),
           fmt::format("is not modelled: layers attend to all earlier tokens, as in sequences up to {}",
                       chunk));
    fields_.pass_over({"layer_types", "no_rope_layer_interval"});
    if (const Value* layers = fields_.find("no_rope_layers"); layers && !layers->items.empty())
      note(*layers, "is not modelled: all layers have rotary positions and norms of queries and keys");
  }
  void mixtral() {
    window_of_all();
    model_.moe = experts("num_local_experts", "num_experts_per_tok", "intermediate_size");
    model_.d_ff = 0;
  }
  void deepseek_v2() { deepseek(MoeConfig::Score::kSoftmax); }
  void deepseek_v3() { deepseek(MoeConfig::Score::kSigmoid); }
  void gpt_oss() {
    biases();
    model_.attention.sinks = true;
    model_.activation = Activation::kSigmoid;  // x * sigmoid(1.702 x), with the file's hidden_act of silu
    MoeConfig moe = experts("num_local_experts",
                            fields_.find("num_experts_per_tok") ? "num_experts_per_tok" : "experts_per_token",
                            "intermediate_size");
    fields_.pass_over({"experts_per_token"});
    moe.bias = true;
    model_.moe = moe;
    model_.d_ff = 0;
    windows("LG");
  }

 private:
  /// Notes the keys that nothing read.
  void list_rest(EntryFields& fields) {
    for (const LeftOut& one : kLeftOut)
      if (const Value* value = fields.find(one.key)) note(*value, one.what);
    fields.pass_over(kHfWithoutEffect);
    for (const Value* left : fields.rest()) note(*left, "is not known: it is ignored");
  }

  void refuse_above_zero(std::string_view key, int64_t usual, std::string_view what) {
    int64_t size = usual;
    fields_.whole(key, size, 0);
    if (size > 0)
      wrong(key, fmt::format("{} are not supported", what), fmt::format("{} is {}, not 0", key, size));
  }

  /// Five layers with windows before one without; the last layer has none.
  void gemma4_windows() {
    AttentionConfig& attention = model_.attention;
    attention.window = 512;
    fields_.whole("sliding_window", attention.window, 1);
    std::string letters;
    if (const Value* types = fields_.find("layer_types")) {
      letters = letters_of(*types);
    } else {
      for (int64_t layer = 1; layer <= model_.layers; ++layer) letters += layer % 6 == 0 ? 'G' : 'L';
    }
    if (!letters.empty()) letters.back() = 'G';
    attention.pattern = shortest_period(letters);
    if (attention.pattern == "G") attention.pattern.clear(), attention.window = 0;
    attention.global_head_dim = 512;
    fields_.whole("global_head_dim", attention.global_head_dim, 1);
    int64_t heads = 0;
    const bool has_heads = fields_.whole("num_global_key_value_heads", heads, 1);
    fields_.flag("attention_k_eq_v", attention.global_shares_kv);
    if (has_heads && attention.global_shares_kv) attention.global_kv_heads = heads;
  }

  /// The dense MLP stays beside the experts.
  void gemma4_experts() {
    bool has_experts = false;
    fields_.flag("enable_moe_block", has_experts);
    if (!has_experts) return fields_.pass_over({"num_experts", "top_k_experts", "moe_intermediate_size"});
    MoeConfig moe = experts("num_experts", "top_k_experts", "moe_intermediate_size");
    moe.shared_experts = 1, moe.d_ff_shared = model_.d_ff;
    model_.d_ff = 0;
    model_.moe = moe;
  }

  /// Qwen 2 and 3.
  void qwen_experts() {
    MoeConfig moe = experts("num_experts", "num_experts_per_tok", "moe_intermediate_size");
    moe.normalize_top_k = false;
    fields_.flag("norm_topk_prob", moe.normalize_top_k);
    fields_.whole("decoder_sparse_step", moe.every, 1);
    if (const Value* dense = fields_.find("mlp_only_layers"); dense && !dense->items.empty())
      wrong(*dense, "mlp_only_layers", "layers without experts at any place are not supported");
    if (moe.every == 1) model_.d_ff = 0;
    model_.moe = moe;
  }

  /// n of a list of layers that has each n-th one: [1, 3, 5] of 6 layers.
  int64_t step_of(const Value& layers) {
    int64_t step = 1;
    for (size_t i = 0; i < layers.items.size(); ++i) {
      const Result<int64_t> layer = TextForm<int64_t>::read(layers.items[i].text);
      if (layer && i == 0 && *layer < model_.layers) step = std::max<int64_t>(*layer + 1, 1);
      if (!layer || *layer != step * static_cast<int64_t>(i + 1) - 1 || *layer >= model_.layers) {
        wrong(layers.items[i], "moe_layers", "experts are supported in each n-th layer alone");
        return 1;
      }
    }
    if (static_cast<int64_t>(layers.items.size()) != model_.layers / step)
      wrong(layers, "moe_layers", "experts are supported in each n-th layer alone");
    return step;
  }

  /// `score`: of files that don't name one; its family's weights sum to 1 where it is the sigmoid.
  void deepseek(MoeConfig::Score score) {
    LatentAttention latent;
    fields_.whole("q_lora_rank", latent.q_rank, 0);
    fields_.whole("kv_lora_rank", latent.kv_rank, 1, kNeeded);
    fields_.whole("qk_nope_head_dim", latent.nope_dim, 1, kNeeded);
    fields_.whole("qk_rope_head_dim", latent.rope_dim, 1, kNeeded);
    fields_.whole("v_head_dim", latent.value_dim, 1, kNeeded);
    fields_.pass_over({"head_dim", "qk_head_dim", "rope_interleave"});
    model_.kv_heads = model_.q_heads;
    if (model_.q_heads > 0) model_.head_dim = model_.d_model / model_.q_heads;
    model_.attention.latent = latent;
    biases();
    MoeConfig moe = experts("n_routed_experts", "num_experts_per_tok", "moe_intermediate_size");
    moe.score = score;
    fields_.whole("n_shared_experts", moe.shared_experts, 0);
    moe.d_ff_shared = moe.shared_experts * moe.d_ff;
    fields_.whole("first_k_dense_replace", moe.first_dense_layers, 0);
    fields_.whole("moe_layer_freq", moe.every, 1);
    moe.normalize_top_k = moe.score == MoeConfig::Score::kSigmoid;
    fields_.flag("norm_topk_prob", moe.normalize_top_k);
    std::string named;
    if (fields_.text("scoring_func", named)) {
      moe.score = named == "sigmoid" ? MoeConfig::Score::kSigmoid : MoeConfig::Score::kSoftmax;
      if (named != "sigmoid" && named != "softmax")
        wrong("scoring_func",
              fmt::format("scoring_func \"{}\" is neither softmax nor sigmoid", shown(named)));
    }
    model_.moe = moe;
    int64_t groups = 1;
    fields_.pass_over({"topk_group", "topk_method"});
    if (fields_.whole("n_group", groups, 1) && groups > 1)
      note(*fields_.find("n_group"), "is not modelled: a token's experts are chosen from all groups");
    int64_t ahead = 0;
    if (fields_.whole("num_nextn_predict_layers", ahead, 0) && ahead > 0)
      note(*fields_.find("num_nextn_predict_layers"),
           "is left out; `predicts_ahead: true` in the model file adds one layer to training");
  }

  void sizes(const Family& family) {
    fields_.whole("num_hidden_layers", model_.layers, 1, kNeeded);
    if (model_.layers > most_of("layers")) {  // patterns have a letter a layer
      wrong("num_hidden_layers", fmt::format("more than {} layers", most_of("layers")));
      model_.layers = 1;
    }
    fields_.whole("hidden_size", model_.d_model, 1, kNeeded);
    fields_.whole("intermediate_size", model_.d_ff, 1);
    fields_.whole("num_attention_heads", model_.q_heads, 1, kNeeded);
    model_.kv_heads = model_.q_heads;
    fields_.whole("num_key_value_heads", model_.kv_heads, 1);
    if (model_.q_heads > 0) model_.head_dim = model_.d_model / model_.q_heads;
    if (family.head_dim > 0) model_.head_dim = family.head_dim;
    fields_.whole("head_dim", model_.head_dim, 1);
    model_.vocab = family.vocab;
    fields_.whole("vocab_size", model_.vocab, 1, family.vocab > 0 ? EntryFields::kOptional : kNeeded);
    fields_.positive("rms_norm_eps", model_.norm_epsilon);
    fields_.positive("rope_theta", model_.rope_theta);
    if (const Value* rope = fields_.object("rope_parameters")) {
      EntryFields parameters(*rope, "\"rope_parameters\"", problems_);
      parameters.positive("rope_theta", model_.rope_theta);
    }
    says_tied_ = fields_.flag("tie_word_embeddings", model_.tied_embeddings) ||
                 root_.flag("tie_word_embeddings", model_.tied_embeddings);
    activation();
  }

  void activation() {
    std::string word;
    const char* key = fields_.find("hidden_activation") ? "hidden_activation" : "hidden_act";
    fields_.pass_over({"hidden_activation", "hidden_act"});
    if (!fields_.text(key, word)) return;
    // "sigmoid" is the plain one there, without the factor x of model files.
    const std::optional<Activation> known = word == "sigmoid" ? std::nullopt : parse_activation(word);
    if (known)
      model_.activation = *known;
    else
      wrong(key, fmt::format("{} \"{}\" is not supported", key, shown(word)), "silu, gelu or relu");
  }

  void biases() {
    fields_.flag("attention_bias", model_.attention.bias);
    model_.attention.output_bias = model_.attention.bias;
  }

  void gemma_embeddings() {
    model_.scale_embeddings = true;
    if (!says_tied_) model_.tied_embeddings = true;
    if (!fields_.find("hidden_activation") && !fields_.find("hidden_act"))
      model_.activation = Activation::kGelu;
    // Early files of Gemma have hidden_act "gelu" for the approximation by tanh, which all of them compute.
  }

  void scale_of_queries() {
    double scalar = 0;
    if (!fields_.positive("query_pre_attn_scalar", scalar)) return;
    const double scale = 1 / std::sqrt(scalar);
    if (scalar != static_cast<double>(model_.head_dim)) model_.attention.scale = scale;
  }

  void window_of_all() { fields_.whole("sliding_window", model_.attention.window, 1); }

  /// layer_types, or the family's pattern.
  void windows(std::string_view usual) {
    fields_.whole("sliding_window", model_.attention.window, 1);
    const Value* types = fields_.find("layer_types");
    if (model_.attention.window == 0) return;
    model_.attention.pattern = types ? pattern_of(*types) : std::string(usual);
    if (model_.attention.pattern == "G") model_.attention.pattern.clear(), model_.attention.window = 0;
  }

  /// Qwen: with use_sliding_window, layers from max_window_layers on have the window.
  void upper_windows() {
    bool has_windows = false;
    int64_t window = 0, below = 0;
    fields_.flag("use_sliding_window", has_windows);
    fields_.whole("sliding_window", window, 1);
    fields_.whole("max_window_layers", below, 0);
    const Value* types = fields_.find("layer_types");
    if (!has_windows || window == 0) return;
    model_.attention.window = window;
    below = std::min(below, model_.layers);
    model_.attention.pattern = types ? pattern_of(*types)
                                     : std::string(static_cast<size_t>(below), 'G') +
                                           std::string(static_cast<size_t>(model_.layers - below), 'L');
  }

  std::string pattern_of(const Value& types) { return shortest_period(letters_of(types)); }

  /// A letter a layer.
  std::string letters_of(const Value& types) {
    std::string letters;
    for (const Value& type : types.items) {
      if (type.text != "sliding_attention" && type.text != "full_attention")
        wrong(type, "layer_types",
              fmt::format("\"{}\" is neither sliding_attention nor full_attention", shown(type.text)));
      letters += type.text == "sliding_attention" ? 'L' : 'G';
    }
    if (static_cast<int64_t>(letters.size()) != model_.layers)
      wrong(types, "layer_types",
            fmt::format("{} layers, but num_hidden_layers is {}", letters.size(), model_.layers));
    return letters;
  }

  static std::string shortest_period(const std::string& letters) {
    for (size_t period = 1; period < letters.size(); ++period) {
      bool repeats = true;
      for (size_t i = period; i < letters.size() && repeats; ++i) repeats = letters[i] == letters[i - period];
      if (repeats) return letters.substr(0, period);
    }
    return letters;
  }

  MoeConfig experts(std::string_view count, std::string_view top_k, std::string_view width) {
    MoeConfig moe;
    fields_.whole(count, moe.experts, 1, kNeeded);
    fields_.whole(top_k, moe.top_k, 1, kNeeded);
    fields_.whole(width, moe.d_ff, 1, kNeeded);
    return moe;
  }

  void note(const Value& value, std::string_view what) {
    Diagnostic warning = error_at_key(value, fmt::format("\"{}\" {}", shown(value.key), what));
    warning.severity = Severity::kWarning;
    notes_.push_back(std::move(warning));
  }
  void wrong(std::string_view key, std::string message, std::string hint = {}) {
    fields_.wrong(key, std::move(message), std::move(hint));
  }
  void wrong(const Value& value, std::string_view key, const std::string& message) {
    problems_.add(error_at(value, fmt::format("{}: {}", key, message)));
  }

  EntryFields root_, fields_;
  bool has_parts_, says_tied_ = false;
  DiagnosticList& problems_;
  ModelConfig model_;
  std::vector<Diagnostic> notes_;
};

constexpr Family kFamilies[] = {
    {"llama", "LlamaFor", &ConfigReader::llama},
    {"llama4", "Llama4ForConditionalGeneration", &ConfigReader::llama4, 202048, 128},
    {"llama4_text", "Llama4For", &ConfigReader::llama4, 202048, 128},
    {"mistral", "MistralFor", &ConfigReader::mistral},
    {"mixtral", "MixtralFor", &ConfigReader::mixtral},
    {"qwen2", "Qwen2For", &ConfigReader::qwen2},
    {"qwen2_moe", "Qwen2MoeFor", &ConfigReader::qwen2_moe},
    {"qwen3", "Qwen3For", &ConfigReader::qwen3},
    {"qwen3_moe", "Qwen3MoeFor", &ConfigReader::qwen3_moe},
    {"gemma", "GemmaFor", &ConfigReader::gemma, 256000, 256},
    {"gemma2", "Gemma2For", &ConfigReader::gemma2, 256000, 256},
    {"gemma3", "Gemma3ForConditionalGeneration", &ConfigReader::gemma3, 262208, 256},
    {"gemma3_text", "Gemma3For", &ConfigReader::gemma3, 262208, 256},
    {"gemma4", "Gemma4ForConditionalGeneration", &ConfigReader::gemma4, 262144, 256},
    {"gemma4_text", "Gemma4For", &ConfigReader::gemma4, 262144, 256},
    {"deepseek_v2", "DeepseekV2For", &ConfigReader::deepseek_v2},
    {"deepseek_v3", "DeepseekV3For", &ConfigReader::deepseek_v3},
    {"gpt_oss", "GptOssFor", &ConfigReader::gpt_oss},
};

/// By model_type, else by the architecture; the error is in `problems`.
const Family* family_of(const Value& root, DiagnosticList& problems) {
  const Value* type = root.find("model_type");
  const Value* architectures = root.find("architectures");
  const Value* named = type                                             ? type
                       : architectures && !architectures->items.empty() ? &architectures->items[0]
                                                                        : nullptr;
  if (named)
    for (const Family& family : kFamilies)
      if (type ? family.type == named->text : named->text.starts_with(family.architecture)) return &family;
  const std::string hint = fmt::format("one of {}", fmt::join(hf_families(), ", "));
  problems.add(named ? error_at(*named,
                                fmt::format("no model of the family \"{}\" is supported", shown(named->text)),
                                hint)
                     : error_at(root, "config.json has neither model_type nor architectures", hint));
  return nullptr;
}

}  // namespace

std::vector<std::string_view> hf_families() {
  std::vector<std::string_view> names;
  for (const Family& family : kFamilies) names.push_back(family.type);
  return names;
}

Result<ImportedModel> read_hf_config(const SourcePtr& source) {
  DiagnosticList problems;
  const std::optional<Value> root = parse_json(source, problems);
  if (!root) return tl::unexpected(problems.items().front());
  if (!root->is_map()) return tl::unexpected(error_at(*root, "config.json is an object"));
  const Family* family = family_of(*root, problems);
  if (!family) return tl::unexpected(problems.items().front());
  const Value* text = root->find("text_config");
  ImportedModel imported =
      ConfigReader(*root, text && text->is_map() ? *text : *root, family->type, problems).read(*family);
  if (problems.has_errors()) return tl::unexpected(problems.items().front());
  if (const std::optional<ModelFault> fault = model_fault(imported.model))
    return tl::unexpected(error_at(*root, fault->message));
  return imported;
}

}  // namespace hlosim
