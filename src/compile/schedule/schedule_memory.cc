#include "schedule/schedule_memory.h"

#include <limits>
#include <tuple>

#include "layout/sizes.h"
#include "memory/places.h"

namespace hlosim {
namespace {

constexpr int64_t kMost = int64_t{1} << 50;  // sums of sizes never overflow
}  // namespace

class MemoryFinder {
 public:
  MemoryFinder(const ModuleMemory& memory, const OpTable& table, const Occupancy& occupancy)
      : module_(memory.module()),
        table_(table),
        places_(memory.places),
        values_(memory.values()),
        buffers_(memory.aliased()),
        occupancy_(occupancy),
        step_of_(module_.instructions.size(), -1) {
    for (size_t i = 0; i < occupancy.steps.size(); ++i)
      step_of_[occupancy.steps[i]] = static_cast<int32_t>(i);
  }

  std::unique_ptr<ScheduleMemory> find() {
    memory_->uses_ = IdMap<InstructionId, ScheduleMemory::Use>(module_.instructions.size());
    memory_->results_ = IdMap<ComputationId, std::vector<ValueIndex>>(module_.computations.size());
    memory_->overwrites_ =
        IdMap<ComputationId, std::vector<ScheduleMemory::Overwrite>>(module_.computations.size());
    memory_->around_ = IdMap<ComputationId, SpaceBytes>(module_.computations.size());
    find_buffers();
    set_limits();
    for (size_t c = 0; c < module_.computations.size(); ++c) {
      const ComputationId id{static_cast<int32_t>(c)};
      if (module_[id].instructions.empty() || step_of_[module_[id].instructions[0]] < 0) continue;
      find_uses(id);
      find_overwrites(id);
      leave_out_given(id);
      find_surroundings(id);
    }
    return std::move(memory_);
  }

 private:
  void find_buffers() {
    memory_->bytes_.resize(static_cast<size_t>(buffers_.size()));
    memory_->buffer_of_.resize(values_.size());
    for (BufferIndex buffer = 0; buffer < buffers_.size(); ++buffer)
      for (const ValueIndex value : buffers_.values(buffer)) {
        memory_->buffer_of_[static_cast<size_t>(value)] = buffer;
        const ShapeRef shape = places_.shape(values_[value].defined);
        const ShapeRef array = shape->is_buffer() ? shape->elements[0] : shape;
        if (!array->is_array()) continue;
        const int64_t space = array->memory_space();
        if (space < 0 || space >= static_cast<int64_t>(SpaceBytes::kCount)) continue;
        int64_t& bytes = memory_->bytes_[static_cast<size_t>(buffer)][static_cast<size_t>(space)];
        bytes = std::max(bytes, std::min(array_size(array).count(), kMost));
      }
  }

  void set_limits() {
    memory_->limits_.bytes.fill(SpaceBytes::kNoLimit);
    for (const SpaceOccupancy& space : occupancy_.spaces) {
      if (space.number < 0 || space.number >= static_cast<int64_t>(SpaceBytes::kCount) || !space.capacity)
        continue;
      const int64_t free = space.capacity->count() - (space.reserved ? space.reserved->count() : 0);
      memory_->limits_[static_cast<size_t>(space.number)] = std::max(free, space.peak.count());
    }
  }

  void add_values(InstructionId id, std::vector<ValueIndex>& into) const {
    const Place first = places_.first(id);
    for (Place place = first; place < places_.end(first); ++place)
      if (const ValueIndex value = values_.at(place); value != kNoValue) into.push_back(value);
  }

  /// By buffer, then by number.
  void sort_each_once(std::vector<ValueIndex>& values) const {
    std::sort(values.begin(), values.end(), [&](ValueIndex a, ValueIndex b) {
      const BufferIndex x = memory_->buffer_of(a), y = memory_->buffer_of(b);
      return x != y ? x < y : a < b;
    });
    values.erase(std::unique(values.begin(), values.end()), values.end());
  }

  void find_uses(ComputationId id) {
    for (const InstructionId at : module_[id].instructions) {
      ScheduleMemory::Use& use = memory_->uses_[at];
      const Place first = places_.first(at);
      for (Place place = first; place < places_.end(first); ++place)
        if (const ValueIndex value = values_.at(place); value != kNoValue && values_[value].defined == place)
          use.makes.push_back(value);
      // Whoever only hands values on needs no more than those.
      const OpDef& def = table_[module_[at].opcode];
      if (def.has(kFree) && !def.has(kAsyncUpdate | kAsyncDone))
        add_values(at, use.reads);
      else
        for (const InstructionId operand : module_[at].operands) add_values(operand, use.reads);
      // What a start reads has to stay until its done.
      if (def.has(kAsyncUpdate | kAsyncDone) && !module_[at].operands.empty()) {
        const std::vector<ValueIndex>& of_start = memory_->uses_[module_[at].operands[0]].reads;
        if (table_[module_[module_[at].operands[0]].opcode].has(kAsyncStart | kAsyncUpdate))
          use.reads.insert(use.reads.end(), of_start.begin(), of_start.end());
      }
      sort_each_once(use.makes);
      sort_each_once(use.reads);
      if (def.has(kFree))
        std::erase_if(use.reads,
                      [&](ValueIndex value) { return places_.instruction(values_[value].defined) == at; });
    }
    add_values(module_[id].root, memory_->results_[id]);
    sort_each_once(memory_->results_[id]);
  }

  void find_overwrites(ComputationId id) {
    struct Seen {
      BufferIndex buffer = 0;
      int32_t made = -1;  // position of what makes it; -1: there before
      ValueIndex value = 0;
      bool operator<(const Seen& other) const {
        return std::tie(buffer, made, value) < std::tie(other.buffer, other.made, other.value);
      }
    };
    std::vector<Seen> seen;
    std::vector<std::pair<ValueIndex, int32_t>> readers;  // and their positions
    const std::vector<InstructionId>& order = module_[id].instructions;
    for (size_t i = 0; i < order.size(); ++i) {
      const ScheduleMemory::Use& use = memory_->uses_[order[i]];
      for (const ValueIndex value : use.makes)
        seen.push_back({memory_->buffer_of(value), static_cast<int32_t>(i), value});
      for (const ValueIndex value : use.reads) {
        readers.emplace_back(value, static_cast<int32_t>(i));
        const InstructionId maker = places_.instruction(values_[value].defined);
        if (module_[maker].parent != id) seen.push_back({memory_->buffer_of(value), -1, value});
      }
    }
    std::sort(seen.begin(), seen.end());
    std::sort(readers.begin(), readers.end());
    for (size_t i = 0; i + 1 < seen.size(); ++i) {
      const Seen &before = seen[i], &after = seen[i + 1];
      if (before.buffer != after.buffer || before.value == after.value || after.made < 0) continue;
      if (nobody_may_write(before.value)) continue;
      auto at = std::lower_bound(readers.begin(), readers.end(), std::pair(before.value, int32_t{-1}));
      for (; at != readers.end() && at->first == before.value; ++at)
        if (at->second < after.made)
          memory_->overwrites_[id].push_back(
              {order[static_cast<size_t>(at->second)], order[static_cast<size_t>(after.made)]});
    }
  }

  /// Arguments that aren't given away and constants: where they would be overwritten there has to be a copy,
  /// which the module lacks.
  bool nobody_may_write(ValueIndex value) const {
    const Instruction& maker = module_[places_.instruction(values_[value].defined)];
    const bool argument = maker.parameter_number >= 0 && maker.parent == module_.entry;
    return maker.literal || (argument && !buffers_.is_donated(value));
  }

  /// There before the computation begins: what it doesn't make, arguments and constants.
  void leave_out_given(ComputationId id) {
    const auto given = [&](ValueIndex value) {
      const InstructionId maker = places_.instruction(values_[value].defined);
      return module_[maker].parent != id || module_[maker].parameter_number >= 0 ||
             module_[maker].literal != nullptr;
    };
    for (const InstructionId at : module_[id].instructions) {
      std::erase_if(memory_->uses_[at].makes, given);
      std::erase_if(memory_->uses_[at].reads, given);
    }
    std::erase_if(memory_->results_[id], given);
  }

  int64_t at_step(const SpaceOccupancy& space, InstructionId id) const {
    const int32_t step = step_of_[id];
    return step < 0 ? 0 : std::min(space.at_step[static_cast<size_t>(step)].count(), kMost);
  }

  /// Compares what the computation holds by itself with what is there altogether.
  void find_surroundings(ComputationId id) {
    const std::vector<InstructionId>& order = module_[id].instructions;
    for (const InstructionId at : order) memory_->uses_[at].inside = inside(at);
    BackwardPressure own(*memory_, id);
    SpaceBytes& around = memory_->around_[id];
    for (size_t i = order.size(); i-- > 0;) {
      SpaceBytes alive = own.effect(order[i]).during;
      alive -= memory_->uses_[order[i]].inside;
      own.place(order[i]);
      for (const SpaceOccupancy& space : occupancy_.spaces)
        if (space.number >= 0 && space.number < static_cast<int64_t>(SpaceBytes::kCount)) {
          const auto n = static_cast<size_t>(space.number);
          around[n] = std::max(around[n], at_step(space, order[i]) - alive[n]);
        }
    }
  }

  SpaceBytes inside(InstructionId id) const {
    SpaceBytes most;
    if (!table_[module_[id].opcode].has(kCallsInline)) return most;
    for_each_called(module_[id], [&](ComputationId called) {
      for (const InstructionId at : module_[called].instructions)
        for (const SpaceOccupancy& space : occupancy_.spaces)
          if (space.number >= 0 && space.number < static_cast<int64_t>(SpaceBytes::kCount))
            most[static_cast<size_t>(space.number)] =
                std::max(most[static_cast<size_t>(space.number)], at_step(space, at) - at_step(space, id));
    });
    return most;
  }

  const Module& module_;
  const OpTable& table_;
  const Places& places_;
  const Values& values_;
  const AliasedBuffers& buffers_;
  const Occupancy& occupancy_;
  IdMap<InstructionId, int32_t> step_of_;
  std::unique_ptr<ScheduleMemory> memory_ = std::make_unique<ScheduleMemory>();
};

std::unique_ptr<ScheduleMemory> ScheduleMemory::find(const ModuleMemory& memory, const OpTable& table,
                                                     const Occupancy& occupancy) {
  if (!memory.unknown().empty()) return nullptr;
  return MemoryFinder(memory, table, occupancy).find();
}

OrderPressure::OrderPressure(const ScheduleMemory& memory, ComputationId id)
    : memory_(memory),
      alive_(memory.value_count()),
      holders_(memory.buffer_count()),
      now_(memory.around(id)) {}

void OrderPressure::begin(ValueIndex value) {
  if (alive_[static_cast<size_t>(value)]) return;
  alive_[static_cast<size_t>(value)] = true;
  const BufferIndex buffer = memory_.buffer_of(value);
  if (holders_[static_cast<size_t>(buffer)]++ == 0) now_ += memory_.bytes(buffer);
}

void OrderPressure::end(ValueIndex value) {
  if (!alive_[static_cast<size_t>(value)]) return;
  alive_[static_cast<size_t>(value)] = false;
  const BufferIndex buffer = memory_.buffer_of(value);
  if (--holders_[static_cast<size_t>(buffer)] == 0) now_ -= memory_.bytes(buffer);
}

BackwardPressure::BackwardPressure(const ScheduleMemory& memory, ComputationId id)
    : OrderPressure(memory, id) {
  for (const ValueIndex value : memory.results(id)) begin(value);
}

template <class OfMade, class OfRead>
OrderPressure::Effect OrderPressure::effect_of(const ScheduleMemory::Use& use, OfMade&& of_made,
                                               OfRead&& of_read) const {
  Effect effect{now_, now_};
  auto made = use.makes.begin();
  auto read = use.reads.begin();
  while (made != use.makes.end() || read != use.reads.end()) {
    BufferIndex buffer = std::numeric_limits<BufferIndex>::max();
    if (made != use.makes.end()) buffer = memory_.buffer_of(*made);
    if (read != use.reads.end()) buffer = std::min(buffer, memory_.buffer_of(*read));
    const int32_t held = holders_[static_cast<size_t>(buffer)];
    int32_t after = held;
    for (; made != use.makes.end() && memory_.buffer_of(*made) == buffer; ++made)
      after += of_made(static_cast<size_t>(*made));
    for (; read != use.reads.end() && memory_.buffer_of(*read) == buffer; ++read)
      after += of_read(static_cast<size_t>(*read));
    if (held == 0) effect.during += memory_.bytes(buffer);
    if (held == 0 && after > 0) effect.beyond += memory_.bytes(buffer);
    if (held > 0 && after == 0) effect.beyond -= memory_.bytes(buffer);
  }
  effect.during += use.inside;
  return effect;
}

OrderPressure::Effect BackwardPressure::effect(InstructionId id) const {
  return effect_of(
      memory_.use(id), [&](size_t value) { return alive_[value] ? -1 : 0; },
      [&](size_t value) { return alive_[value] ? 0 : 1; });
}

void BackwardPressure::place(InstructionId id) {
  const ScheduleMemory::Use& use = memory_.use(id);
  for (const ValueIndex value : use.reads) begin(value);
  for (const ValueIndex value : use.makes) end(value);
}

ForwardPressure::ForwardPressure(const ScheduleMemory& memory, ComputationId id,
                                 std::span<const InstructionId> order)
    : OrderPressure(memory, id), readers_(memory.value_count()) {
  for (const InstructionId at : order)
    for (const ValueIndex value : memory.use(at).reads) ++readers_[static_cast<size_t>(value)];
  for (const ValueIndex value : memory.results(id)) ++readers_[static_cast<size_t>(value)];
}

OrderPressure::Effect ForwardPressure::effect(InstructionId id) const {
  return effect_of(
      memory_.use(id), [&](size_t value) { return readers_[value] > 0 ? 1 : 0; },
      [&](size_t value) { return alive_[value] && readers_[value] == 1 ? -1 : 0; });
}

void ForwardPressure::place(InstructionId id) {
  const ScheduleMemory::Use& use = memory_.use(id);
  for (const ValueIndex value : use.makes)
    if (readers_[static_cast<size_t>(value)] > 0) begin(value);
  for (const ValueIndex value : use.reads)
    if (--readers_[static_cast<size_t>(value)] == 0) end(value);
}

}  // namespace hlosim
