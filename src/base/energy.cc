#include "base/energy.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>

namespace hlosim {

std::string to_text(Picojoules energy) {
  static constexpr std::array<std::string_view, 6> kUnits = {"pJ", "nJ", "uJ", "mJ", "J", "kJ"};
  double value = energy.count();
  size_t step = 0;
  for (; std::abs(value) >= 999.95 && step + 1 < kUnits.size(); ++step) value /= 1000;
  return fmt::format("{:.4g} {}", value, kUnits[step]);
}

}  // namespace hlosim
