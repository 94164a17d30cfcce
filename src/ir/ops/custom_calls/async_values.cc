#include "ops/custom_calls/async_values.h"

#include "ops/custom_calls/custom_call_targets.h"
#include "ops/op_table.h"

namespace hlosim {

bool carries_async_value(Opcode opcode) {
  const AsyncPart part = op_rules(opcode).async_part;
  return part == AsyncPart::kPasses || part == AsyncPart::kBounds || part == AsyncPart::kEnters;
}

bool annotates_sharding(const Instruction& instruction) {
  if (op_rules(instruction.opcode).async_part != AsyncPart::kNotes) return false;
  std::string_view target = custom_call_target(instruction);
  if (target.starts_with("xla.sdy.")) target.remove_prefix(8);
  for (const std::string_view known : {"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape",
                                       "LocalToGlobalShape", "GlobalToLocalShape", "FuncResultSharding"})
    if (target == known) return true;
  return false;
}

bool passes_async_value(const Instruction& instruction) {
  return carries_async_value(instruction.opcode) || annotates_sharding(instruction);
}

}  // namespace hlosim
