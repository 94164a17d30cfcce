// How long the step of a published run takes, partitioned and simulated; beside it the count of its pieces.
//
//   const RunPrediction prediction = predict_run(run, device);
//   prediction.seconds                             // or prediction.reason
//   prediction.rows                                // {"matmul", 1.2}, {"custom call", 0.4}, …: seconds
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/device.h"
#include "published/published_run.h"
#include "published/step_parts.h"
#include "published/step_work.h"

namespace hlosim {

struct RunPrediction {
  std::optional<double> seconds;
  std::optional<std::pair<double, double>> range;  // 80 % of such steps take so many seconds, from and to
  std::string reason;                              // why there is none
  std::string generation;
  double peak_flops = 0;                             // of a device, for bf16
  std::vector<std::pair<std::string, double>> rows;  // categories of the simulated step; add up to `seconds`
  std::optional<std::pair<StepWork, StepParts>> parts;
  std::vector<std::string> findings;     // why such a run is not possible: memory that it has too little of
  std::vector<std::string> assumptions;  // those of the run, and what was assumed on the way
};

/// `device`: the run's, without its flags.
RunPrediction predict_run(const PublishedRun& run, const Device& device);

}  // namespace hlosim
