// What a program's arguments become: which of them go into which results by arithmetic and movement alone,
// and which are read by products.
//
//   const ArgumentFlow flow = argument_flow(module, op_table());
//   flow.is_multiplied(3)       // argument leaf 3 is an operand of a product, or looked up in
//   flow.reaches(3, 0)          // and it is one of those that result leaf 0 is made of
//
// Products, lookups and kernels end a way: what they make is no argument's any more. A loop's state is
// followed through one iteration: what an optimizer makes of a weight isn't that weight for the next step.
#pragma once

#include <cstdint>
#include <vector>

#include "hlo/module.h"
#include "hlo/op_def.h"

namespace hlosim {

/// Numbers from 0 on, as bits.
class LeafSet {
 public:
  LeafSet() = default;
  explicit LeafSet(int64_t count) : words_(static_cast<size_t>((count + 63) / 64)) {}
  void add(int64_t leaf);
  bool has(int64_t leaf) const;
  void add_all(const LeafSet& other);
  bool empty() const;
  bool has_all(const LeafSet& other) const;
  /// Calls f(leaf), in ascending order.
  template <class F>
  void for_each(F&& f) const {
    for (size_t word = 0; word < words_.size(); ++word)
      for (uint64_t left = words_[word]; left != 0; left &= left - 1)
        f(static_cast<int64_t>(word) * 64 + __builtin_ctzll(left));
  }

 private:
  std::vector<uint64_t> words_;
};

/// By leaf of the parameters, counted through all of them, and by leaf of the result.
struct ArgumentFlow {
  std::vector<LeafSet> results;  // the arguments that each is made of
  LeafSet multiplied;
  LeafSet cached;  // that come back with a part of them written anew in place

  bool reaches(int64_t argument, size_t result) const { return results[result].has(argument); }
  bool is_multiplied(int64_t argument) const { return multiplied.has(argument); }
};

/// Whether values that are made of the same arguments have one list of them.
enum class FlowLists : uint8_t { kShared, kApart };

/// Of the entry computation. `lists`: with kApart the same comes out, later. Requires: a verified module.
ArgumentFlow argument_flow(const Module& module, const OpTable& table, FlowLists lists = FlowLists::kShared);

}  // namespace hlosim
