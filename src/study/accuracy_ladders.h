// Ladders: runs of one program that differ in one number. A straight line through measured and one through
// predicted times of a ladder have a slope and a fixed part, in which errors of opposite sign can't cancel as
// they do within one run.
//
//   for (const Ladder& ladder : run_ladders(accuracy))
//     ladder.predicted.slope / ladder.measured.slope          // what each sequence, slice or doubling adds
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "study/accuracy.h"

namespace hlosim {

enum class LadderKind : uint8_t {
  kBatch,   // seconds by sequences of a device; same mesh and flags
  kSlices,  // seconds by slices; the same mesh and batch in each
  kChips,   // seconds per sequence of a device by the logarithm to base 2 of the devices, on one slice
};
std::string_view to_text(LadderKind kind);

/// y = fixed + slope x; of kSlices and kChips `fixed` is the line's value at the ladder's first x.
struct LadderLine {
  double slope = 0, fixed = 0;
};

struct Ladder {
  LadderKind kind = LadderKind::kBatch;
  std::string name, generation;  // the first run's
  std::vector<size_t> runs;      // cases, by x
  std::vector<double> x;         // of each
  std::vector<double> measured_y, predicted_y;
  LadderLine measured, predicted;

  /// How far the predicted line is from the measured one over the ladder's length, as a share of the mean
  /// measured time: of what grows, and of the fixed part.
  double growth_error() const;
  double fixed_error() const;
};

/// Ladders of two runs and more that all have a prediction, by kind, then in the order of their first run.
std::vector<Ladder> run_ladders(const Accuracy& accuracy);

/// A table; empty without ladders.
std::string ladders_text(const std::vector<Ladder>& ladders);
std::string ladders_markdown(const std::vector<Ladder>& ladders);

}  // namespace hlosim
