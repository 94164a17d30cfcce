// Borders of regions that are partitioned by hand.
//
//   if (border_of(instruction) == Border::kEnters) …        // from here on shapes are those of the parts
#pragma once

#include <cstdint>

#include "hlo/module.h"

namespace hlosim {

enum class Border : uint8_t { kNone, kEnters, kLeaves };
Border border_of(const Instruction& instruction);

}  // namespace hlosim
