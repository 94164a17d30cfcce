// How an array lies on the devices: which axes cut each of its dimensions, along which axes devices hold
// summands of it (partial), and along which each goes its own way (manual). Along all others they hold
// copies.
//
//   Tiling rows;                                   // an array of two dimensions,
//   rows.cuts = {{0, 1}, {}};                      // the first cut by axes 0 and 1, 0 being major
//   shard_shape(axes, rows, shape, pool)           // f32[10,4] on 4 devices: f32[3,4], the last has one row
//   to_text(axes, rows)                            // "{devices=[4,1,2]<=[8] last_tile_dim_replicate}"
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "layout/shape.h"
#include "sharding/device_axes.h"

namespace hlosim {

struct Tiling {
  std::vector<AxisList> cuts;  // per dimension
  AxisSet partial = 0;
  PartialKind partial_kind = PartialKind::kSum;
  AxisSet manual = 0;

  Tiling() = default;
  /// Copies everywhere.
  explicit Tiling(int64_t rank) : cuts(static_cast<size_t>(rank)) {}

  int64_t rank() const { return static_cast<int64_t>(cuts.size()); }
  const AxisList& cut(int64_t dimension) const { return cuts[static_cast<size_t>(dimension)]; }
  AxisList& cut(int64_t dimension) { return cuts[static_cast<size_t>(dimension)]; }
  /// Axes that cut a dimension.
  AxisSet cutting() const;
  /// Axes that cut, that summands are along, or that are manual.
  AxisSet used() const { return cutting() | partial | manual; }
  bool is_replicated() const { return used() == 0; }
  bool operator==(const Tiling& other) const {
    return cuts == other.cuts && partial == other.partial && manual == other.manual &&
           (partial == 0 || partial_kind == other.partial_kind);
  }
};

/// A tiling, and whether the text's devices stand in another order than its axes say.
struct PlacedTiling {
  Tiling tiling;
  /// Not empty: the device that holds the part which `tiling` gives to a place. Where the text's order is
  /// not that of the axes.
  std::vector<int64_t> device_at;
};

/// Of an array of `rank` dimensions. Maximal and unknown ones are copies. Errors: for another number of
/// devices or dimensions, what isn't understood.
Result<PlacedTiling> tiling_of(const DeviceAxes& axes, const TileAssignment& tiles, int64_t rank);

/// As `sharding=` writes it, in the iota form where that can say it. Partial and manual axes as subgroups.
std::string to_text(const DeviceAxes& axes, const Tiling& tiling);

// ── sizes ───────────────────────────────────────────────────────

inline int64_t tile_count(const DeviceAxes& axes, const Tiling& tiling, int64_t dimension) {
  return axes.length(tiling.cut(dimension));
}
/// ceil(size / tiles): the last tiles may reach beyond the array, or hold nothing of it.
int64_t shard_size(const DeviceAxes& axes, const AxisList& cut, int64_t size);
/// Of each device. Layouts keep the order of dimensions.
ShapeRef shard_shape(const DeviceAxes& axes, const Tiling& tiling, ShapeRef shape, ShapePool& pool);
/// Does some tile reach beyond the dimension?
bool is_padded(const DeviceAxes& axes, const AxisList& cut, int64_t size);
/// Are the tiles of `fine`, which starts with `coarse`, whole parts of those of `coarse`?
bool refines(const DeviceAxes& axes, const AxisList& coarse, const AxisList& fine, int64_t size);
/// The axes of `fine` behind those of `coarse` if it starts with these; else false.
bool extends(const AxisList& fine, const AxisList& coarse);

// ── groups of devices ───────────────────────────────────────────

/// The devices that differ along `along` only, in the order of that list, as `replica_groups=` has them.
struct DeviceGroups {
  int64_t groups = 1, members = 1;
  std::vector<int64_t> reshape, order;      // [groups,members]<=[reshape]T(order); empty: `lists` has them
  std::vector<std::vector<int64_t>> lists;  // of devices out of order
};
DeviceGroups device_groups(const DeviceAxes& axes, const AxisList& along);

}  // namespace hlosim
