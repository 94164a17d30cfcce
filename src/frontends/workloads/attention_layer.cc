// Attention of a layer: projections, rotary positions, masks.
#include <cmath>

#include "workloads/layer.h"

namespace hlosim {
namespace {

/// Positions of this step's tokens, in the wide type: [length].
Expr token_positions(const LayerScope& scope, int64_t length) {
  ExpressionGraph& graph = scope.graph;
  const Expr positions = iota(graph, scope.wide(), {length}, 0);
  if (!scope.position) return positions;
  return add(graph, positions, broadcast(graph, convert(graph, *scope.position, scope.wide()), {length}, {}));
}

/// Angles [length, size / 2].
Expr angles(const LayerScope& scope, int64_t length, int64_t half) {
  ExpressionGraph& graph = scope.graph;
  const Dims dims{length, half};
  const double step = -std::log(scope.model.rope_theta) / static_cast<double>(half);
  const Expr frequencies = exponential(graph, scale(graph, iota(graph, scope.wide(), {half}, 0), step));
  return multiply(graph, broadcast(graph, token_positions(scope, length), dims, {0}),
                  broadcast(graph, frequencies, dims, {1}));
}

/// Turns the two halves of the last dimension of [b, l, h, size] by the position.
Expr rotary(const LayerScope& scope, Expr x) {
  ExpressionGraph& graph = scope.graph;
  const Dims dims = graph.dims(x);
  const int64_t size = dims[3], half = size / 2;
  const Dims halves{dims[0], dims[1], dims[2], half};
  const Expr turned = angles(scope, dims[1], half);
  const Expr sin = broadcast(graph, sine(graph, turned), halves, {1, 3});
  const Expr cos = broadcast(graph, cosine(graph, turned), halves, {1, 3});
  const Expr wide = convert(graph, x, scope.wide());
  const Expr a = slice(graph, wide, 3, 0, half), b = slice(graph, wide, 3, half, size);
  const Expr first = subtract(graph, multiply(graph, a, cos), multiply(graph, b, sin));
  const Expr second = add(graph, multiply(graph, b, cos), multiply(graph, a, sin));
  return convert(graph, concatenate(graph, {first, second}, 3), scope.type());
}

struct Projected {
  Expr queries, keys, values;
};

Expr heads(const LayerScope& scope, Expr x, const std::string& name, SavedValue value) {
  const Expr made = with_bias(scope, project(scope, x, "attention." + name), "attention." + name + "_bias");
  return scope.graph.named(made, value);
}

Projected fused_projections(const LayerScope& scope, Expr x) {
  ExpressionGraph& graph = scope.graph;
  const Expr all = heads(scope, x, "qkv", SavedValue::kQkvProj);
  const Dims dims = graph.dims(all);
  const auto part = [&](int64_t i) {
    return reshape(graph, slice(graph, all, 2, i, i + 1), {dims[0], dims[1], dims[3], dims[4]});
  };
  return {part(0), part(1), part(2)};
}

/// DeepSeek's: low-rank queries, keys and values; the rotary part of the keys is one for all heads.
Projected latent_projections(const LayerScope& scope, Expr x) {
  ExpressionGraph& graph = scope.graph;
  const LatentAttention& latent = *scope.model.attention.latent;
  Expr queries;
  if (latent.q_rank > 0) {
    const Expr low = rms_norm(scope, project(scope, x, "attention.query_down"), "attention.query_norm");
    queries = project(scope, low, "attention.query_up");
  } else {
    queries = project(scope, x, "attention.query");
  }
  queries = graph.named(queries, SavedValue::kQueryProj);
  const int64_t size = latent.nope_dim + latent.rope_dim;
  const Expr turned = rotary(scope, slice(graph, queries, 3, latent.nope_dim, size));
  queries = concatenate(graph, {slice(graph, queries, 3, 0, latent.nope_dim), turned}, 3);

  const Expr down = project(scope, x, "attention.kv_down");
  const int64_t rank = latent.kv_rank, width = rank + latent.rope_dim;
  const Expr low = rms_norm(scope, slice(graph, down, 2, 0, rank), "attention.kv_norm");
  const Expr up = graph.named(project(scope, low, "attention.kv_up"), SavedValue::kKeyProj);
  const Dims dims = graph.dims(up);
  const Expr shared =
      reshape(graph, slice(graph, down, 2, rank, width), {dims[0], dims[1], 1, latent.rope_dim});
  const Expr rope = reshape(graph, rotary(scope, shared), {dims[0], dims[1], latent.rope_dim});
  const Expr everywhere = broadcast(graph, rope, {dims[0], dims[1], dims[2], latent.rope_dim}, {0, 1, 3});
  return {queries, concatenate(graph, {slice(graph, up, 3, 0, latent.nope_dim), everywhere}, 3),
          slice(graph, up, 3, latent.nope_dim, dims[3])};
}

Projected projections(const LayerScope& scope, Expr x) {
  if (scope.model.attention.latent) return latent_projections(scope, x);
  Projected made;
  if (scope.model.fused_qkv) {
    made = fused_projections(scope, x);
  } else {
    made.queries = heads(scope, x, "query", SavedValue::kQueryProj);
    made.keys = heads(scope, x, "key", SavedValue::kKeyProj);
    made.values = head_sizes(scope.model, scope.layer).shares_kv
                      ? made.keys
                      : heads(scope, x, "value", SavedValue::kValueProj);
  }
  if (scope.model.attention.qk_norm) {
    made.queries = rms_norm(scope, made.queries, "attention.q_norm");
    made.keys = rms_norm(scope, made.keys, "attention.k_norm");
  }
  if (scope.model.position == Position::kRotary) {
    made.queries = rotary(scope, made.queries);
    made.keys = rotary(scope, made.keys);
  }
  return made;
}

/// The cache with this step's rows [b, l, h, size] written from `position` on.
Expr cache_with(const LayerScope& scope, Expr cache, Expr rows) {
  return update_rows(scope.graph, cache, convert(scope.graph, rows, scope.graph.element(cache)), 1,
                     *scope.position);
}

}  // namespace

Expr attention(LayerScope& scope, Expr x) {
  ExpressionGraph& graph = scope.graph;
  graph.set_scope("attention");
  const HeadSizes sizes = head_sizes(scope.model, scope.layer);
  const AttentionConfig& config = scope.model.attention;
  Projected made = projections(scope, x);
  const double scaling = config.scale > 0 ? config.scale : 1 / std::sqrt(static_cast<double>(sizes.head_dim));
  const std::vector<Axis> by_heads{Axis::kBatch, Axis::kLength, Axis::kActHeads, Axis::kNone};
  AttentionInputs inputs;
  inputs.queries = scope.constrained(scale(graph, made.queries, scaling), by_heads);
  inputs.keys = scope.constrained(made.keys, by_heads);
  inputs.values = scope.constrained(made.values, by_heads);
  inputs.window = scope.model.is_global(scope.layer) ? 0 : config.window;
  if (config.sinks) inputs.sinks = scope.parameter("attention.sinks");
  if (scope.options.kind != StepKind::kTrain) {
    if (scope.cached_keys) {
      inputs.keys = cache_with(scope, *scope.cached_keys, inputs.keys);
      inputs.values = cache_with(scope, *scope.cached_values, inputs.values);
      inputs.first = scope.position;
    }
    const ElementType cache = scope.options.cache_type;
    const auto kept = [&](Expr value) {
      return cache == ElementType::kInvalid ? value : convert(graph, value, cache);
    };
    scope.new_keys = kept(inputs.keys), scope.new_values = kept(inputs.values);
    inputs.keys = convert(graph, inputs.keys, scope.type());
    inputs.values = convert(graph, inputs.values, scope.type());
  }
  const bool plain = scope.options.attention == AttentionKernel::kPlain || inputs.first;
  Expr context = plain ? plain_attention(scope, inputs) : kernel_attention(scope, inputs);
  context = scope.constrained(context, by_heads);
  if (plain) graph.named(context, SavedValue::kContext);
  const Expr out = with_bias(scope, project(scope, context, "attention.out", 2), "attention.out_bias");
  return graph.named(out, SavedValue::kOutProj);
}

/// Scores [b, kv heads, heads of each, l, s].
Expr plain_attention(const LayerScope& scope, const AttentionInputs& in) {
  ExpressionGraph& graph = scope.graph;
  const Dims q = graph.dims(in.queries), k = graph.dims(in.keys);
  const int64_t shared = q[2] / k[2], size = graph.dims(in.values)[3];
  const Expr grouped = reshape(graph, in.queries, {q[0], q[1], k[2], shared, q[3]});
  // Batch and kv heads come first: [b, kv, l, heads of each, s].
  Expr scores = dot(graph, grouped, in.keys, {{4}, {3}, {0, 2}, {0, 2}});
  const Dims dims = graph.dims(scores);
  scores = convert(graph, scores, scope.wide());
  if (const double cap = scope.model.attention.soft_cap; cap > 0)
    scores = scale(graph, tangent_hyperbolic(graph, scale(graph, scores, 1 / cap)), cap);
  Expr rows = iota(graph, ElementType::kS32, dims, 2);
  if (in.first) rows = add(graph, rows, broadcast(graph, *in.first, dims, {}));
  const Expr columns = iota(graph, ElementType::kS32, dims, 4);
  Expr seen = compare(graph, columns, rows, "LE");
  if (in.window > 0)
    seen = both(graph, seen,
                compare(graph, columns, shift(graph, rows, 1.0 - static_cast<double>(in.window)), "GE"));
  scores = select(graph, seen, scores, full_like(graph, scores, -1e30));
  Expr shares;
  if (in.sinks) {
    const Expr sink =
        broadcast(graph, reshape(graph, convert(graph, *in.sinks, scope.wide()), {k[2], shared}),
                  {dims[0], dims[1], dims[2], dims[3], 1}, {1, 3});
    const Expr all = softmax(graph, concatenate(graph, {scores, sink}, 4), 4);
    shares = slice(graph, all, 4, 0, dims[4]);
  } else {
    shares = softmax(graph, scores, 4);
  }
  // [b, kv, l, heads of each, size] -> [b, l, heads, size]
  const Expr out = dot(graph, convert(graph, shares, scope.type()), in.values, {{4}, {1}, {0, 1}, {0, 2}});
  return reshape(graph, transpose(graph, out, {0, 2, 1, 3, 4}), {q[0], q[1], q[2], size});
}

}  // namespace hlosim
