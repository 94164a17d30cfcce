#include "partition_check/wide_floats.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>
#include <vector>

#include "hlo/literal.h"
#include "hlo/module_editor.h"
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

class Widener {
 public:
  Widener(const Module& module, const OpTable& table)
      : table_(table), module_(module.copy()), editor_(module_) {}

  std::optional<Module> widen() {
    for (const Computation& computation : module_.computations)
      for (const InstructionId id : computation.instructions)
        if (table_[module_[id].opcode].rules.dimensions == DimensionRule::kBitcast)
          editor_.spell_out_bitcast(id);
    for (size_t i = 0; i < module_.computations.size(); ++i)
      if (!keep_bits(ComputationId{static_cast<int32_t>(i)})) return std::nullopt;
    bool any = false;
    for (const Computation& computation : module_.computations)
      for (const InstructionId id : computation.instructions)
        if (!kept_.contains(id)) any = widen(module_.instructions[id]) || any;
    if (!any) return std::nullopt;
    drop_header(module_, AttrKey::kEntryComputationLayout);
    return std::move(module_);
  }

 private:
  bool changes(ShapeRef shape) { return widened(module_.shapes(), shape) != shape; }

  bool widen(Instruction& instruction) {
    if (!changes(instruction.shape)) return false;
    instruction.shape = widened(module_.shapes(), instruction.shape);
    if (instruction.literal) instruction.literal = widened(module_, *instruction.literal);
    return true;
  }

  /// What looks at bits sees those of the type that it was written for. False: it takes tuples.
  bool keep_bits(ComputationId computation) {
    std::vector<InstructionId> list;
    for (const InstructionId id : std::vector(module_[computation].instructions)) {
      const InstructionId after = looks_at_bits(table_, module_[id]) ? narrowed(computation, id, list) : id;
      if (!after.valid()) return false;
      list.push_back(id);
      if (after != id) list.push_back(after);
    }
    module_.computations[computation].instructions = std::move(list);
    return true;
  }

  /// Adds what brings its operands to their own types to `list`. Returns what others use from now on: the
  /// instruction, or its result made wide; invalid: it takes tuples.
  InstructionId narrowed(ComputationId computation, InstructionId id, std::vector<InstructionId>& list) {
    std::vector<InstructionId> operands(module_[id].operands.begin(), module_[id].operands.end());
    for (InstructionId& operand : operands) {
      const ShapeRef shape = module_[operand].shape;
      if (!changes(shape)) continue;
      if (!shape->is_array()) return InstructionId();
      list.push_back(converted(computation, operand, shape));
      kept_.insert(list.back());
      operand = list.back();
    }
    editor_.set_operands(id, operands);
    const ShapeRef shape = module_[id].shape;
    if (!changes(shape)) return id;
    if (!shape->is_array()) return InstructionId();
    kept_.insert(id);
    const InstructionId wide = converted(computation, id, widened(module_.shapes(), shape));
    editor_.replace_everywhere(computation, id, wide);
    return wide;
  }

  InstructionId converted(ComputationId computation, InstructionId from, ShapeRef shape) {
    const InstructionId operands[] = {from};
    return editor_.add(computation, Opcode::kConvert, "convert", shape, operands);
  }

  const OpTable& table_;
  Module module_;
  ModuleEditor editor_;
  std::unordered_set<InstructionId> kept_;  // in their own types
};

}  // namespace

std::optional<Module> with_wide_floats(const Module& module, const OpTable& table) {
  return Widener(module, table).widen();
}

}  // namespace hlosim
