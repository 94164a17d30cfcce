#include "profile/decimal_time.h"

#include <charconv>
#include <cmath>
#include <string>

namespace hlosim {
namespace {

/// By way of a double: what has an exponent, or more digits than fit.
std::optional<int64_t> rounded(std::string_view text, int digits) {
  double value = 0;
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || at != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  value *= std::pow(10.0, digits);
  if (!(value >= 0) || value > static_cast<double>(INT64_MAX / 4)) return std::nullopt;
  return std::llround(value);
}

}  // namespace

std::optional<int64_t> picoseconds_of(std::string_view text, int digits) {
  std::string plain;
  for (const char c : text)
    if (c != ',') plain += c;
  const size_t point = plain.find('.');
  std::string whole = plain.substr(0, point);
  std::string decimals = point == std::string::npos ? "" : plain.substr(point + 1);
  const auto all_digits = [](const std::string& part) {
    return part.find_first_not_of("0123456789") == std::string::npos;
  };
  if (plain.empty() || plain == ".") return std::nullopt;
  if (!all_digits(whole) || !all_digits(decimals)) return rounded(plain, digits);
  const bool up =
      decimals.size() > static_cast<size_t>(digits) && decimals[static_cast<size_t>(digits)] >= '5';
  decimals.resize(static_cast<size_t>(digits), '0');
  whole += decimals;
  int64_t value = 0;
  const auto [at, error] = std::from_chars(whole.data(), whole.data() + whole.size(), value);
  if (error != std::errc() || value > INT64_MAX / 4) return std::nullopt;
  return value + (up ? 1 : 0);
}

std::optional<int64_t> whole_amount(std::string_view text) { return picoseconds_of(text, 0); }

}  // namespace hlosim
