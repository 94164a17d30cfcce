// Loops whose state may be rewritten.
//
//   Loops loops(editor);
//   const InstructionId starts[] = {weights};
//   for (const Loop& loop : loops.changeable(module.entry)) loops.carry(loop, starts, {});
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "hlo/module_editor.h"
#include "hlo/op_def.h"

namespace hlosim {

/// A while and what belongs to it.
struct Loop {
  InstructionId id, parameter, last,
      condition_parameter;  // the body's parameter and root, the condition's parameter
  ComputationId outside, body, condition;
};

/// Values of a body that are computed before its loop: by each one's, what stands for it there, and the new
/// instructions in order, which are in no list yet.
struct BeforeLoop {
  std::map<InstructionId, InstructionId> of;
  std::vector<InstructionId> added;
};

class Loops {
 public:
  explicit Loops(ModuleEditor& editor);

  /// The loops of a computation that are known to run more than once, have their body and condition for
  /// themselves, and a tuple as state that is only taken apart. `unknown_too`: those of which nobody knows
  /// how often they run as well.
  std::vector<Loop> changeable(ComputationId outside, bool unknown_too = false) const;

  /// The state gets more elements at its end, which start as `starts` and are handed on as they are.
  /// `before`: new instructions outside, which go right before the loop. Returns the elements in the body.
  /// What isn't needed any more stays in the lists.
  std::vector<InstructionId> carry(const Loop& loop, std::span<const InstructionId> starts,
                                   std::vector<InstructionId> before);

  /// Is it an element of the body's state, as a turn begins with it?
  bool is_state(const Loop& loop, InstructionId id) const;
  /// Copies of `values` for where the loop stands. Requires: they come in the order of the body, and what
  /// each is made of is among them. `name`: of the copies; empty: that of their opcode.
  BeforeLoop copied_out(const Loop& loop, std::span<const InstructionId> values, std::string_view name);
  /// The state gets the values `out`, of which there are copies, and the body takes them from there; what
  /// nothing needs any more, and `gone` although it may have effects, leaves the body and the computation
  /// around the loop.
  void carry_copies(const Loop& loop, std::span<const InstructionId> out, const BeforeLoop& copies,
                    const OpTable& table, const std::unordered_set<InstructionId>& gone = {});

 private:
  InstructionId element(ComputationId in, InstructionId tuple, size_t index, ShapeRef shape);

  ModuleEditor& editor_;
  Module& module_;
  IdMap<ComputationId, int32_t> callers_;
};

}  // namespace hlosim
