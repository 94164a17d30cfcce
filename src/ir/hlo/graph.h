// Orders over the call graph and the instruction graph of a module.
//
//   for (const ComputationId id : callees_first(module)) …                  // the entry comes last
//   const auto users = users_of(module, module.entry);
//   if (users[id].empty()) …                       // nothing in the computation uses it
#pragma once

#include <span>
#include <vector>

#include "hlo/module.h"
#include "hlo/op_def.h"

namespace hlosim {

/// Every computation once, callees before callers, otherwise in the module's order.
std::vector<ComputationId> callees_first(const Module& module);

/// For each computation how often instructions that stand in lists name it: what has one caller may be
/// changed together with it.
IdMap<ComputationId, int32_t> caller_counts(const Module& module);

/// For each instruction of a computation those that use it as operand, in the order of the computation's
/// list, each once. Control dependencies are not included. Takes time and room by the size of the computation
/// alone: a module may have 100,000 of them.
class Users {
 public:
  Users() = default;
  Users(const Module& module, ComputationId computation);
  /// Empty for what the computation doesn't list.
  std::span<const InstructionId> operator[](InstructionId id) const;

 private:
  size_t row_of(InstructionId id) const;

  int32_t first_ = 0;                 // the least id that is used
  std::vector<int32_t> used_;         // what is used, in order; empty: all from `first_` on have a row
  std::vector<uint32_t> begin_;       // of each row; and the end of the last
  std::vector<InstructionId> users_;  // row by row
};
Users users_of(const Module& module, ComputationId computation);

/// The async-start that an async-update or -done instruction (or the operand of one) goes back to
/// through operands alone; null when the chain passes through anything else.
const Instruction* async_start_of(const Module& module, const Instruction& instruction);

/// A computation that runs as such, not as a part of a fusion or as what some operation applies.
struct FlowComputation {
  ComputationId id;
  bool is_condition = false;  // of a while: its form says how often the loop runs
};
enum class FlowReach : uint8_t {
  kInOrder,  // the entry, and what is called, repeated or chosen from there
  kBeside,   // and what runs asynchronously beside that
};
/// Callers before what they call first.
std::vector<FlowComputation> flow_computations(const Module& module, const OpTable& table,
                                               FlowReach reach = FlowReach::kInOrder);

}  // namespace hlosim
