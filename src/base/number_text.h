// The number that a text begins with, however large: what a message about a wrong one has to know.
//
//   leading_number("1e400 GHz")                    // infinity, 5 characters
//   leading_number(".inf")                         // infinity, as YAML writes it
//   is_number_beyond("1e400", 1e6)                 // true
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace hlosim {

struct LeadingNumber {
  double value = 0;  // the nearest one; infinite where no double is that large, or where it is written so
  size_t length = 0;
};
/// Digits with a sign, fraction or exponent, or inf and infinity in any case, with a dot or without. None:
/// `text` doesn't begin with a number. NaN isn't one.
std::optional<LeadingNumber> leading_number(std::string_view text);

/// `text` is a number and nothing else, and its absolute value is above `most`. An infinite one always is.
bool is_number_beyond(std::string_view text, double most);

/// A share as percent with one decimal: 0.125 is "12.5 %".
std::string percent_text(double share);

}  // namespace hlosim
