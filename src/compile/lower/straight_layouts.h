// Arrays that compact_layout() would lay the wrong way round for what reads or changes them.
//
//   const StraightLayouts straight = straight_layouts(module, table, policy, room);
//   if (const auto found = straight.find(shape->logical); found != straight.end()) … found->second
#pragma once

#include <cstdint>
#include <unordered_map>

#include "hlo/op_def.h"
#include "layout/native_tiling.h"
#include "lower/room_needs.h"

namespace hlosim {

/// By what a shape is but for its layout: the order row-major as to the two fastest dimensions, where compact
/// is the other way round and takes more than half the bytes.
using StraightLayouts = std::unordered_map<ShapeRef, const Layout*>;

/// Of two kinds of arrays. Weights of products with kernels of their own, if the compact order has the
/// contracting dimension fastest: the kernel would turn every block round. Only where it goes through them
/// once, as there is `room` on the chip for what it takes and makes beside them. And caches to which
/// a token is added: what a dynamic-update-slice changes in a part that is narrower than a line of a tile
/// along the fastest dimension, and what is read then; it would change a few elements in each of many tiles.
/// With these what they are slices of. Time grows with the instructions.
StraightLayouts straight_layouts(Module& module, const OpTable& table, const TilingPolicy& policy,
                                 const Room& room);

}  // namespace hlosim
