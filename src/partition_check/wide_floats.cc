#include "partition_check/wide_floats.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "hlo/literal.h"
#include "hlo/number.h"
#include "modules/edit.h"

namespace hlosim {
namespace {

/// The widest of its kind.
ElementType widest(ElementType type) {
  return is_complex(type) ? ElementType::kC128 : is_float(type) ? ElementType::kF64 : type;
}

bool is_narrow(ElementType type) { return widest(type) != type; }

/// Arrays inside hold the widest floats. Layouts are left out where they change, as tiles go by
/// width.
ShapeRef widened(ShapePool& shapes, ShapeRef shape) {
  if (shape->is_tuple()) {
    std::vector<ShapeRef> elements;
    for (const ShapeRef element : shape->elements) elements.push_back(widened(shapes, element));
    return shapes.tuple(elements);
  }
  if (shape->is_buffer()) return shapes.buffer(widened(shapes, shape->elements[0]));
  if (!shape->is_array() || !is_narrow(shape->element_type)) return shape;
  return shapes.array(widest(shape->element_type), shape->dimensions, nullptr, shape->dynamic);
}

const Literal* widened(Module& module, const Literal& from) {
  Literal made = from;
  made.shape = widened(module.shapes(), from.shape);
  std::vector<const Literal*> elements;
  for (const Literal* element : from.elements) elements.push_back(widened(module, *element));
  made.elements = module.arena().copy(elements);
  if (from.shape->is_array() && is_narrow(from.shape->element_type)) {
    const ElementType part =
        is_complex(from.shape->element_type) ? ElementType::kF32 : from.shape->element_type;
    const auto width = static_cast<size_t>(byte_width(part));
    std::vector<std::byte> data(from.data.size() / width * sizeof(double));
    for (size_t i = 0; i < from.data.size() / width; ++i) {
      uint64_t bits = 0;
      std::memcpy(&bits, from.data.data() + i * width, width);
      const double value = decode_float(part, bits);
      std::memcpy(data.data() + i * sizeof value, &value, sizeof value);
    }
    made.data = module.arena().copy(data);
  }
  return module.arena().make<Literal>(made);
}

/// Does it take the bits of elements for other types, or hold texts that speak of types?
bool looks_at_bits(const OpTable& table, const Instruction& instruction) {
  const DimensionRule rule = table[instruction.opcode].rules.dimensions;
  return rule == DimensionRule::kRecast || rule == DimensionRule::kBitcast ||
         instruction.find(AttrKey::kOperandLayoutConstraints) || instruction.find(AttrKey::kOutfeedShape);
}

}  // namespace

std::optional<Module> with_wide_floats(const Module& module, const OpTable& table) {
  Module made = module.copy();
  bool any = false;
  for (const Computation& computation : module.computations)
    for (const InstructionId id : computation.instructions) {
      Instruction& instruction = made.instructions[id];
      const auto changes = [&](ShapeRef shape) { return widened(made.shapes(), shape) != shape; };
      const auto of_operand = [&](InstructionId operand) { return changes(module[operand].shape); };
      const bool is_changed = changes(module[id].shape);
      if ((is_changed || std::ranges::any_of(instruction.operands, of_operand)) &&
          looks_at_bits(table, instruction))
        return std::nullopt;
      if (!is_changed) continue;
      any = true;
      instruction.shape = widened(made.shapes(), instruction.shape);
      if (instruction.literal) instruction.literal = widened(made, *instruction.literal);
    }
  if (!any) return std::nullopt;
  drop_header(made, AttrKey::kEntryComputationLayout);
  return made;
}

}  // namespace hlosim
