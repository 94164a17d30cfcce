// The equation of a Kernel with its numbers, and why a custom call of a TPU kernel takes its time.
//
//   terms.push_back(kernel_term(device, *details.kernel, "blocks"));
//   result.terms = kernel_terms(device, *known.kernel, cost);
#pragma once

#include <string>
#include <vector>

#include "model/kernel_time.h"
#include "model/pallas/kernel_call.h"
#include "report/explain.h"

namespace hlosim {

/// One term: steps of all classes, and what nothing hides (model/kernel_time.h).
ExplainedTerm kernel_term(const Device& device, const TimedKernel& planned, std::string name);

/// Post: the last term is the whole, and its result is cost.time().
std::vector<ExplainedTerm> kernel_terms(const Device& device, const KernelCall& call,
                                        const InstructionCost& cost);

/// The same for a call that is costed by its author's estimate.
std::vector<ExplainedTerm> estimate_terms(const Device& device, const CostEstimate& estimate,
                                          const InstructionCost& cost);

}  // namespace hlosim
