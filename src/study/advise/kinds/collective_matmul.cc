// Collective matmul: parts of a gathered operand are multiplied while the others arrive.
#include "advise/kinds/kinds.h"
#include "estimate/unpartitioned.h"

namespace hlosim {

std::vector<Proposal> find_collective_matmul(const AdviceSubject& subject) {
  const TrialSetup& setup = subject.setup;
  const Estimate& run = subject.estimate;
  if (subject.is_compiled || !run.spread || run.spread->was_partitioned || run.spread->has_rings) return {};
  if (run.simulation->totals.all_exposed_collectives().count() == 0) return {};
  std::optional<MeshRequest> request = setup.options.mesh;
  if (!request) request = default_request(*setup.module, subject.table);
  if (!request || request->windowed > WindowedProducts::kNever || setup.options.compiler.windowed_einsum_mib)
    return {};
  request->windowed = WindowedProducts::kAlways;
  Proposal one;
  one.stage = EditStage::kSetting;
  one.edit = [request = *request](TrialSetup& changed) -> Result<void> {
    std::optional<MeshRequest> own = changed.options.mesh;
    changed.options.mesh = own ? own : request;
    changed.options.mesh->windowed = WindowedProducts::kAlways;
    return {};
  };
  one.name = "collective matmul";
  one.problem = "matmuls wait for the all-gathers of their operands, or their results for reduce-scatters";
  one.change =
      "XLA_FLAGS=\"--xla_jf_spmd_threshold_for_windowed_einsum_mib=0\"; here: --windowed-products=always";
  one.reason = "a ring of permutes carries one part of the operand while the MXU multiplies another";
  one.proof = ProofKind::kSameProgram;
  return {one};
}

}  // namespace hlosim
