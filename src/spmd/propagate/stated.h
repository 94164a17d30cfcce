// The shardings that a module states, as cuts by axes.
//
//   const Result<StatedTilings> stated = read_stated(module, computations, 8);
//   stated->of(id)[0].tiling.cuts                  // of the first leaf; empty: nothing is stated
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/source.h"
#include "hlo/module.h"
#include "sharding/device_axes.h"
#include "sharding/tile_assignment.h"
#include "sharding/tiling.h"

namespace hlosim {

/// Of one leaf.
struct StatedTiling {
  TileAssignment::Kind kind = TileAssignment::Kind::kUnknown;
  Tiling tiling;                    // kReplicated, kTiled
  int32_t order = 0;                // of StatedTilings::orders
  uint64_t open = 0;                // bit i: dimension i may be cut further
  std::vector<uint8_t> priorities;  // of the dimensions' cuts; empty: all are 0, which is first
  int64_t group = -1;               // all leaves of a group lie alike (shard_as, shard_like)
  bool operator==(const StatedTiling& other) const {
    return kind == other.kind && order == other.order && tiling == other.tiling && open == other.open &&
           priorities == other.priorities;
  }
};

struct StatedTilings {
  explicit StatedTilings(DeviceAxes axes_) : axes(std::move(axes_)) {}

  std::span<const StatedTiling> of(InstructionId id) const {
    return std::span(leaves).subspan(static_cast<size_t>(first[id]), static_cast<size_t>(count[id]));
  }
  /// As `sharding=` writes it for one array.
  std::string text(const Tiling& tiling, int32_t order) const;

  DeviceAxes axes;
  /// Not empty: device i of the axes is called that. Where the module lists some of a machine's devices.
  std::vector<int64_t> names;
  /// The device that holds what a tiling gives to a place of `axes`; the first is empty: as `axes` say.
  std::vector<std::vector<int64_t>> orders;
  IdMap<InstructionId, int32_t> first, count;  // in `leaves`
  std::vector<StatedTiling> leaves;
};

/// `devices`: 0: as many as the header or the shardings name. `some_devices`: those that all shardings list
/// may be some of a machine's. Errors, where they are written: shardings that are not understood, that don't
/// fit the array or the number of devices.
Result<StatedTilings> read_stated(const Module& module, std::span<const ComputationId> computations,
                                  int64_t devices, bool some_devices = false);

}  // namespace hlosim
