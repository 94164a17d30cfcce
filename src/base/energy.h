// Energy: what a count of bytes or operations switches, in picojoules.
#pragma once

#include <string>

#include "base/units.h"

namespace hlosim {

using Picojoules = Quantity<struct PicojoulesTag, double>;
using PicojoulesPerByte = Quantity<struct PicojoulesPerByteTag, double>;
using PicojoulesPerFlop = Quantity<struct PicojoulesPerFlopTag, double>;

constexpr Picojoules operator*(Bytes amount, PicojoulesPerByte each) {
  return Picojoules(static_cast<double>(amount.count()) * each.count());
}
constexpr Picojoules operator*(Flops amount, PicojoulesPerFlop each) {
  return Picojoules(static_cast<double>(amount.count()) * each.count());
}

/// "1.234 mJ", "56.2 pJ": four significant digits.
std::string to_text(Picojoules energy);

}  // namespace hlosim
