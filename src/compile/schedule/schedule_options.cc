#include "schedule/schedule_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/text.h"

namespace hlosim {
namespace {

struct LimitKnob {
  std::string_view name;
  AsyncKind kinds[2];  // the second may be kNone
};
constexpr LimitKnob kLimits[] = {
    {"all_gather_overlap_limit", {AsyncKind::kAllGather, AsyncKind::kNone}},
    {"all_reduce_overlap_limit", {AsyncKind::kAllReduce, AsyncKind::kNone}},
    {"all_to_all_overlap_limit", {AsyncKind::kAllToAll, AsyncKind::kNone}},
    {"collective_broadcast_overlap_limit", {AsyncKind::kBroadcast, AsyncKind::kNone}},
    {"collective_permute_overlap_limit", {AsyncKind::kPermute, AsyncKind::kNone}},
    {"copy_overlap_limit", {AsyncKind::kCopy, AsyncKind::kNone}},
    {"parallel_async_compute_limit", {AsyncKind::kCompute, AsyncKind::kNone}},
    {"ragged_all_to_all_overlap_limit", {AsyncKind::kRaggedAllToAll, AsyncKind::kNone}},
    {"reduce_scatter_overlap_limit", {AsyncKind::kReduceScatter, AsyncKind::kNone}},
    {"send_recv_host_overlap_limit", {AsyncKind::kSendHost, AsyncKind::kRecvHost}},
    {"send_recv_overlap_limit", {AsyncKind::kSendRecv, AsyncKind::kNone}},
};

struct FlagKnob {
  std::string_view name;
  bool LatencyScheduleOptions::*flag;
  std::string_view meaning;
};
constexpr FlagKnob kFlags[] = {
    {"aggressive_scheduling_policies", &LatencyScheduleOptions::aggressive_scheduling_policies,
     "prefer what leads to further asynchronous work, and what wastes least of a latency"},
    {"depth_based_memory_pressure_reduction", &LatencyScheduleOptions::depth_based_memory_pressure_reduction,
     "over the memory limit, prefer the instruction deepest in the graph"},
    {"enable_release_start_policy", &LatencyScheduleOptions::enable_release_start_policy,
     "place a start as soon as its latency is covered (XLA: false)"},
    {"prioritize_async_depth_over_stall", &LatencyScheduleOptions::prioritize_async_depth_over_stall,
     "delay starts behind which no asynchronous work is left, even if that stalls"},
    {"resource_sharing", &LatencyScheduleOptions::resource_sharing,
     "copies in flight together take longer, as they share the bandwidth"},
    {"schedule_send_recvs", &LatencyScheduleOptions::schedule_send_recvs, "spread send and recv as well"},
    {"top_down_scheduling", &LatencyScheduleOptions::top_down_scheduling,
     "place instructions from the beginning to the end"},
    {"use_real_cost_model", &LatencyScheduleOptions::use_real_cost_model,
     "costs of the simulator; false: XLA's approximate ones"},
};

/// XLA has them; what they do is up to hooks of the compilers that use it.
constexpr std::string_view kUnsupported[] = {"enable_selective_resources",
                                             "parallel_collective_overlap_limit", "resource_serializing"};

std::optional<int64_t> whole_number(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

std::string shown_limit(int64_t limit) { return fmt::format("{}", limit); }

}  // namespace

LatencyScheduleOptions::LatencyScheduleOptions() {
  overlap_limit.fill(1);
  overlap_limit[static_cast<size_t>(AsyncKind::kCompute)] = 2;
  simulate.keep_timeline = false;
}

Result<void> set_schedule_knob(LatencyScheduleOptions& options, std::string_view name,
                               std::string_view value) {
  const auto needs = [&](std::string_view what) {
    return failure(fmt::format("knob {}: expects {}, but is '{}'", name, what, shown(value)));
  };
  if (name == "top_down") name = "top_down_scheduling";
  for (const FlagKnob& knob : kFlags) {
    if (knob.name != name) continue;
    if (value != "true" && value != "false") return needs("true or false");
    options.*knob.flag = value == "true";
    return {};
  }
  const std::optional<int64_t> number = whole_number(value);
  for (const LimitKnob& knob : kLimits) {
    if (knob.name != name) continue;
    if (!number || *number == 0) return needs("a whole number from 1");
    for (const AsyncKind kind : knob.kinds)
      if (kind != AsyncKind::kNone) options.overlap_limit[static_cast<size_t>(kind)] = *number;
    return {};
  }
  if (name == "memory_limit") {
    if (!number) return needs("a number of bytes");
    options.memory_limit = *number;
    return {};
  }
  if (name == "rerun") {
    if (!number || *number > 1000) return needs("a whole number up to 1000");
    options.rerun = *number;
    return {};
  }
  if (std::find(std::begin(kUnsupported), std::end(kUnsupported), name) != std::end(kUnsupported))
    return failure(fmt::format("knob {} of XLA's scheduler isn't modelled", name));
  std::vector<std::string> names;
  for (const KnobDoc& knob : schedule_knobs(options)) names.push_back(knob.name);
  return failure(fmt::format("unknown knob '{}'", shown(name)),
                 did_you_mean(name, std::vector<std::string_view>(names.begin(), names.end())));
}

std::vector<KnobDoc> schedule_knobs(const LatencyScheduleOptions& options) {
  std::vector<KnobDoc> knobs;
  for (const FlagKnob& knob : kFlags)
    knobs.push_back(
        {std::string(knob.name), options.*knob.flag ? "true" : "false", std::string(knob.meaning)});
  for (const LimitKnob& knob : kLimits)
    knobs.push_back({std::string(knob.name),
                     shown_limit(options.overlap_limit[static_cast<size_t>(knob.kinds[0])]),
                     fmt::format("{} in flight at a time", to_text(knob.kinds[0]))});
  knobs.push_back({"memory_limit", options.memory_limit ? fmt::format("{}", *options.memory_limit) : "HBM",
                   "bytes of HBM to get by with"});
  knobs.push_back({"rerun", fmt::format("{}", options.rerun),
                   "times to start again with 0.9 times the memory when the limit was exceeded"});
  std::sort(knobs.begin(), knobs.end(), [](const KnobDoc& a, const KnobDoc& b) { return a.name < b.name; });
  return knobs;
}

}  // namespace hlosim
