// Who uses what, for a whole module at once.
//
//   const UserIndex index(module);
//   if (index.users(id).empty()) …                 // nothing uses it
//   index.callers(computation)                     // the instructions that call it
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hlo/module.h"

namespace hlosim {

/// Users of every instruction, each once, in text order; and which instructions call a computation.
class UserIndex {
 public:
  /// O(instructions + operands).
  explicit UserIndex(const Module& module);

  std::span<const InstructionId> users(InstructionId id) const {
    return std::span(users_).subspan(first_user_[id], user_count_[id]);
  }
  std::span<const InstructionId> callers(ComputationId id) const { return callers_[id]; }
  bool has_control_successor(InstructionId id) const { return has_control_successor_[id] != 0; }

 private:
  std::vector<InstructionId> users_;
  IdMap<InstructionId, uint32_t> first_user_, user_count_;
  IdMap<InstructionId, uint8_t> has_control_successor_;
  IdMap<ComputationId, std::vector<InstructionId>> callers_;
};

}  // namespace hlosim
