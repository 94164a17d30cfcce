#include "serving/server_simulation.h"

#include <fmt/format.h>

#include <algorithm>

namespace hlosim {
namespace {

/// Does the MXU take the type as it is?
bool is_native(const DeviceConfig& device, ElementType type) {
  return peak_flops(device, type).count() > peak_flops(device, ElementType::kBF16).count();
}

}  // namespace

void store_types(ElementType weights, ElementType cache, std::string_view products,
                 const DeviceConfig& device, ServingSetup& setup) {
  using enum ElementType;
  setup.weight_type = weights, setup.cache_type = cache;
  const bool narrow = setup.weight_type == kS8 || setup.weight_type == kF8E4M3FN;
  const bool native =
      narrow && !setup.model.moe && setup.weight_block == 0 && is_native(device, setup.weight_type);
  setup.quantization = Quantization::kNone;
  if (narrow && (products == "stored" || (products == "auto" && native)))
    setup.quantization = setup.weight_type == kS8 ? Quantization::kInt8 : Quantization::kFp8;
}

double host_step_seconds(const DeviceConfig& device, bool mixed_steps) {
  Picoseconds step = device.host.serving_step.value_or(Picoseconds(0));
  if (!mixed_steps) step += device.host.sglang_step.value_or(Picoseconds(0));
  return static_cast<double>(step.count()) * 1e-12;
}

Result<SimulatedServer> simulate_server(const ServingSetup& setup, const DeviceConfig& device,
                                        StepTimes& times, const std::vector<Request>& requests,
                                        int64_t concurrency, const LatencyLimits& limits) {
  const Result<ServingMemory> memory = serving_memory(setup, device);
  if (!memory) return tl::unexpected(memory.error());
  const Result<ServingRun> run = serve(setup, *memory, times, requests, concurrency, limits);
  if (!run) return tl::unexpected(run.error());
  const Result<double> error = times.interpolation_error(std::max<int64_t>(1, run->most_running));
  if (!error) return tl::unexpected(error.error());
  const Result<double> each = times.attention_of_request();
  if (!each) return tl::unexpected(each.error());
  return SimulatedServer{*memory, *run, *error, *each};
}

Result<void> check_limits(const ServingSetup& setup, int64_t input, const LatencyLimits& limits,
                          StepTimes& times) {
  const auto host_ms = setup.host_seconds * 1e3;
  if (limits.ttft_ms > 0) {
    const int64_t tokens = std::min(input, setup.max_batched_tokens);
    const auto length = static_cast<double>(tokens);
    const Result<ServerStepCost> one = times.cost({0, 0, tokens, length * length / 2});
    if (!one) return tl::unexpected(one.error());
    const double ms = one->seconds * 1e3 + host_ms;
    if (ms > limits.ttft_ms)
      return failure(
          fmt::format("--ttft={} ms is impossible: one step of {} tokens of a prompt takes {:.2f} ms",
                      limits.ttft_ms, tokens, ms));
  }
  if (limits.tpot_ms > 0) {
    const Result<ServerStepCost> one = times.cost({1, input, 0, 0});
    if (!one) return tl::unexpected(one.error());
    const double ms = (one->seconds * 1e3 + host_ms) / setup.speculation.acceptance_length();
    if (ms > limits.tpot_ms)
      return failure(fmt::format("--itl={} ms is impossible: a token of one request alone takes {:.2f} ms",
                                 limits.tpot_ms, ms));
  }
  return {};
}

}  // namespace hlosim
