// One step of a server by its description: the latency model of a simulator of requests.
//
//   predict_step_line(R"({"decodes": 64, "context": 96000, "prefill": [{"tokens": 448}]})", setup, times)
//   // {"device_seconds":0.04,"host_seconds":0.002,"seconds":0.042,"tokens":512}
//
// docs/serving.md has the keys. What is wrong with a line is its answer: {"error": "…", "column": 12}.
#pragma once

#include <string>
#include <string_view>

#include "serving/serving_setup.h"
#include "serving/step_times.h"

namespace hlosim {

/// One JSON object on one line, without its end. `line` is a JSON object; its "id" is returned unchanged.
/// What is wrong with a line has its column.
std::string predict_step_line(std::string_view line, const ServingSetup& setup, StepTimes& times);

}  // namespace hlosim
