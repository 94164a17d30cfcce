// An order of dimensions for every array, before anything is tiled.
#pragma once

#include "layout/native_tiling.h"
#include "modules/edit.h"

namespace hlosim {

/// The order that `array` has where nothing else decides: row-major, unless another choice of the two fastest
/// dimensions needs less memory once it is tiled. Among equals the one nearest to row-major.
const Layout* compact_layout(ShapePool& pool, ShapeRef array, const TilingPolicy& policy);

/// Arguments, results, and what instructions that run on their own take and make get compact_layout(). What
/// is computed from other arrays follows them; products get operands whose two fastest dimensions are the
/// contracting and the free one; what loops carry follows what their bodies do with it. Copies are put in
/// where a value is wanted in another order than it has; but products take caches, which a
/// dynamic-update-slice has changed before, as they lie where a copy has no `room` on the chip (bytes).
/// Requires: simplify() ran. Post: every array has a layout without tiles.
void assign_layouts(ModuleEditor& editor, const OpTable& table, const TilingPolicy& policy, int64_t room);

}  // namespace hlosim
