// How far off a simulated time may be, by how far off the times of measured programs were.
//
//   if (const auto range = time_range(device.config.errors, simulation))
//     … range->low, range->high                    // in 80 % of like programs the measured time lies between
//
// What a range rests on are the device's keys `errors`: for each kind of work how far measured times were
// from simulated ones, over the cases that mostly consist of it. docs/accuracy.md shows how well ranges hold.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/units.h"
#include "model/instruction_cost.h"
#include "sim/simulate.h"

namespace hlosim {

/// The part of like programs whose measured time lies in a range.
inline constexpr double kRangeShare = 0.8;

/// The key of a kind of work: "custom_call".
std::string_view error_key(CostCategory category);
/// Of the measured cases that mostly consist of `category`, kRangeShare lie in the range that their kinds'
/// errors make of them.
std::optional<ErrorConfig>& error_of(ErrorsConfig& errors, CostCategory category);
const std::optional<ErrorConfig>& error_of(const ErrorsConfig& errors, CostCategory category);

struct TimeRange {
  Picoseconds low{}, high{};  // low <= high
};

/// Several devices run it together, and products take some of its time: how its parts overlap matters as much
/// as how long each of them takes.
bool is_step(const Simulation& simulation);

/// A program's time by what takes it.
using TimeByKind = std::array<Picoseconds, kCostCategoryCount>;

/// Waiting for transfers counts as data movement, waiting for collectives as collectives.
TimeByKind kinds_of(const Totals& totals);

/// Absent without `errors`, and for no time at all. Time of a kind of work that they have nothing of counts
/// as exact. What the kinds are off adds up: taken as independent of each other, ranges of programs of
/// several kinds come out too narrow.
std::optional<TimeRange> time_range(const std::optional<ErrorsConfig>& errors, const TimeByKind& kinds);

/// The range of a simulated program: errors.step if it is a whole step, else what its kinds add up to.
std::optional<TimeRange> time_range(const std::optional<ErrorsConfig>& errors, const Simulation& simulation);

}  // namespace hlosim
