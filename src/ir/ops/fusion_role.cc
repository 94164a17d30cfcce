#include "ops/fusion_role.h"

#include "ops/op_table.h"

namespace hlosim {

FusionRole fusion_role(const OpTable& table, const Instruction& instruction) {
  const FusionRule rule = table[instruction.opcode].rules.fusion;
  if (!instruction.shape->is_array() || !instruction.shape->is_static())
    return rule == FusionRule::kReduce && instruction.shape->is_static() ? FusionRole::kReduce
                                                                         : FusionRole::kNone;
  if (instruction.find(AttrKey::kControlPredecessors)) return FusionRole::kNone;
  switch (rule) {
    case FusionRule::kFill:
      return FusionRole::kFill;
    case FusionRule::kFillOfScalar:
      return instruction.shape->is_scalar() ? FusionRole::kFill : FusionRole::kNone;
    case FusionRule::kReindex:
      return FusionRole::kReindex;
    case FusionRule::kPart:
      return FusionRole::kPart;
    case FusionRule::kCopy:
      return FusionRole::kCopy;
    case FusionRule::kReduce:
      return FusionRole::kReduce;
    case FusionRule::kProduct:
      return FusionRole::kProduct;
    case FusionRule::kElement:
      return FusionRole::kElement;
    case FusionRule::kNever:
    case FusionRule::kEndsUpdate:
    case FusionRule::kEndsAll:
      break;
  }
  return FusionRole::kNone;
}

int lane_change_of(const Module& module, const Instruction& part, int64_t lanes) {
  const ShapeRef result = part.shape;
  if (op_rules(part.opcode).layout == LayoutRole::kTranspose || !result->layout || result->rank() == 0)
    return 0;
  const int64_t fastest = result->layout->minor_to_major[0], size = result->dim(fastest);
  for (const InstructionId id : part.operands) {
    const ShapeRef operand = module[id].shape;
    if (!operand->is_array() || operand->rank() != result->rank()) continue;
    const int64_t before = operand->dim(fastest);
    if (before != size && (before % lanes != 0 || size % lanes != 0)) return before > size ? -1 : 1;
  }
  return 0;
}

std::optional<FusionEnd> fusion_end(const Instruction& instruction) {
  if (!instruction.shape->is_static() || instruction.find(AttrKey::kControlPredecessors)) return std::nullopt;
  const OpRules& rules = op_rules(instruction.opcode);
  if (rules.fusion == FusionRule::kEndsAll) return FusionEnd{0};
  if (!instruction.shape->is_array()) return std::nullopt;
  if (rules.fusion == FusionRule::kEndsUpdate) return FusionEnd{1};
  const bool is_product = rules.dimensions == DimensionRule::kProduct;
  return rules.fusion == FusionRule::kNever && is_product ? std::optional(FusionEnd{0, true}) : std::nullopt;
}

}  // namespace hlosim
