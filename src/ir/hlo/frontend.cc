#include "hlo/frontend.h"

namespace hlosim {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// End of the string or of the balanced braces that start at `at`.
size_t skip_value(std::string_view text, size_t at) {
  int depth = 0;
  char quote = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quote) {
      if (c == '\\')
        ++at;
      else if (c == quote)
        quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}') {
      --depth;
    }
    if (!quote && depth == 0) return at + 1;
  }
  return text.size();
}

std::optional<std::string_view> value_of(const Attr* attr, std::string_view key) {
  if (!attr) return std::nullopt;
  const std::string_view text = attr->text();
  size_t at = text.find('{') == std::string_view::npos ? text.size() : text.find('{') + 1;
  while (at < text.size()) {
    while (at < text.size() && (is_blank(text[at]) || text[at] == ',')) ++at;
    const size_t equals = text.find('=', at);
    if (equals == std::string_view::npos) return std::nullopt;
    std::string_view name = text.substr(at, equals - at);
    while (!name.empty() && is_blank(name.back())) name.remove_suffix(1);
    size_t begin = equals + 1;
    while (begin < text.size() && is_blank(text[begin])) ++begin;
    const size_t end = skip_value(text, begin);
    if (name == key) {
      std::string_view value = text.substr(begin, end - begin);
      if (value.size() >= 2 && value.front() != '{') value = value.substr(1, value.size() - 2);
      return value;
    }
    at = end;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string_view> frontend_attribute(const Instruction& instruction, std::string_view key) {
  return value_of(instruction.find(AttrKey::kFrontendAttributes), key);
}

std::optional<std::string_view> frontend_attribute(const Module& module, std::string_view key) {
  return value_of(module.find(AttrKey::kFrontendAttributes), key);
}

}  // namespace hlosim
