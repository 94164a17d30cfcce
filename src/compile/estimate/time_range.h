// How far off a simulated time may be, by how far off the times of measured programs were.
//
//   if (const auto range = time_range(measured_errors(), "v5p", kinds_of(simulation.totals)))
//     … range->low, range->high                    // in 80 % of like programs the measured time lies between
//
// What a range rests on is in measured_errors.def: for each kind of work how far measured times were from
// simulated ones, over the cases that mostly consist of it. docs/accuracy.md shows how well ranges hold.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/units.h"
#include "model/instruction_cost.h"
#include "sim/simulate.h"

namespace hlosim {

/// The part of like programs whose measured time lies in a range.
inline constexpr double kRangeShare = 0.8;

/// Of the measured cases that mostly consist of one kind of work, kRangeShare lie in the range that their
/// kinds' rows make of them.
struct MeasuredError {
  std::string_view generation;  // "all": of any
  CostCategory category = CostCategory::kControl;
  int64_t cases = 0;
  double low = 1, high = 1;  // of the simulated time
};

/// measured_errors.def
std::span<const MeasuredError> measured_errors();

struct TimeRange {
  Picoseconds low{}, high{};  // low <= high
};

/// A program's time by what takes it.
using TimeByKind = std::array<Picoseconds, kCostCategoryCount>;

/// Waiting for transfers counts as data movement, waiting for collectives as collectives.
TimeByKind kinds_of(const Totals& totals);

/// Absent where `errors` have nothing of the generation nor of any like it, and for no time at all. A kind of
/// work of which the generation has no row has the row of all; without one its time counts as exact. What the
/// kinds are off adds up: taken as independent of each other, ranges of programs of several kinds come out
/// too narrow.
std::optional<TimeRange> time_range(std::span<const MeasuredError> errors, std::string_view generation,
                                    const TimeByKind& kinds);

}  // namespace hlosim
