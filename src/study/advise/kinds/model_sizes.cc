// Sizes of a model rounded up to whole tiles: vocabulary, hidden layer, heads.
#include <fmt/format.h>

#include <memory>

#include "advise/kinds/kinds.h"
#include "advise/module_edits.h"
#include "base/rounding.h"
#include "workloads/maxtext_settings.h"

namespace hlosim {
namespace {

struct RoundedSize {
  const char* key;
  int64_t ModelConfig::*size;
};
constexpr RoundedSize kRoundedSizes[] = {{"vocab", &ModelConfig::vocab},
                                         {"d_ff", &ModelConfig::d_ff},
                                         {"head_dim", &ModelConfig::head_dim},
                                         {"d_model", &ModelConfig::d_model}};

}  // namespace

std::vector<Proposal> find_model_sizes(const AdviceSubject& subject) {
  std::vector<Proposal> found;
  const auto& model = subject.setup.model;
  if (!model) return found;
  const int64_t tensor = axis_size(model->step.mesh, "tensor");
  const int64_t lanes = subject.setup.device.config.vpu.lanes;
  for (const RoundedSize& one : kRoundedSizes) {
    const int64_t size = (*model->config).*one.size;
    // What a dimension of one shard is stored and multiplied in.
    const int64_t unit = one.size == &ModelConfig::head_dim ? lanes : lanes * tensor;
    const int64_t wanted = round_up(size, unit);
    if (size <= 0 || wanted == size) continue;
    Proposal& proposal = found.emplace_back();
    proposal.stage = EditStage::kModel;
    proposal.edit = [member = one.size, wanted](TrialSetup& setup) -> Result<void> {
      if (!setup.model) return failure("no model file");
      auto config = std::make_shared<ModelConfig>(*setup.model->config);
      (*config).*member = wanted;
      setup.model->config = std::move(config);
      return remake_step(setup);
    };
    proposal.name = fmt::format("{}={}", one.key, wanted);
    proposal.problem = fmt::format("{} {} is not a multiple of {}", one.key, size, unit);
    proposal.change =
        fmt::format("{0}: {2} in the model's configuration (from {1}), with weights padded by zeros", one.key,
                    size, wanted);
    proposal.reason = "arrays are stored and multiplied in tiles: the last one is computed in full anyway";
    proposal.proof = ProofKind::kNone;
    proposal.no_proof = "weights are other arguments; padded by zeros they give the same results";
  }
  return found;
}

}  // namespace hlosim
