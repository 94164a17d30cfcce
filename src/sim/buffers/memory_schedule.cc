#include "buffers/memory_schedule.h"

#include <algorithm>

#include "buffers/buffer_analysis.h"
#include "buffers/list_scheduler.h"
#include "memory/computation_map.h"

namespace hlosim {
namespace {

/// Instructions that the root doesn't need, then the root: where depth-first orders start.
std::vector<InstructionId> starts(const ModuleGraph& graph, ComputationId id) {
  std::vector<InstructionId> found;
  const InstructionId root = graph.module()[id].root;
  for (const InstructionId instruction : graph.instructions(id))
    if (graph.users(instruction).empty() && instruction != root) found.push_back(instruction);
  found.push_back(root);
  return found;
}

}  // namespace

std::vector<InstructionId> Schedulers::list(ComputationId id, std::span<int32_t> uses) const {
  return ListScheduler(graph_, places_, values_, sizes_, id, uses).run();
}

std::vector<InstructionId> Schedulers::depth_first(ComputationId id) const {
  const Module& module = graph_.module();
  struct Weight {
    double shared = 0, bytes = 0;  // users beyond the first, and bytes made, of all that comes before
  };
  ComputationMap<Weight> weights(graph_.instructions(id));
  Weight total;
  for (const InstructionId at : graph_.post_order(id)) {
    Weight weight;
    weight.shared = graph_.users(at).empty() ? 0 : static_cast<double>(graph_.users(at).size() - 1);
    for (Place place = places_.first(at); place < places_.end(places_.first(at)); ++place)
      if (const ValueIndex value = values_.at(place); value != kNoValue && values_[value].defined == place)
        weight.bytes += static_cast<double>(sizes_[static_cast<size_t>(value)]);
    total.shared += weight.shared;
    total.bytes += weight.bytes;
    std::vector<InstructionId> operands(module[at].operands.begin(), module[at].operands.end());
    std::sort(operands.begin(), operands.end());
    operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
    for (const InstructionId operand : operands) {
      weight.shared += weights[operand].shared;
      weight.bytes += weights[operand].bytes;
    }
    weights[at] = {std::min(weight.shared, total.shared), std::min(weight.bytes, total.bytes)};
  }

  enum : uint8_t { kNew, kOpen, kDone };
  ComputationMap<uint8_t> state(graph_.instructions(id));
  std::vector<InstructionId> order, stack, before;
  for (const InstructionId start : starts(graph_, id)) {
    stack.push_back(start);
    while (!stack.empty()) {
      const InstructionId at = stack.back();
      uint8_t& seen = state[at];
      if (seen != kNew) {
        stack.pop_back();
        if (seen == kOpen) order.push_back(at);
        seen = kDone;
        continue;
      }
      seen = kOpen;
      before.clear();
      for_each_predecessor(module[at], [&](InstructionId other) {
        if (state[other] == kNew) before.push_back(other);
      });
      std::stable_sort(before.begin(), before.end(), [&](InstructionId a, InstructionId b) {
        const Weight &x = weights[a], &y = weights[b];
        if (x.shared != y.shared) return x.shared > y.shared;
        if (x.bytes != y.bytes) return x.bytes > y.bytes;
        return module[a].name < module[b].name;
      });
      stack.insert(stack.end(), before.rbegin(), before.rend());
    }
  }
  return order;
}

double Schedulers::peak(const InstructionOrder& order) const {
  const FlatSchedule schedule = flatten(graph_, order);
  const std::vector<LiveRange> ranges = live_ranges(graph_, places_, values_, buffers_, schedule);
  std::vector<double> change(static_cast<size_t>(schedule.end()) + 3);
  for (BufferIndex buffer = 0; buffer < buffers_.size(); ++buffer) {
    LiveRange whole;
    double bytes = 0;
    for (const ValueIndex value : buffers_.values(buffer)) {
      const LiveRange& range = ranges[static_cast<size_t>(value)];
      if (!range.known()) continue;
      whole.start = whole.known() ? std::min(whole.start, range.start) : range.start;
      whole.end = std::max(whole.end, range.end);
      bytes = std::max(bytes, static_cast<double>(sizes_[static_cast<size_t>(value)]));
    }
    if (!whole.known()) continue;
    change[static_cast<size_t>(whole.start)] += bytes;
    change[static_cast<size_t>(whole.end) + 1] -= bytes;
  }
  double now = 0, peak = 0;
  for (const double step : change) peak = std::max(peak, now += step);
  return peak;
}

InstructionOrder Schedulers::order_by(ScheduleSource source) const {
  InstructionOrder order(graph_.module().computations.size());
  std::vector<int32_t> uses(source == ScheduleSource::kList ? values_.size() : 0);
  for (const ComputationId id : control_flow_of(graph_)) switch (source) {
      case ScheduleSource::kList:
        order[id] = list(id, uses);
        break;
      case ScheduleSource::kDepth:
        order[id] = depth_first(id);
        break;
      case ScheduleSource::kPostOrder:
        order[id] = graph_.post_order(id);
        break;
      case ScheduleSource::kAuto:
      case ScheduleSource::kText:
        order[id] = graph_.module()[id].instructions;
        break;
    }
  return order;
}

ScheduleChoice Schedulers::choose(ScheduleSource source) const {
  if (source == ScheduleSource::kAuto && graph_.module().is_scheduled()) source = ScheduleSource::kText;
  if (source != ScheduleSource::kAuto) return {order_by(source), source};
  ScheduleChoice best;
  double lowest = 0;
  for (const ScheduleSource tried :
       {ScheduleSource::kList, ScheduleSource::kDepth, ScheduleSource::kPostOrder}) {
    InstructionOrder order = order_by(tried);
    const double bytes = peak(order);
    if (best.order.empty() || bytes < lowest) best = {std::move(order), tried}, lowest = bytes;
  }
  return best;
}

}  // namespace hlosim
