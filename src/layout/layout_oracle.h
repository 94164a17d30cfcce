// The slow, literal way from a logical index to its place in memory and back: the three steps of
// the definition of tiled layouts, each spelled out on vectors of sizes and indices. It is what
// LayoutMap is tested against, and what LayoutMap falls back on for layouts that have no flat form.
//
//   1. Put dimensions and index in memory order, most major first.
//   2. For each tile t with k entries: prepend 1s until there are k dimensions; fold the dimensions
//      marked `*` into the next more minor one; replace the last k by ceil(size / t).. then t..,
//      their indices by index / t.. then index mod t...
//   3. Number the elements of the resulting array in row-major order.
//
// All functions require an array whose layout is valid (validate_layout) or absent (row-major),
// without `?` dimensions. Offsets are in elements. Split configs do not matter here: they divide
// an array into pieces that are numbered on their own.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "layout/shape.h"

namespace hlosim::layout_oracle {

/// Sizes after all tiles, most major first; nullopt when one does not fit 64 bits.
std::optional<std::vector<int64_t>> physical_dimensions(ShapeRef array);

/// Their product rounded up to the layout's L(n); nullopt when it does not fit 64 bits.
std::optional<int64_t> extent(ShapeRef array);

/// The same for dimensions that are not (yet) an array's own.
std::optional<int64_t> extent(std::span<const int64_t> dimensions, const Layout& layout);

/// Requires: the extent fits 64 bits, index in bounds.
int64_t offset(ShapeRef array, std::span<const int64_t> index);

/// The element at `offset`; nullopt for padding. Requires: the extent fits 64 bits, offset >= 0.
std::optional<std::vector<int64_t>> index(ShapeRef array, int64_t offset);

}  // namespace hlosim::layout_oracle
