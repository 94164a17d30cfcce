// Which server serves best: devices, meshes, stored types and batch limits under limits of latency.
//
//   const std::vector<ServingPoint> points = search_serving(space);
//   points[0].per_chip                              // the most output tokens per second and chip
//
// All loads of one layout (device, mesh, types) share their simulated steps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/device.h"
#include "serving/disaggregation.h"
#include "serving/server.h"
#include "serving/serving_setup.h"

namespace hlosim {

struct StoredChoice {
  std::string word;  // as --weight-dtype and --kv-cache-dtype take it
  ElementType type = ElementType::kInvalid;
};

struct ServingDeviceChoice {
  std::string name;  // as --device takes it
  const Device* device = nullptr;
  const EstimateOptions* estimate = nullptr;
};

struct ServingSearchSpace {
  ServingSetup base;  // model, max_model_len, utilization, scheduler
  std::vector<ServingDeviceChoice> devices;
  std::vector<int64_t> chips;
  std::vector<StoredChoice> weights, caches;
  std::vector<int64_t> concurrency, batched_tokens;
  int64_t input = 0, output = 0;
  LatencyLimits limits;           // of the median TTFT and the mean TPOT
  bool one_mesh = false;          // that of `base`, not all
  std::string products = "auto";  // as store_types() takes it
};

struct ServingPoint {
  std::string device, weights, cache;
  int64_t chips = 0, tensor = 1, data = 1, expert = 1, concurrency = 0, batched_tokens = 0, seqs = 0;
  bool experts_on_tensor = false;  // --enable-expert-parallel
  std::string reason;              // why it is no answer; empty: it is one
  bool simulated = false;          // the figures below are there
  double per_chip = 0;             // output tokens per second and chip
  double per_user = 0;             // 1 / mean TPOT, tokens per second
  double ttft_ms = 0, tpot_ms = 0, requests_per_s = 0;
  bool front = false;  // no other one has more of both per_chip and per_user
};

/// Answers first, those with more tokens per second and chip before others; then points with a reason.
std::vector<ServingPoint> search_serving(const ServingSearchSpace& space);

/// A server under replicas(), twice as many, … up to max_seqs concurrent requests, and under `concurrency`.
/// By number of requests; a load that the memory refuses has a reason.
/// Requires: `setup` as `device` runs it; `weights` and `cache` are the words of its types.
struct ServingCurve {
  const ServingSetup& setup;
  ServingDeviceChoice device;
  StoredChoice weights, cache;
  std::string products = "auto";
  int64_t input = 0, output = 0, concurrency = 0;
};
std::vector<ServingPoint> serving_curve(const ServingCurve& curve);
/// Of prefill and decode instances apart, under 1, 2, 4, … requests up to max_seqs for each decode instance.
/// `chips`: of all instances; `mix` has the lengths and the number of requests of its own load.
std::vector<ServingPoint> serving_curve(const DisaggregatedServer& server, const RequestMix& mix,
                                        int64_t chips);

/// Options of `hlosim serving` that make the point again, without file and device settings.
std::string serving_options(const ServingSearchSpace& space, const ServingPoint& point);

/// `command`: what stands before and behind serving_options(): "hlosim serving m.yaml", "--set=…".
struct ServingSearchText {
  std::string before, behind;
  bool all = false;  // all answers, not the frontier alone
};
std::string to_text(const ServingSearchSpace& space, const std::vector<ServingPoint>& points,
                    const ServingSearchText& text);
std::string to_json(const ServingSearchSpace& space, const std::vector<ServingPoint>& points,
                    const ServingSearchText& text);
std::string to_csv(const ServingSearchSpace& space, const std::vector<ServingPoint>& points,
                   const ServingSearchText& text);

}  // namespace hlosim
