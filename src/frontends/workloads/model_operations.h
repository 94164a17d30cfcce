// Expressions by name: shapes follow, and each knows how gradients flow back through it.
//
//   const Expr h = dot(graph, x, w, {.lhs = {2}, .rhs = {0}});      // [b, l, e] x [e, f] -> [b, l, f]
//   const Expr a = multiply(graph, logistic(graph, h), h);
//
// Both operands of elementwise operations have the same type. Requires: shapes that fit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/expression_graph.h"
#include "workloads/step_options.h"

namespace hlosim {

// ── values ──

/// A scalar.
Expr number(ExpressionGraph& graph, ElementType type, double value);
/// One number everywhere.
Expr full(ExpressionGraph& graph, ElementType type, const Dims& dims, double value);
Expr full_like(ExpressionGraph& graph, Expr like, double value);
/// 0, 1, 2, … along `dimension`.
Expr iota(ExpressionGraph& graph, ElementType type, const Dims& dims, int64_t dimension);

// ── element by element ──

Expr add(ExpressionGraph& graph, Expr a, Expr b);
Expr subtract(ExpressionGraph& graph, Expr a, Expr b);
Expr multiply(ExpressionGraph& graph, Expr a, Expr b);
Expr divide(ExpressionGraph& graph, Expr a, Expr b);
Expr maximum(ExpressionGraph& graph, Expr a, Expr b);
Expr minimum(ExpressionGraph& graph, Expr a, Expr b);
Expr scale(ExpressionGraph& graph, Expr a, double factor);
Expr shift(ExpressionGraph& graph, Expr a, double summand);
Expr negate(ExpressionGraph& graph, Expr a);
Expr absolute(ExpressionGraph& graph, Expr a);  // no gradient
Expr exponential(ExpressionGraph& graph, Expr a);
Expr logarithm(ExpressionGraph& graph, Expr a);
Expr square_root(ExpressionGraph& graph, Expr a);
Expr inverse_square_root(ExpressionGraph& graph, Expr a);
Expr tangent_hyperbolic(ExpressionGraph& graph, Expr a);
Expr logistic(ExpressionGraph& graph, Expr a);
Expr sine(ExpressionGraph& graph, Expr a);           // no gradient
Expr cosine(ExpressionGraph& graph, Expr a);         // no gradient
Expr round_to_even(ExpressionGraph& graph, Expr a);  // no gradient
Expr both(ExpressionGraph& graph, Expr a, Expr b);   // of predicates
/// `direction`: EQ, NE, LT, LE, GT, GE.
Expr compare(ExpressionGraph& graph, Expr a, Expr b, std::string_view direction);
Expr select(ExpressionGraph& graph, Expr which, Expr on_true, Expr on_false);
Expr convert(ExpressionGraph& graph, Expr a, ElementType type);

// ── shapes ──

/// Dimension i of `a` becomes dimension `places[i]` of the result.
Expr broadcast(ExpressionGraph& graph, Expr a, const Dims& dims, const Dims& places);
Expr reshape(ExpressionGraph& graph, Expr a, const Dims& dims);
/// Dimension i of the result is dimension order[i] of `a`; nothing where that changes nothing.
Expr transpose(ExpressionGraph& graph, Expr a, const Dims& order);
Expr slice(ExpressionGraph& graph, Expr a, int64_t dimension, int64_t start, int64_t limit);
Expr concatenate(ExpressionGraph& graph, const std::vector<Expr>& parts, int64_t dimension);
/// Zeros before and behind, along one dimension.
Expr pad(ExpressionGraph& graph, Expr a, int64_t dimension, int64_t low, int64_t high);

// ── sums and products ──

Expr reduce_sum(ExpressionGraph& graph, Expr a, const Dims& dimensions);
Expr reduce_max(ExpressionGraph& graph, Expr a, const Dims& dimensions);  // no gradient
Expr reduce_min(ExpressionGraph& graph, Expr a, const Dims& dimensions);  // no gradient

struct DotDims {
  Dims lhs{}, rhs{};              // that are summed over
  Dims lhs_batch{}, rhs_batch{};  // that both have
};
/// [batch…, free of a…, free of b…]. `type`: of the result; invalid: of the operands.
Expr dot(ExpressionGraph& graph, Expr a, Expr b, const DotDims& dims,
         ElementType type = ElementType::kInvalid);
Dims dot_result(const Dims& a, const Dims& b, const DotDims& dims);
/// The products that the gradient of a product is made of: of `a` and of `b`, in their dimensions.
struct DotGradient {
  DotDims dims;  // of (cotangent, b), or of (a, cotangent)
  Dims order;    // transposes what comes out
};
DotGradient dot_gradient_lhs(int64_t a_rank, int64_t b_rank, const DotDims& dims);
DotGradient dot_gradient_rhs(int64_t a_rank, int64_t b_rank, const DotDims& dims);

/// Groups of rows: `sizes` s32[groups] of those that have a product here. `all`: as many groups of the same
/// size as the rows have room for, with those of other devices; 0: the groups of `sizes`.
struct RowGroups {
  Expr sizes{};
  double all = 0;
  ProductTiles tiles{};

  /// Of the gradient of a product's rows, which is a product of its own.
  RowGroups of_row_gradient() const { return {sizes, all, {.forward = tiles.row_gradient}}; }
};
/// a [m, k] in groups of rows x b [groups, k, n] -> [m, n]. Rows behind the last group are 0. `type`: of the
/// result; invalid: of the operands. A gradient where types agree.
Expr grouped_dot(ExpressionGraph& graph, Expr a, Expr b, RowGroups groups,
                 ElementType type = ElementType::kInvalid);
/// a [m, k], c [m, n] in groups of rows -> [groups, k, n].
Expr grouped_outer(ExpressionGraph& graph, Expr a, Expr c, RowGroups groups,
                   ElementType type = ElementType::kInvalid);

// ── rows of tables ──

/// table [n, …], indices s32[…] -> [indices…, …].
Expr gather_rows(ExpressionGraph& graph, Expr table, Expr indices);
/// The same where `inverse` says where each row has gone: gradients are gathered by it instead of scattered.
Expr permute_rows(ExpressionGraph& graph, Expr rows, Expr indices, Expr inverse);
/// Zeros [rows, …] to which updates [indices…, …] are added.
Expr scatter_rows(ExpressionGraph& graph, Expr updates, Expr indices, int64_t rows);
/// base [n, …] whose rows at indices s32[…] are `rows` [indices…, …]. No gradient.
Expr replace_rows(ExpressionGraph& graph, Expr base, Expr rows, Expr indices);
/// `base` with `rows` written from `position` (a scalar) on along a dimension. No gradient.
Expr update_rows(ExpressionGraph& graph, Expr base, Expr rows, int64_t dimension, Expr position);
/// keys s32[n] in rising order -> (keys, positions they had): a stable sort.
Expr sort_with_positions(ExpressionGraph& graph, Expr keys);
/// The k largest along the last dimension: (values, s32 positions).
Expr largest(ExpressionGraph& graph, Expr a, int64_t k);

// ── structure ──

/// Element `index` of a tuple.
Expr element(ExpressionGraph& graph, Expr tuple, int64_t index);
/// A custom call. `attrs` without its target.
Expr custom_call(ExpressionGraph& graph, std::string_view target, const std::vector<Expr>& operands,
                 ValueType type, std::vector<ExpressionAttr> attrs);
/// The value with a sharding stated, and its gradient with the same; the value itself where `sharding` is
/// empty. `of_gradient` false: of the value alone.
Expr with_sharding(ExpressionGraph& graph, Expr a, const std::string& sharding, bool of_gradient = true);
/// No gradient flows back.
Expr stop_gradient(ExpressionGraph& graph, Expr a);

// ── what several are made of ──

Expr softmax(ExpressionGraph& graph, Expr a, int64_t dimension);
/// Dimension `dimension` of `dims` is left out in `a`; it is broadcast along it.
Expr along(ExpressionGraph& graph, Expr a, const Dims& dims, int64_t dimension);
/// A vector along the last dimension of `dims`.
Expr along_last(ExpressionGraph& graph, Expr vector, const Dims& dims);

}  // namespace hlosim
