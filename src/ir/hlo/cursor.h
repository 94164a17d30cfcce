// A position in HLO text and the small scans that every part of the reader is made of.
//
// Blanks and comments may stand between any two tokens; skip() passes over them. Scans that fail
// leave a message in the cursor and return false or an empty result; the first message wins.
//
//   Cursor in(text, 0, text.size());                // "key = 12 // twelve"
//   const std::string_view key = in.word();
//   int64_t value = 0;
//   if (!in.need('=', "after a key") || !in.integer(value)) return error(in);
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hlosim {

class Cursor {
 public:
  explicit Cursor(std::string_view text, size_t begin, size_t end)
      : begin_(text.data()), p_(text.data() + begin), end_(text.data() + end) {}

  // ── position ──
  size_t offset() const { return static_cast<size_t>(p_ - begin_); }
  void seek(size_t offset) { p_ = begin_ + offset; }
  std::string_view text() const { return {begin_, static_cast<size_t>(end_ - begin_)}; }
  std::string_view since(size_t start) const { return {begin_ + start, offset() - start}; }

  // ── blanks ──
  void skip() {
    while (p_ != end_ && (*p_ == ' ' || *p_ == '\n' || *p_ == '\t' || *p_ == '\r')) ++p_;
    if (p_ != end_ && *p_ == '/') skip_comments();
  }
  bool at_end() { return skip(), p_ == end_; }
  /// Next character after blanks, 0 at the end.
  char peek() { return skip(), p_ == end_ ? '\0' : *p_; }
  /// The character `ahead` places further on, no blanks skipped; 0 beyond the end.
  char raw(size_t ahead = 0) const { return static_cast<size_t>(end_ - p_) > ahead ? p_[ahead] : '\0'; }

  // ── tokens ──
  bool eat(char c) {
    if (peek() != c || p_ == end_) return false;
    ++p_;
    return true;
  }
  bool eat(std::string_view token);
  bool at(std::string_view token);
  /// eat() or the error "expects 'c' <where>".
  bool need(char c, const char* where);
  /// [A-Za-z_][A-Za-z0-9_.-]*, empty (and no error) when there is none.
  std::string_view word() {
    skip();
    if (p_ == end_ || !starts_word(*p_)) return {};
    const char* start = p_;
    do ++p_;
    while (p_ != end_ && continues_word(*p_));
    return {start, static_cast<size_t>(p_ - start)};
  }
  /// The word that stands here, without passing it.
  std::string_view peek_word();
  /// Decimal integer; values of 2^63..2^64-1 wrap. Beyond 64 bits is an error.
  bool integer(int64_t& value, const char* expected = "integer");
  /// A number in the notation of attributes: integer, decimal, inf, nan. Kept as text.
  bool number(std::string_view& text);
  /// A quoted string with its quotes.
  bool string(std::string_view& text);
  bool boolean(bool& value);
  /// Balanced {...}; double-quoted strings inside are opaque. With its outer braces.
  bool braces(std::string_view& text);
  /// open item,item,… close
  bool ints(std::vector<int64_t>& values, char open = '{', char close = '}', char separator = ',');

  // ── errors ──
  bool fail(std::string message, std::string hint = {}) {
    return fail_at(offset(), std::move(message), std::move(hint));
  }
  bool fail_at(size_t where, std::string message, std::string hint = {});
  bool failed() const { return failed_; }
  size_t error_offset() const { return error_offset_; }
  const std::string& error_message() const { return error_message_; }
  const std::string& error_hint() const { return error_hint_; }
  void clear_error() { failed_ = false; }
  /// What stands at the position, for messages: "'foo'", "end of input".
  std::string here();

  static bool starts_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool continues_word(char c) { return starts_word(c) || is_digit(c) || c == '.' || c == '-'; }

 private:
  void skip_comments();

  const char* begin_;
  const char* p_;
  const char* end_;
  bool failed_ = false;
  size_t error_offset_ = 0;
  std::string error_message_;
  std::string error_hint_;
};

}  // namespace hlosim
