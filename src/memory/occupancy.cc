#include "memory/occupancy.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "layout/sizes.h"
#include "memory/live_values.h"

namespace hlosim {
namespace {

struct LeafPlace {
  InstructionId instruction;
  std::vector<int64_t> index;
  ShapeRef array = nullptr;
};

void list_leaves(ShapeRef shape, std::vector<int64_t>& index, InstructionId id, std::vector<LeafPlace>& out) {
  if (!shape->is_tuple()) {
    out.push_back({id, index, shape->is_buffer() ? shape->elements[0] : shape});
    return;
  }
  for (size_t i = 0; i < shape->elements.size(); ++i) {
    index.push_back(static_cast<int64_t>(i));
    list_leaves(shape->elements[i], index, id, out);
    index.pop_back();
  }
}

class LiveRanges {
 public:
  LiveRanges(Module& module, const OpTable& table, const FlatSchedule& schedule)
      : module_(module),
        table_(table),
        schedule_(schedule),
        shared_(module, table, schedule),
        ranges_(shared_.size()) {}

  std::vector<LiveBuffer> buffers() {
    for (const InstructionId id : schedule_.steps) add_instruction(id);
    for (const ComputationId computation : roots_until_end()) add_root(computation);
    add_entry_parameters();
    return collect();
  }

 private:
  struct Range {
    int32_t first = std::numeric_limits<int32_t>::max(), last = -1;
  };
  int32_t end() const { return static_cast<int32_t>(schedule_.steps.size()) - 1; }

  void extend(int32_t leaf, int32_t step) {
    Range& range = ranges_[static_cast<size_t>(shared_.set_of(leaf))];
    range.first = std::min(range.first, step);
    range.last = std::max(range.last, step);
  }
  void extend_all(InstructionId id, int32_t step) {
    for (int32_t i = 0; i < shared_.count(id); ++i) extend(shared_.first(id) + i, step);
  }

  void add_instruction(InstructionId id) {
    const Instruction& instruction = module_[id];
    const int32_t step = schedule_.step_of[id];
    const bool takes_one = instruction.find(AttrKey::kIndex) && table_[instruction.opcode].has(kFree);
    // Where the value comes into being; parameters with the computation.
    const int32_t born =
        instruction.parameter_number >= 0 ? schedule_.span_of[instruction.parent].first : step;
    extend_all(id, born);
    if (takes_one) return;  // its own leaf is the one of the tuple that it uses
    for (const InstructionId operand : instruction.operands) extend_all(operand, step);
  }

  std::vector<ComputationId> roots_until_end() const {
    std::vector<ComputationId> found;
    for (size_t i = 0; i < schedule_.span_of.size(); ++i) {
      const ComputationId id{static_cast<int32_t>(i)};
      if (schedule_.span_of[id].last >= schedule_.span_of[id].first) found.push_back(id);
    }
    return found;
  }

  void add_root(ComputationId id) { extend_all(module_[id].root, schedule_.span_of[id].last); }

  /// The caller owns them for the whole run, unless it gave them away.
  void add_entry_parameters() {
    const Attr* donors = module_.find(AttrKey::kBufferDonor);
    const Attr* aliases = module_.find(AttrKey::kInputOutputAlias);
    const auto given_away = [&](size_t parameter, int32_t leaf) {
      bool found = false;
      for (const Attr* attr : {donors, aliases})
        if (attr)
          for (const Alias& alias : attr->aliases())
            found |= alias.parameter == static_cast<int64_t>(parameter) &&
                     (alias.parameter_index.empty() || alias.parameter_index[0] == leaf);
      return found;
    };
    const std::vector<InstructionId>& parameters = module_.entry_computation().parameters;
    for (size_t i = 0; i < parameters.size(); ++i)
      for (int32_t leaf = 0; leaf < shared_.count(parameters[i]); ++leaf) {
        extend(shared_.first(parameters[i]) + leaf, 0);
        if (!given_away(i, leaf)) extend(shared_.first(parameters[i]) + leaf, end());
      }
  }

  /// One buffer per set, described by the leaf that comes first in the schedule.
  std::vector<LiveBuffer> collect() {
    std::vector<int32_t> buffer_of(shared_.size(), -1);
    std::vector<LiveBuffer> buffers;
    std::vector<LeafPlace> leaves;
    std::vector<int64_t> index;
    const InstructionId root = module_.entry_computation().root;
    for (const InstructionId id : schedule_.steps) {
      leaves.clear();
      list_leaves(module_[id].shape, index, id, leaves);
      for (size_t i = 0; i < leaves.size(); ++i) {
        if (!leaves[i].array->is_array()) continue;
        const auto set = static_cast<size_t>(shared_.set_of(shared_.first(id) + static_cast<int32_t>(i)));
        if (buffer_of[set] < 0) {
          buffer_of[set] = static_cast<int32_t>(buffers.size());
          LiveBuffer buffer;
          buffer.instruction = id;
          buffer.index = leaves[i].index;
          buffer.space = leaves[i].array->memory_space();
          buffer.first = ranges_[set].first, buffer.last = ranges_[set].last;
          buffers.push_back(std::move(buffer));
        }
        LiveBuffer& buffer = buffers[static_cast<size_t>(buffer_of[set])];
        buffer.size = std::max(buffer.size, array_size(leaves[i].array));
        buffer.is_parameter |= module_[id].parameter_number >= 0 && module_[id].parent == module_.entry;
        buffer.is_output |= id == root;
        buffer.is_constant |= module_[id].literal != nullptr;
      }
    }
    return buffers;
  }

  Module& module_;
  const OpTable& table_;
  const FlatSchedule& schedule_;
  SharedLeaves shared_;
  std::vector<Range> ranges_;
};

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
    change[static_cast<size_t>(buffer->first)] += static_cast<double>(buffer->size.count());
    change[static_cast<size_t>(buffer->last) + 1] -= static_cast<double>(buffer->size.count());
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

Occupancy memory_occupancy(Module& module, const OpTable& table, const DeviceConfig& device,
                           const IdMap<ComputationId, std::vector<InstructionId>>& order) {
  Occupancy out;
  FlatSchedule schedule = flatten(module, table, order);
  out.buffers = LiveRanges(module, table, schedule).buffers();
  out.steps = std::move(schedule.steps);
  std::map<int64_t, std::vector<const LiveBuffer*>> by_space;
  for (const LiveBuffer& buffer : out.buffers) by_space[buffer.space].push_back(&buffer);
  for (const auto& [number, buffers] : by_space)
    out.spaces.push_back(occupancy_of(number, buffers, out.steps.size(), device));
  add_findings(out, module);
  return out;
}

}  // namespace hlosim
