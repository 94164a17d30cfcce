#include "evaluate/sort_comparator_pattern.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_map>

#include "elementwise/element_kernels.h"

namespace hlosim {
namespace {

constexpr int kMostVisits = 256;  // larger comparisons are applied as they are

// Is the value of `lhs`, with one parameter put for another, that of `rhs`?
class Mirror {
 public:
  Mirror(const Module& module, int64_t from, int64_t to) : module_(module), from_(from), to_(to) {}

  bool same(InstructionId lhs, InstructionId rhs) {
    if (++visits_ > kMostVisits) return false;
    const Instruction &a = module_[lhs], &b = module_[rhs];
    if (a.opcode != b.opcode || a.shape != b.shape || a.operands.size() != b.operands.size()) return false;
    if (a.parameter_number >= 0) return a.parameter_number == from_ && b.parameter_number == to_;
    if (a.literal != nullptr) return same_literal(*a.literal, *b.literal);
    if (!same_attributes(a, b)) return false;
    for (size_t i = 0; i < a.operands.size(); ++i)
      if (!same(a.operands[i], b.operands[i])) return false;
    return true;
  }

 private:
  static bool same_literal(const Literal& a, const Literal& b) {
    return !a.elided && !b.elided && std::ranges::equal(a.data, b.data);
  }
  // Remarks are of no matter; of all others the words of compare only.
  static bool is_remark(AttrKey key) {
    return key == AttrKey::kMetadata || key == AttrKey::kFrontendAttributes || key == AttrKey::kBackendConfig;
  }
  static bool same_attributes(const Instruction& a, const Instruction& b) {
    for (const auto& [one, other] : {std::pair(&a, &b), std::pair(&b, &a)})
      for (const Attr& attr : one->attrs) {
        if (is_remark(attr.key)) continue;
        const Attr* const twin = other->find(attr.key);
        const bool words = attr.key == AttrKey::kDirection || attr.key == AttrKey::kType;
        if (!words || twin == nullptr || twin->text() != attr.text()) return false;
      }
    return true;
  }
  const Module& module_;
  int64_t from_, to_;
  int visits_ = 0;
};

// The first parameter that a value is made of, -1 where there is none.
int64_t parameter_of(const Module& module, InstructionId id, int& visits) {
  const Instruction& instruction = module[id];
  if (instruction.parameter_number >= 0) return instruction.parameter_number;
  for (const InstructionId operand : instruction.operands) {
    if (++visits > kMostVisits) return -1;
    const int64_t found = parameter_of(module, operand, visits);
    if (found >= 0) return found;
  }
  return -1;
}

// A value of scalars as a program over one parameter. Requires: at most kMostVisits instructions deep.
class KeyProgram {
 public:
  KeyProgram(const OpContext& op, ElementType input) : op_(op), input_(builder_.input(input)) {}

  std::shared_ptr<const ElementProgram> make(InstructionId id) {
    const auto value = value_of(id);
    if (!value) return nullptr;
    builder_.output(*value);
    return builder_.finish();
  }

 private:
  using Value = ElementProgramBuilder::Value;

  std::optional<Value> value_of(InstructionId id) {
    if (const auto known = values_.find(id.index); known != values_.end()) return known->second;
    const std::optional<Value> value = new_value(op_.module()[id]);
    if (value) values_.emplace(id.index, *value);
    return value;
  }
  std::optional<Value> new_value(const Instruction& instruction) {
    if (instruction.parameter_number >= 0) return input_;
    if (!instruction.shape->is_scalar()) return std::nullopt;
    if (instruction.literal != nullptr) {
      std::array<std::byte, 16> bits{};
      std::memcpy(bits.data(), instruction.literal->data.data(), instruction.literal->data.size());
      return builder_.constant(instruction.shape->element_type, bits.data());
    }
    const OpDef& def = op_.table()[instruction.opcode];
    if (!def.element) return std::nullopt;
    std::vector<Value> operands;
    for (const InstructionId operand : instruction.operands) {
      const std::optional<Value> value = value_of(operand);
      if (!value) return std::nullopt;
      operands.push_back(*value);
    }
    const ElementKernel kernel = elementwise_kernel(op_.of(instruction));
    if (!kernel) return std::nullopt;
    return builder_.apply(kernel, operands, instruction.shape->element_type);
  }

  const OpContext& op_;
  ElementProgramBuilder builder_;
  Value input_;
  std::unordered_map<decltype(InstructionId::index), Value> values_;
};

}  // namespace

std::optional<RecognisedOrder> sort_comparator_pattern(const OpContext& op) {
  const Module& module = op.module();
  const Instruction& root = module.root(op.called());
  if (root.opcode != Opcode::kCompare) return std::nullopt;
  const std::string_view direction = root.find(AttrKey::kDirection)->text();
  if (direction != "LT" && direction != "GT") return std::nullopt;
  int visits = 0;
  const int64_t l = parameter_of(module, root.operands[0], visits);
  const int64_t r = parameter_of(module, root.operands[1], visits);
  if (l < 0 || r < 0 || (l ^ r) != 1 || !Mirror(module, l, r).same(root.operands[0], root.operands[1]))
    return std::nullopt;

  RecognisedOrder recognised{static_cast<size_t>(l / 2), nullptr, {}};
  const ElementType type = op.operand_shape(l / 2)->element_type;
  const ShapeRef parameter = module[module[op.called()].parameters[static_cast<size_t>(l)]].shape;
  if (!parameter->is_scalar() || parameter->element_type != type) return std::nullopt;
  const Instruction& lhs = module[root.operands[0]];
  if (lhs.parameter_number < 0) {
    recognised.key = KeyProgram(op, type).make(root.operands[0]);
    if (!recognised.key) return std::nullopt;
  }
  KeyOrder& order = recognised.order;
  order.type = lhs.shape->element_type;
  if (!has_key_order(order.type)) return std::nullopt;
  const Attr* kind = root.find(AttrKey::kType);
  order.total = kind != nullptr && kind->text() == "TOTALORDER";
  order.descending = (direction == "GT") != (l > r);
  return recognised;
}

}  // namespace hlosim
