// Expressions as instructions of a computation.
//
//   ModelParts parts(builder);
//   ModuleBuilder::Body body;
//   ExpressionEmitter emitter(graph, parts, body);
//   emitter.bind(x, builder.parameter(body, shape, "x", {}));
//   const InstructionId root = emitter.emit(y);                    // y, and what it needs and isn't bound
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hlo/module_builder.h"
#include "workloads/expression_graph.h"

namespace hlosim {

/// What the computations of one module share: reducers, places, shapes, attributes.
class ModelParts {
 public:
  explicit ModelParts(ModuleBuilder& builder) : builder_(builder) {}

  ModuleBuilder& builder() { return builder_; }
  ShapeRef shape(const ValueType& type);
  /// The array in another memory space.
  ShapeRef shape(const ValueType& type, int64_t memory_space);
  /// add, maximum or minimum of two scalars, or the second of them; "less": first of (key, key, position,
  /// position) is less.
  ComputationId reducer(std::string_view name, ElementType type);
  /// With op_name `scope` behind that of the step.
  ModuleBuilder::Place place(std::string_view scope);
  void set_op_name(std::string prefix) { prefix_ = std::move(prefix); }
  Attr attr(const ExpressionAttr& attr, ElementType type);
  InstructionId constant(ModuleBuilder::Body& body, ElementType type, double value);

 private:
  ModuleBuilder& builder_;
  std::string prefix_ = "step";
  int64_t channels_ = 0;  // that collectives of manual regions have
  std::map<std::string, ComputationId> reducers_;
  std::map<std::string, std::string_view> places_;
};

class ExpressionEmitter {
 public:
  ExpressionEmitter(const ExpressionGraph& graph, ModelParts& parts, ModuleBuilder::Body& body)
      : graph_(graph), parts_(parts), body_(body) {}

  void bind(Expr value, InstructionId instruction);
  InstructionId emit(Expr value);
  /// Everything that `roots` need and that isn't bound, operands first.
  void emit(const std::vector<Expr>& roots);

 private:
  InstructionId add(const Expression& expression);

  const ExpressionGraph& graph_;
  ModelParts& parts_;
  ModuleBuilder::Body& body_;
  std::vector<InstructionId> made_;  // by expression
  std::vector<bool> is_wanted_;      // by expression: made, or about to be
};

/// Of `cuts`, those that `roots` need; what a cut is made of doesn't count.
std::vector<Expr> needed_of(const ExpressionGraph& graph, const std::vector<Expr>& roots,
                            const std::vector<Expr>& cuts);

}  // namespace hlosim
