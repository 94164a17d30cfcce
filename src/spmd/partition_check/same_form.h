// Are two programs the same but for the sizes of their arrays? Then what one does to its arrays the other
// does to its own, element for element.
//
//   same_form(module, smaller)                     // the same instructions on the same operands, the same
//                                                  // collectives between the same devices
#pragma once

#include "hlo/module.h"

namespace hlosim {

/// Names, constants, layouts, and numbers that count elements (bounds of slices, paddings, windows) don't
/// count.
bool same_form(const Module& a, const Module& b);

}  // namespace hlosim
