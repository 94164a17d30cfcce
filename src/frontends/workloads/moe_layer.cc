// Layers with experts: who gets which token.
#include <cmath>

#include "workloads/experts.h"

namespace hlosim {
namespace {

/// Numbers 0 … experts - 1, dealt out to the slots of each sequence's tokens in turn: [b, l, k].
Expr dealt_out(ExpressionGraph& graph, const Dims& dims, int64_t experts) {
  const Expr number = iota(graph, ElementType::kS32, {dims[1] * dims[2]}, 0);
  const Expr all = full_like(graph, number, static_cast<double>(experts));
  const Expr left = subtract(graph, number, multiply(graph, divide(graph, number, all), all));
  return broadcast(graph, reshape(graph, left, {dims[1], dims[2]}), dims, {1, 2});
}

}  // namespace

Routing route(const LayerScope& scope, Expr x) {
  ExpressionGraph& graph = scope.graph;
  const MoeConfig& moe = *scope.model.moe;
  const Dims dims = graph.dims(x);
  const Expr router = scope.parameter("moe.router");
  Expr logits = dot(graph, x, router, {{2}, {0}});
  logits = scope.constrained(convert(graph, with_bias(scope, logits, "moe.router_bias"), scope.wide()),
                             {Axis::kBatch, Axis::kLength, Axis::kNone});
  const Expr scores =
      moe.score == MoeConfig::Score::kSoftmax ? softmax(graph, logits, 2) : logistic(graph, logits);
  const Dims chosen{dims[0], dims[1], moe.top_k}, all{dims[0], dims[1], moe.top_k, moe.experts};
  Routing routing;
  routing.experts = moe.random_routing
                        ? dealt_out(graph, chosen, moe.experts)
                        : element(graph, largest(graph, stop_gradient(graph, scores), moe.top_k), 1);
  const Expr numbers = iota(graph, ElementType::kS32, all, 3);
  const Expr is_chosen = compare(graph, broadcast(graph, routing.experts, all, {0, 1, 2}), numbers, "EQ");
  routing.choice = convert(graph, is_chosen, scope.wide());
  routing.weights =
      reduce_sum(graph, multiply(graph, routing.choice, broadcast(graph, scores, all, {0, 1, 3})), {3});
  if (moe.normalize_top_k) {
    const Expr sums = shift(graph, reduce_sum(graph, routing.weights, {2}), 1e-20);
    routing.weights = divide(graph, routing.weights, along(graph, sums, chosen, 2));
  }
  return routing;
}

Expr sparse_mlp(const LayerScope& scope, Expr x) {
  ExpressionGraph& graph = scope.graph;
  graph.set_scope("moe");
  const Routing routing = route(scope, x);
  const Expr out = scope.model.moe->dispatch == MoeConfig::Dispatch::kDropless
                       ? sorted_experts(scope, x, routing)
                       : slotted_experts(scope, x, routing);
  if (scope.model.moe->shared_experts == 0) return out;
  const Expr shared = dense_mlp(scope, x, "shared");
  graph.set_scope("moe");
  const Expr of_all = scope.residual(shared), of_chosen = scope.residual(out);
  return add(graph, of_chosen, of_all);
}

// ── slots ──

namespace {

/// Running sums along dimension 1 of [b, n, e]: within blocks, then of whole blocks.
Expr running_sums(ExpressionGraph& graph, Expr a) {
  const Dims dims = graph.dims(a);
  int64_t block = 1;
  while (block < 128 && dims[1] % (block * 2) == 0) block *= 2;
  const int64_t blocks = dims[1] / block;
  const auto triangle = [&](int64_t size, const char* direction) {
    const Dims square{size, size};
    const Expr columns = iota(graph, ElementType::kS32, square, 1);
    const Expr rows = iota(graph, ElementType::kS32, square, 0);
    return convert(graph, compare(graph, rows, columns, direction), graph.element(a));
  };
  const Expr cut = reshape(graph, a, {dims[0], blocks, block, dims[2]});
  // [b, blocks, e, block]: element i has the terms up to i.
  const Expr within = transpose(graph, dot(graph, cut, triangle(block, "LE"), {{2}, {0}}), {0, 1, 3, 2});
  const Expr sums = reduce_sum(graph, cut, {2});
  const Expr before = transpose(graph, dot(graph, sums, triangle(blocks, "LT"), {{1}, {0}}), {0, 2, 1});
  const Expr all = add(graph, within, broadcast(graph, before, Dims(graph.dims(within)), {0, 1, 3}));
  return reshape(graph, all, dims);
}

/// Which slot of which expert a token has: one-hot [b, l, e, slots]; and the weight of each expert [b, l, e].
struct Slots {
  Expr one_hot, weights;
};

Slots slots_of(const LayerScope& scope, const Routing& routing, int64_t slots) {
  ExpressionGraph& graph = scope.graph;
  const Dims all = graph.dims(routing.choice);  // [b, l, k, e]
  const Expr flat = reshape(graph, routing.choice, {all[0], all[1] * all[2], all[3]});
  const Expr order = reshape(graph, running_sums(graph, flat), all);
  const Expr last = full_like(graph, order, static_cast<double>(slots));
  const Expr fits = convert(graph, compare(graph, order, last, "LE"), scope.wide());
  const Expr kept = stop_gradient(graph, multiply(graph, routing.choice, fits));
  const Expr weights =
      reduce_sum(graph, multiply(graph, kept, broadcast(graph, routing.weights, all, {0, 1, 2})), {2});
  const Expr places = reduce_sum(graph, multiply(graph, kept, order), {2});  // 1 …; 0: none
  const Dims dims{all[0], all[1], all[3], slots};
  const Expr numbers = shift(graph, iota(graph, scope.wide(), dims, 3), 1);
  const Expr is_mine = compare(graph, broadcast(graph, places, dims, {0, 1, 2}), numbers, "EQ");
  return {convert(graph, is_mine, scope.wide()), weights};
}

Expr slotted_product(const LayerScope& scope, Expr a, const std::string& name, int64_t batch,
                     int64_t summed) {
  ExpressionGraph& graph = scope.graph;
  const DotDims dims{{summed}, {1}, {batch}, {0}};
  const Expr made =
      scope.options.quantization == Quantization::kNone
          ? dot(graph, a, scope.parameter("moe." + name), dims)
          : quantized_dot(graph, a, scope.parameter("moe." + name), dims, scope.options.quantization);
  if (!scope.has("moe." + name + "_bias")) return made;  // [e, b, slots, out]
  return add(graph, made,
             broadcast(graph, scope.parameter("moe." + name + "_bias"), Dims(graph.dims(made)), {0, 3}));
}

}  // namespace

Expr slotted_experts(const LayerScope& scope, Expr x, const Routing& routing) {
  ExpressionGraph& graph = scope.graph;
  const MoeConfig& moe = *scope.model.moe;
  const double share = static_cast<double>(graph.dims(x)[1] * moe.top_k) / static_cast<double>(moe.experts);
  const auto slots = static_cast<int64_t>(std::ceil(share * moe.capacity_factor));
  const Slots made = slots_of(scope, routing, slots);
  const Dims dims = graph.dims(made.one_hot);
  const std::vector<Axis> by_expert{Axis::kActExperts, Axis::kExpertBatch, Axis::kNone, Axis::kActMlp};
  const Expr dispatch = convert(graph, made.one_hot, scope.type());
  Expr in = dot(graph, dispatch, x, {{1}, {1}, {0}, {0}});  // [b, e, slots, d]
  in = scope.constrained(in, {Axis::kExpertBatch, Axis::kActExperts, Axis::kNone, Axis::kNone});
  Expr hidden;
  if (scope.model.gated_mlp) {
    const Expr gate = slotted_product(scope, in, "wi_0", 1, 3), up = slotted_product(scope, in, "wi_1", 1, 3);
    hidden = multiply(graph, activate(scope, gate), up);
  } else {
    hidden = activate(scope, slotted_product(scope, in, "wi", 1, 3));
  }
  hidden = scope.constrained(hidden, by_expert);
  const Expr out = scope.constrained(slotted_product(scope, hidden, "wo", 0, 3),
                                     {Axis::kActExperts, Axis::kExpertBatch, Axis::kNone, Axis::kNone});
  const Expr combine =
      convert(graph, multiply(graph, made.one_hot, along(graph, made.weights, dims, 3)), scope.type());
  return graph.named(dot(graph, combine, out, {{2, 3}, {0, 2}, {0}, {1}}), SavedValue::kMlpWo);
}

}  // namespace hlosim
