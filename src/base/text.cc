#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/utf8.h"

namespace hlosim {
namespace {

// Insertions, deletions, replacements and swaps of neighbours that make `b` of `a`.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    before.swap(last);
    last.swap(row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates) {
  constexpr size_t kLongest = 64;  // longer words are no misspelt keywords
  if (word.size() < 2 || word.size() > kLongest) return {};
  std::string_view best;
  size_t best_distance = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string_view candidate : candidates) {
    if (candidate.size() > kLongest) continue;
    const size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates) {
  const std::string_view best = nearest(word, candidates);
  return best.empty() ? std::string() : fmt::format("did you mean \"{}\"?", best);
}

namespace {

/// First and last codes of what nobody sees: C1 controls, what turns directions, breaks lines or annotates,
/// fillers, and all that Unicode lets a font leave out (Default_Ignorable_Code_Point) but the variation
/// selectors FE00 to FE0F, which stand in signs that are seen.
constexpr std::pair<unsigned, unsigned> kHidden[] = {
    {0x80, 0x9F},       {0xAD, 0xAD},       {0x34F, 0x34F},   {0x61C, 0x61C},   {0x115F, 0x1160},
    {0x17B4, 0x17B5},   {0x180B, 0x180F},   {0x200B, 0x200F}, {0x2028, 0x202E}, {0x2060, 0x206F},
    {0x3164, 0x3164},   {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0}, {0xFFF0, 0xFFFB}, {0x1BCA0, 0x1BCA3},
    {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
};

/// Those, and what is no character at all.
bool is_hidden(unsigned code) {
  return (code & 0xFFFEU) == 0xFFFE || std::ranges::any_of(kHidden, [&](const auto& range) {
           return code >= range.first && code <= range.second;
         });
}

/// Bytes of a hidden character at the beginning of `text`, at least one of what is no UTF-8; 0: it begins
/// with another. `code`: which, or the byte.
size_t hidden_character(std::string_view text, unsigned& code) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const size_t bytes = utf8_character(text);
  code = byte(0);
  if (bytes == 0) return 1;
  if (bytes == 1) return 0;
  code &= 0xFFU >> (bytes + 1);
  for (size_t i = 1; i < bytes; ++i) code = code << 6U | (byte(i) & 0x3FU);
  return is_hidden(code) ? bytes : 0;
}

/// Bytes of a colour as base/paint.h writes it at the beginning of `text`; 0: there is none.
size_t colour(std::string_view text) {
  for (const std::string_view code : {"\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m"})
    if (text.starts_with(code)) return code.size();
  return 0;
}

/// `limit`, or less: where the character begins that lies across it.
size_t whole_characters(std::string_view text, size_t limit) {
  if (limit >= text.size()) return limit;
  for (size_t back = 1; back <= std::min<size_t>(limit, 3); ++back)
    if (utf8_character(text.substr(limit - back)) > back) return limit - back;
  return limit;
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

bool may_be_hidden(char c) {
  return (is_control(c) && c != '\n' && c != '\t') || static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace

std::string printable(std::string text, bool coloured) {
  if (std::none_of(text.begin(), text.end(), may_be_hidden)) return text;
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const std::string_view rest = std::string_view(text).substr(at);
    unsigned code = 0;
    if (const size_t bytes = coloured ? colour(rest) : 0; bytes > 0) {
      out += rest.substr(0, bytes);
      at += bytes;
    } else if (const size_t hidden = hidden_character(rest, code); hidden > 0) {
      out += hidden == 1 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{:04x}", code);
      at += hidden;
    } else if (is_control(rest[0]) && rest[0] != '\n' && rest[0] != '\t') {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(rest[0]));
      ++at;
    } else {
      const size_t bytes_of_it = utf8_character(rest);
      out += rest.substr(0, bytes_of_it);
      at += bytes_of_it;
    }
  }
  return out;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n\r";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(separator, at), text.size());
    parts.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

std::string shown(std::string_view text, size_t limit) {
  std::string out;
  limit = whole_characters(text, limit);
  for (const char c : text.substr(0, limit)) {
    if (is_control(c))
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  if (text.size() > limit) out += "...";
  return printable(std::move(out));
}

}  // namespace hlosim
