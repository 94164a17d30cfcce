// Requests through a server, step by step: continuous batching, prompts in chunks, pages of a cache.
//
//   const Result<std::vector<Request>> requests = make_requests(mix);
//   const Result<ServingRun> run = serve(setup, memory, times, *requests, mix.concurrency);
//   run->output_tokens / run->seconds
//
// server_engine.h describes how steps are scheduled. The same requests give the same run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/source.h"
#include "serving/serving_memory.h"
#include "serving/serving_setup.h"
#include "serving/step_times.h"

namespace hlosim {

struct Request {
  double arrival = 0;             // seconds
  int64_t input = 0, output = 0;  // tokens
};

struct RequestMix {
  int64_t input = 1000, output = 1000;
  double least_share = 1;   // lengths are drawn from this share of them to all of it, evenly
  int64_t concurrency = 0;  // requests under way at once, a new one for each that ends; 0: by arrival
  double rate = 0;          // requests a second, Poisson; 0: all at once
  int64_t requests = 0;
  uint64_t seed = 0;
};

std::vector<Request> make_requests(const RequestMix& mix);
/// How many are enough for steady figures: eight for each one under way, at least 100.
int64_t default_requests(int64_t concurrency);
/// Lines `arrival seconds,input tokens,output tokens`; a first line of other words is passed over. Errors,
/// with their place: numbers that are missing or out of range, arrivals that go backwards.
Result<std::vector<Request>> read_request_trace(const SourcePtr& source);

/// Milliseconds. Zeros of nothing.
struct Latency {
  double mean = 0, median = 0, p99 = 0;
};

/// What an engine did.
struct EngineWork {
  int64_t steps = 0, mixed_steps = 0, preemptions = 0;
  int64_t most_running = 0;
  double decode_seconds = 0, mixed_seconds = 0, host_seconds = 0;  // parts of the time; the rest: no request
  ServerStepCost cost;                                             // of all steps, one device
  /// Speculation: times that a step verified a request's drafts, and those of these that were accepted.
  int64_t verifications = 0, accepted_drafts = 0;
};

struct ServingRun : EngineWork {
  double seconds = 0;
  int64_t requests = 0, input_tokens = 0, output_tokens = 0;
  double peak_output_rate = 0;  // tokens in the best second
  Latency ttft, tpot, itl;
  double good_share = 0;  // of requests inside the limits
};

struct LatencyLimits {
  double ttft_ms = 0, tpot_ms = 0;  // 0: none
};

/// `memory` is that of one group of devices; requests are dealt out evenly to setup.replicas() groups.
/// Errors: a request longer than max_model_len; of StepTimes.
Result<ServingRun> serve(const ServingSetup& setup, const ServingMemory& memory, StepTimes& times,
                         const std::vector<Request>& requests, int64_t concurrency,
                         const LatencyLimits& limits = {});
/// Errors: a request longer than max_model_len.
Result<void> check_lengths(const ServingSetup& setup, const std::vector<Request>& requests);

}  // namespace hlosim
