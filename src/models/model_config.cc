#include "models/model_config.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/parameters.h"

namespace hlosim {
namespace {

/// More than any model has, and little enough that no count overflows.
constexpr int64_t kMostLayers = 1 << 12, kMostExperts = 1 << 14, kMostSize = 1 << 24;
constexpr double kMostParameters = 1e18;

std::string size_fault(const ModelConfig& model) {
  const LatentAttention latent = model.attention.latent.value_or(LatentAttention());
  const MoeConfig moe = model.moe.value_or(MoeConfig());
  const std::tuple<const char*, int64_t, int64_t, int64_t> sizes[] = {
      {"layers", model.layers, 1, kMostLayers},
      {"d_model", model.d_model, 1, kMostSize},
      {"q_heads", model.q_heads, 1, kMostSize},
      {"kv_heads", model.kv_heads, 1, kMostSize},
      {"head_dim", model.head_dim, 1, kMostSize},
      {"vocab", model.vocab, 1, kMostSize},
      {"d_ff", model.d_ff, 0, kMostSize},
      {"max_positions", model.max_positions, 0, kMostSize},
      {"attention.window", model.attention.window, 0, kMostSize},
      {"attention.global_head_dim", model.attention.global_head_dim, 0, kMostSize},
      {"attention.latent.q_rank", latent.q_rank, 0, kMostSize},
      {"attention.latent.kv_rank", latent.kv_rank, 0, kMostSize},
      {"attention.latent.nope_dim", latent.nope_dim, 0, kMostSize},
      {"attention.latent.rope_dim", latent.rope_dim, 0, kMostSize},
      {"attention.latent.value_dim", latent.value_dim, 0, kMostSize},
      {"attention.pattern's length", static_cast<int64_t>(model.attention.pattern.size()), 0, kMostLayers},
      {"moe.experts", moe.experts, 0, kMostExperts},
      {"moe.d_ff", moe.d_ff, 0, kMostSize},
      {"moe.d_ff_shared", moe.d_ff_shared, 0, kMostSize},
      {"moe.every", moe.every, 1, kMostLayers}};
  for (const auto& [name, size, least, most] : sizes)
    if (size < least || size > most)
      return fmt::format("{} is {}, expected {} to {}", name, size, least, most);
  return {};
}

/// Parameters, roughly, without overflow.
double rough_count(const ModelConfig& model) {
  double count = 0;
  const auto add = [&](const std::vector<ParameterSpec>& specs) {
    for (const ParameterSpec& spec : specs) {
      double size = 1;
      for (const int64_t dim : spec.dims) size *= static_cast<double>(dim);
      count += size;
    }
  };
  add(outer_parameters(model, 1));
  for (int64_t layer = 0; layer < model.layers; ++layer) add(layer_parameters(model, layer));
  return count;
}

std::string attention_fault(const ModelConfig& model) {
  const AttentionConfig& attention = model.attention;
  if (model.fused_qkv && (model.kv_heads != model.q_heads || attention.latent))
    return "fused_qkv needs as many kv_heads as q_heads";
  for (const char letter : attention.pattern)
    if (letter != 'L' && letter != 'G')
      return fmt::format("attention.pattern has '{}', expected letters L (window) and G (full)", letter);
  if (attention.pattern.find('L') != std::string::npos && attention.window <= 0)
    return "attention.pattern has L, but attention.window is missing";
  if (attention.latent) {
    const LatentAttention& latent = *attention.latent;
    if (latent.kv_rank <= 0 || latent.nope_dim <= 0 || latent.rope_dim <= 0 || latent.value_dim <= 0)
      return "attention.latent needs kv_rank, nope_dim, rope_dim and value_dim";
    if (latent.rope_dim % 2 != 0) return "attention.latent.rope_dim is odd";
    if (!attention.pattern.empty() || attention.qk_norm)
      return "attention.latent has no pattern and no qk_norm";
  }
  return {};
}

std::string moe_fault(const ModelConfig& model) {
  const MoeConfig& moe = *model.moe;
  if (moe.experts < 1 || moe.top_k < 1 || moe.d_ff < 1) return "moe needs experts, top_k and d_ff";
  if (moe.top_k > moe.experts) return fmt::format("moe.top_k {} of {} experts", moe.top_k, moe.experts);
  if (moe.every < 1) return fmt::format("moe.every is {}, expected 1 or more", moe.every);
  if (moe.shared_experts > 0 && moe.d_ff_shared < 1) return "moe.shared_experts needs moe.d_ff_shared";
  if (moe.capacity_factor <= 0) return "moe.capacity_factor is not positive";
  if (model.parallel_block) return "parallel_block has no experts";
  return {};
}

}  // namespace

bool ModelConfig::is_global(int64_t layer) const {
  const std::string& pattern = attention.pattern;
  if (pattern.empty()) return attention.window == 0;
  return pattern[static_cast<size_t>(layer) % pattern.size()] == 'G';
}

bool ModelConfig::is_sparse(int64_t layer) const {
  if (!moe || layer < moe->first_dense_layers) return false;
  return (layer - moe->first_dense_layers) % moe->every == moe->every - 1;
}

std::string model_fault(const ModelConfig& model) {
  if (const std::string fault = size_fault(model); !fault.empty()) return fault;
  bool has_dense = false;
  for (int64_t i = 0; i < model.layers; ++i) has_dense |= !model.is_sparse(i);
  if (has_dense && model.d_ff < 1) return fmt::format("d_ff is {}, expected a positive number", model.d_ff);
  if (model.q_heads % model.kv_heads != 0)
    return fmt::format("{} q_heads can't share {} kv_heads evenly", model.q_heads, model.kv_heads);
  if (const int64_t shared = model.attention.global_kv_heads; shared > 0 && model.q_heads % shared != 0)
    return fmt::format("{} q_heads can't share {} kv_heads evenly", model.q_heads, shared);
  if (model.position == Position::kRotary && !model.attention.latent && model.head_dim % 2 != 0)
    return fmt::format("head_dim {} is odd, but rotary positions turn pairs", model.head_dim);
  if (const std::string fault = attention_fault(model); !fault.empty()) return fault;
  if (model.moe)
    if (const std::string fault = moe_fault(model); !fault.empty()) return fault;
  if (rough_count(model) > kMostParameters) return "the model has more than 1e18 parameters";
  return {};
}

ParameterCount count_parameters(const ModelConfig& model) {
  ParameterCount count;
  const auto add = [&](const ParameterSpec& spec, bool in_products) {
    if (!spec.counted) return;
    const int64_t size = element_count(spec.dims);
    count.total += size;
    if (!in_products) return;
    count.in_matmuls_per_token += spec.of_experts ? size / model.moe->experts * model.moe->top_k : size;
  };
  for (const ParameterSpec& spec : outer_parameters(model, 1))
    add(spec, spec.name != "embedding" || model.tied_embeddings);
  for (int64_t layer = 0; layer < model.layers; ++layer)
    for (const ParameterSpec& spec : layer_parameters(model, layer)) add(spec, true);
  return count;
}

double matmul_flops(const ModelConfig& model, int64_t batch, int64_t sequence, bool train, bool causal) {
  const auto length = static_cast<double>(sequence);
  double pairs = 0;  // multiply-adds of attention, of one sequence
  for (int64_t layer = 0; layer < model.layers; ++layer) {
    const HeadSizes heads = head_sizes(model, layer);
    double seen = length * length;
    if (causal) {
      const auto window =
          model.is_global(layer) ? length : static_cast<double>(std::min(model.attention.window, sequence));
      seen = length * window - window * window / 2;
    }
    pairs += seen * static_cast<double>(heads.q_heads * (heads.head_dim + heads.value_dim));
  }
  const double parameters = static_cast<double>(count_parameters(model).in_matmuls_per_token) * length;
  return (train ? 6 : 2) * static_cast<double>(batch) * (parameters + pairs);
}

}  // namespace hlosim
