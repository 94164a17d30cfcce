// Which dimensions of a module are one and the same size, wherever they turn up.
//
//   const DimensionClasses classes(module, op_table());
//   classes.of(parameter, 0, 1) == classes.of(sum, 0, 1)       // an elementwise sum of the parameter
//   classes[classes.of(sum, 0, 1)].divisible                   // what a divisor of that size has to divide
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "hlo/module.h"
#include "hlo/op_def.h"
#include "loop_factors/factors.h"

namespace hlosim {

using DimensionClass = int32_t;

/// Dimensions that only shrink together.
struct ClassFacts {
  int64_t divisible = 0;  // the greatest common divisor of all sizes and amounts
  int64_t smallest = 0;   // size of its smallest dimension; 0: has none of its own
  bool fixed = false;
};

/// A dimension that others are merged into: it shrinks by the product of what they shrink by.
struct MergedDimension {
  DimensionClass whole;
  std::vector<DimensionClass> parts;
};

class DimensionClasses {
 public:
  DimensionClasses(const Module& module, const OpTable& table);

  /// Dimension `dimension` of leaf `leaf` of an instruction's result.
  DimensionClass of(InstructionId id, int64_t leaf, int64_t dimension) const {
    return root(variable(id, leaf, dimension));
  }
  size_t size() const { return facts_.size(); }
  const ClassFacts& operator[](DimensionClass c) const { return facts_[static_cast<size_t>(c)]; }
  const std::vector<MergedDimension>& merged() const { return merged_; }
  void fix(DimensionClass c) { facts_[static_cast<size_t>(c)].fixed = true; }
  /// What it shrinks by divides `number` as well.
  void bound(DimensionClass c, int64_t number) {
    int64_t& divisible = facts_[static_cast<size_t>(c)].divisible;
    divisible = std::gcd(divisible, number);
  }
  /// All dimensions of an instruction's result.
  void fix(InstructionId id);
  /// Calls f(class) for each dimension of the result, leaf by leaf.
  template <class F>
  void for_each(InstructionId id, F&& f) const {
    for (int32_t v = first_of(id); v < end_of(id); ++v) f(root(v));
  }

 private:
  void number(const Module& module);
  void tie(const OpContext& op, InstructionId id);
  void tie_factors(const std::vector<int32_t>& places, const Factors& list);
  void tie_computations(const OpContext& op, InstructionId id);
  void tie_aliases(const Module& module, const Attr& aliases);
  void tie_leaves(InstructionId a, int64_t leaf, InstructionId b, int64_t other, int64_t count);
  void tie_results(InstructionId a, InstructionId b) { tie_leaves(a, 0, b, 0, leaf_count_of(a)); }
  void settle();

  int32_t variable(InstructionId id, int64_t leaf, int64_t dimension) const {
    return leaf_first_[static_cast<size_t>(first_leaf_[id] + leaf)] + static_cast<int32_t>(dimension);
  }
  int32_t first_of(InstructionId id) const { return leaf_first_[static_cast<size_t>(first_leaf_[id])]; }
  int32_t end_of(InstructionId id) const {
    return leaf_first_[static_cast<size_t>(first_leaf_[id] + leaf_count_of(id))];
  }
  int64_t leaf_count_of(InstructionId id) const {
    const auto next = static_cast<size_t>(id.index) + 1;
    return (next < first_leaf_.size() ? first_leaf_[InstructionId{static_cast<int32_t>(next)}] : leaves_) -
           first_leaf_[id];
  }
  DimensionClass root(int32_t v) const {
    while (up_[static_cast<size_t>(v)] != v) v = up_[static_cast<size_t>(v)];
    return v;
  }
  int32_t add_variable(int64_t size, bool is_dimension);
  void unite(int32_t a, int32_t b);

  IdMap<InstructionId, int32_t> first_leaf_;
  std::vector<int32_t> leaf_first_;  // the first variable of each leaf, and an end
  int32_t leaves_ = 0;
  std::vector<int32_t> up_;
  std::vector<ClassFacts> facts_;  // of roots
  std::vector<MergedDimension> merged_;
};

}  // namespace hlosim
