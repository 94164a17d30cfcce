#include "ops/divisor.h"

namespace hlosim {

ShapeRef repeated_divisor(const Module& module, const Instruction& instruction) {
  const bool divides = instruction.opcode == Opcode::kDivide || instruction.opcode == Opcode::kRemainder;
  if (!divides || !instruction.shape->is_array() ||
      !is_float(module[instruction.operands[0]].shape->element_type))
    return nullptr;
  const Instruction* divisor = &module[instruction.operands[1]];
  while (divisor->opcode == Opcode::kConvert) divisor = &module[divisor->operands[0]];
  if (divisor->opcode != Opcode::kBroadcast) return nullptr;
  return module[divisor->operands[0]].shape;
}

}  // namespace hlosim
