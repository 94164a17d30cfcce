// A server from setup to metrics in one call: memory, step times, requests.
//
//   store_types(ElementType::kF8E4M3FN, ElementType::kBF16, "auto", device.config, setup);
//   StepTimes times(setup, device, options);
//   const Result<SimulatedServer> made = simulate_server(setup, device.config, times, requests, 64, {});
#pragma once

#include <string_view>
#include <vector>

#include "base/source.h"
#include "model/device.h"
#include "serving/server.h"
#include "serving/serving_memory.h"
#include "serving/serving_setup.h"
#include "serving/step_times.h"

namespace hlosim {

struct SimulatedServer {
  ServingMemory memory;
  ServingRun run;
  double interpolation_error = 0;
  double attention_of_request = 0;  // seconds, StepTimes::attention_of_request()
};

/// Sets weight_type (kInvalid: bf16), cache_type and quantization. `products`: stored, widened, or auto: in
/// the stored type where the MXU multiplies it faster than bf16.
void store_types(ElementType weights, ElementType cache, std::string_view products,
                 const DeviceConfig& device, ServingSetup& setup);

/// host.serving_step of the device, and for SGLang's scheduler (no mixed steps) host.sglang_step, in seconds.
double host_step_seconds(const DeviceConfig& device, bool mixed_steps);

/// Errors: of serving_memory(), serve() and StepTimes. Requires: `times` is that of `setup`, or of one that
/// differs in limits of a step, memory and scheduler alone.
Result<SimulatedServer> simulate_server(const ServingSetup& setup, const DeviceConfig& device,
                                        StepTimes& times, const std::vector<Request>& requests,
                                        int64_t concurrency, const LatencyLimits& limits);

/// Errors: latencies that no load can meet. `input` is the length of a prompt.
Result<void> check_limits(const ServingSetup& setup, int64_t input, const LatencyLimits& limits,
                          StepTimes& times);

}  // namespace hlosim
