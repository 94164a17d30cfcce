// Tests of operands, dimension lists and called computations that several families' rules make.
//
// Each reports under the caller's constraint number and returns false when it refuses; none touches
// a value before having tested it, so hostile texts (huge or negative numbers, tuples where arrays
// belong) end in a message.
#pragma once

#include <span>
#include <string_view>

#include "ops/infer.h"

namespace hlosim {

using Dimensions = std::span<const int64_t>;

// ── operands ────────────────────────────────────────────────────
bool require_array(OpContext& op, int constraint, int64_t operand);
/// Operands [begin, end); end < 0: all.
bool require_arrays(OpContext& op, int constraint, int64_t begin = 0, int64_t end = -1);
bool require_scalar(OpContext& op, int constraint, int64_t operand);
bool require_integral(OpContext& op, int constraint, int64_t operand);
/// At least one operand.
bool require_operands(OpContext& op, int constraint);

// ── numbers that name dimensions ────────────────────────────────
/// 0 <= value < rank. `what` names the number in the message: "iota_dimension".
bool require_dimension(OpContext& op, int constraint, std::string_view what, int64_t value, int64_t rank);
/// Each in range.
bool require_in_range(OpContext& op, int constraint, std::string_view what, Dimensions list, int64_t rank);
/// Each in range, none twice.
bool require_unique(OpContext& op, int constraint, std::string_view what, Dimensions list, int64_t rank);
/// Ascending and none twice; says nothing of the range.
bool require_sorted(OpContext& op, int constraint, std::string_view what, Dimensions list);
/// `actual` == `expected`; `what` names the list: "slice_sizes".
bool require_count(OpContext& op, int constraint, std::string_view what, size_t actual, int64_t expected);

inline bool holds(Dimensions values, int64_t value) {
  for (const int64_t v : values)
    if (v == value) return true;
  return false;
}

/// Same number of dimensions, same sizes (bounds of dynamic ones). Requires: arrays.
bool same_dimensions(ShapeRef a, ShapeRef b);
/// `base`, of element type `type`, with the dynamic dimensions of both. Requires: arrays of the same sizes.
ShapeRef merged(ShapePool& pool, ElementType type, ShapeRef base, ShapeRef other);

/// XLA's rule for the computation of reduce, reduce-window, scatter and of select-and-scatter's scatter:
/// 2n parameters and n results (a tuple when n > 1), all scalars; accumulator i of type accumulators[i]
/// and value i of type values[i], up to float precision. Result i is exactly of the type of parameter i.
bool require_reducer(OpContext& op, int constraint, ComputationId reducer,
                     std::span<const ElementType> accumulators, std::span<const ElementType> values);

}  // namespace hlosim
