// The result of a simulated server as text and as JSON, with the metric names of `vllm bench serve`.
#pragma once

#include <string>

#include <vector>

#include "serving/disaggregation.h"
#include "serving/server.h"
#include "serving/serving_search.h"

namespace hlosim {

/// The instances that compute prompts, where those of the report's setup only decode.
struct PrefillReport {
  const ServingSetup& setup;
  const ServingMemory& memory;
  const EngineWork& work;
  std::string device;
  int64_t devices_per_chip = 1, instances = 1;
  CacheTransfer link;
  Latency transfer;  // from the end of a prompt to the arrival of its cache
};

/// Chips of one instance.
inline int64_t chips_of(const ServingSetup& setup, int64_t devices_per_chip) {
  return (setup.devices() + devices_per_chip - 1) / devices_per_chip;
}

struct ServingReport {
  const ServingSetup& setup;
  const ServingMemory& memory;
  const ServingRun& run;
  std::string device;
  double cache_read = 1;            // share of the memory's bandwidth (kernel.cache_read)
  double attention_of_request = 0;  // seconds of a device, StepTimes::attention_of_request()
  int64_t devices_per_chip = 1;
  double interpolation_error = 0;
  size_t simulated = 0;                    // modules
  double price = 0;                        // of a chip and hour; 0: not given
  double ttft_ms = 0, itl_ms = 0;          // limits; 0: none
  std::vector<ServingPoint> curve{};       // other loads of the server; none: not asked for
  const PrefillReport* prefill = nullptr;  // null: every instance computes prompts and decodes
  int64_t instances = 1;                   // that decode

  int64_t chips() const {
    const int64_t decode = instances * chips_of(setup, devices_per_chip);
    return decode + (prefill ? prefill->instances * chips_of(prefill->setup, prefill->devices_per_chip) : 0);
  }
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
