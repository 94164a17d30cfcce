// A text as the tokens that our reader takes it for.
//
//   std::vector<Token> tokens = tokens_of("%a = f32[8]{0} add(%b, %c)  // sum");
//   tokens[4].text                                 // "f32"; tokens[5] is the mark "["
//   text_of(tokens)                                // the text, blanks and comments included
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hlosim::fuzz {

enum class TokenKind : uint8_t { kWord, kNumber, kString, kMark };

/// Views into the text.
struct Token {
  TokenKind kind = TokenKind::kMark;
  std::string_view before;  // blanks and comments
  std::string_view text;    // empty: what stands behind the last token
};

/// Any text has tokens: what nobody understands is marks.
std::vector<Token> tokens_of(std::string_view text);

std::string text_of(const std::vector<Token>& tokens);

/// `text` cut at the commas that stand in no bracket and no string; blanks around the pieces are left out.
std::vector<std::string_view> split(std::string_view text, char separator = ',');

/// Its lines, without their ends.
std::vector<std::string_view> lines_of(std::string_view text);
std::string text_of_lines(const std::vector<std::string_view>& lines);

std::string_view trimmed(std::string_view text);

/// `text` with every `from` that stands by itself, no part of a longer name or number, replaced.
std::string replaced_names(std::string_view text, std::string_view from, std::string_view to);

}  // namespace hlosim::fuzz
