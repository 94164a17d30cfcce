#include "memory/live_range.h"

#include <algorithm>
#include <tuple>

#include "layout/sizes.h"
#include "memory/own_live_range.h"

namespace hlosim {
namespace {

class RangeFinder {
 public:
  RangeFinder(const ModuleGraph& graph, const Places& places, const Values& values,
              const AliasedBuffers& buffers, const FlatSchedule& schedule, LastUsers* users = nullptr)
      : graph_(graph),
        module_(graph.module()),
        places_(places),
        values_(values),
        buffers_(buffers),
        schedule_(schedule),
        users_(users) {
    if (users && users->first.empty()) find_users(*users);
  }

  LiveRange find(ValueIndex value) const {
    const Place defined = values_[value].defined;
    const InstructionId definer = places_.instruction(defined);
    if (schedule_.step_of[definer] < 0) return {};
    const Instruction& instruction = module_[definer];
    const FlatSchedule::Span span = schedule_.span_of[instruction.parent];
    LiveRange range;
    range.start = instruction.parameter_number >= 0 ? span.start : schedule_.step_of[definer];
    range.end = std::max(seen_at(definer), async_end(instruction.parent));
    range.last = defined;
    for (const Place place : values_.positions(value).subspan(1))
      if (const int32_t step = seen_at(places_.instruction(place)); step > range.end)
        range.end = step, range.last = place;
    const bool is_kept = instruction.parameter_number >= 0 && instruction.parent == module_.entry &&
                         !buffers_.is_donated(value);
    range.end = is_kept ? schedule_.end() : std::max(range.end, last_use(value));
    return range;
  }

 private:
  /// Step of an instruction; results of a computation are there until its end.
  int32_t seen_at(InstructionId id) const {
    if (!graph_.is_root(id)) return schedule_.step_of[id];
    return schedule_.span_of[module_[id].parent].end;
  }

  int32_t last_use(ValueIndex value) const {
    int32_t last = -1;
    const auto use = [&](InstructionId user) { last = std::max(last, schedule_.step_of[user]); };
    if (!users_) {
      for_each_user(value, use);
      return last;
    }
    const auto v = static_cast<size_t>(value);
    for (size_t i = users_->first[v]; i < users_->first[v + 1]; ++i) use(users_->users[i]);
    return last;
  }

  template <class F>
  void for_each_user(ValueIndex value, F&& f) const {
    values_.for_each_use(graph_, places_, value, [&](const ValueUse& use) {
      InstructionId user = use.user;
      const ValueRule rule = dataflow(module_[user].opcode).value;
      // What is called uses it; a loop's state is taken over by the body.
      if (rule == ValueRule::kCall && is_passed_on(value, use)) return;
      if (rule == ValueRule::kLoop && schedule_.contains(loop_body(module_[user])))
        user = module_[loop_body(module_[user])].parameters[0];
      f(user);
    });
  }

  void find_users(LastUsers& out) const {
    for (size_t i = 0; i < values_.size(); ++i) {
      out.first.push_back(out.users.size());
      for_each_user(static_cast<ValueIndex>(i), [&](InstructionId user) {
        if (out.users.size() == out.first.back() || out.users.back() != user) out.users.push_back(user);
      });
    }
    out.first.push_back(out.users.size());
  }

  /// The callee's parameter holds the value: what uses it is seen there.
  bool is_passed_on(ValueIndex value, const ValueUse& use) const {
    const ComputationId callee = called_in_order(module_[use.user])[0];
    if (!schedule_.contains(callee)) return false;
    const InstructionId parameter = module_[callee].parameters[static_cast<size_t>(use.operand)];
    return values_.at(places_.first(parameter) + places_.part(use.place)) == value;
  }

  /// What runs beside others is kept until something waits for it.
  int32_t async_end(ComputationId computation) const {
    const ComputationId context = schedule_.async_context[computation];
    if (!context.valid()) return -1;
    int32_t end = -1;
    for (const InstructionId caller : graph_.callers(context)) {
      const ValueRule rule = dataflow(module_[caller].opcode).value;
      const InstructionId done = rule == ValueRule::kAsyncDone ? caller : graph_.chain_end(caller);
      if (done.valid()) end = std::max(end, schedule_.step_of[done]);
    }
    return end;
  }

  const ModuleGraph& graph_;
  const Module& module_;
  const Places& places_;
  const Values& values_;
  const AliasedBuffers& buffers_;
  const FlatSchedule& schedule_;
  const LastUsers* users_;  // null: they aren't known
};

std::vector<LiveRange> ranges_of(const RangeFinder& finder, size_t values) {
  std::vector<LiveRange> ranges(values);
  for (size_t i = 0; i < values; ++i) ranges[i] = finder.find(static_cast<ValueIndex>(i));
  return ranges;
}

}  // namespace

std::vector<LiveRange> own_live_ranges(const ModuleGraph& graph, const Places& places, const Values& values,
                                       const AliasedBuffers& buffers, const FlatSchedule& schedule) {
  return ranges_of(RangeFinder(graph, places, values, buffers, schedule), values.size());
}

std::vector<LiveRange> live_ranges(const ModuleGraph& graph, const Places& places, const Values& values,
                                   const AliasedBuffers& buffers, const FlatSchedule& schedule,
                                   LastUsers* users) {
  std::vector<LiveRange> ranges =
      ranges_of(RangeFinder(graph, places, values, buffers, schedule, users), values.size());
  std::vector<ValueIndex> members;
  for (BufferIndex buffer = 0; buffer < buffers.size(); ++buffer) {
    if (buffers.values(buffer).size() < 2) continue;
    members.clear();
    for (const ValueIndex value : buffers.values(buffer))
      if (ranges[static_cast<size_t>(value)].known()) members.push_back(value);
    const auto range = [&](ValueIndex value) -> LiveRange& { return ranges[static_cast<size_t>(value)]; };
    std::sort(members.begin(), members.end(), [&](ValueIndex a, ValueIndex b) {
      return std::tuple(range(a).start, range(a).end, a) < std::tuple(range(b).start, range(b).end, b);
    });
    for (size_t i = 0; i + 1 < members.size(); ++i) {
      LiveRange &earlier = range(members[i]), &later = range(members[i + 1]);
      later.end = std::max(earlier.end, later.end);
      earlier.end = std::min(earlier.end, later.start);
    }
  }
  return ranges;
}

int32_t peak_step(const Places& places, const Values& values, const Module& module,
                  const std::vector<LiveRange>& ranges) {
  struct Event {
    int32_t step;
    bool is_end;
    int64_t bytes;
  };
  std::vector<Event> events;
  std::unordered_map<ShapeRef, int64_t> bytes_of;
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (!ranges[i].known()) continue;
    const ShapeRef shape = module[places.instruction(values[static_cast<ValueIndex>(i)].defined)].shape;
    const auto [entry, is_new] = bytes_of.try_emplace(shape, 0);
    if (is_new) entry->second = dense_bytes(shape).count();
    events.push_back({ranges[i].start, false, entry->second});
    events.push_back({ranges[i].end + 1, true, entry->second});
  }
  std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return std::tuple(a.step, a.is_end) < std::tuple(b.step, b.is_end);
  });
  // Doubles: sums of huge shapes don't overflow, and are exact up to 9 PB.
  double now = 0, peak = 0;
  int32_t step = 0;
  for (const Event& event : events) {
    now += static_cast<double>(event.is_end ? -event.bytes : event.bytes);
    if (now > peak) peak = now, step = event.step;
  }
  return step;
}

}  // namespace hlosim
