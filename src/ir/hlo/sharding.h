// Does the text of `sharding=` fit what it stands at? What it says is read by sharding/tile_assignment.h.
//
//   sharding_misfit("{devices=[2,1]0,1}", shape)     // of f32[4]: "{devices=[2,1]0,1} cuts 2 dimensions, …"
//   sharding_misfit("{devices=[2]0,1}", shape, 4)    // "{devices=[2]0,1} is for 2 devices, expected …"
#pragma once

#include <string>
#include <string_view>

#include "layout/shape.h"

namespace hlosim {

/// Why the sharding can't be one of `shape`; empty: it can. Either one for all leaves or one for each; tiles
/// cut each dimension of an array; device numbers are not negative, each stands once. With several
/// `partitions` tiles are for as many devices, and all device numbers are below that.
std::string sharding_misfit(std::string_view text, ShapeRef shape, int64_t partitions = 1);

}  // namespace hlosim
