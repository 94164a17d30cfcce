// Vector work around a matrix product: what the vector unit does to its operands and to its results, in the
// bundles that this takes where nothing else is in them.
//
//   const FusedVectorWork around = vector_around(core, compute);
//   around.lhs                                     // picoseconds for all of the left operand, once
//
// A bundle has vpu.alus vector operations, a push to each transcendental unit and an operation of each
// cross-lane unit; the bundles of a product have the operations that feed the arrays and pop their results as
// well.
#pragma once

#include "model/core.h"
#include "model/fusion_summary.h"

namespace hlosim {

/// Picoseconds of all cores together.
struct FusedVectorWork {
  double lhs = 0, rhs = 0;  // what computes all of an operand, once
  double results = 0;       // all other vector work of the instruction
};

/// All zero without a product.
FusedVectorWork vector_around(const Core& core, const ComputeSummary& compute);

}  // namespace hlosim
