// From cases with predictions to the errors that ranges of times rest on, and how well such ranges hold.
//
//   const ErrorStudy study = study_errors(accuracy);
//   study.errors                                   // a row per generation and kind of work
//   study.held[0].share                            // of the cases, how many lie in ranges that others gave
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "estimate/time_range.h"
#include "study/accuracy.h"

namespace hlosim {

/// A row of one generation, or of all.
struct MeasuredError {
  std::string_view generation;  // "all": of any
  CostCategory category = CostCategory::kControl;
  int64_t cases = 0;
  double low = 1, high = 1;  // of the simulated time
};

struct HeldRanges {
  std::string generation;            // "all"
  std::optional<CostCategory> kind;  // of the cases that mostly consist of it; empty: of all
  size_t cases = 0;
  double share = 0;  // of the cases: measured within a range that was made without them
};

/// How many of the runs of one source, of a generation or of all ("all") lie in the range that all other
/// sources gave.
struct HeldSteps {
  std::string name;
  size_t runs = 0, held = 0;
};

/// Of whole steps: measured over simulated time of 80 % of them.
struct StepErrors {
  ErrorConfig error;
  std::vector<HeldSteps> held;  // all, then generations, then sources
};

struct ErrorStudy {
  std::vector<MeasuredError> errors;  // their names are those of the predictions
  std::vector<HeldRanges> held;       // generations first, then their kinds of work
  std::optional<StepErrors> steps;    // of published runs, where there are any
};

/// A row for each generation and kind of work that at least 20 cases mostly consist of, and one of all
/// generations from 10 cases on, in which none counts for more than 30 cases. A row's ends are quantiles of
/// measured over simulated time, then drawn out or in by one factor so that kRangeShare of its cases lie in
/// the ranges that all rows together give them; both by ranks among one case more than there are, as the
/// next one is to lie between them, too. Cross-validated twenty times: cases are parted by their names' hash.
/// Of published runs one row for all generations, in which each counts the same; cross-validated by source.
ErrorStudy study_errors(const Accuracy& accuracy);

/// The sections `errors` of device files, and how well ranges hold, as comments.
std::string to_text(const ErrorStudy& study);

}  // namespace hlosim
