#include "input/log_lines.h"

#include <algorithm>
#include <cctype>

namespace hlosim {
namespace {

/// Farther on, no logger's own words go.
constexpr size_t kLongestPrefix = 400;

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_alpha(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

/// `text` ends with a file and a line in it: "xla/service.cc:178".
bool ends_with_place(std::string_view text) {
  size_t end = text.size();
  while (end > 0 && is_digit(text[end - 1])) --end;
  if (end == text.size() || end == 0 || text[end - 1] != ':') return false;
  const size_t file_end = --end;
  while (end > 0 && is_alpha(text[end - 1])) --end;
  return end < file_end && end > 1 && text[end - 1] == '.' && text[end - 2] != ' ';
}

}  // namespace

size_t log_prefix(std::string_view line) {
  const size_t looked_at = std::min(line.size(), kLongestPrefix);
  for (size_t i = 0; i < looked_at; ++i) {
    const char c = line[i];
    if (c == '"' || c == '=' || c == '%' || c == '{') return 0;  // HLO text has begun
    if (c != ']' || !ends_with_place(line.substr(0, i))) continue;
    return i + 1 < line.size() && line[i + 1] == ' ' ? i + 2 : i + 1;
  }
  return 0;
}

LogLines without_prefixes(std::string_view text) {
  LogLines log;
  log.text = text;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const size_t prefix = log_prefix(text.substr(at, end - at));
    std::fill_n(log.text.begin() + static_cast<std::ptrdiff_t>(at), prefix, ' ');
    log.count += prefix > 0;
    at = end + 1;
  }
  return log;
}

}  // namespace hlosim
