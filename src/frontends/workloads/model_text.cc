#include "workloads/model_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/value.h"
#include "workloads/model_words.h"

namespace hlosim {
namespace {

/// The keys of one section, in the order of docs/models.md.
class Section {
 public:
  explicit Section(std::string indent = "") : indent_(std::move(indent)) {}

  template <class T>
  void need(std::string_view key, const T& value) {
    text_ += fmt::format("{}{}: {}\n", indent_, key, value);
  }
  /// Left out where it is the default.
  template <class T>
  void add(std::string_view key, const T& value, const T& standard) {
    if (value != standard) need(key, value);
  }
  void section(std::string_view key, const Section& part) {
    if (!part.text_.empty()) text_ += fmt::format("{}{}:\n{}", indent_, key, part.text_);
  }
  std::string take() { return std::move(text_); }

 private:
  std::string indent_, text_;
};

/// As it is, where YAML reads it as one plain scalar.
std::string plain_or_quoted(const std::string& text) {
  const bool is_plain = !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_';
  });
  return is_plain && text[0] != '-' ? text : yaml_quoted(text);
}

Section latent_section(const LatentAttention& latent) {
  Section part("    ");
  part.add("q_rank", latent.q_rank, int64_t{0});
  part.need("kv_rank", latent.kv_rank);
  part.need("nope_dim", latent.nope_dim);
  part.need("rope_dim", latent.rope_dim);
  part.need("value_dim", latent.value_dim);
  return part;
}

Section attention_section(const AttentionConfig& attention) {
  const AttentionConfig standard;
  Section part("  ");
  part.add("window", attention.window, standard.window);
  part.add("pattern", attention.pattern, standard.pattern);
  part.add("soft_cap", attention.soft_cap, standard.soft_cap);
  part.add("bias", attention.bias, standard.bias);
  part.add("output_bias", attention.output_bias, standard.output_bias);
  part.add("sinks", attention.sinks, standard.sinks);
  part.add("qk_norm", attention.qk_norm, standard.qk_norm);
  part.add("global_head_dim", attention.global_head_dim, standard.global_head_dim);
  part.add("global_kv_heads", attention.global_kv_heads, standard.global_kv_heads);
  part.add("global_shares_kv", attention.global_shares_kv, standard.global_shares_kv);
  part.add("scale", attention.scale, standard.scale);
  if (attention.latent) part.section("latent", latent_section(*attention.latent));
  return part;
}

Section moe_section(const MoeConfig& moe) {
  const MoeConfig standard;
  Section part("  ");
  part.need("experts", moe.experts);
  part.need("top_k", moe.top_k);
  part.need("d_ff", moe.d_ff);
  part.add("shared_experts", moe.shared_experts, standard.shared_experts);
  part.add("d_ff_shared", moe.d_ff_shared, standard.d_ff_shared);
  part.add("dispatch", word_of(kDispatchWords, moe.dispatch), word_of(kDispatchWords, standard.dispatch));
  part.add("capacity_factor", moe.capacity_factor, standard.capacity_factor);
  part.add("score", word_of(kScoreWords, moe.score), word_of(kScoreWords, standard.score));
  part.add("normalize_top_k", moe.normalize_top_k, standard.normalize_top_k);
  part.add("first_dense_layers", moe.first_dense_layers, standard.first_dense_layers);
  part.add("every", moe.every, standard.every);
  part.add("bias", moe.bias, standard.bias);
  part.add("random_routing", moe.random_routing, standard.random_routing);
  return part;
}

}  // namespace

std::optional<Activation> parse_activation(std::string_view word) {
  static constexpr ModelWord<Activation> kOtherNames[] = {{Activation::kSilu, "swish"},
                                                          {Activation::kGelu, "gelu_new"},
                                                          {Activation::kGelu, "gelu_pytorch_tanh"},
                                                          {Activation::kSigmoid, "quick_gelu"}};
  for (const ModelWord<Activation>& one : kActivationWords)
    if (one.word == word) return one.value;
  for (const ModelWord<Activation>& one : kOtherNames)
    if (one.word == word) return one.value;
  return std::nullopt;
}

std::string model_text(const ModelConfig& model) {
  const ModelConfig standard;
  Section file;
  file.need("name", plain_or_quoted(model.name));
  file.need("layers", model.layers);
  file.need("d_model", model.d_model);
  file.add("d_ff", model.d_ff, int64_t{0});
  file.need("q_heads", model.q_heads);
  file.add("kv_heads", model.kv_heads, model.q_heads);
  file.add("head_dim", model.head_dim, model.q_heads > 0 ? model.d_model / model.q_heads : 0);
  file.need("vocab", model.vocab);
  file.add("gated_mlp", model.gated_mlp, standard.gated_mlp);
  file.add("activation", word_of(kActivationWords, model.activation),
           word_of(kActivationWords, standard.activation));
  file.add("mlp_bias", model.mlp_bias, standard.mlp_bias);
  file.add("fused_qkv", model.fused_qkv, standard.fused_qkv);
  file.add("tied_embeddings", model.tied_embeddings, standard.tied_embeddings);
  file.add("predicts_ahead", model.predicts_ahead, standard.predicts_ahead);
  file.add("scale_embeddings", model.scale_embeddings, standard.scale_embeddings);
  file.add("final_soft_cap", model.final_soft_cap, standard.final_soft_cap);
  file.add("norm", word_of(kNormWords, model.norm), word_of(kNormWords, standard.norm));
  file.add("norm_epsilon", model.norm_epsilon, standard.norm_epsilon);
  file.add("post_norms", model.post_norms, standard.post_norms);
  file.add("parallel_block", model.parallel_block, standard.parallel_block);
  file.add("position", word_of(kPositionWords, model.position), word_of(kPositionWords, standard.position));
  file.add("max_positions", model.max_positions, standard.max_positions);
  file.add("rope_theta", model.rope_theta, standard.rope_theta);
  file.add("rope_interleaved", model.rope_interleaved, standard.rope_interleaved);
  file.section("attention", attention_section(model.attention));
  if (model.moe) file.section("moe", moe_section(*model.moe));
  return file.take();
}

}  // namespace hlosim
