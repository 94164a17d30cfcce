// Sums, products, and what is made of them.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "hlo/row_groups.h"
#include "workloads/gradients.h"
#include "workloads/model_operations.h"

namespace hlosim {
namespace {

using Kind = ExpressionAttr::Kind;

bool holds(const Dims& list, int64_t i) { return std::find(list.begin(), list.end(), i) != list.end(); }

/// Dimensions that are neither summed over nor shared.
Dims free_dims(int64_t rank, const Dims& contracting, const Dims& batch) {
  Dims found;
  for (int64_t i = 0; i < rank; ++i)
    if (!holds(contracting, i) && !holds(batch, i)) found.push_back(i);
  return found;
}

Dims counted(int64_t from, size_t count) {
  Dims numbers(count);
  std::iota(numbers.begin(), numbers.end(), from);
  return numbers;
}

/// Where each of `made` (numbers of the wanted dimensions, in the order in which they came out) goes.
Dims order_of(const Dims& made) {
  Dims order(made.size());
  for (size_t i = 0; i < made.size(); ++i) order[static_cast<size_t>(made[i])] = static_cast<int64_t>(i);
  return order;
}

/// `keys` in the order of `by`.
Dims sorted_by(const Dims& keys, const Dims& by) {
  Dims places = counted(0, keys.size());
  std::sort(places.begin(), places.end(),
            [&](int64_t a, int64_t b) { return by[static_cast<size_t>(a)] < by[static_cast<size_t>(b)]; });
  Dims sorted;
  for (const int64_t place : places) sorted.push_back(keys[static_cast<size_t>(place)]);
  return sorted;
}

Expr reduce(ExpressionGraph& graph, Expr a, const Dims& dimensions, const char* reducer, double neutral) {
  if (dimensions.empty()) return a;
  Dims left;
  for (int64_t i = 0; i < graph.rank(a); ++i)
    if (!holds(dimensions, i)) left.push_back(graph.dims(a)[static_cast<size_t>(i)]);
  Expression expression;
  expression.opcode = Opcode::kReduce;
  expression.operands = {a, number(graph, graph.element(a), neutral)};
  expression.type = {graph.element(a), left, {}};
  expression.attrs = {{AttrKey::kDimensions, Kind::kInts, dimensions},
                      {AttrKey::kToApply, Kind::kReducer, {}, reducer}};
  return graph.add(std::move(expression));
}

Expr ragged(ExpressionGraph& graph, Expr a, Expr b, const RowGroups& groups, const GroupedTile& tile,
            Dims dims, ElementType type, std::vector<ExpressionAttr> attrs) {
  Expression expression;
  expression.opcode = Opcode::kRaggedDot;
  expression.operands = {a, b, groups.sizes};
  if (type == ElementType::kInvalid) type = graph.element(a);
  std::vector<std::string> given;
  if (groups.all > static_cast<double>(graph.dims(groups.sizes)[0]))
    given.push_back(fmt::format("{}=\"{}\"", kRowGroupsAttribute, groups.all));
  if (tile.rows > 0)
    given.push_back(
        fmt::format("{}=\"{},{},{}\"", kRaggedTilingAttribute, tile.rows, tile.depth, tile.columns));
  if (tile.rows > 0 && tile.one_core) given.push_back(fmt::format("{}=\"true\"", kOneCoreAttribute));
  if (!given.empty())
    attrs.push_back(
        {AttrKey::kFrontendAttributes, Kind::kBraces, {}, fmt::format("{{{}}}", fmt::join(given, ","))});
  expression.type = {type, std::move(dims), {}};
  expression.attrs = std::move(attrs);
  return graph.add(std::move(expression));
}

}  // namespace

Expr reduce_sum(ExpressionGraph& graph, Expr a, const Dims& dimensions) {
  const Expr sum = reduce(graph, a, dimensions, "add", 0);
  if (sum == a) return a;
  Dims kept;
  for (int64_t i = 0; i < graph.rank(a); ++i)
    if (!holds(dimensions, i)) kept.push_back(i);
  graph.at(sum).gradient = [kept](Backward& backward, Expr self, Expr cotangent) {
    ExpressionGraph& g = backward.graph();
    const Expr operand = g[self].operands[0];
    backward.add(operand, broadcast(g, cotangent, Dims(g.dims(operand)), kept));
  };
  return sum;
}

Expr reduce_max(ExpressionGraph& graph, Expr a, const Dims& dimensions) {
  return reduce(graph, a, dimensions, "maximum", -std::numeric_limits<double>::infinity());
}
Expr reduce_min(ExpressionGraph& graph, Expr a, const Dims& dimensions) {
  return reduce(graph, a, dimensions, "minimum", std::numeric_limits<double>::infinity());
}

Dims dot_result(const Dims& a, const Dims& b, const DotDims& dims) {
  Dims result;
  for (const int64_t i : dims.lhs_batch) result.push_back(a[static_cast<size_t>(i)]);
  for (const int64_t i : free_dims(static_cast<int64_t>(a.size()), dims.lhs, dims.lhs_batch))
    result.push_back(a[static_cast<size_t>(i)]);
  for (const int64_t i : free_dims(static_cast<int64_t>(b.size()), dims.rhs, dims.rhs_batch))
    result.push_back(b[static_cast<size_t>(i)]);
  return result;
}

// What comes out of (cotangent, b) is [batch, free of a, contracted of b in b's order].
DotGradient dot_gradient_lhs(int64_t a_rank, int64_t b_rank, const DotDims& dims) {
  const Dims a_free = free_dims(a_rank, dims.lhs, dims.lhs_batch);
  const Dims b_free = free_dims(b_rank, dims.rhs, dims.rhs_batch);
  const size_t batches = dims.lhs_batch.size();
  DotGradient gradient;
  gradient.dims.lhs_batch = counted(0, batches), gradient.dims.rhs_batch = dims.rhs_batch;
  gradient.dims.lhs = counted(static_cast<int64_t>(batches + a_free.size()), b_free.size());
  gradient.dims.rhs = b_free;
  Dims made = dims.lhs_batch;
  made.insert(made.end(), a_free.begin(), a_free.end());
  const Dims contracted = sorted_by(dims.lhs, dims.rhs);
  made.insert(made.end(), contracted.begin(), contracted.end());
  gradient.order = order_of(made);
  return gradient;
}

// What comes out of (a, cotangent) is [batch, contracted of a in a's order, free of b].
DotGradient dot_gradient_rhs(int64_t a_rank, int64_t b_rank, const DotDims& dims) {
  const Dims a_free = free_dims(a_rank, dims.lhs, dims.lhs_batch);
  const Dims b_free = free_dims(b_rank, dims.rhs, dims.rhs_batch);
  const size_t batches = dims.lhs_batch.size();
  DotGradient gradient;
  gradient.dims.lhs_batch = dims.lhs_batch, gradient.dims.rhs_batch = counted(0, batches);
  gradient.dims.lhs = a_free;
  gradient.dims.rhs = counted(static_cast<int64_t>(batches), a_free.size());
  Dims made = dims.rhs_batch;
  const Dims contracted = sorted_by(dims.rhs, dims.lhs);
  made.insert(made.end(), contracted.begin(), contracted.end());
  made.insert(made.end(), b_free.begin(), b_free.end());
  gradient.order = order_of(made);
  return gradient;
}

Expr dot(ExpressionGraph& graph, Expr a, Expr b, const DotDims& dims, ElementType type) {
  if (type == ElementType::kInvalid) type = graph.element(a);
  Expression expression;
  expression.opcode = Opcode::kDot;
  expression.operands = {a, b};
  expression.type = {type, dot_result(graph.dims(a), graph.dims(b), dims), {}};
  if (!dims.lhs_batch.empty()) {
    expression.attrs.push_back({AttrKey::kLhsBatchDims, Kind::kInts, dims.lhs_batch});
    expression.attrs.push_back({AttrKey::kRhsBatchDims, Kind::kInts, dims.rhs_batch});
  }
  expression.attrs.push_back({AttrKey::kLhsContractingDims, Kind::kInts, dims.lhs});
  expression.attrs.push_back({AttrKey::kRhsContractingDims, Kind::kInts, dims.rhs});
  expression.gradient = [dims](Backward& backward, Expr self, Expr cotangent) {
    ExpressionGraph& g = backward.graph();
    const Expr lhs = g[self].operands[0], rhs = g[self].operands[1];
    if (backward.reaches(lhs)) {
      const DotGradient to_lhs = dot_gradient_lhs(g.rank(lhs), g.rank(rhs), dims);
      const Expr made = dot(g, convert(g, cotangent, g.element(rhs)), rhs, to_lhs.dims);
      backward.add(lhs, transpose(g, made, to_lhs.order));
    }
    if (backward.reaches(rhs)) {
      const DotGradient to_rhs = dot_gradient_rhs(g.rank(lhs), g.rank(rhs), dims);
      const Expr made = dot(g, lhs, convert(g, cotangent, g.element(lhs)), to_rhs.dims);
      backward.add(rhs, transpose(g, made, to_rhs.order));
    }
  };
  return graph.add(std::move(expression));
}

Expr grouped_dot(ExpressionGraph& graph, Expr a, Expr b, RowGroups groups, ElementType type) {
  const Expr made =
      ragged(graph, a, b, groups, groups.tiles.forward, {graph.dims(a)[0], graph.dims(b)[2]}, type,
             {{AttrKey::kLhsContractingDims, Kind::kInts, {1}},
              {AttrKey::kRhsContractingDims, Kind::kInts, {1}},
              {AttrKey::kLhsRaggedDims, Kind::kInts, {0}},
              {AttrKey::kRhsGroupDims, Kind::kInts, {0}}});
  graph.at(made).gradient = [groups](Backward& backward, Expr self, Expr cotangent) {
    ExpressionGraph& g = backward.graph();
    const Expr rows = g[self].operands[0], weights = g[self].operands[1];
    const Expr c = convert(g, cotangent, g.element(rows));
    if (backward.reaches(rows))
      backward.add(rows, grouped_dot(g, c, transpose(g, weights, {0, 2, 1}), groups.of_row_gradient()));
    if (backward.reaches(weights)) backward.add(weights, grouped_outer(g, rows, c, groups));
  };
  return made;
}

Expr grouped_outer(ExpressionGraph& graph, Expr a, Expr c, RowGroups groups, ElementType type) {
  return ragged(graph, a, c, groups, groups.tiles.weight_gradient,
                {graph.dims(groups.sizes)[0], graph.dims(a)[1], graph.dims(c)[1]}, type,
                {{AttrKey::kLhsContractingDims, Kind::kInts, {0}},
                 {AttrKey::kRhsContractingDims, Kind::kInts, {0}},
                 {AttrKey::kLhsRaggedDims, Kind::kInts, {0}}});
}

// ── what several are made of ──

Expr along(ExpressionGraph& graph, Expr a, const Dims& dims, int64_t dimension) {
  Dims places;
  for (int64_t i = 0; i < static_cast<int64_t>(dims.size()); ++i)
    if (i != dimension) places.push_back(i);
  return broadcast(graph, a, dims, places);
}

Expr along_last(ExpressionGraph& graph, Expr vector, const Dims& dims) {
  return broadcast(graph, vector, dims, {static_cast<int64_t>(dims.size()) - 1});
}

Expr softmax(ExpressionGraph& graph, Expr a, int64_t dimension) {
  const Dims dims = graph.dims(a);
  const Expr highest = stop_gradient(graph, reduce_max(graph, a, {dimension}));
  const Expr e = exponential(graph, subtract(graph, a, along(graph, highest, dims, dimension)));
  return divide(graph, e, along(graph, reduce_sum(graph, e, {dimension}), dims, dimension));
}

}  // namespace hlosim
