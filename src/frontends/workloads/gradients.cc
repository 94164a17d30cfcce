#include "workloads/gradients.h"

#include "workloads/model_operations.h"

namespace hlosim {

Backward::Backward(ExpressionGraph& graph, const std::vector<Expr>& wanted)
    : graph_(graph), reaches_(static_cast<size_t>(graph.size())), sums_(reaches_.size()) {
  for (const Expr value : wanted) reaches_[static_cast<size_t>(value.index)] = true;
  for (size_t i = 0; i < reaches_.size(); ++i) {
    const Expression& expression = graph[Expr{static_cast<int32_t>(i)}];
    if (expression.is_leaf) continue;
    for (const Expr operand : expression.operands)
      if (reaches_[static_cast<size_t>(operand.index)]) reaches_[i] = true;
  }
}

void Backward::add(Expr of, Expr cotangent) {
  if (!reaches(of)) return;
  cotangent = convert(graph_, cotangent, graph_.element(of));
  HLOSIM_CHECK(graph_.dims(of) == graph_.dims(cotangent), "a cotangent of other dimensions");
  Expr& sum = sums_[static_cast<size_t>(of.index)];
  sum = sum.valid() ? hlosim::add(graph_, sum, cotangent) : cotangent;
}

void Backward::run() {
  for (size_t i = sums_.size(); i-- > 0;) {
    const Expr self{static_cast<int32_t>(i)};
    if (!sums_[i].valid() || !graph_[self].gradient) continue;
    graph_.set_scope(graph_[self].scope);
    const GradientRule rule = graph_[self].gradient;
    rule(*this, self, sums_[i]);
  }
}

Expr Backward::of(Expr value) {
  const Expr sum = sums_[static_cast<size_t>(value.index)];
  return sum.valid() ? sum : full_like(graph_, value, 0);
}

}  // namespace hlosim
