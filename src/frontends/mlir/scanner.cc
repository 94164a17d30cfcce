#include "mlir/scanner.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include <fmt/format.h>

#include "base/text.h"

namespace hlosim::mlir {
namespace {

enum : uint8_t { kBlank = 1, kWord = 2, kSuffix = 4, kBracket = 8 };

constexpr std::array<uint8_t, 256> make_classes() {
  std::array<uint8_t, 256> classes{};
  for (const char c : {' ', '\t', '\r', '\n'}) classes[static_cast<uint8_t>(c)] = kBlank;
  for (int c = 0; c < 256; ++c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    const bool digit = c >= '0' && c <= '9';
    if (letter || digit || c == '$' || c == '.') classes[static_cast<size_t>(c)] = kWord | kSuffix;
    if (c == '-') classes[static_cast<size_t>(c)] = kSuffix;
  }
  for (const char c : {'(', ')', '[', ']', '{', '}', '<', '>', '"', '/'})
    classes[static_cast<uint8_t>(c)] |= kBracket;
  return classes;
}
constexpr std::array<uint8_t, 256> kClasses = make_classes();

bool is(char c, uint8_t of_class) { return (kClasses[static_cast<uint8_t>(c)] & of_class) != 0; }

}  // namespace

void Scanner::skip() {
  while (at_ != end_) {
    if (is(*at_, kBlank)) {
      ++at_;
    } else if (*at_ == '/' && peek(1) == '/') {
      const void* line_end = std::memchr(at_, '\n', static_cast<size_t>(end_ - at_));
      at_ = line_end == nullptr ? end_ : static_cast<const char*>(line_end);
    } else {
      return;
    }
  }
}

std::string_view Scanner::word() {
  if (at_ == end_ || !starts_word(*at_)) return {};
  const char* start = at_;
  const char* p = at_ + 1;
  while (p != end_ && is(*p, kWord)) ++p;
  move_to(p);
  return {start, static_cast<size_t>(p - start)};
}

std::string_view Scanner::suffix() {
  const char* start = at_;
  const char* p = at_;
  if (p != end_ && is_digit(*p)) {
    while (p != end_ && is_digit(*p)) ++p;
  } else {
    while (p != end_ && is(*p, kSuffix)) ++p;
  }
  move_to(p);
  return {start, static_cast<size_t>(p - start)};
}

bool Scanner::sees_integer() const { return is_digit(peek()) || (peek() == '-' && is_digit(peek(1))); }

bool Scanner::integer(int64_t& value, std::string_view expected) {
  if (!sees_integer()) return expects(expected);
  const char* start = at_;
  const bool negative = *at_ == '-';
  const char* p = at_ + (negative ? 1 : 0);
  const bool hex = *p == '0' && end_ - p > 2 && p[1] == 'x' && hex_digit(p[2]) >= 0;
  if (hex) p += 2;
  uint64_t amount = 0;
  bool too_large = false;
  for (; p != end_; ++p) {
    const int digit = hex_digit(*p);
    if (digit < 0 || (!hex && digit > 9)) break;
    const uint64_t base = hex ? 16 : 10;
    too_large |= amount > (~uint64_t{0} - static_cast<uint64_t>(digit)) / base;
    amount = amount * base + static_cast<uint64_t>(digit);
  }
  too_large |= negative && amount > uint64_t{1} << 63;
  if (too_large) return fail_at(start, fmt::format("expects {} of at most 64 bits", expected));
  value = static_cast<int64_t>(negative ? 0 - amount : amount);
  move_to(p);
  return !failed_;
}

bool Scanner::number(double& value) {
  if (!sees_integer()) return expects("a number");
  const auto [after, error] = std::from_chars(at_, end_, value);
  if (error != std::errc()) return expects("a number that a double holds");
  move_to(after);
  return true;
}

bool Scanner::raw_string(std::string_view& inside, std::string_view expected) {
  if (peek() != '"') return expects(expected);
  const char* start = at_ + 1;
  for (const char* p = start; p != end_ && *p != '\n'; ++p) {
    if (*p == '\\' && p + 1 != end_) {
      ++p;
    } else if (*p == '"') {
      inside = {start, static_cast<size_t>(p - start)};
      move_to(p + 1);
      return true;
    }
  }
  return fail("this string has no end on its line");
}

bool Scanner::escape(const char*& p, const char* end, std::string& out) {
  const char c = p == end ? '\0' : *p;
  if (c == '"' || c == '\\') {
    out += c;
  } else if (c == 'n') {
    out += '\n';
  } else if (c == 't') {
    out += '\t';
  } else if (end - p >= 2 && hex_digit(c) >= 0 && hex_digit(p[1]) >= 0) {
    out += static_cast<char>(hex_digit(c) * 16 + hex_digit(p[1]));
    ++p;
  } else {
    return fail_at(p - 1, "this is not an escape of a string",
                   R"(there are \" \\ \n \t and two hexadecimal digits)");
  }
  ++p;
  return true;
}

bool Scanner::string(std::string_view& value, Arena& arena, std::string_view expected) {
  std::string_view inside;
  if (!raw_string(inside, expected)) return false;
  value = inside;
  if (inside.find('\\') == std::string_view::npos) return true;
  std::string out;
  const char* const end = inside.data() + inside.size();
  for (const char* p = inside.data(); p != end;) {
    if (*p != '\\') {
      out += *p++;
    } else if (!escape(++p, end, out)) {
      return false;
    }
  }
  value = arena.copy(std::string_view(out));
  return true;
}

bool Scanner::balanced(std::string_view& text) {
  const char* start = at_;
  std::string open;
  const char* p = at_;
  while (p != end_) {
    if (!is(*p, kBracket)) {
      ++p;
      continue;
    }
    const char c = *p;
    if (c == '"') {
      const State before = state();
      std::string_view inside;
      at_ = p;
      if (!raw_string(inside, "a string")) return false;
      p = last_end_;
      back_to(before);
      continue;
    }
    if (c == '/' && p + 1 != end_ && p[1] == '/') {
      const void* line_end = std::memchr(p, '\n', static_cast<size_t>(end_ - p));
      p = line_end == nullptr ? end_ : static_cast<const char*>(line_end);
      continue;
    }
    const size_t opening = std::string_view("([{<").find(c), closing = std::string_view(")]}>").find(c);
    if (opening != std::string_view::npos) open += ")]}>"[opening];
    const bool ignored = c == '>' && (p[-1] == '-' || (!open.empty() && open.back() != '>'));
    ++p;
    if (closing == std::string_view::npos || ignored) continue;
    if (open.empty() || open.back() != c) return fail_at(p - 1, fmt::format("'{}' closes nothing here", c));
    open.pop_back();
    if (!open.empty()) continue;
    text = {start, static_cast<size_t>(p - start)};
    move_to(p);
    return true;
  }
  return fail_at(start, fmt::format("'{}' isn't closed", shown({start, 1})));
}

void Scanner::back_to(const State& state) {
  at_ = state.at;
  last_end_ = state.last_end;
  end_ = state.end;
  depth_ = state.depth;
  failed_ = false;
}

bool Scanner::fail_at(uint32_t offset, std::string message, std::string hint) {
  if (failed_) return false;
  failed_ = true;
  failure_ = {offset, std::move(message), std::move(hint)};
  end_ = at_;
  return false;
}

bool Scanner::fail_needed(std::string_view token, std::string_view where) {
  return failed_ || fail(fmt::format("expects '{}' {}, but sees {}", token, where, here()));
}

bool Scanner::fail_deep() { return fail(fmt::format("this is nested deeper than {} levels", kMaxNesting)); }

bool Scanner::expects(std::string_view what, std::string hint) {
  if (failed_) return false;
  return fail(fmt::format("expects {}, but sees {}", what, here()), std::move(hint));
}

std::string Scanner::here() const {
  if (at_ == end_) return "the end of the text";
  const char* p = at_;
  if (*p == '%' || *p == '@' || *p == '#' || *p == '!' || *p == '^') ++p;
  while (p != end_ && is(*p, kWord)) ++p;
  return fmt::format("'{}'", shown({at_, static_cast<size_t>(std::max(p, at_ + 1) - at_)}));
}

}  // namespace hlosim::mlir
