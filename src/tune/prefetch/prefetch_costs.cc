#include "prefetch/prefetch_costs.h"

#include <algorithm>

#include "hlo/module_editor.h"
#include "model/cost_details.h"
#include "model/memory_system.h"

namespace hlosim {
namespace {

/// An operand or a result, or a part of it, of a step of the module whose instructions have operands of their
/// own.
struct Site {
  int32_t bit = 0;
  InstructionId instruction;  // whose shape says where the array lies
  int64_t element = -1;
};

class SiteCosts {
 public:
  SiteCosts(Module& module, const OpTable& table, const Device& device, PrefetchModel& model,
            const SimulateOptions& simulate, const std::function<bool()>& out_of_time)
      : module_(module),
        table_(table),
        device_(device),
        model_(model),
        simulate_(simulate),
        out_of_time_(out_of_time),
        memory_(device.config),
        editor_(module),
        sites_(model.steps.size()),
        step_of_(module.instructions.size(), -1) {}

  Result<void> run() {
    for (size_t s = 0; s < model_.steps.size(); ++s) step_of_[model_.steps[s]] = static_cast<int32_t>(s);
    for (size_t v = 0; v < model_.origins.size(); ++v)
      find_sites(model_.problem.values[v], model_.origins[v]);
    const auto probe = CostProbe::make(module_, table_, device_, {simulate_.custom_calls});
    if (!probe) return tl::unexpected(probe.error());
    int32_t most = 1;
    for (const PrefetchStep& step : model_.problem.steps) most = std::max(most, cost_entries(step.sites));
    for (int32_t entry = 0; entry < most && !model_.cut; ++entry) measure(entry, **probe);
    return {};
  }

 private:
  void find_sites(const PrefetchValue& value, const PrefetchOrigin& origin) {
    if (value.made_bit >= 0) sites_of(origin.maker).push_back({value.made_bit, origin.maker, origin.element});
    for (size_t i = 0; i < value.uses.size(); ++i) {
      if (value.uses[i].bit < 0) continue;
      std::span<const PrefetchOrigin::Slot> slots(origin.slots[i]);
      while (!slots.empty()) {
        const auto others =
            std::ranges::find_if(slots, [&](const auto& slot) { return slot.user != slots[0].user; });
        const auto count = static_cast<size_t>(others - slots.begin());
        add_sites(value.uses[i].bit, slots.first(count));
        slots = slots.subspan(count);
      }
    }
  }
  /// `slots`: of one user.
  void add_sites(int32_t bit, std::span<const PrefetchOrigin::Slot> slots) {
    const InstructionId user = slots[0].user;
    std::vector<InstructionId> operands(module_[user].operands.begin(), module_[user].operands.end());
    for (const PrefetchOrigin::Slot& slot : slots) {
      InstructionId& operand = operands[static_cast<size_t>(slot.operand)];
      // An operand of its own, not in any list: only its shape counts.
      operand = editor_.add(module_[user].parent, Opcode::kParameter, "site", module_[operand].shape, {});
      sites_of(user).push_back({bit, operand, -1});
    }
    editor_.set_operands(user, operands);
  }
  std::vector<Site>& sites_of(InstructionId id) { return sites_[static_cast<size_t>(step_of_[id])]; }

  void set_space(const Site& site, bool on_chip) {
    Instruction& instruction = module_.instructions[site.instruction];
    const int64_t space = on_chip ? model_.chip.space : kDefaultMemorySpace;
    if (site.element < 0) {
      instruction.shape = module_.shapes().with_memory_space(instruction.shape, space);
      return;
    }
    std::vector<ShapeRef> elements(instruction.shape->elements.begin(), instruction.shape->elements.end());
    ShapeRef& element = elements[static_cast<size_t>(site.element)];
    element = module_.shapes().with_memory_space(element, space);
    instruction.shape = module_.shapes().tuple(elements);
  }

  /// Number `entry` of the costs of every step that has so many.
  void measure(int32_t entry, CostProbe& probe) {
    std::vector<size_t> measured;
    for (size_t s = 0; s < sites_.size(); ++s)
      if (entry < cost_entries(model_.problem.steps[s].sites)) measured.push_back(s);
    for (const size_t s : measured) {
      const uint32_t mask = mask_of_entry(model_.problem.steps[s].sites, entry);
      for (const Site& site : sites_[s]) set_space(site, (mask >> site.bit & 1) != 0);
    }
    const size_t hbm = index_of(memory_.unit_of(memory_.hbm()));
    for (const size_t s : measured) {
      if (is_cut()) return;
      const InstructionCost cost = probe.cost_around_bodies(model_.steps[s]);
      const PrefetchStep& step = model_.problem.steps[s];
      model_.problem.costs[static_cast<size_t>(step.first_cost + entry)] = {
          static_cast<double>(cost.time().count()), static_cast<double>(cost.busy[hbm].count()),
          static_cast<double>(cost.fixed.count())};
    }
  }

  /// Asks for the time now and then.
  bool is_cut() {
    constexpr int64_t kRounds = 256;
    if (!model_.cut && out_of_time_ && looks_++ % kRounds == 0) model_.cut = out_of_time_();
    return model_.cut;
  }

  Module& module_;
  const OpTable& table_;
  const Device& device_;
  PrefetchModel& model_;
  const SimulateOptions& simulate_;
  const std::function<bool()>& out_of_time_;
  const MemorySystem memory_;
  ModuleEditor editor_;
  std::vector<std::vector<Site>> sites_;
  IdMap<InstructionId, int32_t> step_of_;
  int64_t looks_ = 0;
};

}  // namespace

Result<void> measure_sites(const Module& module, const OpTable& table, const Device& device,
                           PrefetchModel& model, const SimulateOptions& simulate,
                           const std::function<bool()>& out_of_time) {
  Module copy = module.copy();
  return SiteCosts(copy, table, device, model, simulate, out_of_time).run();
}

}  // namespace hlosim
