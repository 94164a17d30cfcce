// Lowering: integers that don't depend on arguments, followed back through what computes shapes.
#include <algorithm>

#include "stablehlo/lowering.h"

namespace hlosim::stablehlo {
namespace {

using Ints = std::optional<std::vector<int64_t>>;

constexpr int64_t kMost = 1 << 16;  // elements: more are no shape

Ints of_literal(const Literal& literal) {
  if (literal.elided || !literal.shape->is_array() || literal.shape->element_count() > kMost)
    return std::nullopt;
  const ElementType type = literal.shape->element_type;
  if (!is_integer(type) && !is_pred(type)) return std::nullopt;
  std::vector<int64_t> values;
  for (int64_t i = 0; i < literal.shape->element_count(); ++i) values.push_back(integer_at(literal, i));
  return values;
}

std::optional<int64_t> apply(Opcode opcode, int64_t a, int64_t b) {
  int64_t result = 0;
  using enum Opcode;
  if (opcode == kAdd) return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  if (opcode == kSubtract)
    return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  if (opcode == kMultiply)
    return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  if (opcode == kMaximum) return std::max(a, b);
  if (opcode == kMinimum) return std::min(a, b);
  if (b == 0 || b == -1) return std::nullopt;
  if (opcode == kDivide) return a / b;
  if (opcode == kRemainder) return a % b;
  return std::nullopt;
}

bool is_arithmetic(Opcode opcode) {
  using enum Opcode;
  return opcode == kAdd || opcode == kSubtract || opcode == kMultiply || opcode == kMaximum ||
         opcode == kMinimum || opcode == kDivide || opcode == kRemainder;
}

bool may_be_known(const Instruction& instruction) {
  using enum Opcode;
  const Opcode opcode = instruction.opcode;
  if (opcode != kReshape && opcode != kConvert && opcode != kBroadcast && opcode != kConcatenate &&
      opcode != kSlice && !is_arithmetic(opcode))
    return false;
  return instruction.shape->is_array() && instruction.shape->element_count() <= kMost &&
         (is_integer(instruction.shape->element_type) || is_pred(instruction.shape->element_type));
}

}  // namespace

/// Operands before what is made of them, without a call for each: chains may be as long as a program.
Ints Lowering::known(InstructionId id) {
  if (!id.valid() || failed()) return std::nullopt;
  std::vector<InstructionId> open = {id};
  while (!open.empty()) {
    const InstructionId at = open.back();
    if (known_.contains(at)) {
      open.pop_back();
      continue;
    }
    const size_t before = open.size();
    if (may_be_known(builder_.module()[at]))
      for (const InstructionId operand : builder_.module()[at].operands)
        if (!known_.contains(operand)) open.push_back(operand);
    if (open.size() > before) continue;
    open.pop_back();
    known_[at] = compute_known(at);
  }
  return known_.at(id);
}

/// Requires: what is known of its operands is in the table.
Ints Lowering::compute_known(InstructionId id) {
  const Instruction instruction = builder_.module()[id];
  if (instruction.literal) return of_literal(*instruction.literal);
  if (!may_be_known(instruction)) return std::nullopt;
  std::vector<std::vector<int64_t>> operands;
  for (const InstructionId operand : instruction.operands) {
    const Ints& values = known_.at(operand);
    if (!values) return std::nullopt;
    operands.push_back(*values);
  }
  using enum Opcode;
  const Opcode opcode = instruction.opcode;
  const auto count = static_cast<size_t>(instruction.shape->element_count());
  if (opcode == kReshape || opcode == kConvert) return operands[0];
  if (opcode == kBroadcast && operands[0].size() == 1) return std::vector<int64_t>(count, operands[0][0]);
  if (opcode == kConcatenate && instruction.shape->rank() == 1) {
    std::vector<int64_t> all;
    for (const auto& part : operands) all.insert(all.end(), part.begin(), part.end());
    return all;
  }
  if (opcode == kSlice && instruction.shape->rank() == 1) {
    const auto slice = instruction.find(AttrKey::kSlice)->int_lists()[0];
    std::vector<int64_t> part;
    for (int64_t i = slice[0]; i < slice[1] && i < static_cast<int64_t>(operands[0].size()); i += slice[2])
      part.push_back(operands[0][static_cast<size_t>(i)]);
    return part.size() == count ? Ints(part) : std::nullopt;
  }
  if (!is_arithmetic(opcode) || operands[0].size() != operands[1].size()) return std::nullopt;
  std::vector<int64_t> results;
  for (size_t i = 0; i < operands[0].size(); ++i) {
    const auto value = apply(opcode, operands[0][i], operands[1][i]);
    if (!value) return std::nullopt;
    results.push_back(*value);
  }
  return results;
}

}  // namespace hlosim::stablehlo
