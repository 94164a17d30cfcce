#include "mutate_text.h"

#include <algorithm>
#include <charconv>

namespace hlosim::fuzz {
namespace {

constexpr std::string_view kNumbers[] = {"0",
                                         "1",
                                         "-1",
                                         "2",
                                         "3",
                                         "7",
                                         "8",
                                         "9",
                                         "16",
                                         "127",
                                         "128",
                                         "129",
                                         "255",
                                         "256",
                                         "1000",
                                         "1024",
                                         "4096",
                                         "65535",
                                         "65536",
                                         "2147483647",
                                         "1e3",
                                         "0.5",
                                         "2147483648",
                                         "-2147483648",
                                         "4294967295",
                                         "4294967296",
                                         "1099511627776",
                                         "9223372036854775807",
                                         "-9223372036854775808",
                                         "18446744073709551615",
                                         "1e308",
                                         "-0.0",
                                         "nan",
                                         "inf",
                                         "99999999999999999999"};

using Edit = std::string (*)(std::string_view, const Pool&, Random&);

/// A run of a few tokens or lines.
struct Span {
  size_t begin = 0, end = 0;
};
Span some(size_t count, Random& random) {
  const size_t begin = random.below(count);
  const size_t length = random.one_in(4) ? 1 + random.below(12) : 1;
  return {begin, std::min(count, begin + length)};
}

template <class T>
void drop(std::vector<T>& parts, Random& random) {
  const Span span = some(parts.size(), random);
  parts.erase(parts.begin() + static_cast<ptrdiff_t>(span.begin),
              parts.begin() + static_cast<ptrdiff_t>(span.end));
}

template <class T>
void copy_some(std::vector<T>& parts, Random& random) {
  const Span span = some(parts.size(), random);
  const std::vector<T> copied(parts.begin() + static_cast<ptrdiff_t>(span.begin),
                              parts.begin() + static_cast<ptrdiff_t>(span.end));
  parts.insert(parts.begin() + static_cast<ptrdiff_t>(random.below(parts.size() + 1)), copied.begin(),
               copied.end());
}

template <class T>
void exchange(std::vector<T>& parts, Random& random) {
  std::swap(parts[random.below(parts.size())], parts[random.below(parts.size())]);
}

std::string change_tokens(std::string_view text, const Pool&, Random& random) {
  std::vector<Token> tokens = tokens_of(text);
  if (tokens.empty()) return std::string(text);
  switch (random.below(3)) {
    case 0:
      drop(tokens, random);
      break;
    case 1:
      copy_some(tokens, random);
      break;
    default:
      exchange(tokens, random);
      break;
  }
  return text_of(tokens);
}

std::string change_lines(std::string_view text, const Pool& pool, Random& random) {
  std::vector<std::string_view> lines = lines_of(text);
  if (lines.empty()) return std::string(text);
  switch (random.below(4)) {
    case 0:
      drop(lines, random);
      break;
    case 1:
      copy_some(lines, random);
      break;
    case 2:
      exchange(lines, random);
      break;
    default:
      if (!pool.lines.empty())
        lines.insert(lines.begin() + static_cast<ptrdiff_t>(random.below(lines.size() + 1)),
                     random.pick(pool.lines));
  }
  return text_of_lines(lines);
}

/// Ends the text early, or changes one byte of it.
std::string change_bytes(std::string_view text, const Pool&, Random& random) {
  std::string result(text);
  if (result.empty()) return result;
  if (random.one_in(3))
    result.resize(random.below(result.size()));
  else
    result[random.below(result.size())] = static_cast<char>(random.below(256));
  return result;
}

/// A piece of another seed in place of one of this text, each from a line's begin to a line's end.
std::string cross_over(std::string_view text, const Pool& pool, Random& random) {
  if (pool.seeds.empty()) return std::string(text);
  std::vector<std::string_view> lines = lines_of(text);
  const std::vector<std::string_view> others = lines_of(random.pick(pool.seeds).text);
  if (lines.empty() || others.empty()) return std::string(text);
  const size_t begin = random.below(lines.size()), end = begin + random.below(lines.size() - begin + 1);
  const size_t from = random.below(others.size()),
               to = from + std::min<size_t>(60, random.below(others.size() - from + 1));
  lines.erase(lines.begin() + static_cast<ptrdiff_t>(begin), lines.begin() + static_cast<ptrdiff_t>(end));
  lines.insert(lines.begin() + static_cast<ptrdiff_t>(begin), others.begin() + static_cast<ptrdiff_t>(from),
               others.begin() + static_cast<ptrdiff_t>(to));
  return text_of_lines(lines);
}

}  // namespace

std::string other_number(std::string_view number, Random& random) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  const bool is_whole = error == std::errc() && end == number.data() + number.size();
  if (!is_whole || random.one_in(3)) return std::string(random.pick(kNumbers));
  const auto unsigned_value = static_cast<uint64_t>(value);
  const uint64_t others[] = {unsigned_value + 1, unsigned_value - 1,  unsigned_value * 2, unsigned_value / 2,
                             random.below(10),   random.below(10),    random.below(200),  0 - unsigned_value,
                             unsigned_value + 8, unsigned_value * 128};
  return std::to_string(static_cast<int64_t>(random.pick(others)));
}

std::string with_other_token(std::string_view text, const Pool& pool, Random& random) {
  std::vector<Token> tokens = tokens_of(text);
  if (tokens.empty()) return std::string(text);
  Token& token = tokens[random.below(tokens.size())];
  const std::string number = other_number(token.text, random);
  const std::vector<std::string>& alike = pool.tokens[static_cast<size_t>(
      random.one_in(20) ? static_cast<TokenKind>(random.below(4)) : token.kind)];
  if (token.kind == TokenKind::kNumber && !random.one_in(5))
    token.text = number;
  else if (!alike.empty())
    token.text = random.pick(alike);
  return text_of(tokens);
}

std::string mutated_text(std::string_view text, const Pool& pool, Random& random) {
  constexpr Edit kEdits[] = {with_other_token, with_other_token, with_other_token,
                             change_tokens,    change_tokens,    change_lines,
                             change_lines,     change_bytes,     cross_over};
  std::string result(text);
  do result = random.pick(kEdits)(result, pool, random);
  while (random.one_in(3));
  return result;
}

}  // namespace hlosim::fuzz
