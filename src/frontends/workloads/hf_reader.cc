#include "workloads/hf_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
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

}  // namespace

HfReader::HfReader(const Value& whole, const Value& text, std::string_view type, DiagnosticList& list)
    : root(whole, "config.json", list),
      fields(text, "config.json", list),
      problems(list),
      has_parts_(&whole != &text) {
  model.name = type;
}

ImportedModel HfReader::finish() {
  list_rest(fields);
  if (has_parts_) {
    root.pass_over({"text_config"});
    list_rest(root);
  }
  return {std::move(model), std::move(notes)};
}

void HfReader::sizes(const HfSizes& usual) {
  fields.whole("num_hidden_layers", model.layers, 1, kNeeded);
  if (model.layers > most_of("layers")) {  // patterns have a letter a layer
    wrong("num_hidden_layers", fmt::format("more than {} layers", most_of("layers")));
    model.layers = 1;
  }
  fields.whole("hidden_size", model.d_model, 1, kNeeded);
  fields.whole("intermediate_size", model.d_ff, 1);
  fields.whole("num_attention_heads", model.q_heads, 1, kNeeded);
  model.kv_heads = model.q_heads;
  fields.whole("num_key_value_heads", model.kv_heads, 1);
  if (model.q_heads > 0) model.head_dim = model.d_model / model.q_heads;
  if (usual.head_dim > 0) model.head_dim = usual.head_dim;
  fields.whole("head_dim", model.head_dim, 1);
  model.vocab = usual.vocab;
  fields.whole("vocab_size", model.vocab, 1, usual.vocab > 0 ? EntryFields::kOptional : kNeeded);
  fields.positive("rms_norm_eps", model.norm_epsilon);
  fields.positive("rope_theta", model.rope_theta);
  positions();
  says_tied = fields.flag("tie_word_embeddings", model.tied_embeddings) ||
              root.flag("tie_word_embeddings", model.tied_embeddings);
  activation();
}

void HfReader::positions() {
  constexpr std::pair<const char*, const char*> kKeys[] = {{"rope_parameters", "\"rope_parameters\""},
                                                           {"rope_scaling", "\"rope_scaling\""}};
  for (const auto& [key, quoted] : kKeys) {
    const Value* const rope = fields.object(key);
    if (!rope) continue;
    EntryFields parameters(*rope, quoted, problems);
    parameters.positive("rope_theta", model.rope_theta);
    std::string type = "default";
    parameters.text(parameters.find("rope_type") ? "rope_type" : "type", type);
    if (type != "default")
      note(*rope,
           "is left out but for rope_theta: frequencies are not scaled, which changes numbers and no time");
  }
}

void HfReader::activation() {
  std::string word;
  const char* key = fields.find("hidden_activation") ? "hidden_activation" : "hidden_act";
  fields.pass_over({"hidden_activation", "hidden_act"});
  if (!fields.text(key, word)) return;
  // "sigmoid" is the plain one there, without the factor x of model files.
  const std::optional<Activation> known = word == "sigmoid" ? std::nullopt : parse_activation(word);
  if (known)
    model.activation = *known;
  else
    wrong(key, fmt::format("{} \"{}\" is not supported", key, shown(word)), "silu, gelu or relu");
}

void HfReader::list_rest(EntryFields& of) {
  for (const LeftOut& one : kLeftOut)
    if (const Value* value = of.find(one.key)) note(*value, one.what);
  of.pass_over(kHfWithoutEffect);
  for (const Value* left : of.rest()) note(*left, "is not known: it is ignored");
}

void HfReader::biases() {
  fields.flag("attention_bias", model.attention.bias);
  model.attention.output_bias = model.attention.bias;
}

void HfReader::window_of_all() { fields.whole("sliding_window", model.attention.window, 1); }

void HfReader::windows(std::string_view usual) {
  fields.whole("sliding_window", model.attention.window, 1);
  const Value* types = fields.find("layer_types");
  if (model.attention.window == 0) return;
  model.attention.pattern = types ? pattern_of(*types) : std::string(usual);
  if (model.attention.pattern == "G") model.attention.pattern.clear(), model.attention.window = 0;
}

std::string HfReader::pattern_of(const Value& types) { return shortest_period(letters_of(types)); }

std::string HfReader::letters_of(const Value& types) {
  std::string letters;
  for (const Value& type : types.items) {
    if (type.text != "sliding_attention" && type.text != "full_attention")
      wrong(type, "layer_types",
            fmt::format("\"{}\" is neither sliding_attention nor full_attention", shown(type.text)));
    letters += type.text == "sliding_attention" ? 'L' : 'G';
  }
  if (static_cast<int64_t>(letters.size()) != model.layers)
    wrong(types, "layer_types",
          fmt::format("{} layers, but num_hidden_layers is {}", letters.size(), model.layers));
  return letters;
}

std::string HfReader::shortest_period(const std::string& letters) {
  for (size_t period = 1; period < letters.size(); ++period) {
    bool repeats = true;
    for (size_t i = period; i < letters.size() && repeats; ++i) repeats = letters[i] == letters[i - period];
    if (repeats) return letters.substr(0, period);
  }
  return letters;
}

MoeConfig HfReader::experts(std::string_view count, std::string_view top_k, std::string_view width) {
  MoeConfig moe;
  fields.whole(count, moe.experts, 1, kNeeded);
  fields.whole(top_k, moe.top_k, 1, kNeeded);
  fields.whole(width, moe.d_ff, 1, kNeeded);
  return moe;
}

void HfReader::refuse_above_zero(std::string_view key, int64_t usual, std::string_view what) {
  int64_t size = usual;
  fields.whole(key, size, 0);
  if (size > 0)
    wrong(key, fmt::format("{} are not supported", what), fmt::format("{} is {}, not 0", key, size));
}

void HfReader::note(const Value& value, std::string_view what) {
  Diagnostic warning = error_at_key(value, fmt::format("\"{}\" {}", shown(value.key), what));
  warning.severity = Severity::kWarning;
  notes.push_back(std::move(warning));
}

void HfReader::wrong(std::string_view key, std::string message, std::string hint) {
  fields.wrong(key, std::move(message), std::move(hint));
}

void HfReader::wrong(const Value& value, std::string_view key, const std::string& message) {
  problems.add(error_at(value, fmt::format("{}: {}", key, message)));
}

}  // namespace hlosim
