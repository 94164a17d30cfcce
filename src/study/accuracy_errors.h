// From cases with predictions to the errors that ranges of times rest on, and how well such ranges hold.
//
//   const ErrorStudy study = study_errors(accuracy);
//   study.errors                                   // a row per generation and kind of work
//   study.held[0].share                            // of the cases, how many lie in ranges that others gave
#pragma once

#include <string>
#include <vector>

#include "estimate/time_range.h"
#include "study/accuracy.h"

namespace hlosim {

struct HeldRanges {
  std::string generation;  // "all"
  size_t cases = 0;
  double share = 0;  // of the cases: measured within a range that was made without them
};

struct ErrorStudy {
  std::vector<MeasuredError> errors;  // their names are those of the predictions
  std::vector<HeldRanges> held;
};

/// A row for each generation and kind of work that at least 30 cases mostly consist of, and one of all
/// generations from 10 cases on. Cross-validated five times: cases are parted by their names' hash.
ErrorStudy study_errors(const Accuracy& accuracy);

/// Lines of measured_errors.def, and how well ranges hold, as comments.
std::string to_text(const ErrorStudy& study);

}  // namespace hlosim
