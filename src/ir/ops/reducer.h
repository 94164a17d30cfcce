// Work of computations that are applied to many elements: reducers, comparators, mapped functions.
#pragma once

#include <span>

#include "hlo/op_def.h"
#include "ops/work.h"

namespace hlosim {

/// `times` applications of `computation` for every element of `shape`. An instruction of the body that
/// states no vector work of its own counts as one simple operation; parameters and the like are free.
void add_applications(const OpContext& op, ComputationId computation, ShapeRef shape, double times,
                      Work& work);

/// Dimension that lies along the lanes (`minor` 0) or sublanes (1) of a register by the array's layout,
/// descending order where it has none; -1 when the rank is too small.
int64_t minor_dimension(ShapeRef array, int64_t minor);

/// `array` with the sizes `dimensions`, in the same layout.
ShapeRef resized(const OpContext& op, ShapeRef array, std::span<const int64_t> dimensions);

}  // namespace hlosim
