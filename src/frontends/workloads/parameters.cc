#include "workloads/parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace hlosim {
namespace {

class SpecList {
 public:
  explicit SpecList(const ModelConfig& model) : model_(model) {}

  void weight(std::string name, Dims dims, std::vector<Axis> axes) {
    specs.push_back({std::move(name), std::move(dims), std::move(axes), true, false});
  }
  void small(std::string name, Dims dims, std::vector<Axis> axes) {
    specs.push_back({std::move(name), std::move(dims), std::move(axes), false, false});
  }
  void norm(const std::string& name, int64_t size, Axis axis = Axis::kNorm) {
    small(name + ".scale", {size}, {axis});
    if (model_.norm == NormKind::kLayer) small(name + ".bias", {size}, {axis});
  }
  void experts(std::string name, Dims dims, std::vector<Axis> axes) {
    weight(std::move(name), std::move(dims), std::move(axes));
    specs.back().of_experts = true;
  }

  std::vector<ParameterSpec> specs;

 private:
  const ModelConfig& model_;
};

void latent_projections(const ModelConfig& model, SpecList& list) {
  const LatentAttention& latent = *model.attention.latent;
  const int64_t d = model.d_model, heads = model.q_heads, qk = latent.nope_dim + latent.rope_dim;
  if (latent.q_rank > 0) {
    list.weight("attention.query_down", {d, latent.q_rank}, {Axis::kEmbed, Axis::kNone});
    list.small("attention.query_norm.scale", {latent.q_rank}, {Axis::kNone});
    list.weight("attention.query_up", {latent.q_rank, heads, qk}, {Axis::kEmbed, Axis::kHeads, Axis::kNone});
  } else {
    list.weight("attention.query", {d, heads, qk}, {Axis::kEmbed, Axis::kHeads, Axis::kNone});
  }
  list.weight("attention.kv_down", {d, latent.kv_rank + latent.rope_dim}, {Axis::kEmbed, Axis::kNone});
  list.small("attention.kv_norm.scale", {latent.kv_rank}, {Axis::kNone});
  list.weight("attention.kv_up", {latent.kv_rank, heads, latent.nope_dim + latent.value_dim},
              {Axis::kEmbed, Axis::kHeads, Axis::kNone});
}

void projections(const ModelConfig& model, int64_t layer, SpecList& list) {
  const HeadSizes heads = head_sizes(model, layer);
  const int64_t d = model.d_model, size = heads.head_dim;
  if (model.fused_qkv) {
    list.weight("attention.qkv", {d, 3, heads.q_heads, size},
                {Axis::kEmbed, Axis::kNone, Axis::kHeads, Axis::kNone});
    if (model.attention.bias)
      list.small("attention.qkv_bias", {3, heads.q_heads, size}, {Axis::kNone, Axis::kHeads, Axis::kNone});
    return;
  }
  const auto one = [&](const std::string& name, int64_t count) {
    list.weight("attention." + name, {d, count, size}, {Axis::kEmbed, Axis::kHeads, Axis::kNone});
    if (model.attention.bias)
      list.small("attention." + name + "_bias", {count, size}, {Axis::kHeads, Axis::kNone});
  };
  one("query", heads.q_heads);
  one("key", heads.kv_heads);
  if (!heads.shares_kv) one("value", heads.kv_heads);
}

void attention(const ModelConfig& model, int64_t layer, SpecList& list) {
  const HeadSizes heads = head_sizes(model, layer);
  if (model.attention.latent)
    latent_projections(model, list);
  else
    projections(model, layer, list);
  if (model.attention.qk_norm) {
    list.small("attention.q_norm.scale", {heads.head_dim}, {Axis::kNone});
    list.small("attention.k_norm.scale", {heads.head_dim}, {Axis::kNone});
  }
  if (model.attention.sinks) list.small("attention.sinks", {heads.q_heads}, {Axis::kHeads});
  list.weight("attention.out", {heads.q_heads, heads.value_dim, model.d_model},
              {Axis::kHeads, Axis::kNone, Axis::kEmbed});
  if (model.attention.output_bias) list.small("attention.out_bias", {model.d_model}, {Axis::kNorm});
}

void mlp(const ModelConfig& model, const std::string& name, int64_t width, SpecList& list) {
  const auto in = [&](const std::string& which) {
    list.weight(name + "." + which, {model.d_model, width}, {Axis::kEmbed, Axis::kMlp});
    if (model.mlp_bias) list.small(name + "." + which + "_bias", {width}, {Axis::kMlp});
  };
  if (model.gated_mlp) {
    in("wi_0");
    in("wi_1");
  } else {
    in("wi");
  }
  list.weight(name + ".wo", {width, model.d_model}, {Axis::kMlp, Axis::kEmbed});
  if (model.mlp_bias) list.small(name + ".wo_bias", {model.d_model}, {Axis::kNorm});
}

void experts(const ModelConfig& model, SpecList& list) {
  const MoeConfig& moe = *model.moe;
  const int64_t d = model.d_model, e = moe.experts, f = moe.d_ff;
  list.weight("moe.router", {d, e}, {Axis::kEmbed, Axis::kNone});
  if (moe.bias) list.small("moe.router_bias", {e}, {Axis::kNone});
  const auto one = [&](const std::string& name, int64_t in, int64_t out, std::vector<Axis> axes) {
    list.experts("moe." + name, {e, in, out}, axes);
    if (moe.bias)
      list.small("moe." + name + "_bias", {e, out},
                 {axes[0], axes[2] == Axis::kMlp ? Axis::kMlp : Axis::kNone});
  };
  one(model.gated_mlp ? "wi_0" : "wi", d, f, {Axis::kExperts, Axis::kEmbed, Axis::kMlp});
  if (model.gated_mlp) one("wi_1", d, f, {Axis::kExperts, Axis::kEmbed, Axis::kMlp});
  one("wo", f, d, {Axis::kExperts, Axis::kMlp, Axis::kEmbed});
  if (moe.shared_experts > 0) mlp(model, "shared", moe.d_ff_shared, list);
}

/// Do layers a and b have the same parameters and masks?
bool alike(const ModelConfig& model, int64_t a, int64_t b) {
  return model.is_global(a) == model.is_global(b) && model.is_sparse(a) == model.is_sparse(b);
}

/// Layers that far apart are alike whatever the model, but for dense ones at the beginning.
int64_t longest_period(const ModelConfig& model) {
  const auto pattern = static_cast<int64_t>(model.attention.pattern.size());
  return std::min(std::lcm(std::max<int64_t>(pattern, 1), model.moe ? model.moe->every : 1), model.layers);
}

}  // namespace

HeadSizes head_sizes(const ModelConfig& model, int64_t layer) {
  HeadSizes heads{model.q_heads, model.kv_heads, model.head_dim, model.head_dim, false};
  const AttentionConfig& attention = model.attention;
  if (attention.latent) {
    heads.kv_heads = model.q_heads;
    heads.head_dim = attention.latent->nope_dim + attention.latent->rope_dim;
    heads.value_dim = attention.latent->value_dim;
  } else if (!attention.pattern.empty() && model.is_global(layer)) {
    if (attention.global_head_dim > 0) heads.head_dim = heads.value_dim = attention.global_head_dim;
    if (attention.global_kv_heads > 0) heads.kv_heads = attention.global_kv_heads;
    heads.shares_kv = attention.global_shares_kv;
  }
  return heads;
}

std::vector<ParameterSpec> layer_parameters(const ModelConfig& model, int64_t layer) {
  SpecList list(model);
  list.norm("attention_norm", model.d_model);
  attention(model, layer, list);
  if (model.post_norms) list.norm("attention_post_norm", model.d_model);
  if (!model.parallel_block) list.norm("mlp_norm", model.d_model);
  if (model.is_sparse(layer))
    experts(model, list);
  else
    mlp(model, "mlp", model.d_ff, list);
  if (model.post_norms) list.norm("mlp_post_norm", model.d_model);
  return list.specs;
}

namespace {

/// Of weights: the first dimension that is summed over, and how many there are.
std::pair<size_t, size_t> summed_dimensions(const ParameterSpec& weights) {
  return {weights.of_experts ? 1 : 0, weights.name == "attention.out" ? 2 : 1};
}

}  // namespace

size_t blocked_dimension(const ParameterSpec& weights) {
  const auto [first, count] = summed_dimensions(weights);
  return first + count - 1;
}

bool is_stored_narrow(const ParameterSpec& spec) { return spec.counted && spec.name != "moe.router"; }

std::vector<ParameterSpec> stored_parameters(const ModelConfig& model, int64_t layer, ElementType type,
                                             int64_t block) {
  std::vector<ParameterSpec> specs;
  for (ParameterSpec& spec : layer_parameters(model, layer)) {
    specs.push_back(std::move(spec));
    if (type == ElementType::kInvalid || !is_stored_narrow(specs.back())) continue;
    ParameterSpec& weights = specs.back();
    weights.type = type;
    ParameterSpec scales = weights;
    scales.name += "_scale", scales.counted = false, scales.type = ElementType::kF32;
    if (block > 0) {
      scales.dims[blocked_dimension(weights)] /= block;
    } else {
      const auto [first, count] = summed_dimensions(weights);
      const auto begin = static_cast<ptrdiff_t>(first), end = static_cast<ptrdiff_t>(first + count);
      scales.dims.erase(scales.dims.begin() + begin, scales.dims.begin() + end);
      scales.axes.erase(scales.axes.begin() + begin, scales.axes.begin() + end);
    }
    specs.push_back(std::move(scales));
  }
  return specs;
}

std::vector<ParameterSpec> outer_parameters(const ModelConfig& model, int64_t positions) {
  SpecList list(model);
  list.weight("embedding", {model.vocab, model.d_model}, {Axis::kVocab, Axis::kEmbed});
  if (model.position == Position::kLearned)
    list.small("positions", {model.max_positions > 0 ? model.max_positions : positions, model.d_model},
               {Axis::kNone, Axis::kEmbed});
  list.norm("final_norm", model.d_model);
  if (!model.tied_embeddings) list.weight("head", {model.d_model, model.vocab}, {Axis::kEmbed, Axis::kVocab});
  return list.specs;
}

std::vector<ParameterSpec> ahead_parameters(const ModelConfig& model) {
  SpecList list(model);
  list.norm("ahead.hidden_norm", model.d_model);
  list.norm("ahead.embedding_norm", model.d_model);
  list.weight("ahead.join", {2 * model.d_model, model.d_model}, {Axis::kEmbed, Axis::kNone});
  return list.specs;
}

std::vector<LayerGroup> layer_groups(const ModelConfig& model) {
  const int64_t count = model.layers, longest = longest_period(model);
  std::vector<LayerGroup> best(static_cast<size_t>(count));    // that begins at each layer
  std::vector<int64_t> cost(static_cast<size_t>(count) + 1);   // of it and of all behind it
  std::vector<int64_t> run(static_cast<size_t>(longest) + 1);  // by period p: layers from here on that are
                                                               // like those p layers later
  for (int64_t first = count; first-- > 0;) {
    int64_t& least = cost[static_cast<size_t>(first)] = std::numeric_limits<int64_t>::max();
    for (int64_t period = 1; period <= std::min(longest, count - first); ++period) {
      int64_t& alike_from_here = run[static_cast<size_t>(period)];
      const bool goes_on = first + period < count && alike(model, first, first + period);
      alike_from_here = goes_on ? alike_from_here + 1 : 0;
      for (int64_t repeats = 1; repeats <= 1 + alike_from_here / period; ++repeats) {
        const int64_t with = period + 1 + cost[static_cast<size_t>(first + period * repeats)];
        if (with > least) continue;
        least = with;
        best[static_cast<size_t>(first)] = {first, period, repeats};
      }
    }
  }
  std::vector<LayerGroup> groups;
  for (int64_t first = 0; first < count; first += groups.back().period * groups.back().repeats)
    groups.push_back(best[static_cast<size_t>(first)]);
  return groups;
}

}  // namespace hlosim
