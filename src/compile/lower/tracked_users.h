// The users of the instructions of a computation while copies are inserted and removed.
//
//   TrackedUsers users(editor, computation);
//   users.insert_before(user, 0, copy);            // `copy` becomes operand 0 of `user`
//   for (const InstructionId id : users[copy]) …   // {user}
//   users.write();                                 // the computation's list has the copy
#pragma once

#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "hlo/graph.h"
#include "hlo/module_editor.h"

namespace hlosim {

/// What users_of() returns for the computation as it is after each change, without another pass over it.
/// Operands and the root change at once; the computation's list with write().
class TrackedUsers {
 public:
  TrackedUsers(ModuleEditor& editor, ComputationId computation);

  ComputationId computation() const { return computation_; }
  /// In the order of the list, each once. Valid until the next change.
  std::span<const InstructionId> operator[](InstructionId id) const;
  /// The get-tuple-elements of `tuple` that take element `index`. Valid until the next change.
  std::span<const InstructionId> elements(InstructionId tuple, size_t index);

  /// `added`, which no list has yet and whose only operand is operand `number` of `user`, goes right before
  /// `user` and becomes that operand.
  void insert_before(InstructionId user, size_t number, InstructionId added);
  /// `added`, which no list has yet, goes to the end.
  void append(InstructionId added);
  /// Uses of `from` become uses of `to`, and `from`, which uses `to`, is removed from the list.
  void replace_and_remove(InstructionId from, InstructionId to);
  void write();

 private:
  using Place = std::pair<size_t, size_t>;  // of the list's instruction; among those inserted before it

  const std::vector<InstructionId>& list() const { return module_[computation_].instructions; }
  Place place_of(InstructionId id);
  std::vector<InstructionId>& users(InstructionId id);
  void set_operand(InstructionId user, size_t number, InstructionId operand);
  bool has_control_predecessors();

  ModuleEditor& editor_;
  Module& module_;
  ComputationId computation_;
  Users before_;                                                         // as the computation was
  std::unordered_map<InstructionId, std::vector<InstructionId>> users_;  // of those whose users have changed
  std::unordered_map<InstructionId, std::vector<std::vector<InstructionId>>>
      elements_;                                                              // of tuples, by index
  std::unordered_map<InstructionId, std::span<InstructionId>> own_operands_;  // that nothing else shares
  std::optional<bool> controlled_;                                            // some have predecessors
  // Since the last write(): places of the list's instructions, once they are asked for, and of the new ones.
  std::unordered_map<InstructionId, Place> places_;
  std::unordered_map<InstructionId, std::vector<InstructionId>> inserted_;  // by what they go before
  std::vector<InstructionId> appended_;
  std::unordered_set<InstructionId> removed_;
};

}  // namespace hlosim
