#include "base/pattern.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "base/utf8.h"

namespace hlosim {
namespace {

// The longest expression, in bytes, and the most instructions of the program that RE2 makes of one:
// repetitions such as
// .{900} are short and need thousands. Both bound the time per character of a text, so that texts may have
// any length.
constexpr size_t kLongest = 10'000;
constexpr int kMostInstructions = 20'000;

RE2::Options options() {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_never_capture(true);
  return options;
}

/// What is wrong with an expression that RE2 refuses.
std::string problem_of(const RE2& regex) {
  const std::string part = shown(regex.error_arg());
  switch (regex.error_code()) {
    case RE2::ErrorBadPerlOp:
      return fmt::format("'{}' is not supported: the syntax is RE2's, without lookahead and lookbehind",
                         part);
    case RE2::ErrorBadEscape:
      if (part.size() > 1 && std::isdigit(static_cast<unsigned char>(part[1])))
        return fmt::format("'{}' is not supported: the syntax is RE2's, without backreferences", part);
      return fmt::format("unknown escape sequence '{}'", part);
    case RE2::ErrorMissingParen:
    case RE2::ErrorUnexpectedParen:
      return fmt::format("parentheses don't match in '{}'", part);
    case RE2::ErrorRepeatSize:
      return fmt::format("'{}' repeats, with what is around it, more than 1000 times", part);
    case RE2::ErrorPatternTooLarge:
      return "it is too large";
    case RE2::ErrorBadUTF8:
      return "it is not UTF-8";
    default:
      // "missing ]: [a": RE2's words, then the part.
      return shown(regex.error(), 100);
  }
}

/// `text` where all of it is UTF-8; else a copy in `storage` that has U+FFFD for the other bytes.
std::string_view as_utf8(std::string_view text, std::string& storage) {
  if (std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; })) return text;
  bool is_valid = true;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t bytes = utf8_character(rest);
    is_valid &= bytes > 0;
    storage += bytes > 0 ? rest.substr(0, bytes) : "\xEF\xBF\xBD";
    rest.remove_prefix(std::max<size_t>(bytes, 1));
  }
  return is_valid ? text : storage;
}

}  // namespace

struct Pattern::Compiled {
  explicit Compiled(const std::string& expression) : regex(expression, options()) {}

  bool fits(std::string_view text, RE2::Anchor anchor) const {
    std::string storage;
    const std::string_view utf8 = as_utf8(text, storage);
    return regex.Match(re2::StringPiece(utf8.data(), utf8.size()), 0, utf8.size(), anchor, nullptr, 0);
  }

  RE2 regex;
};

Result<Pattern> Pattern::parse(const std::string& expression) {
  const auto refused = [&](const std::string& why) {
    return failure(fmt::format("'{}' is not a regular expression: {}", shown(expression), why));
  };
  if (expression.size() > kLongest)
    return refused(fmt::format("it has {} bytes, expected at most {}", expression.size(), kLongest));
  const auto compiled = std::make_shared<const Compiled>(expression);
  if (!compiled->regex.ok()) return refused(problem_of(compiled->regex));
  if (const int size = compiled->regex.ProgramSize(); size > kMostInstructions)
    return refused(fmt::format("its repetitions make {} instructions of RE2, expected at most {}", size,
                               kMostInstructions));
  Pattern pattern;
  pattern.compiled_ = compiled;
  return pattern;
}

bool Pattern::finds(std::string_view text) const {
  return !compiled_ || compiled_->fits(text, RE2::UNANCHORED);
}

bool Pattern::matches(std::string_view text) const {
  return !compiled_ || compiled_->fits(text, RE2::ANCHOR_BOTH);
}

}  // namespace hlosim
