// Characters of UTF-8 in bytes that may be anything.
//
//   utf8_character("\xC3\xA4bc")   2
//   utf8_character("abc")          1
//   utf8_character("\xFFabc")       0
#pragma once

#include <cstddef>
#include <string_view>

namespace hlosim {

/// How many bytes the character takes that `text` begins with; 0: none does. Longer forms than need be and
/// the halves of UTF-16's pairs are no characters.
size_t utf8_character(std::string_view text);

}  // namespace hlosim
