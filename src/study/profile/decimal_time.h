// Times as traces and tables write them, exactly: decimal numbers of microseconds as whole picoseconds.
//
//   picoseconds_of("12.5", 6)                      // 12'500'000: 10^6 ps are one us
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hlosim {

/// `digits`: how many zeros one unit has in picoseconds. Further decimals round to the nearest. Nothing for
/// texts that are no number from 0 on, or beyond a quarter of int64. Takes exponents and grouping commas.
std::optional<int64_t> picoseconds_of(std::string_view text, int digits);

/// A whole number from 0 on, given as such, with decimals or an exponent: "1342177280", "1.34217728e9".
std::optional<int64_t> whole_amount(std::string_view text);

}  // namespace hlosim
