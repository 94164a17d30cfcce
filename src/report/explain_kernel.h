// Why a custom call of a TPU kernel takes its time: its blocks and what they keep busy.
//
//   result.terms = kernel_terms(device, *known.kernel, cost);
#pragma once

#include <vector>

#include "model/pallas/kernel_call.h"
#include "report/explain.h"

namespace hlosim {

/// Post: the last term is the whole, and its result is cost.time().
std::vector<ExplainedTerm> kernel_terms(const Device& device, const KernelCall& call,
                                        const InstructionCost& cost);

/// The same for a call that is costed by its author's estimate.
std::vector<ExplainedTerm> estimate_terms(const Device& device, const CostEstimate& estimate,
                                          const InstructionCost& cost);

}  // namespace hlosim
