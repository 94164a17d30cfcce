// Fills in the shardings that a module leaves out, so that arrays are cut alike where they meet.
//
//   const Result<Propagated> whole = propagate(module, {.devices = 8});
//   whole->module[id].find(AttrKey::kSharding)->text()        // "{devices=[8,1]<=[8]}": every instruction
//   whole->decisions[id].by                                   // Decider::kForward
//   to_text(whole->module, whole->module[whole->decisions[id].from], …)       // whose sharding it took
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/source.h"
#include "hlo/module.h"
#include "hlo/op_def.h"

namespace hlosim {

struct PropagateOptions {
  int64_t devices = 0;  // 0: what the module says (num_partitions), else what its shardings name
  /// Shardings that all list the same devices may leave some of a machine's out.
  bool some_devices = false;
};

/// Who decided an instruction's sharding.
enum class Decider : uint8_t {
  kUser,      // it was written on it
  kForward,   // from an operand, or from what calls the computation
  kBackward,  // from a user of it, or from the computation that it calls
  kDefault,   // nobody: replicated
};
std::string_view to_text(Decider decider);

struct Decision {
  Decider by = Decider::kDefault;
  InstructionId from;     // the operand or user that had it; the last one, where several gave axes
  InstructionId through;  // the instruction whose dimensions led from there to here; may be one of the two
};

struct Propagated {
  Module module;                             // every instruction has its sharding
  IdMap<InstructionId, Decision> decisions;  // of tuples: that of the first leaf that somebody decided
  int64_t devices = 1;
  std::vector<std::string> notes;  // what was left alone and why, each once
};

/// To a fixed point, never against what the module states. Errors: shardings that name more devices than
/// there are, or can't be read. Requires: a verified module.
Result<Propagated> propagate(const Module& module, const OpTable& table, const PropagateOptions& options);

}  // namespace hlosim
