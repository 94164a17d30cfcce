#include "workloads/model_config.h"

#include <fmt/format.h>

#include <algorithm>

#include "workloads/parameters.h"

namespace hlosim {
namespace {

/// More than any model has, and little enough that no count overflows.
constexpr int64_t kMostLayers = 1 << 12, kMostExperts = 1 << 14, kMostSize = 1 << 24;
constexpr double kMostParameters = 1e18;
constexpr double kMostNumber = 1e30;            // squares of what is divided by it are still numbers in f32
constexpr double kMostCapacity = kMostExperts;  // each expert has a slot for every token

/// `size` of `key`, from `least` on.
std::optional<ModelFault> range_fault(const std::string& key, int64_t size, int64_t least, int64_t most,
                                      std::string_view what = {}) {
  if (size >= least && size <= most) return {};
  return ModelFault{key, fmt::format("{}{} is {}, expected {} to {}", key, what, size, least, most)};
}

std::optional<ModelFault> size_fault(const ModelConfig& model) {
  const LatentAttention latent = model.attention.latent.value_or(LatentAttention());
  const MoeConfig moe = model.moe.value_or(MoeConfig());
  const std::tuple<const char*, int64_t, int64_t> sizes[] = {
      {"layers", model.layers, 1},
      {"d_model", model.d_model, 1},
      {"q_heads", model.q_heads, 1},
      {"kv_heads", model.kv_heads, 1},
      {"head_dim", model.head_dim, 1},
      {"vocab", model.vocab, 1},
      {"d_ff", model.d_ff, 0},
      {"max_positions", model.max_positions, 0},
      {"attention.window", model.attention.window, 0},
      {"attention.global_head_dim", model.attention.global_head_dim, 0},
      {"attention.global_kv_heads", model.attention.global_kv_heads, 0},
      {"attention.latent.q_rank", latent.q_rank, 0},
      {"attention.latent.kv_rank", latent.kv_rank, 0},
      {"attention.latent.nope_dim", latent.nope_dim, 0},
      {"attention.latent.rope_dim", latent.rope_dim, 0},
      {"attention.latent.value_dim", latent.value_dim, 0},
      {"moe.experts", moe.experts, 0},
      {"moe.top_k", moe.top_k, 0},
      {"moe.d_ff", moe.d_ff, 0},
      {"moe.shared_experts", moe.shared_experts, 0},
      {"moe.d_ff_shared", moe.d_ff_shared, 0},
      {"moe.first_dense_layers", moe.first_dense_layers, 0},
      {"moe.every", moe.every, 1}};
  for (const auto& [key, size, least] : sizes)
    if (const auto fault = range_fault(key, size, least, most_of(key))) return fault;
  return range_fault("attention.pattern", static_cast<int64_t>(model.attention.pattern.size()), 0,
                     kMostLayers, "'s length");
}

std::optional<ModelFault> number_fault(const ModelConfig& model) {
  const std::pair<const char*, double> numbers[] = {
      {"final_soft_cap", model.final_soft_cap},
      {"norm_epsilon", model.norm_epsilon},
      {"rope_theta", model.rope_theta},
      {"attention.soft_cap", model.attention.soft_cap},
      {"attention.scale", model.attention.scale},
      {"moe.capacity_factor", model.moe ? model.moe->capacity_factor : 1}};
  for (const auto& [key, number] : numbers)
    if (!(number >= 0 && number <= most_number_of(key)))
      return ModelFault{key, fmt::format("{} is {}, expected 0 to {:g}", key, number, most_number_of(key))};
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

std::optional<ModelFault> latent_fault(const AttentionConfig& attention) {
  const LatentAttention& latent = *attention.latent;
  if (latent.kv_rank <= 0 || latent.nope_dim <= 0 || latent.rope_dim <= 0 || latent.value_dim <= 0)
    return ModelFault{"attention.latent", "attention.latent needs kv_rank, nope_dim, rope_dim and value_dim"};
  if (latent.rope_dim % 2 != 0)
    return ModelFault{"attention.latent.rope_dim", "attention.latent.rope_dim is odd"};
  if (!attention.pattern.empty() || attention.qk_norm)
    return ModelFault{"attention.latent", "attention.latent has no pattern and no qk_norm"};
  return {};
}

std::optional<ModelFault> attention_fault(const ModelConfig& model) {
  const AttentionConfig& attention = model.attention;
  const bool fewer = model.kv_heads != model.q_heads ||
                     (attention.global_kv_heads > 0 && attention.global_kv_heads != model.q_heads);
  if (model.fused_qkv && (fewer || attention.global_shares_kv || attention.latent))
    return ModelFault{"fused_qkv", "fused_qkv needs as many kv_heads as q_heads, with values of their own"};
  for (const char letter : attention.pattern)
    if (letter != 'L' && letter != 'G')
      return ModelFault{
          "attention.pattern",
          fmt::format("attention.pattern has '{}', expected letters L (window) and G (full)", letter)};
  if (attention.pattern.find('L') != std::string::npos && attention.window <= 0)
    return ModelFault{"attention.pattern", "attention.pattern has L, but attention.window is missing"};
  return attention.latent ? latent_fault(attention) : std::nullopt;
}

std::optional<ModelFault> moe_fault(const ModelConfig& model) {
  const MoeConfig& moe = *model.moe;
  if (moe.experts < 1 || moe.top_k < 1 || moe.d_ff < 1)
    return ModelFault{"moe", "moe needs experts, top_k and d_ff"};
  if (moe.top_k > moe.experts)
    return ModelFault{"moe.top_k", fmt::format("moe.top_k {} of {} experts", moe.top_k, moe.experts)};
  for (const auto& [key, layers] :
       {std::pair{"moe.first_dense_layers", moe.first_dense_layers}, {"moe.every", moe.every}})
    if (layers > model.layers)
      return ModelFault{key, fmt::format("{} is {}, but the model has {} layers", key, layers, model.layers)};
  if (moe.shared_experts > 0 && moe.d_ff_shared < 1)
    return ModelFault{"moe.shared_experts", "moe.shared_experts needs moe.d_ff_shared"};
  if (moe.capacity_factor <= 0)
    return ModelFault{"moe.capacity_factor", "moe.capacity_factor is not positive"};
  if (model.parallel_block) return ModelFault{"parallel_block", "parallel_block has no experts"};
  return {};
}

std::optional<ModelFault> heads_fault(const ModelConfig& model) {
  const std::pair<const char*, int64_t> shared[] = {
      {"kv_heads", model.kv_heads}, {"attention.global_kv_heads", model.attention.global_kv_heads}};
  for (const auto& [key, heads] : shared)
    if (heads > 0 && model.q_heads % heads != 0)
      return ModelFault{key, fmt::format("{} q_heads can't share {} kv_heads evenly", model.q_heads, heads)};
  if (model.position != Position::kRotary || model.attention.latent) return {};
  const std::pair<const char*, int64_t> rotated[] = {
      {"head_dim", model.head_dim}, {"attention.global_head_dim", model.attention.global_head_dim}};
  for (const auto& [key, size] : rotated)
    if (size % 2 != 0)
      return ModelFault{key, fmt::format("{} {} is odd, but rotary positions turn pairs", key, size)};
  return {};
}

}  // namespace

int64_t most_of(std::string_view key) {
  for (const std::string_view count : {"layers", "moe.first_dense_layers", "moe.every"})
    if (key == count) return kMostLayers;
  for (const std::string_view count : {"moe.experts", "moe.top_k", "moe.shared_experts"})
    if (key == count) return kMostExperts;
  return kMostSize;
}

double most_number_of(std::string_view key) {
  return key == "moe.capacity_factor" ? kMostCapacity : kMostNumber;
}

bool ModelConfig::is_global(int64_t layer) const {
  const std::string& pattern = attention.pattern;
  if (pattern.empty()) return attention.window == 0;
  return pattern[static_cast<size_t>(layer) % pattern.size()] == 'G';
}

bool ModelConfig::is_sparse(int64_t layer) const {
  if (!moe || layer < moe->first_dense_layers) return false;
  return (layer - moe->first_dense_layers) % moe->every == moe->every - 1;
}

std::optional<ModelFault> model_fault(const ModelConfig& model) {
  if (auto fault = size_fault(model)) return fault;
  if (auto fault = number_fault(model)) return fault;
  bool has_dense = false;
  for (int64_t i = 0; i < model.layers; ++i) has_dense |= !model.is_sparse(i);
  if (has_dense && model.d_ff < 1)
    return ModelFault{"d_ff", fmt::format("d_ff is {}, expected a positive number", model.d_ff)};
  if (auto fault = heads_fault(model)) return fault;
  if (auto fault = attention_fault(model)) return fault;
  if (model.moe)
    if (auto fault = moe_fault(model)) return fault;
  if (rough_count(model) > kMostParameters) return ModelFault{"", "the model has more than 1e18 parameters"};
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
