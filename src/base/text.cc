#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

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

/// Bytes of a character that turns directions, breaks lines or is a C1 control at the beginning of `text`; 0:
/// of none. `code`: which.
size_t hidden_character(std::string_view text, unsigned& code) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  if (byte(0) == 0xC2 && byte(1) >= 0x80 && byte(1) < 0xA0) {
    code = byte(1);
    return 2;
  }
  if (byte(0) == 0xD8 && byte(1) == 0x9C) {
    code = 0x61C;
    return 2;
  }
  if (byte(0) != 0xE2 || byte(1) < 0x80 || byte(1) > 0x81 || byte(2) < 0x80 || byte(2) > 0xBF) return 0;
  code = 0x2000 + (byte(1) - 0x80) * 0x40 + (byte(2) - 0x80);
  const bool turns = code == 0x200E || code == 0x200F || (code >= 0x2028 && code <= 0x202E) ||
                     (code >= 0x2066 && code <= 0x2069);
  return turns ? 3 : 0;
}

/// Bytes of a colour as base/paint.h writes it at the beginning of `text`; 0: there is none.
size_t colour(std::string_view text) {
  for (const std::string_view code : {"\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m"})
    if (text.starts_with(code)) return code.size();
  return 0;
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

bool may_be_hidden(char c) {
  return (is_control(c) && c != '\n' && c != '\t') || c == '\xC2' || c == '\xD8' || c == '\xE2';
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
      out += fmt::format("\\u{:04x}", code);
      at += hidden;
    } else {
      const char c = text[at++];
      if (is_control(c) && c != '\n' && c != '\t')
        out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
      else
        out += c;
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

std::string shown(std::string_view text, size_t limit) {
  std::string out;
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
