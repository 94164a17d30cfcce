#include "exec/one_precision.h"

#include <algorithm>

#include "array/convert_array.h"
#include "ops/leaf_shapes.h"

namespace hlosim {
namespace {

ShapeRef with_floats(ShapePool& shapes, ShapeRef shape, ElementType type) {
  if (shape->is_array()) return is_float(shape->element_type) ? shapes.with_element_type(shape, type) : shape;
  if (!shape->is_tuple()) return shape;
  std::vector<ShapeRef> elements;
  for (const ShapeRef element : shape->elements) elements.push_back(with_floats(shapes, element, type));
  return shapes.tuple(elements);
}

/// The step that makes `to` of `from`, as part of the instruction that `like` runs.
GraphNode conversion(const ComputationGraph& graph, const GraphNode& like, ValueId from, ValueId to) {
  GraphNode node;
  node.instruction = like.instruction;
  node.operands = {from};
  node.results = {to};
  node.keep = like.keep;
  node.evaluation = [from_type = graph.values[from].shape->element_type,
                     to_type = graph.values[to].shape->element_type](Invocation& call) {
    Array array = call.operand(0);
    const int64_t count = call.result().shape->element_count();
    array.data = converted(call.device().pool(), std::move(array.data), from_type, to_type, count);
    call.set_result(std::move(array));
  };
  return node;
}

}  // namespace

std::optional<OnePrecision> in_one_precision(const OpContext& op) {
  if (op.def().evaluation == EvaluationKind::kCustomCall) return std::nullopt;
  std::vector<ElementType> floats;
  const auto note = [&](ShapeRef leaf) {
    if (leaf->is_array() && is_float(leaf->element_type)) floats.push_back(leaf->element_type);
  };
  for (int64_t i = 0; i < op.operand_count(); ++i) {
    if (!op.operand_shape(i)->is_array()) return std::nullopt;
    note(op.operand_shape(i));
  }
  for_each_leaf(op.shape(), note);
  if (std::all_of(floats.begin(), floats.end(), [&](ElementType type) { return type == floats[0]; }))
    return std::nullopt;
  const ElementType type = std::find(floats.begin(), floats.end(), ElementType::kF64) != floats.end()
                               ? ElementType::kF64
                               : ElementType::kF32;
  for (const ElementType one : floats)
    if (!can_convert(one, type) || !can_convert(type, one)) return std::nullopt;
  OnePrecision wide;
  Instruction instruction = op.instruction();
  instruction.shape = with_floats(op.shapes(), op.shape(), type);
  std::vector<Instruction> operands;
  for (int64_t i = 0; i < op.operand_count(); ++i) {
    operands.push_back(op.operand(i));
    operands.back().shape = with_floats(op.shapes(), op.operand_shape(i), type);
  }
  wide.module = std::make_shared<Module>(op.module().copy());  // with these shapes
  std::vector<InstructionId> ids;
  for (const Instruction& operand : operands) ids.push_back(wide.module->instructions.add(operand));
  instruction.operands = wide.module->arena().copy(std::span<const InstructionId>(ids));
  wide.instruction = wide.module->arena().make<Instruction>(instruction);
  return wide;
}

Conversions add_conversions(ComputationGraph& graph, const OnePrecision& wide, GraphNode& node) {
  Conversions made;
  const auto between = [&](ValueId declared, ShapeRef shape) {
    if (!shape->is_array() || graph.values[declared].shape->element_type == shape->element_type)
      return declared;
    graph.values.push_back({shape, {}});
    return static_cast<ValueId>(graph.values.size() - 1);
  };
  const auto operand_shape = [&](size_t i) { return (*wide.module)[wide.instruction->operands[i]].shape; };
  for (size_t i = 0; i < node.operands.size(); ++i) {
    const ValueId from = node.operands[i], to = between(from, operand_shape(i));
    if (to != from) made.before.push_back(conversion(graph, node, from, to));
    node.operands[i] = to;
  }
  const std::vector<ShapeRef> results = leaves_of(wide.instruction->shape);
  for (size_t i = 0; i < node.results.size(); ++i) {
    const ValueId to = node.results[i], from = between(to, results[i]);
    if (to != from) made.after.push_back(conversion(graph, node, from, to));
    node.results[i] = from;
  }
  node.reused.clear();
  if (node.evaluation)
    node.evaluation = [run = std::move(node.evaluation), module = wide.module](Invocation& call) {
      run(call);
    };
  if (node.joint)
    node.joint = [run = std::move(node.joint), module = wide.module](CollectiveCall& call) { run(call); };
  return made;
}

}  // namespace hlosim
