// The flattened schedule of a module, and which of its values share memory.
#pragma once

#include <cstdint>
#include <vector>

#include "hlo/module.h"
#include "hlo/op_def.h"

namespace hlosim {

/// Steps of a run: computations that control flow calls stand before their caller (a while's condition before
/// its body), each once, at its first caller.
struct FlatSchedule {
  std::vector<InstructionId> steps;
  IdMap<InstructionId, int32_t> step_of;  // -1: does not run as such
  struct Range {
    int32_t first = 0, last = -1;
  };
  IdMap<ComputationId, Range> span_of;  // steps of a computation and what it calls
};

FlatSchedule flatten(const Module& module, const OpTable& table,
                     const IdMap<ComputationId, std::vector<InstructionId>>& order);

/// Array leaves of all instructions that run, in sets that lie in the same memory.
class SharedLeaves {
 public:
  SharedLeaves(Module& module, const OpTable& table, const FlatSchedule& schedule);

  size_t size() const { return parent_.size(); }
  /// Number of the first leaf of an instruction; its others follow in order.
  int32_t first(InstructionId id) const { return first_[id]; }
  int32_t count(InstructionId id) const { return count_[id]; }
  /// The set that a leaf is in, named by one of its leaves.
  int32_t set_of(int32_t leaf) const;

 private:
  struct Leaves {
    int32_t first = 0, count = 0;
  };
  Leaves leaves_of(InstructionId id) const { return {first_[id], count_[id]}; }
  Leaves element_of(InstructionId id, size_t element) const;
  void unite(int32_t a, int32_t b);
  void unite(Leaves a, Leaves b);
  void share_free(InstructionId id, const Instruction& instruction);
  void share_start(InstructionId id, const Instruction& instruction);
  void share_done(InstructionId id, const Instruction& instruction);
  void share_calls(InstructionId id, const Instruction& instruction);
  void share_in_place(InstructionId id, const Instruction& instruction);
  void share_aliases(InstructionId id, const Instruction& instruction);
  void share_entry_aliases();
  Leaves results_of_start(InstructionId start) const;
  bool holds_operands(const Instruction& start) const;

  Module& module_;
  const OpTable& table_;
  const FlatSchedule& schedule_;
  IdMap<InstructionId, int32_t> first_, count_;
  mutable std::vector<int32_t> parent_;
};

}  // namespace hlosim
