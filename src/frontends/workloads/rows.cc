// Rows of tables: gathered, scattered, sorted.
#include <numeric>

#include "workloads/gradients.h"
#include "workloads/model_operations.h"

namespace hlosim {
namespace {

using Kind = ExpressionAttr::Kind;

Dims counted(int64_t from, int64_t count) {
  Dims numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), from);
  return numbers;
}

/// [indices…, what a row of the table holds].
Dims gathered(const Dims& table, const Dims& indices) {
  Dims dims = indices;
  dims.insert(dims.end(), table.begin() + 1, table.end());
  return dims;
}

Expr gather(ExpressionGraph& graph, Expr table, Expr indices) {
  const int64_t indexed = graph.rank(indices), row = graph.rank(table) - 1;
  Dims sizes = graph.dims(table);
  sizes[0] = 1;
  Expression expression;
  expression.opcode = Opcode::kGather;
  expression.operands = {table, indices};
  expression.type = {graph.element(table), gathered(graph.dims(table), graph.dims(indices)), {}};
  expression.attrs = {{AttrKey::kOffsetDims, Kind::kInts, counted(indexed, row)},
                      {AttrKey::kCollapsedSliceDims, Kind::kInts, {0}},
                      {AttrKey::kStartIndexMap, Kind::kInts, {0}},
                      {AttrKey::kIndexVectorDim, Kind::kInt, {indexed}},
                      {AttrKey::kSliceSizes, Kind::kInts, sizes}};
  return graph.add(std::move(expression));
}

/// `base` with updates [indices…, …] combined with its rows by `reducer`.
Expr scatter(ExpressionGraph& graph, Expr base, Expr updates, Expr indices, std::string reducer) {
  const int64_t indexed = graph.rank(indices), row = graph.rank(updates) - indexed;
  Expression expression;
  expression.opcode = Opcode::kScatter;
  expression.operands = {base, indices, updates};
  expression.type = graph[base].type;
  expression.attrs = {{AttrKey::kUpdateWindowDims, Kind::kInts, counted(indexed, row)},
                      {AttrKey::kInsertedWindowDims, Kind::kInts, {0}},
                      {AttrKey::kScatterDimsToOperandDims, Kind::kInts, {0}},
                      {AttrKey::kIndexVectorDim, Kind::kInt, {indexed}},
                      {AttrKey::kToApply, Kind::kReducer, {}, std::move(reducer)}};
  return graph.add(std::move(expression));
}

}  // namespace

Expr scatter_rows(ExpressionGraph& graph, Expr updates, Expr indices, int64_t rows) {
  Dims dims(graph.dims(updates).begin() + graph.rank(indices), graph.dims(updates).end());
  dims.insert(dims.begin(), rows);
  return scatter(graph, full(graph, graph.element(updates), dims, 0), updates, indices, "add");
}

Expr replace_rows(ExpressionGraph& graph, Expr base, Expr rows, Expr indices) {
  return scatter(graph, base, rows, indices, "second");
}

Expr gather_rows(ExpressionGraph& graph, Expr table, Expr indices) {
  const Expr made = gather(graph, table, indices);
  graph.at(made).gradient = [](Backward& backward, Expr self, Expr cotangent) {
    ExpressionGraph& g = backward.graph();
    const Expr from = g[self].operands[0], where = g[self].operands[1];
    if (backward.reaches(from)) backward.add(from, scatter_rows(g, cotangent, where, g.dims(from)[0]));
  };
  return made;
}

Expr permute_rows(ExpressionGraph& graph, Expr rows, Expr indices, Expr inverse) {
  const Expr made = gather(graph, rows, indices);
  graph.at(made).gradient = [indices, inverse](Backward& backward, Expr self, Expr cotangent) {
    ExpressionGraph& g = backward.graph();
    backward.add(g[self].operands[0], permute_rows(g, cotangent, inverse, indices));
  };
  return made;
}

Expr update_rows(ExpressionGraph& graph, Expr base, Expr rows, int64_t dimension, Expr position) {
  const Expr zero = number(graph, ElementType::kS32, 0);
  Expression expression;
  expression.opcode = Opcode::kDynamicUpdateSlice;
  expression.operands = {base, rows};
  for (int64_t i = 0; i < graph.rank(base); ++i)
    expression.operands.push_back(i == dimension ? position : zero);
  expression.type = graph[base].type;
  return graph.add(std::move(expression));
}

Expr sort_with_positions(ExpressionGraph& graph, Expr keys) {
  const ValueType one = graph[keys].type;
  Expression expression;
  expression.opcode = Opcode::kSort;
  expression.operands = {keys, iota(graph, ElementType::kS32, one.dims, 0)};
  expression.type.elements = {one, {ElementType::kS32, one.dims, {}}};
  expression.attrs = {{AttrKey::kDimensions, Kind::kInts, {0}},
                      {AttrKey::kIsStable, Kind::kFlag, {1}},
                      {AttrKey::kToApply, Kind::kReducer, {}, "less"}};
  return graph.add(std::move(expression));
}

Expr largest(ExpressionGraph& graph, Expr a, int64_t k) {
  ValueType values = graph[a].type;
  values.dims.back() = k;
  Expression expression;
  expression.opcode = Opcode::kTopK;
  expression.operands = {a};
  expression.type.elements = {values, {ElementType::kS32, values.dims, {}}};
  expression.attrs = {{AttrKey::kK, Kind::kInt, {k}}, {AttrKey::kLargest, Kind::kFlag, {1}}};
  return graph.add(std::move(expression));
}

}  // namespace hlosim
