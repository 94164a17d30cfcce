#include "base/number_text.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include "base/text.h"

namespace hlosim {

std::optional<LeadingNumber> leading_number(std::string_view text) {
  std::string_view rest = text;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  if (rest.size() > 1 && rest[0] == '.' && (rest[1] == 'i' || rest[1] == 'I')) rest.remove_prefix(1);
  if (rest.empty() || rest[0] == '-') return std::nullopt;
  LeadingNumber number;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number.value);
  if (error == std::errc::result_out_of_range)  // too large or too small: the other function tells which
    number.value = std::strtod(std::string(rest.data(), end).c_str(), nullptr);
  else if (error != std::errc() || std::isnan(number.value))
    return std::nullopt;
  if (negative) number.value = -number.value;
  number.length = static_cast<size_t>(end - text.data());
  return number;
}

bool is_number_beyond(std::string_view text, double most) {
  const std::string_view all = trimmed(text);
  const std::optional<LeadingNumber> number = leading_number(all);
  return number && number->length == all.size() &&
         (std::isinf(number->value) || std::abs(number->value) > most);
}

std::string percent_text(double share) { return fmt::format("{:.1f} %", share * 100); }

}  // namespace hlosim
