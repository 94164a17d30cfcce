// Checks of values, as test programs have them.
#pragma once

#include <string_view>

#include "stablehlo/op_lowering.h"

namespace hlosim::stablehlo {

/// A custom call whose target is a check; false: it is none.
bool lower_called_check(OpLowering& op, std::string_view target);

}  // namespace hlosim::stablehlo
