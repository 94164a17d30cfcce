#include "base/units.h"

#include <fmt/format.h>

#include <array>

namespace hlosim {
namespace {

std::string decimal(double value, std::string_view unit) {
  static constexpr std::array<std::string_view, 6> kPrefix = {"", "k", "M", "G", "T", "P"};
  size_t step = 0;
  while (value >= 1000 && step + 1 < kPrefix.size()) {
    value /= 1000;
    ++step;
  }
  return fmt::format("{:.4g} {}{}", value, kPrefix[step], unit);
}

}  // namespace

Cycles cycles_in(Picoseconds time, Hertz clock) {
  const double cycles = static_cast<double>(time.count()) * clock.count() / 1e12;
  return Cycles(static_cast<int64_t>(std::ceil(cycles * (1 - 4 * std::numeric_limits<double>::epsilon()))));
}

std::string to_text(Bytes bytes) {
  static constexpr std::array<std::string_view, 6> kPrefix = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = static_cast<double>(bytes.count());
  size_t step = 0;
  while (std::abs(value) >= (step == 0 ? 1024 : 1023.995) && step + 1 < kPrefix.size()) {
    value /= 1024;
    ++step;
  }
  return step == 0 ? fmt::format("{} B", bytes.count()) : fmt::format("{:.2f} {}", value, kPrefix[step]);
}

std::string to_text(Picoseconds time) {
  const double ps = static_cast<double>(time.count());
  if (time == kForever) return "unbounded";
  if (ps < 1e3) return fmt::format("{} ps", time.count());
  if (ps < 1e6) return fmt::format("{:.4g} ns", ps / 1e3);
  if (ps < 1e9) return fmt::format("{:.4g} us", ps / 1e6);
  if (ps < 1e12) return fmt::format("{:.4g} ms", ps / 1e9);
  return fmt::format("{:.4g} s", ps / 1e12);
}

std::string to_text(Hertz clock) { return decimal(clock.count(), "Hz"); }
std::string to_text(BytesPerSecond rate) { return decimal(rate.count(), "B/s"); }
std::string to_text(FlopsPerSecond rate) { return decimal(rate.count(), "FLOP/s"); }

std::string grouped(int64_t value) {
  std::string digits = fmt::format("{}", value);
  const size_t first = digits[0] == '-' ? 1 : 0;
  for (size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

}  // namespace hlosim
