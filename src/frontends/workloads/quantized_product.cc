// Products in eight bits.
//
// s8 (AQT): each row of what is summed over has a scale, its largest magnitude over 127. f8 (qwix): a scale
// that is fixed, values up to 224 on either side; e4m3 forward, e5m2 for gradients.
#include <algorithm>

#include "workloads/experts.h"
#include "workloads/gradients.h"
#include "workloads/layer.h"

namespace hlosim {
namespace {

constexpr double kFixedRange = 224;

struct Scaled {
  Expr values, scales;  // of the dimensions that aren't summed over
};

/// s8 with a scale for each row along `summed`.
Scaled to_int8(ExpressionGraph& graph, Expr a, const Dims& summed, ElementType wide) {
  const Dims dims = graph.dims(a);
  Dims kept;
  for (int64_t i = 0; i < static_cast<int64_t>(dims.size()); ++i)
    if (std::find(summed.begin(), summed.end(), i) == summed.end()) kept.push_back(i);
  a = convert(graph, a, wide);
  const Expr highest = shift(graph, reduce_max(graph, absolute(graph, a), summed), 1e-30);
  const Expr scales = scale(graph, highest, 1 / 127.0);
  const Expr steps = divide(graph, a, broadcast(graph, scales, dims, kept));
  return {convert(graph, round_to_even(graph, steps), ElementType::kS8), scales};
}

/// Dimensions of the result that come from an operand whose batch and free dimensions are these.
Dims places(int64_t rank, const DotDims& dims, bool lhs, int64_t result_rank) {
  const Dims& summed = lhs ? dims.lhs : dims.rhs;
  const Dims& batch = lhs ? dims.lhs_batch : dims.rhs_batch;
  int64_t next = lhs ? static_cast<int64_t>(batch.size())
                     : result_rank - (rank - static_cast<int64_t>(summed.size() + batch.size()));
  Dims found;
  for (int64_t i = 0; i < rank; ++i) {
    if (std::find(summed.begin(), summed.end(), i) != summed.end()) continue;
    const auto shared = std::find(batch.begin(), batch.end(), i);
    found.push_back(shared != batch.end() ? shared - batch.begin() : next++);
  }
  return found;
}

Expr int8_dot(ExpressionGraph& graph, Expr a, Expr b, const DotDims& dims) {
  const ElementType type = graph.element(a), wide = ElementType::kF32;
  const Scaled lhs = to_int8(graph, a, dims.lhs, wide), rhs = to_int8(graph, b, dims.rhs, wide);
  const Expr sums = dot(graph, lhs.values, rhs.values, dims, ElementType::kS32);
  const Dims result = graph.dims(sums);
  const auto rank = static_cast<int64_t>(result.size());
  Expr made = convert(graph, sums, wide);
  made = multiply(graph, made, broadcast(graph, lhs.scales, result, places(graph.rank(a), dims, true, rank)));
  made =
      multiply(graph, made, broadcast(graph, rhs.scales, result, places(graph.rank(b), dims, false, rank)));
  return convert(graph, made, type);
}

/// Clipped to the range and scaled to what the type holds.
Expr to_float8(ExpressionGraph& graph, Expr a, ElementType type) {
  const double most = type == ElementType::kF8E4M3FN ? 448 : 57344;
  const Expr low = full_like(graph, a, -kFixedRange), high = full_like(graph, a, kFixedRange);
  const Expr clipped = minimum(graph, maximum(graph, a, low), high);
  return convert(graph, scale(graph, clipped, most / kFixedRange), type);
}

double unit_of(ElementType type) { return kFixedRange / (type == ElementType::kF8E4M3FN ? 448.0 : 57344.0); }

Expr float8_dot(ExpressionGraph& graph, Expr a, Expr b, const DotDims& dims, ElementType a_type,
                ElementType b_type) {
  const ElementType type = graph.element(a);
  const Expr short_b = to_float8(graph, b, b_type), short_a = to_float8(graph, a, a_type);
  const Expr sums = dot(graph, short_a, short_b, dims, ElementType::kF32);
  return convert(graph, scale(graph, sums, unit_of(a_type) * unit_of(b_type)), type);
}

/// The product of a cotangent: `first` says on which side it stands.
Expr product(ExpressionGraph& graph, Expr a, Expr b, const DotDims& dims, Quantization quantization,
             bool cotangent_first, bool cotangent_second) {
  if (quantization == Quantization::kInt8) return int8_dot(graph, a, b, dims);
  return float8_dot(graph, a, b, dims, cotangent_first ? ElementType::kF8E5M2 : ElementType::kF8E4M3FN,
                    cotangent_second ? ElementType::kF8E5M2 : ElementType::kF8E4M3FN);
}

}  // namespace

Expr quantized_dot(ExpressionGraph& graph, Expr a, Expr b, const DotDims& dims, Quantization quantization) {
  const Expr made = product(graph, a, b, dims, quantization, false, false);
  graph.at(made).gradient = [a, b, dims, quantization](Backward& backward, Expr, Expr cotangent) {
    ExpressionGraph& g = backward.graph();
    if (backward.reaches(a)) {
      const DotGradient to_a = dot_gradient_lhs(g.rank(a), g.rank(b), dims);
      const Expr da =
          product(g, convert(g, cotangent, g.element(b)), b, to_a.dims, quantization, true, false);
      backward.add(a, transpose(g, da, to_a.order));
    }
    if (backward.reaches(b)) {
      const DotGradient to_b = dot_gradient_rhs(g.rank(a), g.rank(b), dims);
      const Expr db =
          product(g, a, convert(g, cotangent, g.element(a)), to_b.dims, quantization, false, true);
      backward.add(b, transpose(g, db, to_b.order));
    }
  };
  return made;
}

Expr stored_dot(const LayerScope& scope, Expr x, const std::string& name, const DotDims& dims) {
  ExpressionGraph& graph = scope.graph;
  constexpr ElementType kWide = ElementType::kF32, kFloat8 = ElementType::kF8E4M3FN;
  const Expr weights = scope.stored(name), scales = scope.stored(scale_of(name));
  Expr sums;
  if (scope.options.quantization == Quantization::kInt8) {
    const Scaled rows = to_int8(graph, x, dims.lhs, kWide);
    const Expr whole = convert(graph, dot(graph, rows.values, weights, dims, ElementType::kS32), kWide);
    const Dims result = graph.dims(whole);
    const Dims at = places(graph.rank(x), dims, true, static_cast<int64_t>(result.size()));
    sums = multiply(graph, whole, broadcast(graph, rows.scales, result, at));
  } else if (scope.options.quantization == Quantization::kFp8) {
    // Partial sums of devices are added in the activations' type, as servers do.
    const Expr partial = dot(graph, to_float8(graph, x, kFloat8), weights, dims, graph.element(x));
    sums = scale(graph, convert(graph, partial, kWide), unit_of(kFloat8));
  } else {
    sums = convert(graph, dot(graph, x, convert(graph, weights, graph.element(x)), dims), kWide);
  }
  const Dims result = graph.dims(sums);
  Dims at;
  for (int64_t i = graph.rank(sums) - graph.rank(scales); i < graph.rank(sums); ++i) at.push_back(i);
  return convert(graph, multiply(graph, sums, broadcast(graph, scales, result, at)), graph.element(x));
}

Expr narrowed_weights(ExpressionGraph& graph, Expr weights) {
  return to_float8(graph, weights, ElementType::kF8E4M3FN);
}

// Kernels of grouped products add up on the chip and write what they are asked for: no f32 sums in HBM. What
// is
// left of the scale joins whatever takes the result.
Expr grouped_product(const LayerScope& scope, Expr a, Expr b, RowGroups groups,
                     std::optional<Expr> narrow_b) {
  ExpressionGraph& graph = scope.graph;
  if (scope.options.quantization == Quantization::kNone) return grouped_dot(graph, a, b, groups);
  constexpr ElementType kForward = ElementType::kF8E4M3FN, kBack = ElementType::kF8E5M2;
  const ElementType type = graph.element(a);
  const Expr narrow = narrow_b ? *narrow_b : to_float8(graph, b, kForward);
  const auto rescaled = [type](ExpressionGraph& g, Expr sums, ElementType first, ElementType second) {
    return convert(g, scale(g, sums, unit_of(first) * unit_of(second)), type);
  };
  const Expr sums = grouped_dot(graph, to_float8(graph, a, kForward), narrow, groups, type);
  const Expr made = rescaled(graph, sums, kForward, kForward);
  graph.at(made).gradient = [a, b, narrow, groups, type, rescaled](Backward& backward, Expr, Expr cotangent) {
    ExpressionGraph& g = backward.graph();
    const Expr c = to_float8(g, cotangent, kBack);
    const Expr turned = transpose(g, narrow, {0, 2, 1});
    if (backward.reaches(a))
      backward.add(a,
                   rescaled(g, grouped_dot(g, c, turned, groups.of_row_gradient(), type), kBack, kForward));
    if (backward.reaches(b))
      backward.add(
          b, rescaled(g, grouped_outer(g, to_float8(g, a, kForward), c, groups, type), kForward, kBack));
  };
  return made;
}

Expr stored_grouped_product(const LayerScope& scope, Expr rows, Expr weights, RowGroups groups) {
  ExpressionGraph& graph = scope.graph;
  constexpr ElementType kFloat8 = ElementType::kF8E4M3FN;
  const ElementType type = graph.element(rows);
  if (scope.options.quantization == Quantization::kFp8)
    return scale(graph, grouped_dot(graph, to_float8(graph, rows, kFloat8), weights, groups, type),
                 unit_of(kFloat8));
  return grouped_dot(graph, rows, weights, groups, type);
}

}  // namespace hlosim
