// The result of a simulated server as text and as JSON, with the metric names of `vllm bench serve`.
#pragma once

#include <string>

#include <vector>

#include "serving/server.h"
#include "serving/serving_search.h"

namespace hlosim {

struct ServingReport {
  const ServingSetup& setup;
  const ServingMemory& memory;
  const ServingRun& run;
  std::string device;
  double cache_read = 1;  // share of the memory's bandwidth (kernel.cache_read)
  int64_t devices_per_chip = 1;
  double interpolation_error = 0;
  size_t simulated = 0;               // modules
  double price = 0;                   // of a chip and hour; 0: not given
  double ttft_ms = 0, itl_ms = 0;     // limits; 0: none
  std::vector<ServingPoint> curve{};  // other loads of the server; none: not asked for

  int64_t chips() const { return (setup.devices() + devices_per_chip - 1) / devices_per_chip; }
};

std::string to_text(const ServingReport& report);
/// A page for a browser in one file: the curve of tokens per second and chip over tokens per second and user
/// with its frontier, a table of its points, and the report's text. Requires: report.curve.
std::string to_html(const ServingReport& report);
/// {"schema_version", "device", "chips", "throughput": {…}, "latency_ms": {…}, "memory": {…}, "steps": {…},
/// "assumptions": […], "curve": […]}; ends in '\n'. docs/serving.md has the keys.
std::string to_json(const ServingReport& report);
/// The assumptions of the prediction, one sentence each.
std::vector<std::string> serving_assumptions(const ServingReport& report);

}  // namespace hlosim
