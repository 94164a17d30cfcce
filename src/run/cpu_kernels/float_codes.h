// The values of floats of at most 8 bits.
#pragma once

#include "layout/element_type.h"

namespace hlosim {

/// The 256 values of a float type of at most 8 bits, by the element's byte; null for other types. Types of 4
/// and 6 bits repeat in the upper bits. NaN where the code is one.
const float* float_codes(ElementType type);

}  // namespace hlosim
