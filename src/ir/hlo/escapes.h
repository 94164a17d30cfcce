// Escapes in strings of HLO text: a backslash with a letter or a number means one byte.
#pragma once

#include <string>
#include <string_view>

namespace hlosim {

/// The bytes of a string without its quotes. `\n`, `\r`, `\t`, `\a`, `\b`, `\f`, `\v`, one to three octal
/// digits, `\x` with up to two hexadecimal ones; any other character means itself, and so does a backslash at
/// the end.
std::string unescaped(std::string_view text);

}  // namespace hlosim
