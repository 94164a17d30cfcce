#include "profile/json_scanner.h"

#include <charconv>
#include <cstdint>

namespace hlosim {
namespace {

constexpr int kMostLevels = 100;

bool is_number_char(char c) {
  return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

void append_utf8(std::string& out, uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | code >> 6);
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    out += static_cast<char>(0xe0 | code >> 12);
    out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  }
}

}  // namespace

void JsonScanner::blanks() {
  while (at_ < text_.size() &&
         (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
    ++at_;
}

char JsonScanner::kind() {
  if (failed()) return 0;
  blanks();
  if (at_ == text_.size()) return 0;
  const char c = text_[at_];
  return (c >= '0' && c <= '9') || c == '-' ? '0' : c;
}

bool JsonScanner::punctuation(char wanted) {
  if (failed()) return false;
  blanks();
  if (at_ < text_.size() && text_[at_] == wanted) return ++at_, true;
  fail(std::string("'") + wanted + "'");
  return false;
}

bool JsonScanner::enter(char open) {
  if (!punctuation(open)) return false;
  first_ = true;
  if (++depth_ > kMostLevels) fail("at most 100 levels");
  return !failed();
}

bool JsonScanner::more(char close) {
  if (failed()) return false;
  blanks();
  const bool was_first = first_;
  first_ = false;
  if (at_ < text_.size() && text_[at_] == close) return ++at_, false;
  return was_first || punctuation(',');
}

bool JsonScanner::escape(std::string& value) {
  if (at_ == text_.size()) return fail("the end of a text"), false;
  constexpr std::string_view kEscapes = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
  const char c = text_[at_++];
  if (const size_t found = kEscapes.find(c); found != std::string_view::npos)
    return value += kMeant[found], true;
  uint32_t code = 0;
  if (c != 'u' || text_.size() - at_ < 4) return fail("an escape"), false;
  const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + at_ + 4, code, 16);
  if (error != std::errc() || end != text_.data() + at_ + 4) return fail("four hex digits"), false;
  at_ += 4;
  append_utf8(value, code >= 0xd800 && code < 0xe000 ? 0xfffd : code);
  return true;
}

bool JsonScanner::string(std::string& value) {
  value.clear();
  if (!punctuation('"')) return false;
  while (at_ < text_.size()) {
    const size_t end = text_.find_first_of("\"\\", at_);
    if (end == std::string_view::npos) break;
    value.append(text_, at_, end - at_);
    at_ = end + 1;
    if (text_[end] == '"') return true;
    if (!escape(value)) return false;
  }
  at_ = text_.size();
  fail("the end of a text");
  return false;
}

bool JsonScanner::word() {
  for (const std::string_view one : {"true", "false", "null", "NaN", "Infinity", "-Infinity"})
    if (text_.substr(at_).starts_with(one)) return at_ += one.size(), true;
  return false;
}

bool JsonScanner::scalar(std::string& value) {
  const char next = kind();
  if (next == '"') return string(value);
  const size_t begin = at_;
  if (next == '{' || next == '[' || next == 0) return fail("a number or a text"), false;
  if (!word())
    while (at_ < text_.size() && is_number_char(text_[at_])) ++at_;
  value = std::string(text_.substr(begin, at_ - begin));
  if (value.empty()) fail("a value");
  return !failed();
}

void JsonScanner::skip() {
  std::string ignored;
  switch (kind()) {
    case '{':
      return object([&](std::string_view) { skip(); });
    case '[':
      return array([&] { skip(); });
    case 0:
      return fail("a value");
    default:
      scalar(ignored);
  }
}

bool JsonScanner::at_end() {
  blanks();
  return at_ == text_.size();
}

}  // namespace hlosim
