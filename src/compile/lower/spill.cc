#include "lower/spill.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "hlo/graph.h"
#include "hlo/module_editor.h"
#include "layout/sizes.h"
#include "lower/on_chip.h"
#include "memory/module_memory.h"
#include "modules/trip_count.h"
#include "ops/op_table.h"
#include "sim/schedule.h"

namespace hlosim {
namespace {

bool overflows(const SpaceOccupancy& space, const DeviceConfig& device) {
  return is_on_chip(device, space.number) && space.peak.count() > room_in(device, space.number);
}

class Spiller {
 public:
  /// `memory`, `occupancy`: of the module as it is. Requires: something is known of it.
  Spiller(Module& module, const OpTable& table, const DeviceConfig& device, const Occupancy& occupancy,
          const ModuleMemory& memory)
      : module_(module),
        table_(table),
        device_(device),
        occupancy_(occupancy),
        graph_(memory.graph),
        places_(memory.places),
        values_(memory.values()),
        aliased_(memory.aliased()),
        callers_(caller_counts(module)),
        step_of_(module.instructions.size(), -1),
        moved_(static_cast<size_t>(places_.size())),
        changed_(module.instructions.size()) {
    for (size_t i = 0; i < occupancy.steps.size(); ++i)
      step_of_[occupancy.steps[i]] = static_cast<int32_t>(i);
    count_executions();
  }

  int64_t run() {
    for (const SpaceOccupancy& space : occupancy_.spaces)
      if (overflows(space, device_)) choose(space.number, room_in(device_, space.number));
    if (spilled_ == 0) return 0;
    move_all();
    tell_fusions();
    for (const ComputationId id : graph_.computations())
      if (!graph_.instructions(id).empty()) drop_copies(id);
    return spilled_;
  }

 private:
  // ── what goes ──

  /// A buffer in on-chip memory.
  struct Held {
    const LiveBuffer* live = nullptr;
    BufferIndex buffer = 0;
    double accesses = 0;  // by kernels, over the whole run
    bool may_move = false;
  };

  void count_executions() {
    executions_ = IdMap<ComputationId, double>(module_.computations.size());
    executions_[module_.entry] = 1;
    for (const FlowComputation& flow : flow_computations(module_, table_, FlowReach::kBeside))
      for (const InstructionId at : module_[flow.id].instructions) {
        double times = executions_[flow.id];
        if (module_[at].find(AttrKey::kBody))
          if (const TripCount trips = trip_count(module_, module_[at]); trips.known())
            times *= static_cast<double>(trips.count);
        for_each_called(module_[at], [&](ComputationId called) { executions_[called] += times; });
      }
  }

  Held held(const LiveBuffer& live) const {
    Held one;
    one.live = &live;
    one.buffer = aliased_.of(values_.at(places_.find(live.instruction, live.index)));
    one.may_move = !live.is_parameter && !live.is_output && !live.is_constant;
    for (const ValueIndex value : aliased_.values(one.buffer)) {
      const Place defined = values_[value].defined;
      if (!values_[value].is_phi) one.accesses += executions(places_.instruction(defined));
      values_.for_each_use(graph_, places_, value,
                           [&](const ValueUse& use) { one.accesses += executions(use.user); });
      for (const Place place : values_.positions(value))
        one.may_move = one.may_move && may_move(place, live.space);
    }
    return one;
  }
  double executions(InstructionId id) const { return executions_[module_[id].parent]; }

  bool may_move(Place place, int64_t space) const {
    const ShapeRef shape = places_.shape(place);
    const InstructionId id = places_.instruction(place);
    const auto shares_body = [&](InstructionId fusion) {
      return is_fusion(fusion) && callers_[called_by(fusion)] > 1;
    };
    return shape->is_array() && shape->memory_space() == space && !shares_body(id) &&
           std::ranges::none_of(graph_.users(id), shares_body);
  }

  /// Goes through the steps at which buffers begin to be in use, at first or after a gap; of what is alive
  /// where there is too little room, one after the other goes.
  void choose(int64_t space, int64_t room) {
    std::vector<Held> all;
    for (const LiveBuffer& live : occupancy_.buffers)
      if (live.space == space) all.push_back(held(live));
    std::vector<std::pair<int32_t, const Held*>> begins;  // step and buffer
    for (const Held& one : all) {
      begins.emplace_back(one.live->first, &one);
      for (const StepRange& gap : one.live->gaps) begins.emplace_back(gap.last + 1, &one);
    }
    std::ranges::stable_sort(begins, {}, [](const auto& begin) { return begin.first; });
    std::set<const Held*> gone;
    std::vector<const Held*> alive;
    for (size_t i = 0; i < begins.size();) {
      const int32_t step = begins[i].first;
      for (; i < begins.size() && begins[i].first == step; ++i)
        if (!gone.contains(begins[i].second)) alive.push_back(begins[i].second);
      std::erase_if(alive, [&](const Held* one) { return !one->live->counts_at(step); });
      int64_t bytes = 0;
      for (const Held* one : alive) bytes += one->live->size.count();
      while (bytes > room) {
        const auto least = least_useful(alive, bytes - room);
        if (least == alive.end()) break;
        bytes -= (*least)->live->size.count();
        mark(**least);
        gone.insert(*least);
        alive.erase(least);
      }
    }
  }

  /// The one with the least traffic for each of the bytes that are missing.
  std::vector<const Held*>::const_iterator least_useful(const std::vector<const Held*>& alive,
                                                        int64_t missing) const {
    auto best = alive.end();
    double least = 0;
    for (auto one = alive.begin(); one != alive.end(); ++one) {
      if (!(*one)->may_move) continue;
      const auto size = static_cast<double>((*one)->live->size.count());
      const double cost = (*one)->accesses * size / std::min(size, static_cast<double>(missing));
      if (best == alive.end() || cost < least || (cost == least && (*one)->live->last > (*best)->live->last))
        best = one, least = cost;
    }
    return best;
  }

  void mark(const Held& one) {
    ++spilled_;
    for (const ValueIndex value : aliased_.values(one.buffer))
      for (const Place place : values_.positions(value)) moved_[static_cast<size_t>(place)] = true;
  }

  // ── where it goes ──

  void move_all() {
    for (size_t i = 0; i < module_.instructions.size(); ++i) {
      const InstructionId id{static_cast<int32_t>(i)};
      Place place = places_.first(id);
      const auto begin = moved_.begin() + place, end = moved_.begin() + places_.end(place);
      if (std::find(begin, end, true) == end) continue;
      module_.instructions[id].shape = in_hbm(module_[id].shape, place);
      changed_[id] = true;
    }
  }

  /// `place`: of the shape; the next one behind it afterwards.
  ShapeRef in_hbm(ShapeRef shape, Place& place) {
    const bool moves = moved_[static_cast<size_t>(place++)];
    if (!shape->is_tuple())
      return moves ? module_.shapes().with_memory_space(shape, kDefaultMemorySpace) : shape;
    std::vector<ShapeRef> elements;
    for (const ShapeRef element : shape->elements) elements.push_back(in_hbm(element, place));
    return module_.shapes().tuple(elements);
  }

  bool is_fusion(InstructionId id) const { return table_[module_[id].opcode].has(kFusion); }
  ComputationId called_by(InstructionId fusion) const {
    return module_[fusion].find(AttrKey::kCalls)->computations()[0];
  }

  /// The bodies of fusions know where their operands and results lie.
  void tell_fusions() {
    for (const ComputationId id : graph_.computations())
      for (const InstructionId at : graph_.instructions(id)) {
        if (!is_fusion(at)) continue;
        const Computation& body = module_[called_by(at)];
        for (size_t i = 0; i < body.parameters.size(); ++i)  // there may be more operands
          if (changed_[module_[at].operands[i]])
            give_space(body.parameters[i], module_[module_[at].operands[i]].shape);
        if (changed_[at]) tell_root(body.root, module_[at].shape);
      }
  }

  void tell_root(InstructionId root, ShapeRef shape) {
    give_space(root, shape);
    if (!is_tuple(module_[root])) return;
    for (size_t k = 0; k < module_[root].operands.size(); ++k)
      give_space(module_[root].operands[k], shape->elements[k]);
  }

  void give_space(InstructionId id, ShapeRef from) {
    ShapeRef& shape = module_.instructions[id].shape;
    shape = from->is_array() ? module_.shapes().with_memory_space(shape, from->memory_space()) : from;
  }

  // ── copies that change nothing any more ──

  void drop_copies(ComputationId id) {
    ModuleEditor editor(module_);
    IdMap<InstructionId, uint8_t> gone(module_.instructions.size());
    for (const InstructionId at : graph_.instructions(id)) {
      const InstructionId start = start_of_copy(at);
      if (!start.valid()) continue;
      const InstructionId source = module_[start].operands[0];
      if ((!changed_[at] && !changed_[source]) || module_[source].shape != module_[at].shape ||
          !may_read_source(at, source))
        continue;
      editor.replace_everywhere(id, at, source);
      if (start != at) editor.replace_everywhere(id, start, source);
      gone[start] = gone[at] = true;
    }
    std::erase_if(module_.computations[id].instructions, [&](InstructionId at) { return gone[at] != 0; });
  }

  /// Of a copy, itself; of the done of an asynchronous one, its start; invalid: it is neither.
  InstructionId start_of_copy(InstructionId id) const {
    const Instruction& instruction = module_[id];
    if (instruction.opcode == Opcode::kCopy) return id;
    if (!table_[instruction.opcode].has(kAsyncDone) || instruction.operands.empty()) return {};
    const InstructionId start = instruction.operands[0];
    return table_[module_[start].opcode].has(kCopyStart) ? start : InstructionId{};
  }

  /// Nothing writes over the copy, nor over what it copies while the copy is needed.
  bool may_read_source(InstructionId copy, InstructionId source) const {
    const ValueIndex value = values_.at(places_.first(copy)), read = values_.at(places_.first(source));
    if (value == kNoValue || read == kNoValue || aliased_.values(aliased_.of(value)).size() > 1) return false;
    const auto at = std::ranges::find_if(occupancy_.buffers, [&](const LiveBuffer& live) {
      return values_.at(places_.find(live.instruction, live.index)) == value;
    });
    if (at == occupancy_.buffers.end() || at->is_output) return false;
    return std::ranges::none_of(aliased_.values(aliased_.of(read)), [&](ValueIndex other) {
      const int32_t made = step_of_[places_.instruction(values_[other].defined)];
      return other != read && made >= at->first && made <= at->last;
    });
  }

  Module& module_;
  const OpTable& table_;
  const DeviceConfig& device_;
  const Occupancy& occupancy_;
  const ModuleGraph& graph_;
  const Places& places_;
  const Values& values_;
  const AliasedBuffers& aliased_;
  const IdMap<ComputationId, int32_t> callers_;
  IdMap<ComputationId, double> executions_;
  IdMap<InstructionId, int32_t> step_of_;
  std::vector<bool> moved_;  // by place
  IdMap<InstructionId, uint8_t> changed_;
  int64_t spilled_ = 0;
};

}  // namespace

int64_t spill_overflow(Module& module, const OpTable& table, const DeviceConfig& device, RoomNeeds* needs) {
  for (int64_t spilled = 0;;) {
    const ModuleMemory memory(module);
    const Occupancy occupancy = memory_occupancy(memory, device, make_schedule(module, table).order);
    const auto is_over = [&](const SpaceOccupancy& space) { return overflows(space, device); };
    if (needs)
      for (const SpaceOccupancy& space : occupancy.spaces) needs->needs(space.number, space.peak.count());
    if (std::ranges::none_of(occupancy.spaces, is_over)) return spilled;
    const int64_t more = Spiller(module, table, device, occupancy, memory).run();
    if (more == 0) return spilled;
    spilled += more;
  }
}

}  // namespace hlosim
