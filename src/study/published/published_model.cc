// "model" of an entry as a ModelConfig.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "published/published_run.h"
#include "text/entry_fields.h"
#include "workloads/model_words.h"

namespace hlosim {
namespace {

/// What the texts of an entry begin with, and what they stand for.
template <class T>
struct Word {
  std::string_view begins;
  T value;
};

template <class T>
std::string words_of(const Word<T>* first, const Word<T>* last) {
  std::string out;
  for (; first != last; ++first) out += fmt::format("{}\"{}\"", out.empty() ? "" : ", ", first->begins);
  return out;
}

/// The word that `key`'s text begins with; an error names them all.
template <class T, size_t N>
bool read_word(EntryFields& fields, std::string_view key, const Word<T> (&words)[N], T& into) {
  std::string text;
  if (!fields.text(key, text)) return false;
  for (const Word<T>& word : words)
    if (std::string_view(text).starts_with(word.begins)) {
      into = word.value;
      return true;
    }
  fields.wrong(key, fmt::format("\"{}\" is not \"{}\"", key, shown(text)),
               fmt::format("it begins with {}", words_of(std::begin(words), std::end(words))));
  return false;
}

constexpr Word<NormKind> kNorms[] = {{"RMSNorm", NormKind::kRms}, {"LayerNorm", NormKind::kLayer}};
constexpr Word<bool> kBlocks[] = {{"sequential", false}, {"parallel", true}};
constexpr Word<Position> kPositions[] = {
    {"rotary", Position::kRotary}, {"learned", Position::kLearned}, {"none", Position::kNone}};
constexpr Word<MoeConfig::Dispatch> kDispatches[] = {{"dropless", MoeConfig::Dispatch::kDropless},
                                                     {"capacity", MoeConfig::Dispatch::kCapacity}};
constexpr Word<bool> kLayouts[] = {{"the first dense_layers layers are dense", true},
                                   {"dense and moe layers alternate", false}};

class ModelReader {
 public:
  ModelReader(const Value& object, DiagnosticList& problems, std::vector<std::string>& assumptions)
      : fields_(object, "a model", problems), problems_(problems), assumptions_(assumptions) {}

  ModelConfig read() {
    fields_.text("name", model_.name);
    fields_.whole("layers", model_.layers, 1, EntryFields::kNeeded);
    fields_.whole("d_model", model_.d_model, 1, EntryFields::kNeeded);
    const bool all_sparse = needs_no_dense_width();
    fields_.whole("d_ff", model_.d_ff, 1, all_sparse ? EntryFields::kOptional : EntryFields::kNeeded);
    fields_.whole("q_heads", model_.q_heads, 1, EntryFields::kNeeded);
    model_.kv_heads = model_.q_heads;
    fields_.whole("kv_heads", model_.kv_heads, 1);
    model_.head_dim = model_.q_heads > 0 ? model_.d_model / model_.q_heads : 0;
    fields_.whole("head_dim", model_.head_dim, 1);
    fields_.whole("vocab", model_.vocab, 1, EntryFields::kNeeded);
    fields_.flag("gated_mlp", model_.gated_mlp);
    fields_.flag("fused_qkv", model_.fused_qkv);
    fields_.flag("tied_embeddings", model_.tied_embeddings);
    read_word(fields_, "block", kBlocks, model_.parallel_block);
    read_word(fields_, "position", kPositions, model_.position);
    activation();
    norm();
    if (const Value* part = fields_.object("attention")) attention(*part);
    if (const Value* part = fields_.object("moe")) experts(*part);
    int64_t ahead = 0;
    fields_.whole("mtp_layers", ahead, 0);
    model_.predicts_ahead = ahead > 0;
    if (ahead > 1) assumptions_.push_back("model.mtp_layers: more than one is treated as one");
    if (all_sparse && model_.d_ff == 0 && model_.moe) model_.d_ff = model_.moe->d_ff;
    check_parameters();
    leave("model", fields_);
    return std::move(model_);
  }

 private:
  /// A model whose every layer has experts has no width of a dense MLP.
  bool needs_no_dense_width() {
    const Value* moe = fields_.find("moe");
    if (!moe || !moe->is_map()) return false;
    const Value* dense = moe->find("dense_layers");
    return !dense || dense->is_null() || (dense->is_scalar() && dense->text == "0");
  }

  void leave(std::string_view what, const EntryFields& fields) {
    for (const Value* left : fields.rest())
      assumptions_.push_back(fmt::format("{}.{} is not modelled", what, shown(left->key)));
  }

  /// ["silu", "linear"]: of a gated MLP, the other input is taken as it is.
  void activation() {
    std::vector<std::string> names;
    if (!fields_.texts("mlp_activation", names) || names.empty()) return;
    const std::optional<Activation> known = parse_activation(names[0]);
    if (!known)
      return fields_.wrong("mlp_activation", fmt::format("\"mlp_activation\" is not \"{}\"", shown(names[0])),
                           "it is one of silu, gelu, relu, sigmoid");
    model_.activation = *known;
    if (names.size() > 1 && names[1] != "linear")
      assumptions_.push_back(
          fmt::format("model.mlp_activation: \"{}\" is treated as linear", shown(names[1])));
  }

  void norm() {
    std::string text;
    if (!read_word(fields_, "norm", kNorms, model_.norm)) return;
    fields_.text("norm", text);
    model_.post_norms = text.find("before and after") != std::string::npos;
    model_.attention.qk_norm = text.find("q/k norm") != std::string::npos;
  }

  void attention(const Value& object) {
    EntryFields fields(object, "\"attention\"", problems_);
    AttentionConfig& attention = model_.attention;
    std::string kind;
    fields.text("kind", kind);
    fields.whole("window", attention.window, 1);
    fields.text("pattern", attention.pattern);
    fields.flag("bias", attention.bias);
    if (attention.bias) attention.output_bias = true;
    fields.flag("attention_sink", attention.sinks);
    fields.positive("soft_cap", attention.soft_cap);
    fields.whole("global_head_dim", attention.global_head_dim, 1);
    fields.whole("global_kv_heads", attention.global_kv_heads, 1);
    fields.flag("global_layers_share_k_and_v", attention.global_shares_kv);
    fields.pass_over({"pattern_key"});
    if (fields.find("kv_lora_rank") || fields.find("qk_nope_head_dim")) latent(fields);
    if (kind.find("chunk") != std::string::npos)
      assumptions_.push_back(
          "model.attention: chunked layers are treated as full causal, with rotary positions");
    leave("model.attention", fields);
  }

  void latent(EntryFields& fields) {
    LatentAttention latent;
    fields.whole("q_lora_rank", latent.q_rank, 0);
    fields.whole("kv_lora_rank", latent.kv_rank, 1, EntryFields::kNeeded);
    fields.whole("qk_nope_head_dim", latent.nope_dim, 1, EntryFields::kNeeded);
    fields.whole("qk_rope_head_dim", latent.rope_dim, 1, EntryFields::kNeeded);
    fields.whole("v_head_dim", latent.value_dim, 1, EntryFields::kNeeded);
    model_.attention.latent = latent;
  }

  void experts(const Value& object) {
    EntryFields fields(object, "\"moe\"", problems_);
    MoeConfig moe;
    fields.whole("experts", moe.experts, 1, EntryFields::kNeeded);
    fields.whole("top_k", moe.top_k, 1, EntryFields::kNeeded);
    fields.whole("d_ff_expert", moe.d_ff, 1, EntryFields::kNeeded);
    fields.whole("shared_experts", moe.shared_experts, 0);
    int64_t shared = 0;
    if (!fields.whole("d_ff_shared", shared, 0) && moe.shared_experts > 0) {
      shared = moe.d_ff;
      assumptions_.push_back("model.moe: shared experts are treated as wide as the others");
    }
    moe.d_ff_shared = moe.shared_experts * shared;
    read_word(fields, "dispatch", kDispatches, moe.dispatch);
    fields.positive("capacity_factor", moe.capacity_factor);
    fields.flag("random_routing", moe.random_routing);
    moe.bias = model_.attention.bias;
    layout(fields, moe);
    model_.moe = moe;
    leave("model.moe", fields);
  }

  void layout(EntryFields& fields, MoeConfig& moe) {
    int64_t dense = 0;
    fields.whole("dense_layers", dense, 0);
    int64_t sparse = model_.layers - dense;
    fields.whole("moe_layers", sparse, 0);
    if (dense + sparse != model_.layers)
      fields.wrong("moe_layers", fmt::format("{} layers with experts and {} without are not the model's {}",
                                             sparse, dense, model_.layers));
    bool first = true;
    const bool said = read_word(fields, "layout", kLayouts, first);
    if (dense == 0) return;
    if (first) {
      moe.first_dense_layers = dense;
      if (!said) assumptions_.push_back("model.moe: the dense layers are treated as the first ones");
    } else {
      moe.every = model_.layers / std::max<int64_t>(sparse, 1);
    }
  }

  void check_parameters() {
    double total = 0, active = 0, billions = 0;
    bool has_total = fields_.positive("params_total", total);
    if (fields_.positive("params_b", billions) && !has_total) total = billions * 1e9, has_total = true;
    fields_.positive("params_in_matmuls_per_token", active);
    fields_.pass_over({"active_b"});
    if (!has_total || problems_.has_errors()) return;
    if (const std::optional<ModelFault> fault = model_fault(model_))
      return fields_.wrong("name", fmt::format("the model is not sound: {}", fault->message));
    constexpr double kOff = 0.01;  // norms, biases and position tables are left out of published counts
    const auto counted = static_cast<double>(count_parameters(model_).total);
    if (std::abs(counted / total - 1) > kOff)
      assumptions_.push_back(
          fmt::format("the model as it is made has {:.2f} billion parameters, the entry has {:.2f} billion",
                      counted * 1e-9, total * 1e-9));
  }

  EntryFields fields_;
  DiagnosticList& problems_;
  std::vector<std::string>& assumptions_;
  ModelConfig model_;
};

}  // namespace

ModelConfig read_published_model(const Value& model, DiagnosticList& problems,
                                 std::vector<std::string>& assumptions) {
  return ModelReader(model, problems, assumptions).read();
}

}  // namespace hlosim
