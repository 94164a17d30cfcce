#include "base/bracketed_text.h"

#include <algorithm>

#include "base/text.h"

namespace hlosim {

std::vector<std::string_view> split_outside_brackets(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  int depth = 0;
  char quote = '\0';
  size_t begin = 0;
  const auto add = [&](size_t end) {
    if (const std::string_view part = trimmed(text.substr(begin, end - begin)); !part.empty())
      parts.push_back(part);
    begin = end + 1;
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '{' || c == '[' || c == '(') {
      ++depth;
    } else if (c == '}' || c == ']' || c == ')') {
      --depth;
    } else if (depth == 0 && separators.find(c) != std::string_view::npos) {
      add(i);
    }
  }
  add(text.size());
  return parts;
}

bool take_word(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

std::string without_comments(std::string_view text) {
  std::string plain(text);
  for (size_t at = 0; (at = plain.find("/*", at)) != std::string::npos;)
    plain.erase(at, std::min(plain.find("*/", at), plain.size() - 2) + 2 - at);
  return plain;
}

}  // namespace hlosim
