// Logits in parts, and more sequences in a step.
#include <fmt/format.h>

#include "advise/kinds/kinds.h"
#include "advise/module_edits.h"

namespace hlosim {

std::vector<Proposal> find_vocab_tiles(const AdviceSubject& subject) {
  std::vector<Proposal> found;
  const auto& model = subject.setup.model;
  if (!model || model->step.kind != StepKind::kTrain) return found;
  for (const int64_t tiles : {4, 8, 16}) {
    if (tiles <= model->step.vocab_tiles) continue;
    Proposal& one = found.emplace_back();
    one.stage = EditStage::kModel;
    one.edit = edit_of_step([tiles](StepOptions& step) { step.vocab_tiles = tiles; });
    one.name = fmt::format("vocab_tiles={}", tiles);
    one.problem =
        fmt::format("logits of all tokens and {} words are in memory at once", model->config->vocab);
    one.change = fmt::format(
        "MaxText: num_vocab_tiling={0}; JAX: lax.map of the loss over {0} parts of the tokens, "
        "rematerialized; hlosim model --vocab-tiles={0}",
        tiles);
    one.reason = "a part's logits and their gradients are freed before the next part's are made";
    one.for_memory = true;
  }
  return found;
}

std::vector<Proposal> find_batch(const AdviceSubject& subject) {
  std::vector<Proposal> found;
  const auto& model = subject.setup.model;
  if (!model) return found;
  for (const int64_t factor : {2, 4}) {
    Proposal& one = found.emplace_back();
    one.stage = EditStage::kModel;
    one.edit = edit_of_step([factor](StepOptions& step) { step.batch *= factor; });
    one.name = fmt::format("batch={}", model->step.batch * factor);
    one.problem = fmt::format("a step has {} sequences", model->step.batch);
    one.change = fmt::format(
        "MaxText: per_device_batch_size times {}; hlosim model --batch={} (the optimizer sees "
        "another batch: learning rate and convergence are yours to decide)",
        factor, model->step.batch * factor);
    one.reason = "weights are read, gathered and updated once for more tokens; time counts per token";
    one.proof = ProofKind::kNone;
    one.no_proof = "the step has other inputs";
    one.work = static_cast<double>(factor);
  }
  return found;
}

}  // namespace hlosim
