// Measured instructions as parts of what they are from: a step of a program, a table. Each counts as often as
// it ran.
//
//   const std::vector<StepSum> steps = step_sums(accuracy);
//   steps[0].error()  // sum of |predicted - measured| over sum of measured, by time
//   steps[0].ratio()  // sum predicted over sum measured
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "study/accuracy.h"

namespace hlosim {

/// Predicted less measured time, all occurrences together.
struct StepPart {
  std::string name;  // a kind, or a case's id
  size_t cases = 0;
  double measured_us = 0, predicted_us = 0, off_us = 0;  // off: sum of |predicted - measured|
  double change() const { return predicted_us - measured_us; }
};

/// All cases of one family on one device. Those of tier C, and those without a prediction, are in no sum.
struct StepSum {
  std::string family, device;
  size_t left_out = 0;
  StepPart all;
  std::vector<StepPart> kinds;  // those that are farthest off first
  std::vector<StepPart> cases;  // the same
  double error() const { return all.measured_us > 0 ? all.off_us / all.measured_us : 0; }
  double ratio() const { return all.measured_us > 0 ? all.predicted_us / all.measured_us : 0; }
};

/// By family and device, in their order; families without a name are left out.
std::vector<StepSum> step_sums(const Accuracy& accuracy);

/// For each step a waterfall: from the measured sum over the kinds and the worst `count` cases to the
/// predicted one.
std::string steps_text(const std::vector<StepSum>& steps, size_t count);
std::string steps_markdown(const std::vector<StepSum>& steps, size_t count);

}  // namespace hlosim
