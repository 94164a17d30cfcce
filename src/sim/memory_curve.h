// Memory in use over the time of a run: a step function for each memory space, all iterations of all loops
// included.
//
// While an instruction runs, the bytes of its step in the flattened schedule are in use. A step that takes no
// time is a point of its own where it exceeds its neighbours. The maximum of a curve is the report's peak,
// its mean over time the report's mean before that is rounded to whole bytes.
//
// Loops can have more iterations than a curve may have points. Then the run is divided into equal intervals,
// and a curve shows of each interval its maximum, for as long as the interval's mean requires, and then its
// minimum: peak and mean of the run remain exact.
//
//   const std::vector<MemoryCurve> curves = memory_curves(module, simulation, occupancy, 10'000);
//   mean_of(curves[0], simulation.totals.makespan)                  // of occupancy.spaces[0]
#pragma once

#include <cstdint>
#include <vector>

#include "memory/occupancy.h"
#include "sim/simulate.h"

namespace hlosim {

/// From `time` until that of the next point, or until the run ends. Of two points of one time the first is a
/// maximum that takes no time.
struct CurvePoint {
  Picoseconds time{};
  Bytes value{};
};
using MemoryCurve = std::vector<CurvePoint>;

/// One curve for each space of the occupancy, of `most_points` points at most (and of 8, if that is less).
/// Requires: a simulation with keep_timeline, and the occupancy of its schedule.
std::vector<MemoryCurve> memory_curves(const Module& module, const Simulation& simulation,
                                       const Occupancy& occupancy, int64_t most_points);

/// Mean over the time from 0 to `end`, in whole bytes.
Bytes mean_of(const MemoryCurve& curve, Picoseconds end);
Bytes peak_of(const MemoryCurve& curve);

}  // namespace hlosim
