// Which part of an array each device holds, device by device.
//
//   const HeldParts parts = held_parts(tiles, 4, 2);       // {devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_…}
//   parts.tiles, parts.tile_of                             // {2, 1}, {0, 1, 0, 1}
#pragma once

#include <cstdint>
#include <vector>

#include "sharding/tile_assignment.h"

namespace hlosim {

struct HeldParts {
  std::vector<int64_t> tiles;    // along each dimension
  std::vector<int64_t> tile_of;  // the tile of each device, counted row-major; empty: all have all of it
  std::vector<int64_t> summand;  // which of the summands each device has; empty: there are none
  PartialKind partial = PartialKind::kSum;

  bool is_tiled() const { return !tile_of.empty(); }
};

/// Of an array of `rank` dimensions. `devices` counts where the text doesn't say how many there are.
HeldParts held_parts(const TileAssignment& tiles, int64_t devices, int64_t rank);

}  // namespace hlosim
