// What servers do where their command line leaves it open.
//
//   apply_server_defaults(setup, SchedulerKind::kVllm, "v5e");      // setup.max_batched_tokens == 512
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "serving/serving_setup.h"

namespace hlosim {

enum class SchedulerKind : uint8_t { kVllm, kSglang };

/// A row of the table of defaults, which docs/serving.md has as well.
struct ServerDefault {
  SchedulerKind scheduler{};
  std::string_view generation;     // of the device; empty: all others
  int64_t max_batched_tokens = 0;  // of one step
  double memory_utilization = 0;   // of the usable memory, for weights and cache
  std::string_view source;
};
std::span<const ServerDefault> server_defaults();

/// The row for a scheduler and a generation ("v5e").
const ServerDefault& server_default(SchedulerKind scheduler, std::string_view generation);

/// "vllm" or "sglang"; anything else is the first.
SchedulerKind scheduler_kind(std::string_view word);

/// Sets mixed_steps, max_batched_tokens and memory_utilization.
void apply_server_defaults(ServingSetup& setup, SchedulerKind scheduler, std::string_view generation);

}  // namespace hlosim
