// The cost of one instruction together with what it was worked out from, for those who want to see why.
#pragma once

#include "model/fusion_summary.h"
#include "model/instruction_cost.h"

namespace hlosim {

struct CostDetails {
  InstructionCost cost;
  ComputeSummary compute;  // empty for what only starts, waits or calls
};

/// Requires: a verified module whose arrays carry their layouts. Post: `cost` is the one of
/// cost_instructions(). Errors: as cost_instructions().
Result<CostDetails> cost_details(Module& module, const OpTable& table, const Device& device,
                                 const CostOptions& options, InstructionId id);

}  // namespace hlosim
