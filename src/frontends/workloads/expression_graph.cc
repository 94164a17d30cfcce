#include "workloads/expression_graph.h"

namespace hlosim {

int64_t element_count(const Dims& dims) {
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  return count;
}

Expr ExpressionGraph::add(Expression expression) {
  expression.scope = scope_;
  for (const Expr operand : expression.operands)
    HLOSIM_CHECK(operand.valid() && operand.index < size(), "operand {} of {}", operand.index, size());
  expressions_.push_back(std::move(expression));
  return Expr{static_cast<int32_t>(size() - 1)};
}

Expr ExpressionGraph::leaf(ValueType type, std::string name) {
  Expression expression;
  expression.type = std::move(type);
  expression.name = std::move(name);
  expression.is_leaf = true;
  return add(std::move(expression));
}

}  // namespace hlosim
