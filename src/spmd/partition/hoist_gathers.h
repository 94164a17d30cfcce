// Hoists all-gathers of loop-invariant values out of loops.
//
//   hoist_gathers(made, op_table(), int64_t{1} << 30, nullptr);
//   made.reshardings[0].hoisted                    // it stands before the loop, which carries what it makes
//   made.reshardings[0].held                       // bytes that a device holds meanwhile
#pragma once

#include <cstdint>

#include "hlo/op_def.h"
#include "partition/partition.h"

namespace hlosim {

/// Out of loops that are known to run more than once, inner ones first, in the order of the program, while
/// what the loops hold for it takes no more than `limit` bytes on a device, all loops together. `choices`:
/// those instead. Of the ones that stay, Resharding::held says what they would take.
void hoist_gathers(Partitioned& made, const OpTable& table, int64_t limit, const PartitionChoices* choices);

}  // namespace hlosim
