// What a step computes, as a graph of expressions that a program can differentiate before there is a module.
//
//   ExpressionGraph graph;
//   const Expr x = graph.leaf({ElementType::kF32, {8, 16}}, "x");
//   const Expr y = multiply(graph, x, x);                          // model_operations.h
//   Backward backward(graph);                                      // gradients.h
//   backward.add(y, dy), backward.run(), backward.of(x)            // 2 x dy, expressions as well
//   ExpressionEmitter(graph, parts, body).emit(y)                  // expression_emitter.h
//
// Expressions are numbered as they are made: operands come first. What nobody asks the emitter for is never
// written, so that graphs may hold more than a computation needs.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "hlo/attr.h"
#include "hlo/opcode.h"
#include "layout/element_type.h"
#include "workloads/step_options.h"

namespace hlosim {

using Expr = Id<struct ExpressionTag>;
using Dims = std::vector<int64_t>;

/// An array, or a tuple of arrays where `elements` isn't empty.
struct ValueType {
  ElementType element = ElementType::kInvalid;
  Dims dims;
  std::vector<ValueType> elements;
};
/// Product of the dimensions.
int64_t element_count(const Dims& dims);

/// An attribute before there is a module that it could lie in.
struct ExpressionAttr {
  enum class Kind : uint8_t {
    kInts,
    kInt,
    kFlag,
    kWord,
    kText,
    kBraces,
    kReducer,
    kRanges,
    kGroups,
    kGroupList,
    kChannel
  };
  AttrKey key{};
  Kind kind = Kind::kInts;
  Dims ints{};                // kInts; kInt and kFlag: one
  std::string text{};         // kWord; kText: what stands between quotes; kBraces: as written
  std::vector<Dims> lists{};  // kRanges: {start, limit, stride} or {low, high, interior} each; kGroups: the
                              // iota form's dimensions, reshape and transposition; kGroupList: the groups
};

class Backward;
class ExpressionGraph;
struct Expression;

/// Hands the cotangent of `self` on to what it was made of: backward.add(operand, …).
using GradientRule = std::function<void(Backward&, Expr self, Expr cotangent)>;

struct Expression {
  Opcode opcode{};
  std::vector<Expr> operands{};
  ValueType type{};
  std::vector<ExpressionAttr> attrs{};
  GradientRule gradient{};   // empty: nothing flows back
  std::string name{};        // of a leaf; of a kernel's instruction
  double number = 0;         // of a scalar constant
  bool is_leaf = false;      // bound by whoever emits
  bool is_alias = false;     // its operand, but without a gradient
  int64_t saved_as = -1;     // a SavedValue, or none
  std::string_view scope{};  // "attention", "mlp": part of op_name
};

class ExpressionGraph {
 public:
  Expr add(Expression expression);
  /// What the emitter is told the value of.
  Expr leaf(ValueType type, std::string name);

  const Expression& operator[](Expr id) const { return expressions_[static_cast<size_t>(id.index)]; }
  Expression& at(Expr id) { return expressions_[static_cast<size_t>(id.index)]; }
  const Dims& dims(Expr id) const { return (*this)[id].type.dims; }
  ElementType element(Expr id) const { return (*this)[id].type.element; }
  int64_t rank(Expr id) const { return static_cast<int64_t>(dims(id).size()); }
  int64_t size() const { return static_cast<int64_t>(expressions_.size()); }

  /// The name that the expression is saved by.
  Expr named(Expr id, SavedValue value) {
    at(id).saved_as = static_cast<int64_t>(value);
    return id;
  }
  /// Of what is added from now on.
  void set_scope(std::string_view scope) { scope_ = scope; }

 private:
  std::deque<Expression> expressions_;
  std::string_view scope_;
};

}  // namespace hlosim
