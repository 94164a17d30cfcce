#include "memory/occupancy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "layout/sizes.h"
#include "memory/interference.h"
#include "memory/live_range.h"
#include "memory/module_memory.h"
#include "ops/custom_calls/custom_call_targets.h"

namespace hlosim {
namespace {

/// Marks what instructions write over, each by one array at most, as `hlosim buffers` shares memory.
class HandedOver {
 public:
  /// `lives`: by buffer; null where a buffer holds no array.
  HandedOver(const ModuleMemory& memory, std::span<const LiveRange> ranges,
             std::span<LiveBuffer* const> lives)
      : places_(memory.places),
        values_(memory.values()),
        aliased_(memory.aliased()),
        ranges_(ranges),
        lives_(lives),
        module_(memory.module()),
        interference_(memory.graph, places_, values_, ranges, memory.overwrites, Era::k2026) {}

  void mark() {
    for (BufferIndex buffer = 0; buffer < aliased_.size(); ++buffer)
      if (const LiveBuffer* made = lives_[static_cast<size_t>(buffer)]) mark(buffer, *made);
  }

 private:
  const LiveRange& range(ValueIndex value) const { return ranges_[static_cast<size_t>(value)]; }

  /// Each time that the buffer begins to be in use, one array at most gives its memory.
  void mark(BufferIndex buffer, const LiveBuffer& made) {
    int32_t taken_at = -1;
    for (const ValueIndex value : aliased_.values(buffer))
      if (range(value).start != taken_at && begins(value, made) && take_over(value, made))
        taken_at = range(value).start;
  }

  /// The buffer begins with it, at first or after a gap, and an instruction makes it.
  bool begins(ValueIndex value, const LiveBuffer& made) const {
    if (values_[value].is_phi || !range(value).known()) return false;
    const int32_t start = range(value).start;
    if (start == made.first) return places_.instruction(values_[value].defined) == made.instruction;
    return std::ranges::any_of(made.gaps, [&](const StepRange& gap) { return gap.last + 1 == start; });
  }

  /// An operand that ends where `value`, in `made`, begins gives its memory.
  bool take_over(ValueIndex value, const LiveBuffer& made) {
    const int32_t start = range(value).start;
    for (const InstructionId operand : module_[places_.instruction(values_[value].defined)].operands) {
      const Place first = places_.first(operand);
      for (Place place = first; place < places_.end(first); ++place) {
        const ValueIndex read = values_.at(place);
        if (read == kNoValue) continue;
        LiveBuffer* const given = lives_[static_cast<size_t>(aliased_.of(read))];
        if (!given || given == &made || given->is_handed_over || given->is_constant ||
            given->space != made.space || given->size != made.size || given->first >= start ||
            !ends_at(aliased_.of(read), start) || interference_.interfere(read, value))
          continue;
        return given->is_handed_over = true;
      }
    }
    return false;
  }

  bool ends_at(BufferIndex buffer, int32_t step) const {
    const std::span<const ValueIndex> all = aliased_.values(buffer);
    return std::all_of(all.begin(), all.end(),
                       [&](ValueIndex value) { return !range(value).known() || range(value).end <= step; });
  }

  const Places& places_;
  const Values& values_;
  const AliasedBuffers& aliased_;
  const std::span<const LiveRange> ranges_;
  const std::span<LiveBuffer* const> lives_;
  const Module& module_;
  const Interference interference_;
};

/// The steps between the ranges; sorts them.
std::vector<StepRange> gaps_between(std::vector<StepRange>& ranges) {
  std::vector<StepRange> gaps;
  std::ranges::sort(ranges, {}, &StepRange::first);
  for (size_t i = 1, widest = 0; i < ranges.size(); ++i) {
    if (ranges[i].first > ranges[widest].last + 1)
      gaps.push_back({ranges[widest].last + 1, ranges[i].first - 1});
    if (ranges[i].last > ranges[widest].last) widest = i;
  }
  return gaps;
}

ShapeRef array_of(const Places& places, Place defined) {
  const ShapeRef shape = places.shape(defined);
  return shape->is_buffer() ? shape->elements[0] : shape;
}

std::vector<Bytes> sizes_of(const Places& places, const Values& values) {
  std::vector<Bytes> sizes;
  sizes.reserve(values.size());
  ShapeRef last = nullptr;  // neighbours are often alike
  for (const HloValue& value : values.all()) {
    const ShapeRef array = array_of(places, value.defined);
    sizes.push_back(array == last ? sizes.back() : array->is_array() ? array_size(array) : Bytes(0));
    last = array;
  }
  return sizes;
}

/// When a buffer's arrays are there, and which is the first.
void add_values(const Module& module, const Places& places, const Values& values,
                std::span<const ValueIndex> held, std::span<const LiveRange> ranges,
                std::span<const Bytes> sizes, int32_t last_step, LiveBuffer& live) {
  Place first = kNoPlace;
  std::vector<StepRange> in_use;
  for (const ValueIndex value : held) {
    const LiveRange& range = ranges[static_cast<size_t>(value)];
    const Place defined = values[value].defined;
    const ShapeRef array = array_of(places, defined);
    if (!range.known() || !array->is_array()) continue;
    const Instruction& definer = module[places.instruction(defined)];
    if (range.start < live.first) {
      first = defined;
      live.first = range.start;
      live.instruction = places.instruction(defined);
      live.space = array->memory_space();
    }
    live.last = std::max(live.last, std::min(range.end, last_step));
    if (held.size() > 1) in_use.push_back({range.start, std::min(range.end, last_step)});
    live.size = std::max(live.size, sizes[static_cast<size_t>(value)]);
    live.is_parameter |= definer.parameter_number >= 0 && definer.parent == module.entry;
    live.is_constant |= dataflow(definer.opcode).is_constant;
  }
  if (first != kNoPlace) live.index = places.index(first);
  live.gaps = gaps_between(in_use);
}

/// The step at which a buffer's slices are joined, by buffer; -1: none of them is. They become the array
/// where they lie.
std::vector<int32_t> joined_at(const ModuleMemory& memory, const FlatSchedule& schedule) {
  const Module& module = memory.module();
  std::vector<int32_t> joined(static_cast<size_t>(memory.aliased().size()), -1);
  for (const InstructionId step : schedule.steps) {
    if (!is_concat_bitcast(module[step])) continue;
    for (const InstructionId slice : module[step].operands) {
      const ValueIndex value = memory.values().at(memory.places.first(slice));
      if (value == kNoValue) continue;
      int32_t& at = joined[static_cast<size_t>(memory.aliased().of(value))];
      at = std::max(at, schedule.step_of[step]);
    }
  }
  return joined;
}

std::vector<LiveBuffer> live_buffers(const ModuleMemory& memory, const FlatSchedule& schedule,
                                     SameInAllOrders* same) {
  const AliasedBuffers& aliased = memory.aliased();
  const std::vector<LiveRange> ranges = live_ranges(memory.graph, memory.places, memory.values(), aliased,
                                                    schedule, same ? &same->last_users : nullptr);
  std::vector<Bytes> own_sizes;
  std::vector<Bytes>& sizes = same ? same->sizes : own_sizes;
  if (sizes.empty()) sizes = sizes_of(memory.places, memory.values());
  const int32_t last_step = schedule.end() - 1;
  const std::vector<int32_t> joined = joined_at(memory, schedule);
  std::vector<LiveBuffer> all(static_cast<size_t>(aliased.size()));
  std::vector<LiveBuffer*> lives(all.size());
  for (BufferIndex buffer = 0; buffer < aliased.size(); ++buffer) {
    const auto b = static_cast<size_t>(buffer);
    LiveBuffer& live = all[b];
    live.first = last_step + 1;
    live.is_output = aliased.is_output(buffer);
    add_values(memory.module(), memory.places, memory.values(), aliased.values(buffer), ranges, sizes,
               last_step, live);
    if (joined[b] == live.last && live.first < joined[b]) --live.last;
    if (live.instruction.valid()) lives[b] = &live;
  }
  HandedOver(memory, ranges, lives).mark();
  std::erase(lives, nullptr);
  std::stable_sort(lives.begin(), lives.end(), [&](const LiveBuffer* a, const LiveBuffer* b) {
    return schedule.step_of[a->instruction] < schedule.step_of[b->instruction];
  });
  std::vector<LiveBuffer> found;
  found.reserve(lives.size());
  for (LiveBuffer* const live : lives) found.push_back(std::move(*live));
  return found;
}

SpaceOccupancy occupancy_of(int64_t number, std::span<const LiveBuffer* const> buffers, size_t steps,
                            const DeviceConfig& device) {
  SpaceOccupancy out;
  out.number = number;
  out.space = device.memory_space(number);
  if (out.space) out.capacity = device_capacity(device, *out.space);
  if (number == kVmemSpace && out.space) out.reserved = device.vmem.scoped_limit * device.cores;
  // Doubles: exact up to 9 PB, and no overflow beyond.
  std::vector<double> change(steps + 1);
  for (const LiveBuffer* buffer : buffers) {
    const auto size = static_cast<double>(buffer->size.count());
    const int32_t end = buffer->last + (buffer->is_handed_over ? 0 : 1);
    change[static_cast<size_t>(buffer->first)] += size;
    change[static_cast<size_t>(end)] -= size;
    for (const StepRange& gap : buffer->gaps) {
      change[static_cast<size_t>(gap.first)] -= size;
      change[static_cast<size_t>(gap.last) + 1] += size;
    }
  }
  double now = 0;
  out.at_step.reserve(steps);
  for (size_t i = 0; i < steps; ++i) {
    now += change[i];
    const Bytes bytes = now < 9.2e18 ? Bytes(static_cast<int64_t>(now)) : kTooLarge;
    out.at_step.push_back(bytes);
    if (bytes > out.peak) out.peak = bytes, out.peak_step = static_cast<int32_t>(i);
  }
  return out;
}

void add_findings(Occupancy& occupancy, const Module& module) {
  const auto add = [&](Severity severity, const SpaceOccupancy& at, std::string what) {
    Diagnostic finding;
    finding.severity = severity;
    finding.message = std::move(what);
    const InstructionId id = occupancy.steps[static_cast<size_t>(at.peak_step)];
    finding.source = module.source;
    finding.offset = module[id].offset;
    occupancy.findings.push_back(std::move(finding));
  };
  std::vector<const SpaceOccupancy*> worst;
  for (const SpaceOccupancy& space : occupancy.spaces) worst.push_back(&space);
  std::stable_sort(worst.begin(), worst.end(), [](const SpaceOccupancy* a, const SpaceOccupancy* b) {
    const auto share = [](const SpaceOccupancy* at) { return at->capacity ? at->peak / *at->capacity : 0.0; };
    return share(a) > share(b);
  });
  for (const SpaceOccupancy* at : worst) {
    if (!at->capacity) continue;
    const std::string where = fmt::format("at step {} ({})", at->peak_step,
                                          module[occupancy.steps[static_cast<size_t>(at->peak_step)]].name);
    if (at->peak > *at->capacity)
      add(Severity::kError, *at,
          fmt::format("{}: {} needed {}, {} there", at->space->name, to_text(at->peak), where,
                      to_text(*at->capacity)));
    else if (at->reserved && at->peak > *at->capacity - std::min(*at->capacity, *at->reserved))
      add(Severity::kWarning, *at,
          fmt::format("{}: {} needed {} leave less than the {} that an instruction may use as scratch",
                      at->space->name, to_text(at->peak), where, to_text(*at->reserved)));
  }
}

}  // namespace

Bytes mean_over_time(const SpaceOccupancy& space, std::span<const Picoseconds> times) {
  const bool takes_time =
      std::any_of(times.begin(), times.end(), [](Picoseconds time) { return time.count() > 0; });
  double bytes = 0, total = 0;
  for (size_t i = 0; i < space.at_step.size(); ++i) {
    const double time = takes_time ? static_cast<double>(times[i].count()) : 1.0;
    bytes += static_cast<double>(space.at_step[i].count()) * time;
    total += time;
  }
  const double mean = total > 0 ? bytes / total : 0;
  return Bytes(mean < 0x1p63 ? std::llround(mean) : std::numeric_limits<int64_t>::max());
}

Occupancy memory_occupancy(const ModuleMemory& memory, const DeviceConfig& device,
                           const InstructionOrder& order, SameInAllOrders* same) {
  Occupancy out;
  out.unknown = memory.unknown();
  FlatSchedule schedule = flatten(memory.graph, order);
  if (out.unknown.empty()) out.buffers = live_buffers(memory, schedule, same);
  out.steps = std::move(schedule.steps);
  std::map<int64_t, std::vector<const LiveBuffer*>> by_space;
  for (const LiveBuffer& buffer : out.buffers) by_space[buffer.space].push_back(&buffer);
  for (const auto& [number, buffers] : by_space)
    out.spaces.push_back(occupancy_of(number, buffers, out.steps.size(), device));
  add_findings(out, memory.module());
  return out;
}

Occupancy memory_occupancy(const Module& module, const DeviceConfig& device, const InstructionOrder& order,
                           GraphReach reach) {
  return memory_occupancy(ModuleMemory(module, reach), device, order);
}

}  // namespace hlosim
