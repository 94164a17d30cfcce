// The call by which programs ask for the largest elements, some of which may be missed.
#pragma once

#include "stablehlo/op_lowering.h"

namespace hlosim::stablehlo {

/// `custom_call @ApproxTopK`: operands, then their initial values; a comparator. A sort where it is told to
/// fall back to one, else a partial reduction, whose candidates are sorted. False: the call has another form,
/// and stays one by its name.
bool lower_approx_top_k(OpLowering& op);

}  // namespace hlosim::stablehlo
