#include "lower/library_calls/spelling.h"

#include <algorithm>

#include "hlo/stored_values.h"

namespace hlosim {

InstructionId Spelling::add(Opcode opcode, ShapeRef shape, std::initializer_list<InstructionId> operands,
                            std::span<const Attr> attrs) {
  std::vector<Attr> all(attrs.begin(), attrs.end());
  if (const Attr* metadata = call().find(AttrKey::kMetadata)) all.push_back(*metadata);
  const std::vector<InstructionId> list(operands);
  list_.push_back(editor_.add(call().parent, opcode, to_text(opcode), shape, list, all));
  editor_.place_like(list_.back(), call());
  return list_.back();
}

InstructionId Spelling::constant(ElementType type, double value) {
  const Literal* literal = scalar_literal(module(), type, value);
  const InstructionId id = add(Opcode::kConstant, literal->shape, {});
  module().instructions[id].literal = literal;
  return id;
}

InstructionId Spelling::broadcast(InstructionId id, ShapeRef shape, std::span<const int64_t> dimensions) {
  const Attr attrs[] = {ints_attr(module(), AttrKey::kDimensions, dimensions)};
  return add(Opcode::kBroadcast, shape, {id}, attrs);
}

InstructionId Spelling::filled(ShapeRef shape, double value) {
  const InstructionId scalar = constant(shape->element_type, value);
  return shape->is_scalar() ? scalar : broadcast(scalar, shape, {});
}

InstructionId Spelling::converted(InstructionId id, ElementType type) {
  const ShapeRef shape = shape_of(id);
  if (shape->element_type == type) return id;
  return add(Opcode::kConvert, module().shapes().array(type, shape->dimensions), {id});
}

InstructionId Spelling::reshaped(InstructionId id, std::span<const int64_t> dimensions) {
  const ShapeRef shape = shape_of(id);
  if (std::ranges::equal(shape->dimensions, dimensions)) return id;
  return add(Opcode::kReshape, module().shapes().array(shape->element_type, dimensions), {id});
}

InstructionId Spelling::result(InstructionId first) {
  const ShapeRef whole = call().shape;
  if (!whole->is_tuple()) return first;
  std::vector<InstructionId> elements{first};
  for (const ShapeRef workspace : whole->elements.subspan(1)) elements.push_back(filled(workspace, 0));
  list_.push_back(editor_.add(call().parent, Opcode::kTuple, "tuple", whole, elements));
  return list_.back();
}

}  // namespace hlosim
