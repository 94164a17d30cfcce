// Prefill and decode on instances of their own, with the transfer of caches between them.
//
//   const Result<CacheTransfer> transfer =
//       cache_transfer({setup_p, memory_p, device_p}, {setup_d, memory_d, device_d});
//   DisaggregatedServer server{{setup_p, memory_p, times_p, 2}, {setup_d, memory_d, times_d, 1}, *transfer};
//   const Result<DisaggregatedRun> run = serve_disaggregated(server, requests, 64);
//
// A request is computed by the prefill instance with the fewest tokens ahead of it. When its prompt is done,
// the decode instance with the fewest requests takes it: it sets pages aside before a step of its own, pulls
// the cache, and computes the first token in its first step after that. Until the pull ends, the prefill
// instance keeps its pages. A network sends one cache after the other.
#pragma once

#include <cstdint>
#include <vector>

#include "base/source.h"
#include "model/device.h"
#include "serving/server.h"
#include "serving/serving_memory.h"
#include "serving/serving_setup.h"
#include "serving/step_times.h"

namespace hlosim {

/// Of one instance to another.
struct CacheTransfer {
  double bytes_per_token = 0;    // of all devices of the instance that receives
  double seconds_per_token = 0;  // of the slower of both sides
  double latency = 0;            // seconds
};

struct TransferSide {
  const ServingSetup& setup;
  const ServingMemory& memory;
  const DeviceConfig& device;
};

/// Each device sends or receives its part of a cache through its share of the host's network (host.dcn, by
/// host.chips). Errors: a device without these.
Result<CacheTransfer> cache_transfer(const TransferSide& prefill, const TransferSide& decode);

struct ServingSide {
  const ServingSetup& setup;
  const ServingMemory& memory;
  StepTimes& times;
  int64_t instances = 1;
};

struct DisaggregatedServer {
  ServingSide prefill, decode;
  CacheTransfer transfer;
};

struct DisaggregatedRun {
  ServingRun run;      // work of the decode instances
  EngineWork prefill;  // of the prefill instances
  Latency transfer;    // from the end of a prompt to the arrival of its cache; waits for pages included
};

/// Work of a side has the steps of all its instances, and times and costs of the mean instance. With
/// `concurrency` > 0 a request arrives when another one ends. Errors: a request longer than max_model_len;
/// of StepTimes.
Result<DisaggregatedRun> serve_disaggregated(const DisaggregatedServer& server,
                                             const std::vector<Request>& requests, int64_t concurrency,
                                             const LatencyLimits& limits = {});

}  // namespace hlosim
