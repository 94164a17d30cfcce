// How the weights of a model's step are stored, cast and gathered; layers unrolled.
#include <fmt/format.h>

#include "advise/kinds/kinds.h"
#include "advise/module_edits.h"

namespace hlosim {

std::vector<Proposal> find_unrolled_layers(const AdviceSubject& subject) {
  const auto& model = subject.setup.model;
  constexpr int64_t kMostUnrolledLayers = 64;
  if (!model || model->config->layers > kMostUnrolledLayers) return {};
  const bool unroll = model->step.scan_layers;
  Proposal one;
  one.stage = EditStage::kModel;
  one.edit = edit_of_step([unroll](StepOptions& step) { step.scan_layers = !unroll; });
  one.name = unroll ? "layers unrolled" : "layers in a loop";
  one.problem = unroll ? "layers are a loop over stacked weights" : "every layer is compiled by itself";
  one.change = fmt::format("MaxText: scan_layers={}; JAX: {}; hlosim model {}", unroll ? "False" : "True",
                           unroll ? "a Python loop in place of lax.scan" : "lax.scan over stacked weights",
                           unroll ? "--unroll" : "--loop");
  one.reason =
      unroll ? "slices of stacked weights fall away, and collectives of a layer overlap with the next one"
             : "one body's buffers are used by all layers";
  one.proof = ProofKind::kNone;
  one.no_proof = "weights are other arguments: one stack, or one array a layer";
  return {one};
}

std::vector<Proposal> find_cast_before_gather(const AdviceSubject& subject) {
  const auto& model = subject.setup.model;
  if (!model || model->step.cast_before_gather || model->step.mesh.devices() < 2) return {};
  Proposal one;
  one.stage = EditStage::kModel;
  one.edit = edit_of_step([](StepOptions& step) { step.cast_before_gather = true; });
  one.name = "cast before gather";
  one.problem = "parameters are gathered in the type that they are stored in";
  one.change =
      "cast parameters to bf16 before the layers use them (params = jax.tree.map(bf16, params) in the loss "
      "function); hlosim model without --gather-stored";
  one.reason = "half as many bytes cross the interconnect";
  return {one};
}

std::vector<Proposal> find_stored_weights(const AdviceSubject& subject) {
  std::vector<Proposal> found;
  const auto& model = subject.setup.model;
  if (!model || model->step.kind == StepKind::kTrain || model->step.weight_type != ElementType::kInvalid)
    return found;
  const std::pair<ElementType, const char*> types[] = {{ElementType::kS8, "int8"},
                                                       {ElementType::kF8E4M3FN, "fp8"}};
  for (const auto& [type, name] : types) {
    Proposal& one = found.emplace_back();
    one.stage = EditStage::kModel;
    one.edit = edit_of_step([type = type](StepOptions& step) { step.weight_type = type; });
    one.name = fmt::format("weights={}", name);
    one.problem = "a step reads all weights of the layers";
    one.change = fmt::format(
        "weights quantized to {0} with a scale an output channel (vLLM: a checkpoint in {0}); "
        "hlosim model --weights={0}",
        name);
    one.reason = "half as many bytes of weights are read from HBM";
    one.proof = ProofKind::kNone;
    one.no_proof = "quantized weights are other numbers: their accuracy has to be measured";
  }
  return found;
}

}  // namespace hlosim
