// What an iteration of a loop knows of the next one: numbers that the loop counts with.
//
//   NextIteration next(editor, table, loop);
//   if (next.follows(slice)) list = next.operands_in_next(slice, begin);    // its indices one iteration on
#pragma once

#include <map>
#include <span>
#include <vector>

#include "hlo/module_editor.h"
#include "hlo/op_def.h"
#include "modules/loops.h"
#include "ops/op_table.h"

namespace hlosim {

class NextIteration {
 public:
  NextIteration(ModuleEditor& editor, const OpTable& table, const Loop& loop)
      : editor_(editor), module_(editor.module()), table_(table), loop_(loop) {}

  bool is_element_of(InstructionId id, InstructionId tuple) const;
  /// What the loop hands on in the place of that element of its state.
  InstructionId next_of(InstructionId element) const;
  /// Handed on as it is.
  bool stays(InstructionId element) const {
    return is_element_of(element, loop_.parameter) && next_of(element) == element;
  }
  /// Are all of `numbers` arithmetic on what the loop carries and on constants, and does one of them change?
  /// Then the next iteration's are known in this one.
  bool follows(std::span<const InstructionId> numbers) const;

  /// `operands` as they are before the first iteration, outside of the loop; new instructions join `before`.
  std::vector<InstructionId> at_start(std::span<const InstructionId> operands,
                                      std::vector<InstructionId>& before);
  /// `operands` as they will be in the next iteration, in the body; new instructions join `list`.
  std::vector<InstructionId> in_next(std::span<const InstructionId> operands,
                                     std::vector<InstructionId>& list);

 private:
  bool can_follow(InstructionId id, bool& moves, int& budget) const;
  InstructionId rebuilt(InstructionId id, ComputationId in, std::map<InstructionId, InstructionId>& replaced,
                        std::vector<InstructionId>& list);
  void find_elements(std::vector<InstructionId>& before);

  ModuleEditor& editor_;
  Module& module_;
  const OpTable& table_;
  const Loop loop_;
  bool found_ = false;
  std::map<InstructionId, InstructionId> first_, next_;  // by what they replace
};

}  // namespace hlosim
