#include "serving/server_defaults.h"

namespace hlosim {
namespace {

constexpr std::string_view kVllmSource =
    "vllm arg_utils.py (2025), max_num_batched_tokens of the API server on TPU; gpu_memory_utilization 0.9";
constexpr std::string_view kSglangSource =
    "sgl-project/sglang-jax@cddbf6f1 srt/server_args.py: chunked_prefill_size 4096, mem_fraction_static 0.88";
constexpr ServerDefault kServerDefaults[] = {
    {SchedulerKind::kVllm, "v5e", 512, 0.9, kVllmSource},
    {SchedulerKind::kVllm, "v5p", 256, 0.9, kVllmSource},
    {SchedulerKind::kVllm, "", 1024, 0.9, kVllmSource},
    {SchedulerKind::kSglang, "", 4096, 0.88, kSglangSource},
};

}  // namespace

std::span<const ServerDefault> server_defaults() { return kServerDefaults; }

const ServerDefault& server_default(SchedulerKind scheduler, std::string_view generation) {
  const ServerDefault* found = nullptr;
  for (const ServerDefault& one : kServerDefaults) {
    if (one.scheduler != scheduler) continue;
    if (one.generation == generation) return one;
    if (one.generation.empty()) found = &one;
  }
  return *found;
}

SchedulerKind scheduler_kind(std::string_view word) {
  return word == "sglang" ? SchedulerKind::kSglang : SchedulerKind::kVllm;
}

void apply_server_defaults(ServingSetup& setup, SchedulerKind scheduler, std::string_view generation) {
  const ServerDefault& given = server_default(scheduler, generation);
  setup.mixed_steps = scheduler == SchedulerKind::kVllm;
  setup.max_batched_tokens = given.max_batched_tokens;
  setup.memory_utilization = given.memory_utilization;
}

}  // namespace hlosim
