// The body of a kernel in the explanation of its call: the grid, what its windows move, what its steps take.
//
//   for (ExplainedTerm& term : terms_of_kernel(device, *kernel)) … term.name      // "grid", "window 0"
#pragma once

#include <vector>

#include "model/pallas/kernel_bodies.h"
#include "report/explain.h"

namespace hlosim {

std::vector<ExplainedTerm> terms_of_kernel(const Device& device, const KernelOfCall& kernel);

}  // namespace hlosim
