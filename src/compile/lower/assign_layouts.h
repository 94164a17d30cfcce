// An order of dimensions for every array, before anything is tiled.
#pragma once

#include "layout/native_tiling.h"
#include "lower/room_needs.h"
#include "modules/edit.h"

namespace hlosim {

/// The order that `array` has where nothing else decides: row-major, unless another choice of the two fastest
/// dimensions needs less memory once it is tiled. Among equals the one nearest to row-major.
const Layout* compact_layout(ShapePool& pool, ShapeRef array, const TilingPolicy& policy);

/// On-chip memory for whole arrays.
struct ArrayRoom {
  Room copies;  // of values in another layout
  Room vmem;    // for what a product takes and makes beside its weights
};

/// Arguments, results, and what instructions that run on their own take and make get compact_layout(), or
/// what straight_layouts() has for them. What is computed from other arrays follows them; products get
/// operands whose two fastest dimensions are the contracting and the free one; what loops carry follows what
/// their bodies do with it. Copies are put in where a value is wanted in another order than it has. Two kinds
/// of operands of products are read without a copy: weights that come into the program, if `room.vmem` holds
/// the other operand and the result; caches that a dynamic-update-slice has changed before, if a copy is
/// too large for `room.copies`. Requires: simplify() ran. Post: every array has a layout without tiles.
void assign_layouts(ModuleEditor& editor, const OpTable& table, const TilingPolicy& policy,
                    const ArrayRoom& room);

}  // namespace hlosim
