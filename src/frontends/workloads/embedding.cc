// The first and the last product: tokens to activations, activations to logits.
#include <cmath>

#include "workloads/manual_region.h"
#include "workloads/step_module.h"

namespace hlosim {
namespace {

/// Each device looks its tokens up in all rows. Where shards are handled by hand, their gradient is summed
/// over all devices before each takes its part, as in a module that XLA compiled for v6e: no reduce-scatter.
Expr looked_up(const LayerScope& scope, Expr table, Expr tokens) {
  const StepOptions& options = scope.options;
  const bool by_hand = options.kind == StepKind::kTrain && options.manual_attention &&
                       options.attention != AttentionKernel::kPlain && scope.rules.parts(Axis::kVocab) == 1;
  if (!by_hand)
    return gather_rows(scope.graph, scope.constrained(table, {Axis::kVocab, Axis::kNone}), tokens);
  const ManualRegion region(scope.graph, scope.rules);
  const Expr rows = region.enter(table, {Axis::kNone, Axis::kNone});
  const Expr local = gather_rows(scope.graph, rows, region.enter(tokens, {Axis::kBatch, Axis::kLength}));
  return region.leave(local, {Axis::kBatch, Axis::kLength, Axis::kNone});
}

}  // namespace

Expr embed(const LayerScope& scope, Expr tokens, std::optional<Expr> first) {
  ExpressionGraph& graph = scope.graph;
  graph.set_scope("embedding");
  const Dims dims = graph.dims(tokens);
  const Expr table = scope.parameter("embedding");
  Expr x;
  if (scope.options.one_hot_embedding) {
    const Dims wide{dims[0], dims[1], scope.model.vocab};
    const Expr numbers = iota(graph, ElementType::kS32, wide, 2);
    const Expr is_token = compare(graph, broadcast(graph, tokens, wide, {0, 1}), numbers, "EQ");
    const Expr rows = scope.constrained(convert(graph, is_token, scope.type()),
                                        {Axis::kBatch, Axis::kLength, Axis::kActVocab});
    x = dot(graph, rows, table, {{2}, {0}});
  } else {
    x = looked_up(scope, table, tokens);
  }
  if (scope.model.scale_embeddings) x = scale(graph, x, std::sqrt(static_cast<double>(scope.model.d_model)));
  x = scope.residual(x);
  if (!scope.has("positions")) return x;
  Expr places = iota(graph, ElementType::kS32, {dims[1]}, 0);
  if (first && graph.rank(*first) == 1) {
    const Expr starts = broadcast(graph, *first, dims, {0});
    places = add(graph, broadcast(graph, places, dims, {1}), starts);
    return scope.residual(add(graph, x, gather_rows(graph, scope.parameter("positions"), places)));
  }
  if (first) places = add(graph, places, broadcast(graph, *first, {dims[1]}, {}));
  const Expr rows = gather_rows(graph, scope.parameter("positions"), places);
  return scope.residual(add(graph, x, broadcast(graph, rows, Dims(graph.dims(x)), {1, 2})));
}

Expr logits_product(const LayerScope& scope, Expr hidden) {
  const bool tied = scope.model.tied_embeddings;
  const Expr table = scope.parameter(tied ? "embedding" : "head");
  return dot(scope.graph, hidden, table, {{scope.graph.rank(hidden) - 1}, {tied ? 1 : 0}});
}

Expr logits_of(const LayerScope& scope, Expr product) {
  ExpressionGraph& graph = scope.graph;
  const bool tied = scope.model.tied_embeddings;
  Expr logits = convert(graph, product, scope.wide());
  if (tied && !scope.model.scale_embeddings)
    logits = scale(graph, logits, 1 / std::sqrt(static_cast<double>(scope.model.d_model)));
  if (const double cap = scope.model.final_soft_cap; cap > 0)
    logits = scale(graph, tangent_hyperbolic(graph, scale(graph, logits, 1 / cap)), cap);
  return scope.constrained(logits, {Axis::kBatch, Axis::kLength, Axis::kActVocab});
}

}  // namespace hlosim
