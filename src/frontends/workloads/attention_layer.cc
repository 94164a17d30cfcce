// Attention of a layer: projections, rotary positions, masks.
#include <cmath>

#include "workloads/layer.h"

namespace hlosim {
namespace {

/// Does each request have a position of its own?
bool has_own_positions(const LayerScope& scope) {
  return scope.position && scope.graph.rank(*scope.position) == 1;
}

/// Positions of this step's tokens, in the wide type: [length], or [batch, length].
Expr token_positions(const LayerScope& scope, int64_t length) {
  ExpressionGraph& graph = scope.graph;
  Expr positions = iota(graph, scope.wide(), {length}, 0);
  if (!scope.position) return positions;
  const Expr first = convert(graph, *scope.position, scope.wide());
  if (!has_own_positions(scope)) return add(graph, positions, broadcast(graph, first, {length}, {}));
  const Dims dims{graph.dims(first)[0], length};
  positions = broadcast(graph, positions, dims, {1});
  return add(graph, positions, broadcast(graph, first, dims, {0}));
}

/// Angles [length, size / 2], or [batch, length, size / 2].
Expr angles(const LayerScope& scope, int64_t length, int64_t half) {
  ExpressionGraph& graph = scope.graph;
  Dims dims{length, half}, places{0};
  if (has_own_positions(scope)) {
    dims.insert(dims.begin(), graph.dims(*scope.position)[0]);
    places.push_back(1);
  }
  const double step = -std::log(scope.model.rope_theta) / static_cast<double>(half);
  Expr frequencies = exponential(graph, scale(graph, iota(graph, scope.wide(), {half}, 0), step));
  frequencies = broadcast(graph, frequencies, dims, {static_cast<int64_t>(places.size())});
  return multiply(graph, broadcast(graph, token_positions(scope, length), dims, places), frequencies);
}

/// Turns the two halves of the last dimension of [b, l, h, size] by the position.
Expr turned_halves(const LayerScope& scope, Expr x) {
  ExpressionGraph& graph = scope.graph;
  const Dims dims = graph.dims(x);
  const int64_t size = dims[3], half = size / 2;
  const Dims halves{dims[0], dims[1], dims[2], half};
  const Expr turned = angles(scope, dims[1], half);
  const Dims places = has_own_positions(scope) ? Dims{0, 1, 3} : Dims{1, 3};
  const auto everywhere = [&](Expr value) {
    return broadcast(graph, convert(graph, value, scope.type()), halves, places);
  };
  const Expr sin = everywhere(sine(graph, turned)), cos = everywhere(cosine(graph, turned));
  const Expr a = slice(graph, x, 3, 0, half), b = slice(graph, x, 3, half, size);
  const Expr b_sin = multiply(graph, b, sin), a_cos = multiply(graph, a, cos);
  const Expr first = subtract(graph, a_cos, b_sin);
  const Expr a_sin = multiply(graph, a, sin), b_cos = multiply(graph, b, cos);
  const Expr second = add(graph, b_cos, a_sin);
  return concatenate(graph, {first, second}, 3);
}

/// Turns neighbors 2i and 2i + 1 of the last dimension, as MaxText's LLaMARotaryEmbedding does: all features
/// are shifted by one both ways, and each takes its neighbor; in the wide type.
Expr turned_neighbors(const LayerScope& scope, Expr x) {
  ExpressionGraph& graph = scope.graph;
  const Dims dims = graph.dims(x);
  const int64_t size = dims[3];
  const auto part = [&](int64_t from, int64_t to) { return slice(graph, x, 3, from, to); };
  const Expr left = concatenate(graph, {part(1, size), part(0, 1)}, 3);
  const Expr right = concatenate(graph, {part(size - 1, size), part(0, size - 1)}, 3);
  const Expr feature = iota(graph, scope.wide(), dims, 3);
  const Expr half = scale(graph, feature, 0.5);
  const Expr is_first = compare(graph, half, round_to_even(graph, shift(graph, half, -0.25)), "EQ");
  const Expr neighbor = convert(graph, select(graph, is_first, left, right), scope.wide());

  const Expr angle = angles(scope, dims[1], size / 2);
  const bool own = has_own_positions(scope);
  Dims both = graph.dims(angle), all = both;  // each pair's angle twice, and one after the other
  both.push_back(2), all.back() = size;
  const auto everywhere = [&](Expr value) {
    const Expr each = broadcast(graph, value, both, own ? Dims{0, 1, 2} : Dims{0, 1});
    return broadcast(graph, reshape(graph, each, all), dims, own ? Dims{0, 1, 3} : Dims{1, 3});
  };
  const Expr sin = everywhere(sine(graph, angle)), cos = everywhere(cosine(graph, angle));
  const Expr signed_sin = select(graph, is_first, negate(graph, sin), sin);
  const Expr turned = add(graph, multiply(graph, convert(graph, x, scope.wide()), cos),
                          multiply(graph, neighbor, signed_sin));
  return convert(graph, turned, scope.type());
}

Expr rotary(const LayerScope& scope, Expr x) {
  return scope.model.rope_interleaved ? turned_neighbors(scope, x) : turned_halves(scope, x);
}

struct Projected {
  Expr queries, keys, values;
  // Latent attention: what is cached, [b, l, rank] and the keys' rotary part [b, l, size].
  std::optional<Expr> latent{}, rope{};
};

Expr heads(const LayerScope& scope, Expr x, const std::string& name) {
  return with_bias(scope, project(scope, x, "attention." + name), "attention." + name + "_bias");
}

Projected fused_projections(const LayerScope& scope, Expr x) {
  ExpressionGraph& graph = scope.graph;
  const Expr all = graph.named(heads(scope, x, "qkv"), SavedValue::kQkvProj);
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
  const int64_t size = latent.nope_dim + latent.rope_dim;
  const Expr turned = rotary(scope, slice(graph, queries, 3, latent.nope_dim, size));
  queries = concatenate(graph, {slice(graph, queries, 3, 0, latent.nope_dim), turned}, 3);

  const Expr down = project(scope, x, "attention.kv_down");
  const int64_t rank = latent.kv_rank, width = rank + latent.rope_dim;
  const Expr low = rms_norm(scope, slice(graph, down, 2, 0, rank), "attention.kv_norm");
  const Expr up = project(scope, low, "attention.kv_up");
  const Dims dims = graph.dims(up);
  const Expr shared =
      reshape(graph, slice(graph, down, 2, rank, width), {dims[0], dims[1], 1, latent.rope_dim});
  const Expr rope = reshape(graph, rotary(scope, shared), {dims[0], dims[1], latent.rope_dim});
  const Expr everywhere = broadcast(graph, rope, {dims[0], dims[1], dims[2], latent.rope_dim}, {0, 1, 3});
  return {queries, concatenate(graph, {slice(graph, up, 3, 0, latent.nope_dim), everywhere}, 3),
          slice(graph, up, 3, latent.nope_dim, dims[3]), low, rope};
}

/// Scores [b, kv heads, l, heads of each, s] to shares: capped, masked by position and window, with sinks.
Expr shares_of(const LayerScope& scope, Expr scores, const AttentionInputs& in) {
  ExpressionGraph& graph = scope.graph;
  const Dims dims = graph.dims(scores);
  scores = convert(graph, scores, scope.wide());
  if (const double cap = scope.model.attention.soft_cap; cap > 0)
    scores = scale(graph, tangent_hyperbolic(graph, scale(graph, scores, 1 / cap)), cap);
  Expr rows = iota(graph, ElementType::kS32, dims, 2);
  if (in.first)
    rows = add(graph, rows, broadcast(graph, *in.first, dims, graph.rank(*in.first) == 1 ? Dims{0} : Dims{}));
  const Expr columns = iota(graph, ElementType::kS32, dims, 4);
  Expr seen = compare(graph, columns, rows, "LE");
  if (in.window > 0)
    seen = both(graph, seen,
                compare(graph, columns, shift(graph, rows, 1.0 - static_cast<double>(in.window)), "GE"));
  scores = select(graph, seen, scores, full_like(graph, scores, -1e30));
  if (!in.sinks) return softmax(graph, scores, 4);
  const Expr sink =
      broadcast(graph, reshape(graph, convert(graph, *in.sinks, scope.wide()), {dims[1], dims[3]}),
                {dims[0], dims[1], dims[2], dims[3], 1}, {1, 3});
  const Expr all = softmax(graph, concatenate(graph, {scores, sink}, 4), 4);
  return slice(graph, all, 4, 0, dims[4]);
}

/// Latent attention on the latents themselves, as servers decode: the queries' part without position meets
/// kv_up before the scores and the context meets it after them, so that no keys and values of heads are made.
/// Keys are the latents [b, s, rank], values the keys' rotary part [b, s, size].
Expr absorbed_attention(const LayerScope& scope, const AttentionInputs& in) {
  ExpressionGraph& graph = scope.graph;
  const LatentAttention& latent = *scope.model.attention.latent;
  const int64_t nope = latent.nope_dim;
  const Dims q = graph.dims(in.queries);  // [b, l, heads, nope + rope]
  const Dims by_head{1, 2, 0, 3};         // [heads, b, l, size] -> [b, l, heads, size]
  const std::string name = "attention.kv_up";
  const bool whole_scales = scope.has(scale_of(name)) && scope.options.weight_block == 0;
  const Expr up = whole_scales ? convert(graph, scope.stored(name), scope.type()) : scope.parameter(name);
  const int64_t width = graph.dims(up)[2];
  std::optional<Expr> scales;  // [heads, nope + value]
  if (whole_scales) scales = convert(graph, scope.stored(scale_of(name)), scope.type());
  const auto scaled = [&](Expr rows, int64_t from, int64_t to) {
    if (!scales) return rows;
    return multiply(graph, rows,
                    broadcast(graph, slice(graph, *scales, 1, from, to), Dims(graph.dims(rows)), {2, 3}));
  };
  const Expr plain = scaled(slice(graph, in.queries, 3, 0, nope), 0, nope);
  const Expr turned = slice(graph, in.queries, 3, nope, q[3]);
  const Expr absorbed =
      transpose(graph, dot(graph, plain, slice(graph, up, 2, 0, nope), {{3}, {2}, {2}, {1}}), by_head);
  const Expr by_position = dot(graph, turned, in.values, {{3}, {2}, {0}, {0}});
  const Expr by_content = dot(graph, absorbed, in.keys, {{3}, {2}, {0}, {0}});
  const Expr scores = add(graph, by_content, by_position);  // [b, l, heads, s]
  const Dims dims = graph.dims(scores);
  const Expr shares = shares_of(scope, reshape(graph, scores, {dims[0], 1, dims[1], dims[2], dims[3]}), in);
  const Expr context = dot(graph, convert(graph, reshape(graph, shares, dims), scope.type()), in.keys,
                           {{3}, {1}, {0}, {0}});  // [b, l, heads, rank]
  const Expr out =
      transpose(graph, dot(graph, context, slice(graph, up, 2, nope, width), {{3}, {0}, {2}, {1}}), by_head);
  return scaled(out, nope, width);
}

Projected projections_of_heads(const LayerScope& scope, Expr x) {
  Projected made;
  if (scope.model.fused_qkv) {
    made = fused_projections(scope, x);
  } else {
    made.queries = heads(scope, x, "query");
    made.keys = heads(scope, x, "key");
    made.values = head_sizes(scope.model, scope.layer).shares_kv ? made.keys : heads(scope, x, "value");
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

/// Named as MaxText does: queries and keys after their norms and positions.
Projected projections(const LayerScope& scope, Expr x) {
  Projected made =
      scope.model.attention.latent ? latent_projections(scope, x) : projections_of_heads(scope, x);
  made.queries = scope.graph.named(made.queries, SavedValue::kQueryProj);
  made.keys = scope.graph.named(made.keys, SavedValue::kKeyProj);
  made.values = scope.graph.named(made.values, SavedValue::kValueProj);
  return made;
}

/// The cache with this step's rows [b, l, …] written from `position` on; a pool of pages, at `slots`.
Expr cache_with(const LayerScope& scope, Expr cache, Expr rows) {
  ExpressionGraph& graph = scope.graph;
  rows = convert(graph, rows, graph.element(cache));
  if (!scope.slots) return update_rows(graph, cache, rows, 1, *scope.position);
  const Dims pool = graph.dims(cache), batch = graph.dims(rows);
  Dims tokens(pool.begin() + 1, pool.end()), written(batch.begin() + 1, batch.end());
  tokens[0] *= pool[0], written[0] *= batch[0];
  const Expr row_list = reshape(graph, rows, written), token_list = reshape(graph, cache, tokens);
  return reshape(graph, replace_rows(graph, token_list, row_list, *scope.slots), pool);
}

/// The tokens of each request [b, s, …], brought together from its pages where the cache has some.
Expr tokens_of(const LayerScope& scope, Expr cache) {
  if (!scope.page_table) return cache;
  ExpressionGraph& graph = scope.graph;
  const Expr pages = gather_rows(graph, cache, *scope.page_table);  // [b, pages, tokens of a page, …]
  Dims dims = graph.dims(pages);
  dims[1] *= dims[2];
  dims.erase(dims.begin() + 2);
  return reshape(graph, pages, dims);
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
    Expr keys = made.latent ? *made.latent : inputs.keys, values = made.rope ? *made.rope : inputs.values;
    if (scope.cached_keys) {
      keys = cache_with(scope, *scope.cached_keys, keys);
      values = cache_with(scope, *scope.cached_values, values);
      inputs.first = scope.position;
    }
    const ElementType cache = scope.options.cache_type;
    const auto kept = [&](Expr value) {
      return cache == ElementType::kInvalid ? value : convert(graph, value, cache);
    };
    scope.new_keys = kept(keys), scope.new_values = kept(values);
    // Prefill with latents attends to the keys and values of heads.
    if (!made.latent || inputs.first) {
      inputs.keys = convert(graph, tokens_of(scope, keys), scope.type());
      inputs.values = convert(graph, tokens_of(scope, values), scope.type());
    }
  }
  const bool plain = scope.options.attention == AttentionKernel::kPlain || inputs.first;
  const bool absorbs = made.latent && inputs.first;
  Expr context = absorbs ? absorbed_attention(scope, inputs)
                 : plain ? plain_attention(scope, inputs)
                         : kernel_attention(scope, inputs);
  context = scope.constrained(context, by_heads);
  if (plain) graph.named(context, SavedValue::kContext);
  const Expr out = with_bias(scope, project(scope, context, "attention.out", 2), "attention.out_bias");
  return graph.named(out, SavedValue::kOutProj);
}

Expr plain_attention(const LayerScope& scope, const AttentionInputs& in) {
  ExpressionGraph& graph = scope.graph;
  const Dims q = graph.dims(in.queries), k = graph.dims(in.keys);
  const int64_t shared = q[2] / k[2], size = graph.dims(in.values)[3];
  const Expr grouped = reshape(graph, in.queries, {q[0], q[1], k[2], shared, q[3]});
  // Batch and kv heads come first: [b, kv, l, heads of each, s].
  const Expr shares = shares_of(scope, dot(graph, grouped, in.keys, {{4}, {3}, {0, 2}, {0, 2}}), in);
  // [b, kv, l, heads of each, size] -> [b, l, heads, size]
  const Expr out = dot(graph, convert(graph, shares, scope.type()), in.values, {{4}, {1}, {0, 1}, {0, 2}});
  return reshape(graph, transpose(graph, out, {0, 2, 1, 3, 4}), {q[0], q[1], q[2], size});
}

}  // namespace hlosim
