// Texts with brackets and quotes inside, taken apart.
//
//   split_outside_brackets("{a, b}, [c], 'd, e'", ",")     // {"{a, b}", "[c]", "'d, e'"}
//   take_word(text, "devices=")                            // true, and the word is gone
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hlosim {

/// Parts between any of `separators` that stand outside of braces, brackets, parentheses and quotes, without
/// blanks at their ends; empty ones are dropped.
std::vector<std::string_view> split_outside_brackets(std::string_view text, std::string_view separators);

/// Takes `word` from the front of `text`; false: it begins otherwise.
bool take_word(std::string_view& text, std::string_view word);

/// Without what stands between `/*` and `*/`.
std::string without_comments(std::string_view text);

}  // namespace hlosim
