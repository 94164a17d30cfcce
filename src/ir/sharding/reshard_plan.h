// What it takes to bring an array from one tiling to another: collectives along lists of axes, cheapest
// first.
//
//   for (const ReshardStep& step : reshard_plan(axes, from, to, shape->dimensions))
//     std::cout << to_text(step.kind) << " of " << step.payload << " elements";
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sharding/tiling.h"

namespace hlosim {

enum class ReshardKind : uint8_t {
  kSlice,  // each device takes its part of what it has
  kAllGather,
  kAllToAll,       // a cut moves from one dimension to another
  kPermute,        // same tiles on other devices
  kAllReduce,      // summands become copies
  kReduceScatter,  // or cuts
};
std::string_view to_text(ReshardKind kind);

struct ReshardStep {
  ReshardKind kind;
  AxisList along;         // kSlice, kAllGather, kAllToAll, kAllReduce, kReduceScatter
  int64_t dimension = 0;  // that gets (kSlice, kReduceScatter), loses (kAllGather, kAllToAll) the cut
  int64_t target = 0;     // kAllToAll: the dimension that gets it
  Tiling result;
  int64_t members = 1;  // that exchange something
  int64_t payload = 0;  // elements of the array that each of them gives; kSlice: 0
};

/// In order; empty: they are the same. Requires: same rank, same manual axes; summands appear nowhere but in
/// `from` (or in both).
std::vector<ReshardStep> reshard_plan(const DeviceAxes& axes, const Tiling& from, const Tiling& to,
                                      std::span<const int64_t> sizes);

}  // namespace hlosim
