// What the rules of factors.h are written with.
//
//   FactorBuilder make(op);
//   make.tie(FactorKind::kAlong, {{0, 1}, {make.result(), 0}});     // dimension 1 of operand 0, and 0 of
//   return std::move(make.made);                                    // the result
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "loop_factors/factors.h"

namespace hlosim {

/// A dimension of one of Factors::arrays.
struct DimensionPlace {
  int64_t array = 0;
  int64_t dimension = 0;
};

class FactorBuilder {
 public:
  explicit FactorBuilder(const OpContext& op_);

  int64_t array_count() const { return static_cast<int64_t>(shapes.size()); }
  /// Leaf `leaf` of the result.
  int64_t result(int64_t leaf = 0) const { return made.operand_leaves + leaf; }
  int64_t result_count() const { return array_count() - made.operand_leaves; }
  int64_t rank(int64_t array) const { return shapes[static_cast<size_t>(array)]->rank(); }
  int64_t size(DimensionPlace place) const {
    return shapes[static_cast<size_t>(place.array)]->dim(place.dimension);
  }

  int32_t add(Factor factor);
  void append(DimensionPlace place, int32_t factor);
  /// One factor for all these dimensions; of kind kPart if their sizes differ or there are other amounts.
  void tie(FactorKind kind, std::span<const DimensionPlace> places, std::vector<int64_t> amounts = {});
  void tie(FactorKind kind, std::initializer_list<DimensionPlace> places, std::vector<int64_t> amounts = {}) {
    tie(kind, std::span(places.begin(), places.size()), std::move(amounts));
  }
  /// A part of `whole` is cut out or put in, somewhere: all of it, single elements, or blocks of it.
  void tie_block(std::span<const DimensionPlace> wholes, DimensionPlace part);
  void fix(DimensionPlace place) { append(place, add({FactorKind::kFixed, size(place), {}})); }
  void fix_all();
  /// These arrays have the same dimensions.
  void same(std::span<const int64_t> arrays);
  void same(std::initializer_list<int64_t> arrays) { same(std::span(arrays.begin(), arrays.size())); }
  /// The dimensions `of` and `to`, major to minor, count the same elements.
  void reshape(std::span<const DimensionPlace> of, std::span<const DimensionPlace> to);

  const OpContext& op;
  std::vector<ShapeRef> shapes;  // of the arrays
  Factors made;
};

}  // namespace hlosim
