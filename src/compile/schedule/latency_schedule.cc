#include "schedule/latency_schedule.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>

#include "memory/module_memory.h"
#include "memory/room.h"
#include "model/native_layouts.h"
#include "modules/compact.h"
#include "modules/edit.h"
#include "schedule/order_in_parts.h"
#include "schedule/schedule_graph.h"
#include "schedule/schedule_list.h"
#include "schedule/split_collectives.h"
#include "sim/resimulation.h"

namespace hlosim {
namespace {

/// The computation's instructions as they stand, but every part of an asynchronous chain as soon as it may
/// come.
std::vector<InstructionId> parts_together(const Module& module, const OpTable& table, ComputationId id) {
  const std::vector<InstructionId>& order = module[id].instructions;
  IdMap<InstructionId, uint8_t> placed(module.instructions.size());
  std::multimap<InstructionId, InstructionId> parts;  // that wait for a start or update
  for (const InstructionId at : order)
    if (table[module[at].opcode].has(kAsyncUpdate | kAsyncDone) && !module[at].operands.empty())
      parts.emplace(module[at].operands[0], at);
  std::vector<InstructionId> result;
  const auto may_come = [&](InstructionId at) {
    const Attr* before = module[at].find(AttrKey::kControlPredecessors);
    const auto is_placed = [&](InstructionId other) { return placed[other] != 0; };
    return std::all_of(module[at].operands.begin(), module[at].operands.end(), is_placed) &&
           (!before || std::all_of(before->instructions().begin(), before->instructions().end(), is_placed));
  };
  const auto place = [&](InstructionId first) {
    std::vector<InstructionId> open{first};
    while (!open.empty()) {
      const InstructionId at = open.back();
      open.pop_back();
      if (placed[at]) continue;
      placed[at] = true;
      result.push_back(at);
      for (auto [part, last] = parts.equal_range(at); part != last; ++part)
        if (may_come(part->second)) open.push_back(part->second);
    }
  };
  for (const InstructionId at : order) place(at);
  return result;
}

class Scheduler {
 public:
  Scheduler(const OpTable& table, const Device& device, const LatencyScheduleOptions& options)
      : table_(table), device_(device), options_(options) {}

  Result<LatencySchedule> run(const Module& module) {
    prepare(module);
    const Module input = lay_out(input_, device_).module;
    const Result<Simulation> before = simulate(input, table_, device_, options_.simulate);
    if (!before) return tl::unexpected(before.error());
    const Occupancy occupancy_before = occupancy(ModuleMemory(input));
    memory_of_work_.emplace(work_);
    if (auto failed = improve(); !failed) return tl::unexpected(std::move(failed.error()));

    const Result<Simulation> after = simulate_work();
    if (!after) return tl::unexpected(after.error());
    // Two parts one right behind the other hide nothing.
    const bool gains = after->totals.makespan < before->totals.makespan && result_.rescheduled > 0;
    result_.kept_input = options_.keep_faster && !gains;
    if (result_.kept_input) result_.rescheduled = 0;
    report(input, *before, result_.kept_input ? input : work_, result_.kept_input ? *before : *after,
           occupancy_before, result_.kept_input ? occupancy_before : occupancy_of_work());
    result_.module = result_.kept_input ? compacted(input_, table_) : compacted(written(), table_);
    return std::move(result_);
  }

 private:
  /// The module in the order in which it runs, and the one to work on.
  void prepare(const Module& module) {
    input_ = compacted(module, table_);
    Schedule order = make_schedule(input_, table_);
    for (const FlowComputation& flow : flow_computations(input_, table_))
      input_.computations[flow.id].instructions = std::move(order.order[flow.id]);
    mark_scheduled(input_);
    split_ = compacted(input_, table_);
    if (options_.split) {
      ModuleEditor editor(split_);
      for (const SplitCollective& one : split_collectives(editor, table_, options_.whole))
        split_of_[one.start] = one.name;
      split_ = compacted(split_, table_);
    }
    for (Module* one : {&input_, &split_}) spell_out_bitcasts_that_move(*one, tiling_policy(device_.config));
    work_ = lay_out(split_, device_).module;
  }

  /// The layouts of the text, in the order that was found.
  Module written() const {
    Module module = split_.copy();
    for (size_t i = 0; i < module.computations.size(); ++i) {
      const ComputationId id{static_cast<int32_t>(i)};
      module.computations[id].instructions = work_[id].instructions;
    }
    return module;
  }

  const DeviceConfig& room() const { return options_.room ? *options_.room : device_.config; }

  Occupancy occupancy(const ModuleMemory& memory, SameInAllOrders* same = nullptr) const {
    return memory_occupancy(memory, room(), make_schedule(memory.module(), table_).order, same);
  }
  Occupancy occupancy_of_work() { return occupancy(*memory_of_work_, &same_of_work_); }

  /// Costs don't depend on the order: they are found once.
  Result<void> prepare_runs() {
    Result<InstructionCosts> costs =
        cost_instructions(work_, table_, device_, {options_.simulate.custom_calls}, of_costs_);
    if (!costs) return tl::unexpected(std::move(costs.error()));
    costs_ = std::move(*costs);
    Result<std::unique_ptr<Resimulation>> runs =
        Resimulation::make(work_, table_, device_, options_.simulate);
    if (!runs) return tl::unexpected(std::move(runs.error()));
    runs_ = std::move(*runs);
    return {};
  }
  Result<Simulation> simulate_work() const {
    return simulate(work_, table_, device_, options_.simulate, *costs_, of_costs_);
  }

  // ── orders ──

  /// Computations with something to spread, callees first.
  std::vector<ComputationId> worth_scheduling() const {
    std::vector<ComputationId> found;
    for (const FlowComputation& flow : flow_computations(work_, table_))
      if (std::any_of(work_[flow.id].instructions.begin(), work_[flow.id].instructions.end(),
                      [&](InstructionId id) { return table_[work_[id].opcode].has(kAsyncStart); }))
        found.push_back(flow.id);
    std::reverse(found.begin(), found.end());
    return found;
  }

  Result<ScheduleCosts> costs(const std::vector<ComputationId>& computations) {
    if (!options_.use_real_cost_model) return approximate_costs(work_, table_);
    std::vector<std::vector<InstructionId>> own;
    for (const ComputationId id : computations) {
      own.push_back(work_[id].instructions);
      work_.computations[id].instructions = parts_together(work_, table_, id);
    }
    Result<Simulation> alone = simulate_work();
    for (size_t i = 0; i < computations.size(); ++i)
      work_.computations[computations[i]].instructions = std::move(own[i]);
    if (!alone) return tl::unexpected(std::move(alone.error()));
    return simulated_costs(work_, *alone);
  }

  Result<void> improve() {
    const std::vector<ComputationId> computations = worth_scheduling();
    result_.computations = static_cast<int64_t>(computations.size());
    if (Result<void> ready = prepare_runs(); !ready) return ready;
    const Result<Totals> now = runs_->run(*costs_, false);
    if (!now) return tl::unexpected(now.error());
    best_time_ = now->makespan;
    const Occupancy at_first = occupancy_of_work();
    const std::unique_ptr<ScheduleMemory> memory = ScheduleMemory::find(*memory_of_work_, table_, at_first);
    const Result<ScheduleCosts> times = costs(computations);
    if (!times) return tl::unexpected(times.error());
    std::vector<ScheduleGraph> graphs;
    for (const ComputationId id : computations)
      graphs.push_back(make_schedule_graph(work_, table_, id, *times, memory.get(), options_));

    SpaceBytes limits = limits_for(memory.get(), at_first);
    std::vector<uint8_t> changed(graphs.size());
    for (int64_t run = 0;; ++run) {
      result_.exceeded_limits = 0;
      short_of_ = {};
      for (size_t i = 0; i < graphs.size(); ++i) {
        ListSchedule list = schedule_list(graphs[i], memory.get(), limits, options_);
        result_.exceeded_limits += list.exceeded_limits;
        result_.room_needed.raise_to(list.needed);
        const Result<bool> taken = offer(graphs[i].computation, std::move(list.order));
        if (!taken) return tl::unexpected(taken.error());
        changed[i] |= *taken;
      }
      if (!options_.keep_faster) short_of_[0] = memory && peak_of_hbm() > limits_[0];
      result_.short_on_chip |= std::find(short_of_.begin() + 1, short_of_.end(), true) != short_of_.end();
      if (std::find(short_of_.begin(), short_of_.end(), true) == short_of_.end() || run == options_.rerun)
        break;
      for (size_t space = 0; space < SpaceBytes::kCount; ++space)
        if (short_of_[space]) limits[space] = limits[space] / 10 * 9;
      ++result_.reruns;
    }
    result_.rescheduled = std::count(changed.begin(), changed.end(), 1);
    return {};
  }

  /// What orders are made for; and what they may need, which is more where the present one does.
  SpaceBytes limits_for(const ScheduleMemory* memory, const Occupancy& at_first) {
    if (memory) limits_ = memory->limits();
    for (const SpaceOccupancy& space : at_first.spaces)
      if (is_followed(space) && space.space && space.space->capacity && space.number != kDefaultMemorySpace)
        limits_[static_cast<size_t>(space.number)] =
            std::max(room_for_values(room(), *space.space), space.peak.count());
    if (options_.memory_limit) limits_[0] = *options_.memory_limit;
    if (!options_.fits_on_chip)
      std::fill(limits_.bytes.begin() + 1, limits_.bytes.end(), SpaceBytes::kNoLimit);
    allowed_ = limits_;
    for (const SpaceOccupancy& space : at_first.spaces)
      if (is_followed(space))
        allowed_[static_cast<size_t>(space.number)] =
            std::max(allowed_[static_cast<size_t>(space.number)], space.peak.count());
    return limits_;
  }

  static bool is_followed(const SpaceOccupancy& space) {
    return space.number >= 0 && space.number < static_cast<int64_t>(SpaceBytes::kCount);
  }

  int64_t peak_of_hbm() {
    const Occupancy held = occupancy_of_work();
    for (const SpaceOccupancy& space : held.spaces)
      if (space.number == 0) return space.peak.count();
    return 0;
  }

  /// Takes the order if it is better, or whatever it is.
  Result<bool> offer(ComputationId id, std::vector<InstructionId> order) {
    std::vector<InstructionId>& list = work_.computations[id].instructions;
    if (order == list) return false;
    order.swap(list);
    if (!options_.keep_faster) return true;
    Result<bool> taken = is_faster();
    if (taken && *taken && !cut_to_fit(id, order)) taken = list == order ? Result<bool>(false) : is_faster();
    if (taken && *taken)
      best_time_ = time_;
    else
      order.swap(list);
    return taken;
  }

  /// Remembers its time if it is.
  Result<bool> is_faster() {
    const Result<Totals> result = runs_->run(*costs_, false);
    if (!result) return tl::unexpected(result.error());
    if (result->makespan >= best_time_) return false;
    time_ = result->makespan;
    return true;
  }

  /// Where memory has too little room for the order of the computation, it gets back parts of the one that it
  /// had. True: there was nothing to do.
  bool cut_to_fit(ComputationId id, const std::vector<InstructionId>& before) {
    std::vector<InstructionId>& list = work_.computations[id].instructions;
    std::optional<OrderInParts> parts;
    for (;;) {
      const std::optional<std::vector<InstructionId>> tight = find_tight(id);
      if (!tight) return !parts;
      if (!parts) parts.emplace(before, list);
      list = parts->split(*tight) ? parts->order() : before;
      if (list == before) return false;
    }
  }

  /// Instructions of the computation during which a space holds more than it may; nothing: none ever does.
  /// Notes which spaces are short.
  std::optional<std::vector<InstructionId>> find_tight(ComputationId id) {
    const Occupancy held = occupancy_of_work();
    std::vector<uint8_t> is_over(held.steps.size());
    for (const SpaceOccupancy& space : held.spaces) {
      if (!is_followed(space)) continue;
      const auto number = static_cast<size_t>(space.number);
      int64_t& needed = result_.room_needed[number];
      needed = std::max(needed, space.peak.count());
      short_of_[number] |= space.peak.count() > limits_[number];
      if (space.peak.count() <= allowed_[number]) continue;
      for (size_t i = 0; i < is_over.size(); ++i) is_over[i] |= space.at_step[i].count() > allowed_[number];
    }
    // What an instruction calls stands before it.
    if (std::ranges::count(is_over, 0) == std::ssize(is_over)) return std::nullopt;
    std::vector<InstructionId> tight;
    bool over = false;
    for (size_t i = 0; i < is_over.size(); ++i) {
      over |= is_over[i] != 0;
      if (work_[held.steps[i]].parent != id) continue;
      if (over) tight.push_back(held.steps[i]);
      over = false;
    }
    return tight;
  }

  // ── what is reported ──

  void report(const Module& input, const Simulation& before, const Module& output, const Simulation& after,
              const Occupancy& memory_before, const Occupancy& memory_after) {
    result_.time_before = before.totals.makespan;
    result_.time_after = after.totals.makespan;
    result_.exposed_before = before.totals.exposed();
    result_.exposed_after = after.totals.exposed();
    std::map<std::string_view, const TransferRecord*> known;
    for (const TransferRecord& transfer : before.transfers)
      known.emplace(input[transfer.start_instruction].name, &transfer);
    for (const TransferRecord& transfer : after.transfers) {
      const Instruction& start = output[transfer.start_instruction];
      ScheduledTransfer row;
      row.start = start.name;
      if (transfer.done_instruction.valid()) row.done = output[transfer.done_instruction].name;
      const auto split = split_of_.find(row.start);
      row.before = split == split_of_.end() ? row.start : split->second;
      row.kind = async_kind(output, table_, start);
      row.executions = transfer.executions;
      row.duration = transfer.duration;
      row.exposed_after = transfer.exposed;
      if (const auto at = known.find(row.before); at != known.end()) row.exposed_before = at->second->exposed;
      result_.transfers.push_back(std::move(row));
    }
    for (const SpaceOccupancy& space : memory_after.spaces) {
      SchedulePeak peak;
      peak.space = space.space ? space.space->name : "S(" + std::to_string(space.number) + ")";
      peak.after = space.peak;
      for (const SpaceOccupancy& old : memory_before.spaces)
        if (old.number == space.number) peak.before = old.peak;
      peak.limit = space.capacity;
      if (space.number == 0 && options_.memory_limit) peak.limit = Bytes(*options_.memory_limit);
      result_.peaks.push_back(std::move(peak));
    }
  }

  const OpTable& table_;
  const Device& device_;
  const LatencyScheduleOptions& options_;
  Module input_;  // in the order in which it runs
  Module split_;  // with its collectives as pairs
  Module work_;   // that, laid out: what is simulated, in the best order so far
  std::optional<ModuleMemory> memory_of_work_;
  SameInAllOrders same_of_work_;
  std::optional<InstructionCosts> costs_;  // of work_, in any order
  AssumptionList of_costs_;
  std::unique_ptr<Resimulation> runs_;                        // of work_
  std::map<std::string, std::string, std::less<>> split_of_;  // start → the collective
  Picoseconds best_time_{}, time_{};  // of work_ as it was taken last; of the order that is looked at
  SpaceBytes limits_, allowed_;
  std::array<bool, SpaceBytes::kCount> short_of_{};  // an order needed more than the limit
  LatencySchedule result_;
};

}  // namespace

Result<LatencySchedule> tune_schedule(const Module& module, const OpTable& table, const Device& device,
                                      const LatencyScheduleOptions& options) {
  return Scheduler(table, device, options).run(module);
}

Result<Module> schedule_for_latency(const Module& module, const OpTable& table, const Device& device,
                                    const LatencyScheduleOptions& options) {
  Result<LatencySchedule> result = tune_schedule(module, table, device, options);
  if (!result) return tl::unexpected(std::move(result.error()));
  return std::move(result->module);
}

}  // namespace hlosim
