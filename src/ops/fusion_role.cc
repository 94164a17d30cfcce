#include "ops/fusion_role.h"

namespace hlosim {

FusionRole fusion_role(const OpTable& table, const Instruction& instruction) {
  if (!instruction.shape->is_array() || !instruction.shape->is_static()) {
    return instruction.opcode == Opcode::kReduce && instruction.shape->is_static() ? FusionRole::kReduce
                                                                                   : FusionRole::kNone;
  }
  if (instruction.find(AttrKey::kControlPredecessors)) return FusionRole::kNone;
  switch (instruction.opcode) {
    case Opcode::kBroadcast:
    case Opcode::kIota: return FusionRole::kFill;
    case Opcode::kConstant: return instruction.shape->is_scalar() ? FusionRole::kFill : FusionRole::kNone;
    case Opcode::kReshape: return FusionRole::kReindex;
    case Opcode::kSlice:
    case Opcode::kPad:
    case Opcode::kTranspose:
    case Opcode::kConcatenate:
    case Opcode::kReverse:
    case Opcode::kDynamicSlice: return FusionRole::kPart;
    case Opcode::kCopy: return FusionRole::kCopy;
    case Opcode::kReduce: return FusionRole::kReduce;
    case Opcode::kDot:
    case Opcode::kConvolution: return FusionRole::kProduct;
    default: break;
  }
  const OpDef& def = table[instruction.opcode];
  const bool plain = def.has(kElementwise) && !def.has(kSideEffect) && !def.has(kFree);
  return plain ? FusionRole::kElement : FusionRole::kNone;
}

std::optional<FusionEnd> fusion_end(const Instruction& instruction) {
  if (!instruction.shape->is_static() || instruction.find(AttrKey::kControlPredecessors)) return std::nullopt;
  switch (instruction.opcode) {
    case Opcode::kDynamicUpdateSlice: return instruction.shape->is_array() ? std::optional(FusionEnd{1}) : std::nullopt;
    case Opcode::kScatter: return instruction.shape->is_array() ? std::optional(FusionEnd{1}) : std::nullopt;
    case Opcode::kSort: return FusionEnd{0};
    default: return std::nullopt;
  }
}

}  // namespace hlosim
