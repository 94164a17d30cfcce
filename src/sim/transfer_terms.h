// The terms of what an instruction sets going beside the TensorCore, waits for or takes part in, as the
// simulation recorded it.
//
//   const std::vector<TransferTerms> all = transfers_of(module, table, simulation, id);
//   for (const Term& term : terms_of(all[0], device)) …      // collective, links, start to end
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "sim/simulate.h"
#include "terms/terms.h"

namespace hlosim {

/// A collective, alone or inside of what an async start calls.
struct CollectiveTerms {
  std::string instruction, opcode;
  CollectiveGroups groups;
  CollectiveCost cost;
  std::string slice;  // "2x4 (no wrap-around)"
  bool between_slices = false;
  bool is_start = false;  // of an asynchronous one
};

struct TransferTerms {
  TransferRecord record;
  std::string start, done;  // done empty: nothing waits for it
  std::vector<CollectiveTerms> collectives;
  std::vector<std::string> behind;  // starts of what it had to queue for, in order
  std::vector<std::string> beside;  // starts of what moved data in other lanes meanwhile
  /// What sharing HBM adds to its time.
  Picoseconds sharing() const;
};

/// Transfers that `id` starts, is done with, or is itself.
std::vector<TransferTerms> transfers_of(const Module& module, const OpTable& table,
                                        const Simulation& simulation, InstructionId id);

/// Those of its collectives, then of the time from its start to its end.
std::vector<Term> terms_of(const TransferTerms& transfer, const Device& device);

/// The device keys that the terms of the run's transfers name.
std::set<std::string, std::less<>> keys_of_transfers(const Simulation& simulation, const Device& device);

/// "{0,1,2,3} {4,5,6,7}"; of many the first few.
std::string groups_text(const CollectiveGroups& groups);

}  // namespace hlosim
