// The arrays of a module whose shardings are to be found. What is one array under several names - an element
// of a tuple, the state of a loop before, in and after its body - is one here, so that it has one sharding.
//
//   Arrays arrays(module, computations, stated);
//   arrays.unite(arrays.leaf(body_parameter, 2), arrays.leaf(loop, 2));
//   SharedArray& state = arrays[arrays.leaf(loop, 2)];
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "propagate/propagate.h"
#include "propagate/stated.h"

namespace hlosim {

/// The axes that cut a dimension, major first.
struct CutList {
  static constexpr size_t kMost = 23;
  uint8_t count = 0;
  uint8_t priority = 0;  // is offered once all that has a lower one has had its effects
  std::array<uint8_t, kMost> axes{};
  InstructionId from;  // whose statement gave the last of them

  std::span<const uint8_t> list() const { return {axes.data(), count}; }
};

struct SharedArray {
  ShapeRef shape = nullptr;
  int32_t first_cut = 0;  // of dimension 0; the others follow
  int32_t order = -1;     // of the devices, as StatedTilings::orders; -1: not cut yet
  AxisSet used = 0;       // cut, partial or manual
  AxisSet manual = 0, partial = 0;
  PartialKind partial_kind = PartialKind::kSum;
  uint64_t open = 0;    // of a stated one: bit i: dimension i may be cut further
  bool stated = false;  // only open dimensions change
  bool closed = false;  // nothing changes: on one device, manual as a whole
  bool even = false;    // is cut into equal parts only
  bool is_manual_whole = false;
  InstructionId stated_by;  // the instruction that has it as `sharding=`
  Decision decision;
};

class Arrays {
 public:
  /// `stated` outlives the arrays.
  Arrays(const Module& module, std::span<const ComputationId> computations, const StatedTilings& stated);

  /// The array that leaf `leaf` of an instruction is.
  int32_t leaf(InstructionId id, int64_t leaf) { return root(first_[id] + static_cast<int32_t>(leaf)); }
  int64_t leaf_count(InstructionId id) const { return count_[id]; }
  SharedArray& operator[](int32_t array) { return arrays_[static_cast<size_t>(array)]; }
  size_t size() const { return arrays_.size(); }
  CutList& cut(const SharedArray& array, int64_t dimension) {
    return cuts_[static_cast<size_t>(array.first_cut + dimension)];
  }

  /// From now on they are one. False: both are stated, and differently, or their ranks differ.
  bool unite(int32_t a, int32_t b);
  /// Product of the axes' sizes.
  int64_t length(std::span<const uint8_t> axes) const;
  /// As a value of its own.
  Tiling tiling(const SharedArray& array) const;
  const DeviceAxes& axes() const { return stated_.axes; }

 private:
  int32_t root(int32_t leaf) {
    while (parent_[static_cast<size_t>(leaf)] != leaf) {
      int32_t& parent = parent_[static_cast<size_t>(leaf)];
      parent = parent_[static_cast<size_t>(parent)];
      leaf = parent;
    }
    return leaf;
  }
  void state(SharedArray& array, const StatedTiling& tiling, InstructionId by);
  bool same_statement(const SharedArray& a, const SharedArray& b) const;

  const StatedTilings& stated_;
  IdMap<InstructionId, int32_t> first_, count_;
  std::vector<int32_t> parent_;
  std::vector<SharedArray> arrays_;
  std::vector<CutList> cuts_;
};

}  // namespace hlosim
