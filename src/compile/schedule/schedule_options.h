// Options of the latency-hiding scheduler, by the names that XLA has for it.
//
//   LatencyScheduleOptions options;
//   set_schedule_knob(options, "top_down_scheduling", "true")
//   options.memory_limit = int64_t{16} << 30;
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "modules/async_forms.h"
#include "sim/simulate.h"

namespace hlosim {

using OverlapLimits = std::array<int64_t, kAsyncKindCount>;  // by AsyncKind

struct LatencyScheduleOptions {
  /// Costs and latencies are those of the simulator; else XLA's approximate ones: 5000 between an
  /// asynchronous start and its done, 1000 for a loop fusion, 5000 for an output fusion or convolution, 1
  /// otherwise.
  bool use_real_cost_model = true;
  OverlapLimits overlap_limit;  // in flight at a time, per kind; 1, computations 2
  /// send and recv are spread as well; else they stay where their tokens and users put them.
  bool schedule_send_recvs = false;
  /// Bytes of HBM that the schedule should get by with, everything included. Null: what the device has.
  std::optional<int64_t> memory_limit;
  /// How often to start again with 0.9 times the memory when the limit was exceeded.
  int64_t rerun = 1;
  /// Places a start as soon as its latency is covered. XLA has it off by default; what precedes the start
  /// then waits for nothing.
  bool enable_release_start_policy = true;
  bool aggressive_scheduling_policies = false;
  bool prioritize_async_depth_over_stall = false;  // with the aggressive ones
  bool depth_based_memory_pressure_reduction = false;
  /// From the beginning to the end, with starts and dones in each other's place.
  bool top_down_scheduling = false;
  /// Copies in flight together share the bandwidth, so that each takes longer.
  bool resource_sharing = false;

  // What XLA has no names for.
  bool split = true;  // synchronous collectives are split first (schedule/split_collectives.h)
  std::set<std::string, std::less<>>
      whole{};              // names of collectives that aren't: the TensorCore waits for them
  bool keep_faster = true;  // of the order that was there and the new one, computation by computation
  /// With keep_faster: an order has to fit into on-chip memory too; else only into HBM.
  bool fits_on_chip = true;
  /// Whose on-chip memory is what values may take. Null: the device's.
  const DeviceConfig* room = nullptr;
  SimulateOptions simulate;

  LatencyScheduleOptions();
};

/// Sets the knob `name`. Errors: no such knob (with the nearest one as a hint), one that isn't modelled, a
/// value that it can't have.
Result<void> set_schedule_knob(LatencyScheduleOptions& options, std::string_view name,
                               std::string_view value);

struct KnobDoc {
  std::string name, value, meaning;
};
/// Every knob with its value in `options`.
std::vector<KnobDoc> schedule_knobs(const LatencyScheduleOptions& options);

}  // namespace hlosim
