// What an instruction sets going beside the TensorCore, waits for or takes part in, term by term.
//
//   const std::vector<ExplainedTransfer> all = transfers_of(module, table, simulation, id);
//   for (ExplainedTerm& term : terms_of(all[0], device)) …      // collective, links, start to end
#pragma once

#include <string>
#include <vector>

#include "report/explain.h"

namespace hlosim {

/// Transfers that `id` starts, is done with, or is itself.
std::vector<ExplainedTransfer> transfers_of(const Module& module, const OpTable& table,
                                            const Simulation& simulation, InstructionId id);

/// Those of its collectives, then of the time from its start to its end.
std::vector<ExplainedTerm> terms_of(const ExplainedTransfer& transfer, const Device& device);

/// "{0,1,2,3} {4,5,6,7}"; of many the first few.
std::string groups_text(const CollectiveGroups& groups);

}  // namespace hlosim
