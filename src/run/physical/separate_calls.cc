// Computations that control flow runs from several places become several.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "hlo/graph.h"
#include "hlo/module_editor.h"
#include "ops/dataflow.h"
#include "physical/prepare.h"

namespace hlosim {
namespace {

bool is_chain_part(ValueRule rule) {
  return rule == ValueRule::kAsyncUpdate || rule == ValueRule::kAsyncDone;
}

/// A mention of a computation in an instruction.
struct Site {
  InstructionId caller;
  size_t mention = 0;
};

class CallSeparator {
 public:
  explicit CallSeparator(Module& module)
      : module_(module), editor_(module), sites_(module.computations.size()) {
    for (const Computation& computation : module.computations) note_sites(computation);
  }

  Result<void> run() {
    std::vector<ComputationId> order = callees_first(module_);
    std::reverse(order.begin(), order.end());
    for (const ComputationId id : order) {
      // Callers come first: all mentions are known by now.
      const std::vector<Site> sites = sites_[id];
      const bool is_embedded = std::any_of(sites.begin(), sites.end(),
                                           [&](const Site& site) { return !is_control_flow(site.caller); });
      bool is_taken = is_embedded;
      for (const Site& site : sites) {
        if (!is_control_flow(site.caller)) continue;
        if (!is_taken) {
          is_taken = true;
          continue;
        }
        if (module_.instructions.size() > kMostInstructions)
          return failure(
              fmt::format("with a computation for each call, module {} has more than {} instructions",
                          module_.name, kMostInstructions));
        give_own(site, id);
      }
    }
    return {};
  }

 private:
  static constexpr size_t kMostInstructions = 1'000'000;

  bool is_control_flow(InstructionId id) const {
    return dataflow(module_[id].opcode).call == CallRule::kControlFlow;
  }

  void note_sites(const Computation& computation) {
    for (const InstructionId id : computation.instructions) {
      // Updates and dones run what their start names.
      if (is_chain_part(dataflow(module_[id].opcode).value)) continue;
      size_t mention = 0;
      for_each_called(module_[id], [&](ComputationId called) { sites_[called].push_back({id, mention++}); });
    }
  }

  void give_own(const Site& site, ComputationId id) {
    const ComputationId own = editor_.clone(id);
    sites_.resize(module_.computations.size());
    editor_.set_called(site.caller, site.mention, own);
    if (dataflow(module_[site.caller].opcode).value == ValueRule::kAsyncStart)
      follow_chain(site.caller, id, own);
    const Computation cloned = module_[own];
    note_sites(cloned);
  }

  void follow_chain(InstructionId part, ComputationId before, ComputationId now) {
    const Computation& computation = module_[module_[part].parent];
    for (const InstructionId user : std::vector<InstructionId>(computation.instructions)) {
      const auto& operands = module_[user].operands;
      if (!is_chain_part(dataflow(module_[user].opcode).value) || operands.empty() || operands[0] != part)
        continue;
      size_t mention = 0;
      std::vector<size_t> mentions;
      for_each_called(module_[user], [&](ComputationId called) {
        if (called == before) mentions.push_back(mention);
        ++mention;
      });
      for (const size_t number : mentions) editor_.set_called(user, number, now);
      follow_chain(user, before, now);
    }
  }

  Module& module_;
  ModuleEditor editor_;
  IdMap<ComputationId, std::vector<Site>> sites_;
};

}  // namespace

Result<void> separate_calls(Module& module) { return CallSeparator(module).run(); }

}  // namespace hlosim
