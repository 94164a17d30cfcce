// Modules as StableHLO text.
//
//   const Result<std::string> text = to_stablehlo(module);
//   if (!text) …                                   // names the instruction that StableHLO has no form for
//
// The entry computation becomes @main, called computations functions of their own, the computations of
// reductions and control flow regions. Layouts, metadata and schedules have no place in the text.
#pragma once

#include <string>

#include "hlo/module.h"

namespace hlosim {

Result<std::string> to_stablehlo(const Module& module);

}  // namespace hlosim
