// Which instructions may run in another order, and modules in one.
#include <algorithm>
#include <set>

#include "hlo/effects.h"
#include "memory/aliased.h"
#include "prefetch/prefetch_order.h"

namespace hlosim {
namespace {

/// Steps in a row, each behind what it needs that costs no time.
class Lister {
 public:
  explicit Lister(const Module& module) : module_(module), listed_(module.instructions.size(), 0) {}

  std::vector<InstructionId> list(std::span<const InstructionId> steps, std::span<const InstructionId> all) {
    out_.clear();
    for (const InstructionId step : steps) emit(step);
    for (const InstructionId other : all) emit(other);
    return std::move(out_);
  }

 private:
  void emit(InstructionId id) {
    if (listed_[id]) return;
    listed_[id] = 1;
    for_each_predecessor(module_[id], [&](InstructionId before) { emit(before); });
    out_.push_back(id);
  }
  const Module& module_;
  IdMap<InstructionId, uint8_t> listed_;
  std::vector<InstructionId> out_;
};

class FreedomFinder {
 public:
  FreedomFinder(const Module& module, const OpTable& table, PrefetchModel& model)
      : module_(module), table_(table), model_(model), step_of_(module.instructions.size(), -1) {
    for (size_t s = 0; s < model.steps.size(); ++s) step_of_[model.steps[s]] = static_cast<int32_t>(s);
  }

  void run() {
    for (size_t s = 0; s < problem().steps.size(); ++s) problem().steps[s].number = static_cast<int32_t>(s);
    for (PrefetchValue& value : problem().values)
      for (size_t i = 0; i < value.uses.size(); ++i) value.uses[i].number = static_cast<int32_t>(i);
    if (problem().may_replace_steps()) return;  // from which gaps on, was found in this order
    freedom().movable.assign(model_.steps.size(), 1);
    freedom().after.assign(model_.steps.size(), {});
    freeze();
    depend();
    const bool known = share_memory();
    bool any = false;
    for (size_t s = 0; s < model_.steps.size(); ++s) {
      std::vector<int32_t>& after = freedom().after[s];
      std::sort(after.begin(), after.end());
      after.erase(std::unique(after.begin(), after.end()), after.end());
      any |= s > 0 && problem().steps[s].region == problem().steps[s - 1].region &&
             freedom().may_exchange(static_cast<int32_t>(s) - 1, static_cast<int32_t>(s));
    }
    if (!any || !known) freedom() = {};
  }

 private:
  PrefetchProblem& problem() { return model_.problem; }
  PrefetchFreedom& freedom() { return model_.problem.freedom; }
  void hold(int32_t step) { freedom().movable[static_cast<size_t>(step)] = 0; }

  void freeze() {
    for (size_t s = 0; s < model_.steps.size(); ++s) {
      const Instruction& instruction = module_[model_.steps[s]];
      const OpDef& def = table_[instruction.opcode];
      constexpr auto kBeside = kAsyncStart | kAsyncUpdate | kAsyncDone | kCollective | kHostTransfer;
      if (def.has(kBeside) || def.has(kCallsInline) || !problem().steps[s].calls.empty() ||
          has_effect(module_, table_, instruction) || uses_device_state(module_, table_, instruction))
        hold(static_cast<int32_t>(s));
    }
    for (const PrefetchFixed& fixed : model_.fixed) hold(fixed.first), hold(fixed.last);
    // What hands values on to something that isn't a step runs where it ran.
    for (size_t v = 0; v < problem().values.size(); ++v) {
      const PrefetchValue& value = problem().values[v];
      for (size_t i = 0; i < value.uses.size(); ++i) {
        const int32_t position = value.uses[i].position;
        if (position >= problem().size_of(value.region)) continue;
        const auto& slots = model_.origins[v].slots[i];
        if (std::ranges::any_of(slots, [&](const auto& slot) { return step_of_[slot.user] < 0; }))
          hold(problem().regions[static_cast<size_t>(value.region)].steps[static_cast<size_t>(position)]);
      }
    }
  }

  void depend() {
    std::vector<InstructionId> open;
    for (size_t s = 0; s < model_.steps.size(); ++s) {
      if (!freedom().movable[s]) continue;
      std::set<InstructionId> seen;
      open.assign(1, model_.steps[s]);
      while (!open.empty()) {
        const InstructionId at = open.back();
        open.pop_back();
        for_each_predecessor(module_[at], [&](InstructionId before) {
          if (const int32_t step = step_of_[before]; step >= 0)
            freedom().after[s].push_back(step);
          else if (seen.insert(before).second)
            open.push_back(before);
        });
      }
    }
  }

  /// What is read before its memory holds something else stays before that. False: nothing is known of
  /// memory.
  bool share_memory() {
    const ModuleGraph graph(module_);
    const Places places(module_);
    const Result<Values> values = Values::find(graph, places, Era::k2026);
    if (!values) return false;
    const AliasedBuffers buffers(graph, places, *values, Era::k2026);
    for (BufferIndex buffer = 0; buffer < buffers.size(); ++buffer) {
      if (buffers.values(buffer).size() < 2) continue;
      std::vector<Access> accesses;
      for (const ValueIndex value : buffers.values(buffer)) {
        add(accesses, places.instruction((*values)[value].defined), value, true);
        values->for_each_use(graph, places, value,
                             [&](const ValueUse& use) { add(accesses, use.user, value, false); });
      }
      keep_order(accesses);
    }
    return true;
  }
  struct Access {
    int32_t step = 0;
    ValueIndex value = kNoValue;
    bool makes = false;
  };
  void add(std::vector<Access>& accesses, InstructionId at, ValueIndex value, bool makes) {
    if (step_of_[at] >= 0) accesses.push_back({step_of_[at], value, makes});
  }
  void keep_order(const std::vector<Access>& accesses) {
    constexpr size_t kMost = 100;
    if (accesses.size() > kMost) {
      for (const Access& one : accesses) hold(one.step);
      return;
    }
    for (const Access& made : accesses) {
      if (!made.makes) continue;
      for (const Access& other : accesses) {
        const bool same_region = problem().steps[static_cast<size_t>(made.step)].region ==
                                 problem().steps[static_cast<size_t>(other.step)].region;
        if (other.value == made.value || other.step == made.step || !same_region) continue;
        const auto [first, second] = std::minmax(made.step, other.step);
        freedom().after[static_cast<size_t>(second)].push_back(first);
      }
    }
  }

  const Module& module_;
  const OpTable& table_;
  PrefetchModel& model_;
  IdMap<InstructionId, int32_t> step_of_;
};

}  // namespace

InstructionOrder with_free_ones_late(const Module& module, const OpTable& table,
                                     const InstructionOrder& order) {
  InstructionOrder late = order;
  Lister lister(module);
  for (size_t c = 0; c < order.size(); ++c) {
    const ComputationId id{static_cast<int32_t>(c)};
    std::vector<InstructionId> steps;
    for (const InstructionId at : order[id]) {
      const OpDef& def = table[module[at].opcode];
      if (!def.has(kFree) || def.has(kAsyncDone)) steps.push_back(at);
    }
    late[id] = lister.list(steps, order[id]);
  }
  return late;
}

void find_freedom(const Module& module, const OpTable& table, PrefetchModel& model) {
  FreedomFinder(module, table, model).run();
}

PrefetchModel in_order(const Module& module, const PrefetchModel& model, std::span<const int32_t> order) {
  PrefetchModel out = model;
  PrefetchProblem& problem = out.problem;
  set_order(problem, model.problem, order);
  std::vector<int32_t> place(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    const auto from = static_cast<size_t>(order[i]);
    place[from] = static_cast<int32_t>(i);
    out.steps[i] = model.steps[from];
    problem.steps[i].number = static_cast<int32_t>(i);
  }
  for (size_t i = 0; i < order.size() && problem.freedom.any(); ++i) {
    const auto from = static_cast<size_t>(order[i]);
    problem.freedom.movable[i] = model.problem.freedom.movable[from];
    problem.freedom.after[i] = model.problem.freedom.after[from];
    for (int32_t& before : problem.freedom.after[i]) before = place[static_cast<size_t>(before)];
    std::sort(problem.freedom.after[i].begin(), problem.freedom.after[i].end());
  }
  for (size_t v = 0; v < problem.values.size(); ++v) {
    std::vector<PrefetchUse>& uses = problem.values[v].uses;
    for (size_t i = 0; i < uses.size(); ++i) {
      out.origins[v].slots[i] = model.origins[v].slots[static_cast<size_t>(uses[i].number)];
      uses[i].number = static_cast<int32_t>(i);
    }
  }
  Lister lister(module);
  for (size_t r = 0; r < out.regions.size(); ++r) {
    std::vector<InstructionId> steps;
    for (const int32_t s : problem.regions[r].steps) steps.push_back(out.steps[static_cast<size_t>(s)]);
    out.order[out.regions[r]] = lister.list(steps, model.order[out.regions[r]]);
  }
  return out;
}

}  // namespace hlosim
