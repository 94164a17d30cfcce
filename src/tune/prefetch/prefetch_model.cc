#include "prefetch/prefetch_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/rounding.h"
#include "hlo/graph.h"
#include "layout/sizes.h"
#include "memory/occupancy.h"
#include "model/memory_system.h"
#include "modules/trip_count.h"
#include "ops/dataflow.h"
#include "ops/fusion_role.h"
#include "ops/op_table.h"
#include "prefetch/prefetch_costs.h"
#include "prefetch/prefetch_replace.h"

namespace hlosim {
namespace {

double as_double(Picoseconds time) { return static_cast<double>(time.count()); }

class ModelBuilder {
 public:
  ModelBuilder(const Module& module, const OpTable& table, const Device& device,
               const InstructionOrder& order, const Simulation& baseline, const SimulateOptions& simulate,
               const PrefetchLimits& limits, const std::function<bool()>& out_of_time)
      : module_(module),
        table_(table),
        device_(device),
        order_(order),
        baseline_(baseline),
        simulate_(simulate),
        limits_(limits),
        out_of_time_(out_of_time),
        memory_(device.config),
        region_of_(module.computations.size(), -1),
        step_of_(module.instructions.size(), -1),
        position_of_(module.instructions.size(), -1) {}

  Result<PrefetchModel> run() {
    out_.order = order_;
    out_.chip = on_chip_memory(device_.config);
    add_region(module_.entry);
    count_runs();
    set_limits();
    for (size_t r = 0; r < out_.regions.size(); ++r) find_values(static_cast<int32_t>(r));
    if (out_.cut) return std::move(out_);
    mark_replaceable(module_, table_, limits_, out_);
    if (auto done = set_costs(); !done) return tl::unexpected(std::move(done.error()));
    if (out_.cut) return std::move(out_);
    set_taken();
    if (left_out_ > 0)
      out_.assumptions.push_back(
          fmt::format("{} computations are called from several places: their values stay in HBM", left_out_));
    return std::move(out_);
  }

 private:
  PrefetchProblem& problem() { return out_.problem; }
  const PrefetchProblem& problem() const { return out_.problem; }
  const OpDef& def(InstructionId id) const { return table_[module_[id].opcode]; }
  bool is_fusion(InstructionId id) const { return def(id).has(kFusion); }

  /// Asks for the time now and then.
  bool is_cut() {
    constexpr int64_t kRounds = 1024;
    if (!out_.cut && out_of_time_ && looks_++ % kRounds == 0) out_.cut = out_of_time_();
    return out_.cut;
  }

  // ── regions and steps ──

  /// What it calls comes first.
  int32_t add_region(ComputationId id) {
    if (region_of_[id] >= 0) return region_of_[id];
    struct Call {
      size_t step;
      std::vector<StepCall> callees;
    };
    std::vector<InstructionId> own;
    std::vector<int32_t> begins;
    std::vector<std::vector<StepCall>> calls;
    std::vector<int32_t> numbers;
    int32_t position = 0;
    for (const InstructionId at : order_[id]) {
      position_of_[at] = position;
      if (def(at).has(kFree) && !def(at).has(kAsyncDone)) continue;
      const auto begin = static_cast<int32_t>(out_.steps.size());
      std::vector<StepCall> callees = calls_of(at);
      step_of_[at] = static_cast<int32_t>(out_.steps.size());
      out_.steps.push_back(at);
      PrefetchStep step;
      step.position = position++;
      step.begin = begin;
      step.calls = std::move(callees);
      step.name = module_[at].name;
      problem().steps.push_back(std::move(step));
      numbers.push_back(step_of_[at]);
    }
    const auto region = static_cast<int32_t>(out_.regions.size());
    region_of_[id] = region;
    out_.regions.push_back(id);
    problem().regions.emplace_back();
    problem().regions.back().steps = numbers;
    for (const int32_t number : numbers) problem().steps[static_cast<size_t>(number)].region = region;
    return region;
  }

  std::vector<StepCall> calls_of(InstructionId id) {
    std::vector<StepCall> calls;
    if (!def(id).has(kCallsInline)) return calls;
    const Instruction& instruction = module_[id];
    double times = 1;
    bool branches = false;
    if (instruction.find(AttrKey::kBody)) {
      const TripCount trips = trip_count(module_, instruction);
      times = static_cast<double>(trips.known() ? trips.count : simulate_.unknown_trip_count);
    } else {
      int callees = 0;
      for_each_called(instruction, [&](ComputationId) { ++callees; });
      branches = callees > 1;
    }
    for (const ComputationId called : called_in_order(instruction))
      calls.push_back({add_region(called), times, branches});
    return calls;
  }

  void count_runs() {
    for (PrefetchRegion& region : problem().regions) region.times = 0;
    problem().regions.back().times = 1;
    called_.resize(problem().regions.size());
    for (size_t s = out_.steps.size(); s-- > 0;) {
      const PrefetchStep& step = problem().steps[s];
      const double times = problem().regions[static_cast<size_t>(step.region)].times;
      for (const StepCall& call : step.calls) {
        PrefetchRegion& callee = problem().regions[static_cast<size_t>(call.region)];
        callee.times += times * call.times;
        callee.callers.push_back(static_cast<int32_t>(s));
        ++called_[static_cast<size_t>(call.region)];
      }
    }
  }

  void set_limits() {
    const int64_t scratch = limits_.scratch >= 0 ? limits_.scratch : out_.chip.scratch;
    problem().capacity =
        limits_.capacity >= 0 ? limits_.capacity : std::max<int64_t>(out_.chip.capacity - scratch, 0);
    problem().alignment = limits_.alignment;
    problem().max_prefetches = limits_.max_prefetches;
    problem().max_evictions = limits_.max_evictions;
    problem().extra_prefetches = limits_.extra_prefetches;
    problem().sharing = HbmSharing::kFair;
    const Core core(device_.config);
    problem().issue = as_double(core.issue_time());
    problem().latency_in = as_double(core.dma_latency(true, false));
    problem().latency_out = as_double(core.dma_latency(false, true));
  }

  // ── values ──

  /// Called once, and so is everything that calls it: memory belongs to one call.
  bool has_own_memory(int32_t region) const {
    if (region + 1 == static_cast<int32_t>(out_.regions.size())) return true;
    if (called_[static_cast<size_t>(region)] != 1) return false;
    const int32_t caller = out_.problem.regions[static_cast<size_t>(region)].callers[0];
    return has_own_memory(out_.problem.steps[static_cast<size_t>(caller)].region);
  }

  void find_values(int32_t region) {
    const ComputationId id = out_.regions[static_cast<size_t>(region)];
    if (out_.chip.space < 0) return;
    if (!has_own_memory(region)) {
      ++left_out_;
      return;
    }
    users_ = users_of(module_, id);
    for (const InstructionId at : order_[id]) {
      if (is_cut()) return;
      const Instruction& instruction = module_[at];
      if (instruction.opcode == Opcode::kBitcast) continue;
      if (is_tuple_element(instruction)) {
        const InstructionId maker = instruction.operands[0];
        const int64_t element = instruction.find(AttrKey::kIndex)->integer();
        const auto same = std::find_if(users_[maker].begin(), users_[maker].end(), [&](InstructionId other) {
          return is_tuple_element(module_[other]) &&
                 module_[other].find(AttrKey::kIndex)->integer() == element;
        });
        if (*same != at) continue;  // one value, by several names
        std::vector<InstructionId> sources;
        for (const InstructionId other : users_[maker])
          if (is_tuple_element(module_[other]) && module_[other].find(AttrKey::kIndex)->integer() == element)
            sources.push_back(other);
        add_value(region, sources, maker, element);
      } else if (instruction.shape->is_array()) {
        add_value(region, {at}, at, -1);
      }
    }
  }

  /// Where a value is read.
  struct Read {
    int32_t position;
    bool is_step;
    PrefetchOrigin::Slot slot;
  };
  struct Reads {
    std::vector<Read> all;   // by position; what is free there stands before the step
    bool by_result = false;  // it is the result of its computation
  };
  Reads reads_of(std::vector<InstructionId> names) const {
    Reads reads;
    for (size_t i = 0; i < names.size(); ++i) {
      reads.by_result |= names[i] == module_[module_[names[i]].parent].root;
      for (const InstructionId user : users_[names[i]]) {
        if (position_of_[user] < 0) continue;
        if (module_[user].opcode == Opcode::kBitcast) {
          names.push_back(user);
          continue;
        }
        for (size_t k = 0; k < module_[user].operands.size(); ++k)
          if (module_[user].operands[k] == names[i])
            reads.all.push_back({position_of_[user], step_of_[user] >= 0, {user, static_cast<int32_t>(k)}});
      }
    }
    std::stable_sort(reads.all.begin(), reads.all.end(), [](const Read& a, const Read& b) {
      return a.position != b.position ? a.position < b.position : a.is_step < b.is_step;
    });
    return reads;
  }

  void add_value(int32_t region, std::vector<InstructionId> sources, InstructionId maker, int64_t element) {
    const ShapeRef shape = module_[sources[0]].shape;
    if (!shape->is_array() || shape->rank() == 0 || shape->memory_space() != kDefaultMemorySpace) return;
    // Names that cost no time but wait for something: copies would have to wait, too.
    if (std::ranges::any_of(sources, [&](InstructionId source) {
          return step_of_[source] < 0 && module_[source].find(AttrKey::kControlPredecessors);
        }))
      return;
    const int64_t bytes = array_size(shape).count();
    if (bytes <= 0 || bytes > problem().capacity || bytes > (int64_t{1} << 40)) return;
    PrefetchValue value;
    PrefetchOrigin origin;
    value.name = module_[sources[0]].name;
    value.bytes = bytes;
    value.region = region;
    origin.sources = std::move(sources);
    const Instruction& made_by = module_[maker];
    if (step_of_[maker] >= 0)
      value.made_at = position_of_[maker], origin.maker = maker, origin.element = element;
    value.is_parameter = made_by.parameter_number >= 0 && made_by.parent == module_.entry;
    bool made_on_chip = origin.maker.valid() && may_be_made_on_chip(maker, element);
    const Reads reads = reads_of(origin.sources);
    if (reads.by_result) made_on_chip = false;
    bool on_chip = made_on_chip;
    std::vector<uint8_t> may;
    bool last_is_step = false;
    for (const Read& one : reads.all) {
      const bool fits = one.is_step && may_read_chip(one.slot);
      if (value.uses.empty() || value.uses.back().position != one.position || last_is_step != one.is_step) {
        value.uses.push_back({one.position, -1});
        origin.slots.emplace_back();
        may.push_back(fits);
      }
      last_is_step = one.is_step;
      may.back() = may.back() && fits;
      origin.slots.back().push_back(one.slot);
      on_chip |= fits;
    }
    if (!on_chip || value.uses.empty()) return;
    if (made_on_chip) value.made_bit = add_site(maker);
    for (size_t i = 0; i < may.size(); ++i)
      if (may[i]) value.uses[i].bit = add_site(origin.slots[i][0].user);
    if (value.sites() == 0) return;
    set_copies(value, shape, origin);
    value.looks_like_activation = value.is_parameter && looks_like_activation(origin);
    problem().values.push_back(std::move(value));
    out_.origins.push_back(std::move(origin));
  }

  /// A bit of the step's mask; -1: it has too many.
  int32_t add_site(InstructionId id) {
    int32_t& sites = problem().steps[static_cast<size_t>(step_of_[id])].sites;
    return sites < kMostSites ? sites++ : -1;
  }

  bool is_kernel(InstructionId id) const {
    const OpDef& d = def(id);
    if (d.has(kFusion)) return true;
    return !d.has(kFree) && !d.has(kCallsInline) && !d.has(kAsyncStart) && !d.has(kAsyncUpdate) &&
           !d.has(kAsyncDone) && !d.has(kCollective) && !d.has(kHostTransfer) && !d.has(kSideEffect) &&
           !module_[id].find(AttrKey::kCustomCallTarget);
  }

  /// What is updated in place lies where it lay.
  static bool touches(const std::vector<InPlacePair>& pairs, int64_t element) {
    return std::ranges::any_of(pairs, [&](const InPlacePair& pair) {
      return element < 0 ? pair.output_index.empty() : pair.output_index == std::vector<int64_t>{element};
    });
  }

  bool may_be_made_on_chip(InstructionId maker, int64_t element) const {
    if (!is_kernel(maker) || touches(in_place_pairs(module_, module_[maker]), element)) return false;
    if (element < 0) {
      if (!is_fusion(maker)) return module_[maker].shape->is_array();
      const Instruction& root = module_.root(module_[maker].find(AttrKey::kCalls)->computations()[0]);
      return root.parameter_number < 0 && !is_tuple_element(root);
    }
    if (!is_fusion(maker)) return false;
    // Only elements that the body's root puts together.
    const Instruction& root = module_.root(module_[maker].find(AttrKey::kCalls)->computations()[0]);
    const bool only_elements = std::ranges::all_of(
        users_[maker], [&](InstructionId user) { return is_tuple_element(module_[user]); });
    if (!is_tuple(root) || !only_elements) return false;
    const InstructionId part = root.operands[static_cast<size_t>(element)];
    return module_[part].parameter_number < 0 && std::ranges::count(root.operands, part) == 1 &&
           !is_tuple_element(module_[part]);
  }

  bool may_read_chip(const PrefetchOrigin::Slot& slot) const {
    const Instruction& user = module_[slot.user];
    const OpDef& d = def(slot.user);
    const bool collective = d.has(kCollective) && !d.has(kAsyncStart) && !d.has(kAsyncDone);
    if (!is_kernel(slot.user) && !collective) return false;
    return std::ranges::none_of(in_place_pairs(module_, user),
                                [&](const InPlacePair& pair) { return pair.operand == slot.operand; });
  }

  /// One number for all copies: that of the largest.
  void set_copies(PrefetchValue& value, ShapeRef shape, PrefetchOrigin& origin) {
    const size_t hbm = memory_.hbm(), chip = memory_.space_of(out_.chip.space);
    const auto copy_in = [&](int64_t bytes, double& hbm_in) {
      hbm_in = as_double(memory_.busy(hbm, {Bytes(bytes), Bytes(0)}));
      return std::max(hbm_in, as_double(memory_.busy(chip, {Bytes(0), Bytes(bytes)}))) / limits_.copy_rate;
    };
    const Traffic read{Bytes(value.bytes), Bytes(0)}, written{Bytes(0), Bytes(value.bytes)};
    value.hbm_out = as_double(memory_.busy(hbm, written));
    value.copy_in = copy_in(value.bytes, value.hbm_in);
    cut(value, shape, origin);
    for (PrefetchValue::Half& half : value.halves) half.copy_in = copy_in(half.bytes, half.hbm_in);
    value.copy_out = std::max(value.hbm_out, as_double(memory_.busy(chip, read))) / limits_.copy_rate;
    if (value.bytes <= largest_) return;
    largest_ = value.bytes;
    problem().demand_in = value.copy_in > 0 ? value.hbm_in / value.copy_in : 1;
    problem().demand_out = value.copy_out > 0 ? value.hbm_out / value.copy_out : 1;
  }

  /// In two along its most major dimension, between tiles, so that the halves follow one another in memory.
  void cut(PrefetchValue& value, ShapeRef shape, PrefetchOrigin& origin) const {
    const Layout* layout = shape->layout;
    if (!layout || layout->minor_to_major.empty() || later_tiles_pad(shape) || !shape->dynamic.empty() ||
        !layout->splits.empty() || layout->tail_padding_alignment != 1 || layout->metadata_prefix_bytes != 0)
      return;
    const int64_t major = layout->minor_to_major.back(), size = shape->dim(major), rank = shape->rank();
    int64_t granule = 1;
    if (!layout->tiles.empty()) {
      const auto tile = layout->tiles[0].dimensions;
      const int64_t covered = static_cast<int64_t>(tile.size()) - rank;
      if (covered >= 0) granule = std::max<int64_t>(tile[static_cast<size_t>(covered)], 1);
    }
    const int64_t rows = ceil_div(size, granule);
    const int64_t alignment = problem().alignment;
    if (rows < 2 || value.bytes % rows != 0) return;
    // The first half ends where the second may begin.
    int64_t first = rows / 2;
    while (first > 0 && first * (value.bytes / rows) % alignment != 0) --first;
    if (first == 0) return;
    origin.cut = major, origin.cut_at = first * granule;
    value.halves[0].bytes = first * (value.bytes / rows);
    value.halves[1].bytes = value.bytes - value.halves[0].bytes;
  }

  /// Some user takes it as data rather than as weights.
  bool looks_like_activation(const PrefetchOrigin& origin) const {
    return std::ranges::any_of(origin.slots, [&](const auto& slots) {
      return std::ranges::any_of(
          slots, [&](const PrefetchOrigin::Slot& slot) { return is_data(slot.user, slot.operand); });
    });
  }
  bool is_data(InstructionId user, int32_t operand) const {
    const Instruction& instruction = module_[user];
    switch (fusion_role(table_, instruction)) {
      case FusionRole::kProduct:
        return operand == 0;
      case FusionRole::kReduce:
        return operand * 2 >= static_cast<int32_t>(instruction.operands.size());
      case FusionRole::kElement:
      case FusionRole::kFill:
      case FusionRole::kReindex:
        break;
      default:
        if (!is_fusion(user) && instruction.opcode != Opcode::kBitcast) return true;
    }
    if (is_fusion(user)) {
      const ComputationId body = instruction.find(AttrKey::kCalls)->computations()[0];
      const auto place = static_cast<size_t>(operand);
      return place < module_[body].parameters.size() && data_inside(body, module_[body].parameters[place]);
    }
    return instruction.opcode != Opcode::kBitcast;
  }
  bool data_inside(ComputationId body, InstructionId value) const {
    const auto users = users_of(module_, body);
    std::vector<InstructionId> names = {value};
    for (size_t i = 0; i < names.size() && i < 1000; ++i)
      for (const InstructionId user : users[names[i]]) {
        const FusionRole role = fusion_role(table_, module_[user]);
        if (module_[user].opcode == Opcode::kBitcast || module_[user].opcode == Opcode::kTranspose ||
            role == FusionRole::kFill || role == FusionRole::kReindex) {
          names.push_back(user);
          continue;
        }
        for (size_t k = 0; k < module_[user].operands.size(); ++k)
          if (module_[user].operands[k] == names[i] && is_data(user, static_cast<int32_t>(k))) return true;
      }
    return false;
  }

  // ── costs ──

  Result<void> set_costs() {
    int32_t entries = 0;
    for (PrefetchStep& step : problem().steps) step.first_cost = entries, entries += cost_entries(step.sites);
    problem().costs.resize(static_cast<size_t>(entries));
    auto done = measure_sites(module_, table_, device_, out_, simulate_, out_of_time_);
    if (!done || out_.cut) return done;
    const size_t ici = index_of(Unit::kIci);
    for (const InstructionRecord& record : baseline_.instructions) {
      if (record.executions <= 0 || step_of_[record.id] < 0) continue;
      PrefetchStep& step = problem().steps[static_cast<size_t>(step_of_[record.id])];
      const OpDef& d = def(record.id);
      const double once = as_double(record.time) / static_cast<double>(record.executions);
      StepCost* costs = &problem().costs[static_cast<size_t>(step.first_cost)];
      const InstructionCost& cost = baseline_.cost(record);
      if (d.has(kCallsInline)) {
        costs[0].time = as_double(cost.fixed);
        if (!step.calls.empty() && module_[record.id].find(AttrKey::kBody))
          costs[0].time += step.calls[0].times * as_double(device_.config.overhead.loop_iteration);
      } else if (d.has(kAsyncStart) || d.has(kAsyncDone)) {
        costs[0] = {once, 0, 0};
      } else if (d.has(kCollective)) {
        const double launch = as_double(cost.fixed) - costs[0].fixed;
        for (int32_t e = 0; e < cost_entries(step.sites); ++e) {
          costs[e].time = std::max(costs[e].time - costs[e].fixed, as_double(cost.busy[ici]));
          costs[e].time += costs[e].fixed += launch;
        }
      }
    }
    set_replaced_costs();
    return {};
  }

  void set_replaced_costs() {
    for (const PrefetchValue& value : problem().values) {
      if (value.replaced_bit < 0) continue;
      const PrefetchStep& step = problem().step(value.region, value.made_at);
      for (int32_t e = 0; e < cost_entries(step.sites); ++e)
        if ((mask_of_entry(step.sites, e) >> value.replaced_bit & 1) != 0)
          problem().costs[static_cast<size_t>(step.first_cost + e)] = {};
    }
  }

  /// What is on the chip already.
  void set_taken() {
    const Occupancy occupancy = memory_occupancy(module_, device_.config, order_);
    std::vector<int32_t>
        step_at;  // of each step of the occupancy: the first one of ours that isn't before it
    for (const InstructionId id : occupancy.steps) {
      const auto next = step_at.empty() ? 0 : step_at.back() + passed_step_;
      step_at.push_back(std::min(next, static_cast<int32_t>(out_.steps.size()) - 1));
      passed_step_ = step_of_[id] >= 0 && step_of_[id] == step_at.back();
    }
    for (const LiveBuffer& buffer : occupancy.buffers) {
      if (buffer.space != out_.chip.space || out_.steps.empty()) continue;
      const PrefetchFixed fixed{buffer.size.count(), step_at[static_cast<size_t>(buffer.first)],
                                step_at[static_cast<size_t>(buffer.last)]};
      out_.fixed.push_back(fixed);
      problem().taken.resize(out_.steps.size());
      const int64_t a = problem().alignment;
      for (int32_t s = fixed.first; s <= fixed.last; ++s)
        problem().taken[static_cast<size_t>(s)] += round_up(fixed.bytes, a);
    }
  }

  const Module& module_;
  const OpTable& table_;
  const Device& device_;
  const InstructionOrder& order_;
  const Simulation& baseline_;
  const SimulateOptions& simulate_;
  const PrefetchLimits& limits_;
  const std::function<bool()>& out_of_time_;
  const MemorySystem memory_;
  IdMap<ComputationId, int32_t> region_of_;
  IdMap<InstructionId, int32_t> step_of_, position_of_;
  Users users_;
  std::vector<int32_t> called_;
  int64_t left_out_ = 0, largest_ = 0, looks_ = 0;
  int32_t passed_step_ = 0;
  PrefetchModel out_;
};

}  // namespace

Result<PrefetchModel> make_prefetch_model(const Module& module, const OpTable& table, const Device& device,
                                          const InstructionOrder& order, const Simulation& baseline,
                                          const SimulateOptions& simulate, const PrefetchLimits& limits,
                                          const std::function<bool()>& out_of_time) {
  return ModelBuilder(module, table, device, order, baseline, simulate, limits, out_of_time).run();
}

}  // namespace hlosim
