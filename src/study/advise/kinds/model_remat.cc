// What the backward pass of a model's step recomputes, and what it is given.
#include <fmt/format.h>

#include "advise/kinds/kinds.h"
#include "advise/module_edits.h"

namespace hlosim {

std::vector<Proposal> find_remat(const AdviceSubject& subject) {
  std::vector<Proposal> found;
  const auto& model = subject.setup.model;
  if (!model || model->step.kind != StepKind::kTrain) return found;
  for (const char* name :
       {"minimal", "minimal_with_context", "save_dot_except_mlpwi", "save_qkv_proj", "save_out_proj",
        "save_dot_except_mlp", "minimal_offloaded", "qkv_proj_offloaded", "full"}) {
    const Result<RematPolicy> policy = remat_policy(name);
    if (!policy || policy->values == model->step.remat.values) continue;
    Proposal& one = found.emplace_back();
    one.stage = EditStage::kModel;
    one.edit = edit_of_step([remat = *policy](StepOptions& step) { step.remat = remat; });
    one.name = fmt::format("remat={}", name);
    one.problem =
        fmt::format("the backward pass recomputes what remat policy {} doesn't save", model->step.remat.name);
    one.change = fmt::format(
        "MaxText: remat_policy={0}; JAX: "
        "jax.checkpoint(policy=jax.checkpoint_policies.save_only_these_names(...)) "
        "with the values of {0}; hlosim model --remat={0}",
        name);
    one.reason =
        "values that are kept need not be computed a second time; memory decides how many can be kept";
  }
  return found;
}

}  // namespace hlosim
