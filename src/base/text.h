// Small text helpers shared by every reader and printer.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hlosim {

/// The candidate nearest to `word` by edit distance (two swapped letters are one edit), or empty when none is
/// near enough (distance <= max(1, length / 3)) to be worth a "did you mean". Single letters are near
/// nothing.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

/// `did you mean "x"?`, or empty when nearest() finds nothing.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates);

/// What has no picture of its own becomes its escape, as in \x1b, \u202e: control characters but for tabs
/// and line ends, characters without width or that turn directions, and bytes that are no UTF-8. `coloured`:
/// what base/paint.h writes stays.
std::string printable(std::string text, bool coloured = false);

/// Without blanks, tabs and ends of lines at both ends.
std::string_view trimmed(std::string_view text);

/// With 'a' to 'z' in place of 'A' to 'Z'.
std::string lower_case(std::string_view text);

/// The parts between separators, empty ones too; at least one.
std::vector<std::string> split(std::string_view text, char separator);

/// The value of a hexadecimal digit of either case; -1: it is none.
constexpr int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// Text of a byte string in a message: at most `limit` bytes, control characters escaped.
std::string shown(std::string_view text, size_t limit = 60);

}  // namespace hlosim
