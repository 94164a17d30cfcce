// How far off simulated times may be: what a change of the model is held against, as a gate holds times.
//
//   const std::optional<AccuracyLimits> limits = read_accuracy_limits(source, problems);
//   for (const std::string& broken : broken_limits(*limits, accuracy, steps)) …
//   // "v5p dus …: median 40 %, …"
//
//   rows:                                   # of the tables of `hlosim accuracy`: device kind scope types
//     all core single native: {median: 4 %, p90: 25 %}
//   steps:                                  # of --steps: error by time, and how far the sum may be off
//     maxtext_v5p v5p: {error: 10 %, sum: 5 %}
//   ladders:                              # kind and generation: of each, shares of its mean measured time
//     batch v6e: {growth: 5 %, fixed: 10 %}
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/source.h"
#include "study/accuracy.h"
#include "study/accuracy_ladders.h"
#include "study/accuracy_steps.h"

namespace hlosim {

struct AccuracyLimit {
  std::string name;                     // of a row or a step
  std::optional<double> median, p90;    // of a row
  std::optional<double> error, sum;     // of a step
  std::optional<double> growth, fixed;  // of every ladder of a kind and a generation
};

struct AccuracyLimits {
  std::vector<AccuracyLimit> rows, steps, ladders;
};

/// Errors, with their place: keys that aren't known, what is no share such as "4 %" or 0.04.
std::optional<AccuracyLimits> read_accuracy_limits(const SourcePtr& source, DiagnosticList& problems);

/// A line for each limit that the figures are beyond. Rows, steps and ladders that these cases don't have are
/// passed over.
std::vector<std::string> broken_limits(const AccuracyLimits& limits, const Accuracy& accuracy,
                                       const std::vector<StepSum>& steps, const std::vector<Ladder>& ladders);

}  // namespace hlosim
