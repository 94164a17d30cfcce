// Which arrays of a module have to have one layout: those that share memory across tuples, loops, calls,
// branches, updates in place and copies between memory spaces. One layout is chosen for each such group.
//
//   const LayoutGroups groups(module, table, false);
//   groups.of(loop) == groups.of(initial)          // the state of a loop has one layout
//   groups[groups.of(parameter)].fixed             // "…": why it can't have another
#pragma once

#include <string>
#include <vector>

#include "hlo/module.h"
#include "hlo/op_def.h"

namespace hlosim {

/// An array inside the shape of an instruction, counted in order.
struct LayoutSlot {
  InstructionId id;
  int32_t leaf = 0;
};

struct LayoutGroup {
  std::vector<LayoutSlot> members;
  ShapeRef array = nullptr;                     // of the first member
  std::string fixed;                            // why its layout can't change; empty: it can
  int32_t makers = 0;                           // members that are made there, not handed on
  bool is_argument = false, is_result = false;  // of the entry
  bool is_unknown = false;                      // an operation takes or makes it whose layouts are not known
};

class LayoutGroups {
 public:
  /// The arrays of the computations that run as control flow. Requires: every array has a layout.
  LayoutGroups(const Module& module, const OpTable& table, bool free_entry);

  int32_t size() const { return static_cast<int32_t>(groups_.size()); }
  const LayoutGroup& operator[](int32_t group) const { return groups_[static_cast<size_t>(group)]; }
  const std::vector<LayoutGroup>& all() const { return groups_; }
  /// -1: the instruction does not run as control flow, or its leaf is no array.
  int32_t of(InstructionId id, int32_t leaf = 0) const {
    const int32_t slot = first_[id];
    return slot < 0 ? -1 : group_[static_cast<size_t>(slot + leaf)];
  }
  /// Of the fusions that the computations run: bodies that nothing else runs, made of instructions whose
  /// layouts are known. Others keep their layouts.
  bool may_relay_body(InstructionId fusion) const { return may_relay_[fusion]; }
  const std::vector<ComputationId>& computations() const { return computations_; }

 private:
  class Finder;
  std::vector<LayoutGroup> groups_;
  IdMap<InstructionId, int32_t> first_;  // slot of the first leaf; -1: none
  std::vector<int32_t> group_;           // by slot
  IdMap<InstructionId, uint8_t> may_relay_;
  std::vector<ComputationId> computations_;
};

/// Calls f(leaf number, leaf) for every leaf.
template <class F>
void for_each_leaf_number(ShapeRef shape, F&& f) {
  int32_t number = 0;
  for_each_leaf(shape, [&](ShapeRef leaf) { f(number++, leaf); });
}

/// The number of the first leaf of the part of `shape` at `index`.
int32_t leaf_number(ShapeRef shape, std::span<const int64_t> index);

}  // namespace hlosim
