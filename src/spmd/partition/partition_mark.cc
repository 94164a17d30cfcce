#include "partition/partition_mark.h"

#include <algorithm>
#include <string_view>

#include "hlo/frontend.h"
#include "modules/header_note.h"
#include "sharding/sharding_calls.h"

namespace hlosim {
namespace {

constexpr std::string_view kPartitionedHere = "hlosim.partitioned";

/// Those of elementwise operations stay when a module is partitioned.
bool is_sharding_note(const Instruction& instruction) {
  const ShardingCall call = sharding_call(instruction);
  return call != ShardingCall::kNone && call != ShardingCall::kElementwise;
}

}  // namespace

bool exchanges_data(const Module& module, const OpTable& table) {
  return std::ranges::any_of(module.instructions, [&](const Instruction& instruction) {
    const OpDef& def = table[instruction.opcode];
    return def.has(kCollective) || def.evaluation == EvaluationKind::kPartitionId;
  });
}

bool has_sharding_notes(const Module& module) {
  return std::ranges::any_of(module.instructions, is_sharding_note);
}

void mark_partitioned(Module& module, const OpTable& table) {
  if (module.num_partitions() <= 1 || is_marked_partitioned(module)) return;
  if (exchanges_data(module, table) && !has_sharding_notes(module)) return;
  add_header_note(module, kPartitionedHere, "true");
}

bool is_marked_partitioned(const Module& module) {
  return frontend_attribute(module, kPartitionedHere).has_value();
}

}  // namespace hlosim
