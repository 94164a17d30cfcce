// A position in MLIR text and the small scans that all of its reader is made of.
//
//   Scanner in(text, 0, text.size());               // "dim = 12 // twelve"
//   const std::string_view key = in.word();         // "dim"
//   int64_t value = 0;
//   if (!in.need('=', "after a key") || !in.integer(value)) …in.failure()
//
// Blanks and comments are passed over behind every token, so that peek() is what stands next. The first
// failure is kept; after it the scanner is at its end, and everything that is asked for fails: loops come to
// an end by themselves.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/arena.h"

namespace hlosim::mlir {

struct Failure {
  uint32_t offset = 0;
  std::string message, hint;
};

/// Deeper nesting than this is refused; the call stack holds as much with room to spare.
inline constexpr int kMaxNesting = 400;

class Scanner {
 public:
  Scanner(std::string_view text, size_t begin, size_t end)
      : begin_(text.data()), at_(text.data() + begin), end_(text.data() + end), last_end_(at_) {
    skip();
  }

  // ── position ──
  bool at_end() const { return at_ == end_; }
  /// The next character; 0 at the end.
  char peek() const { return at_ == end_ ? '\0' : *at_; }
  char peek(size_t ahead) const { return static_cast<size_t>(end_ - at_) > ahead ? at_[ahead] : '\0'; }
  uint32_t offset() const { return static_cast<uint32_t>(at_ - begin_); }
  const char* position() const { return at_; }
  /// Where the last token ended, before blanks.
  const char* last_end() const { return last_end_; }
  /// What follows, to the end.
  std::string_view rest() const { return {at_, static_cast<size_t>(end_ - at_)}; }
  /// All from `start` to the end of the last token.
  std::string_view since(const char* start) const {
    return {start, static_cast<size_t>(last_end_ > start ? last_end_ - start : 0)};
  }
  /// Goes on at `position`, which a token ended at. Nothing happens after a failure.
  void move_to(const char* position) {
    if (failed_) return;
    at_ = last_end_ = position;
    skip();
  }

  // ── tokens ──
  bool eat(char c) {
    if (at_ == end_ || *at_ != c) return false;
    move_to(at_ + 1);
    return true;
  }
  bool sees(std::string_view token) const { return rest().substr(0, token.size()) == token; }
  bool eat(std::string_view token) {
    if (!sees(token)) return false;
    move_to(at_ + token.size());
    return true;
  }
  bool sees_word(std::string_view keyword) const {
    return sees(keyword) && !continues_word(peek(keyword.size()));
  }
  bool eat_word(std::string_view keyword) {
    if (!sees_word(keyword)) return false;
    move_to(at_ + keyword.size());
    return true;
  }
  /// eat(c), or the failure "expects 'c' <where>".
  bool need(char c, std::string_view where) { return eat(c) || fail_needed({&c, 1}, where); }
  bool need(std::string_view token, std::string_view where) {
    return eat(token) || fail_needed(token, where);
  }

  /// [A-Za-z_][A-Za-z0-9_$.]*; empty, and no failure, where there is none.
  std::string_view word();
  /// What stands behind %, ^, # or !: digits, or a name that may have $, . and - in it.
  std::string_view suffix();
  /// Digits, hexadecimal ones too, with a sign; values of 2^63..2^64-1 wrap.
  bool integer(int64_t& value, std::string_view expected = "an integer");
  bool sees_integer() const;
  /// `1.0e-3`, `1`.
  bool number(double& value);
  /// "…" with escapes resolved; what needs no change is a view of the text.
  bool string(std::string_view& value, Arena& arena, std::string_view expected = "a string");
  /// Passes a "…" and gives its inside as written.
  bool raw_string(std::string_view& inside, std::string_view expected);
  /// The text of balanced brackets that starts here, with them. `->` closes nothing, nor does `>` within
  /// other brackets.
  bool balanced(std::string_view& text);

  // ── failures ──
  /// Always false.
  bool fail(std::string message, std::string hint = {}) {
    return fail_at(offset(), std::move(message), std::move(hint));
  }
  bool fail_at(uint32_t offset, std::string message, std::string hint = {});
  bool fail_at(const char* position, std::string message, std::string hint = {}) {
    return fail_at(static_cast<uint32_t>(position - begin_), std::move(message), std::move(hint));
  }
  /// "expects WHAT, but sees …"
  bool expects(std::string_view what, std::string hint = {});
  bool failed() const { return failed_; }
  const Failure& failure() const { return failure_; }
  /// What stands at the position, for messages: "'foo'", "the end of the text".
  std::string here() const;

  /// One level deeper; false, with the failure, where that is too deep. leave() takes it back.
  bool enter() { return ++depth_ <= kMaxNesting || fail_deep(); }
  void leave() { --depth_; }

  static bool starts_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool continues_word(char c) { return starts_word(c) || is_digit(c) || c == '$' || c == '.'; }

  /// A state to come back to: what was tried from here didn't fit.
  struct State {
    const char *at, *last_end, *end;
    int depth;
  };
  State state() const { return {at_, last_end_, end_, depth_}; }
  void back_to(const State& state);

 private:
  void skip();
  bool fail_needed(std::string_view token, std::string_view where);
  bool fail_deep();
  bool escape(const char*& p, const char* end, std::string& out);

  const char* begin_;
  const char* at_;
  const char* end_;
  const char* last_end_;
  int depth_ = 0;
  bool failed_ = false;
  Failure failure_;
};

/// Nesting::entered is false where the text is nested too deeply.
class Nesting {
 public:
  explicit Nesting(Scanner& in) : in_(in), entered_(in.enter()) {}
  ~Nesting() { in_.leave(); }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;
  bool entered() const { return entered_; }

 private:
  Scanner& in_;
  bool entered_;
};

}  // namespace hlosim::mlir
