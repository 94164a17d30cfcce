// Cotangents, backwards through a graph of expressions.
//
//   Backward backward(graph, {x, w});              // what gradients are wanted of
//   backward.add(loss, number(graph, ElementType::kF32, 1));
//   backward.run();
//   backward.of(w)                                 // an expression of w's type
#pragma once

#include <optional>
#include <vector>

#include "workloads/expression_graph.h"

namespace hlosim {

class Backward {
 public:
  /// Expressions that are made later belong to gradients, and have none themselves.
  Backward(ExpressionGraph& graph, const std::vector<Expr>& wanted);

  ExpressionGraph& graph() { return graph_; }
  /// Adds to the cotangent of `of`, converted to its type. Nothing where no wanted gradient lies behind it.
  void add(Expr of, Expr cotangent);
  void run();
  /// The sum; zeros where nothing has come.
  Expr of(Expr value);
  /// The sum of what has come by now.
  std::optional<Expr> so_far(Expr value) const {
    const Expr sum = sums_[static_cast<size_t>(value.index)];
    return sum.valid() ? std::optional(sum) : std::nullopt;
  }
  bool reaches(Expr value) const {
    return static_cast<size_t>(value.index) < reaches_.size() && reaches_[static_cast<size_t>(value.index)];
  }

 private:
  ExpressionGraph& graph_;
  std::vector<bool> reaches_;  // a wanted value is among what it is made of
  std::vector<Expr> sums_;
};

}  // namespace hlosim
