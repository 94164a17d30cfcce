// One step of a server by its description: the latency model of a simulator of requests.
//
//   const PredictedServer server{{setup, times}};
//   predict_step_line(R"({"decodes": 64, "context": 96000, "prefill": [{"tokens": 448}]})", server)
//   // {"device_seconds":0.04,"host_seconds":0.002,"seconds":0.042,"tokens":512}
//
// With prefill and decode on instances apart a step is of one of them, and {"transfer": 1000} asks for the
// transfer of a cache. docs/serving.md has the keys. What is wrong with a line is its answer: {"error": "…",
// "column": 12}.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "serving/disaggregation.h"
#include "serving/serving_setup.h"
#include "serving/step_times.h"

namespace hlosim {

struct PredictedSide {
  const ServingSetup& setup;
  StepTimes& times;
};

/// `prefill` and `link`: of instances that only compute prompts, both or none.
struct PredictedServer {
  PredictedSide decode;
  std::optional<PredictedSide> prefill{};
  std::optional<CacheTransfer> link{};
};

/// One JSON object on one line, without its end. `line` is a JSON object; its "id" is returned unchanged.
/// What is wrong with a line has its column.
std::string predict_step_line(std::string_view line, const PredictedServer& server);

}  // namespace hlosim
