#include "hlo/cursor.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>

#include "base/text.h"

namespace hlosim {

void Cursor::skip_comments() {
  for (;;) {
    while (p_ != end_ && (*p_ == ' ' || *p_ == '\n' || *p_ == '\t' || *p_ == '\r')) ++p_;
    if (raw() != '/') return;
    if (raw(1) == '/') {
      while (p_ != end_ && *p_ != '\n' && *p_ != '\r') ++p_;
    } else if (raw(1) == '*') {
      const std::string_view rest(p_ + 2, static_cast<size_t>(end_ - p_ - 2));
      const size_t close = rest.find("*/");
      if (close == std::string_view::npos) {
        fail("comment /* is unterminated", "close it with */");
        p_ = end_;
        return;
      }
      p_ += close + 4;
    } else {
      return;
    }
  }
}

bool Cursor::at(std::string_view token) {
  skip();
  return static_cast<size_t>(end_ - p_) >= token.size() && std::memcmp(p_, token.data(), token.size()) == 0;
}

bool Cursor::eat(std::string_view token) {
  if (!at(token)) return false;
  p_ += token.size();
  return true;
}

bool Cursor::need(char c, const char* where) {
  if (eat(c)) return true;
  return fail(fmt::format("expects '{}' {}, but sees {}", c, where, here()));
}

std::string_view Cursor::peek_word() {
  const char* start = p_;
  const std::string_view found = word();
  p_ = start;
  return found;
}

bool Cursor::integer(int64_t& value, const char* expected) {
  skip();
  const size_t start = offset();
  const bool negative = raw() == '-';
  if (!is_digit(raw(negative ? 1 : 0))) return fail(fmt::format("expects {}, but sees {}", expected, here()));
  if (negative) {
    const auto [end, error] = std::from_chars(p_, end_, value);
    p_ = end;
    if (error == std::errc()) return true;
  } else {
    uint64_t magnitude = 0;
    const auto [end, error] = std::from_chars(p_, end_, magnitude);
    p_ = end;
    value = static_cast<int64_t>(magnitude);
    if (error == std::errc()) return true;
  }
  return fail_at(start, fmt::format("integer {} does not fit in 64 bits", shown(since(start))));
}

bool Cursor::number(std::string_view& text) {
  skip();
  const size_t start = offset();
  if (raw() == '-') ++p_;
  if (starts_word(raw())) {
    const std::string_view name = word();
    if (name != "inf" && name != "nan")
      return fail_at(start, fmt::format("expects a number, but sees '{}'", shown(since(start))));
    if (name == "nan" && raw() == '(') {
      while (p_ != end_ && *p_ != ')' && *p_ != '\n') ++p_;
      if (raw() != ')') return fail("expects ')' after the NaN payload");
      ++p_;
    }
    text = since(start);
    return true;
  }
  const size_t digits = offset();
  while (is_digit(raw())) ++p_;
  size_t count = offset() - digits;
  if (raw() == '.') {
    ++p_;
    while (is_digit(raw())) ++p_, ++count;
  }
  if (count == 0) {
    seek(start);
    return fail(fmt::format("expects a number, but sees {}", here()));
  }
  if (raw() == 'e' || raw() == 'E') {
    const size_t sign = raw(1) == '+' || raw(1) == '-' ? 2 : 1;
    if (is_digit(raw(sign))) {
      p_ += sign;
      while (is_digit(raw())) ++p_;
    }
  }
  text = since(start);
  return true;
}

bool Cursor::string(std::string_view& text) {
  skip();
  const char quote = raw();
  if (quote != '"' && quote != '\'') return fail(fmt::format("expects a quoted string, but sees {}", here()));
  const size_t start = offset();
  for (++p_; p_ != end_; ++p_) {
    if (*p_ == '\\' && p_ + 1 != end_) {
      ++p_;
    } else if (*p_ == quote) {
      ++p_;
      text = since(start);
      return true;
    }
  }
  return fail_at(start, "string is unterminated", fmt::format("close it with {}", quote));
}

bool Cursor::boolean(bool& value) {
  skip();
  const size_t start = offset();
  const std::string_view found = word();
  if (found == "true" || found == "false") {
    value = found == "true";
    return true;
  }
  seek(start);
  return fail(fmt::format("expects true or false, but sees {}", here()));
}

bool Cursor::braces(std::string_view& text) {
  skip();
  const size_t start = offset();
  if (raw() != '{') return fail(fmt::format("expects '{{', but sees {}", here()));
  int64_t depth = 0;
  for (; p_ != end_; ++p_) {
    if (*p_ == '"') {
      std::string_view ignored;
      if (!string(ignored)) return false;
      --p_;
    } else if (*p_ == '{') {
      ++depth;
    } else if (*p_ == '}' && --depth == 0) {
      ++p_;
      text = since(start);
      return true;
    }
  }
  return fail_at(start, "'{' has no matching '}'");
}

bool Cursor::ints(std::vector<int64_t>& values, char open, char close, char separator) {
  if (!need(open, "at the start of a list of integers")) return false;
  if (eat(close)) return true;
  do {
    int64_t value = 0;
    if (!integer(value)) return false;
    values.push_back(value);
  } while (eat(separator));
  return need(close, "at the end of a list of integers");
}

bool Cursor::fail_at(size_t where, std::string message, std::string hint) {
  if (failed_) return false;
  failed_ = true;
  error_offset_ = where;
  error_message_ = std::move(message);
  error_hint_ = std::move(hint);
  return false;
}

std::string Cursor::here() {
  skip();
  if (p_ == end_) return "the end of the input";
  if (*p_ == '\0') return "a NUL byte";
  const size_t start = offset();
  std::string_view found = word();
  if (found.empty()) {
    while (is_digit(raw())) ++p_;
    if (offset() == start) ++p_;
    found = since(start);
  }
  seek(start);
  return fmt::format("'{}'", shown(found, 40));
}

}  // namespace hlosim
