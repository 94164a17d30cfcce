#include "tokens.h"

#include "hlo/cursor.h"

namespace hlosim::fuzz {
namespace {

/// Passes one token; false at the end.
bool take(Cursor& in, TokenKind& kind) {
  const char next = in.raw();
  if (next == '\0' && in.offset() == in.text().size()) return false;
  const size_t start = in.offset();
  std::string_view text;
  kind = TokenKind::kWord;
  if (Cursor::starts_word(next) && !in.word().empty()) return true;
  kind = TokenKind::kString;
  if ((next == '"' || next == '\'') && in.string(text)) return true;
  in.seek(start);
  kind = TokenKind::kNumber;
  const bool is_negative = next == '-' && Cursor::is_digit(in.raw(1));
  if ((Cursor::is_digit(next) || is_negative) && in.number(text)) return true;
  kind = TokenKind::kMark;
  in.seek(start + 1);
  return true;
}

bool continues(char c) { return Cursor::continues_word(c); }

}  // namespace

std::vector<Token> tokens_of(std::string_view text) {
  std::vector<Token> tokens;
  Cursor in(text, 0, text.size());
  for (;;) {
    const size_t start = in.offset();
    in.skip();
    Token token;
    token.before = in.since(start);
    const size_t begin = in.offset();
    const bool more = take(in, token.kind);
    token.text = in.since(begin);
    in.clear_error();
    if (more || !token.before.empty()) tokens.push_back(token);
    if (!more) return tokens;
  }
}

std::string text_of(const std::vector<Token>& tokens) {
  std::string text;
  for (const Token& token : tokens) {
    text += token.before;
    text += token.text;
  }
  return text;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  size_t begin = 0, at = 0;
  int depth = 0;
  for (const Token& token : tokens_of(text)) {
    at += token.before.size();
    if (token.kind == TokenKind::kMark && !token.text.empty()) {
      const char mark = token.text[0];
      if (mark == '(' || mark == '{' || mark == '[') ++depth;
      if (mark == ')' || mark == '}' || mark == ']') --depth;
      if (mark == separator && depth == 0) {
        pieces.push_back(trimmed(text.substr(begin, at - begin)));
        begin = at + 1;
      }
    }
    at += token.text.size();
  }
  if (const std::string_view last = trimmed(text.substr(begin)); !last.empty() || !pieces.empty())
    pieces.push_back(last);
  return pieces;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

std::string text_of_lines(const std::vector<std::string_view>& lines) {
  std::string text;
  for (const std::string_view line : lines) {
    text += line;
    text += '\n';
  }
  return text;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::string replaced_names(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  if (from.empty()) return std::string(text);
  size_t at = 0;
  for (;;) {
    const size_t found = text.find(from, at);
    if (found == std::string_view::npos) return result += text.substr(at);
    const size_t end = found + from.size();
    const bool alone = (found == 0 || !continues(from.front()) || !continues(text[found - 1])) &&
                       (end == text.size() || !continues(from.back()) || !continues(text[end]));
    result += text.substr(at, found - at);
    result += alone ? to : from;
    at = end;
  }
}

}  // namespace hlosim::fuzz
