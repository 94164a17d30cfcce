#include "base/pattern.h"

#include <gmock/gmock.h>

#include <random>
#include <regex>

namespace hlosim {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

std::string problem(const std::string& expression) {
  const Result<Pattern> pattern = Pattern::parse(expression);
  return pattern ? "" : pattern.error().message;
}

TEST(Pattern, FindsAPartAndMatchesTheWhole) {
  const Result<Pattern> pattern = Pattern::parse("fusion\\.[0-9]+");
  ASSERT_TRUE(pattern);
  EXPECT_TRUE(pattern->finds("a.fusion.12"));
  EXPECT_FALSE(pattern->matches("a.fusion.12"));
  EXPECT_TRUE(pattern->matches("fusion.12"));
  EXPECT_FALSE(pattern->finds("fusion.x"));
}

TEST(Pattern, WithoutAnExpressionItIsAnyText) {
  EXPECT_TRUE(Pattern().finds(""));
  EXPECT_TRUE(Pattern().matches("anything"));
}

TEST(Pattern, SaysWhatIsWrongWithAnExpression) {
  EXPECT_EQ(problem("a("), "'a(' is not a regular expression: parentheses don't match in 'a('");
  EXPECT_EQ(problem("a)"), "'a)' is not a regular expression: parentheses don't match in 'a)'");
  EXPECT_THAT(problem("x[b-a]"), EndsWith("invalid character class range: b-a"));
  EXPECT_THAT(problem("[a"), EndsWith("missing ]: [a"));
  EXPECT_THAT(problem("*"), HasSubstr("no argument for repetition operator: *"));
  EXPECT_THAT(problem("a\\q"), EndsWith("unknown escape sequence '\\q'"));
  EXPECT_THAT(problem("a\xff"), EndsWith("it is not UTF-8"));
  EXPECT_THAT(problem("[\x1b"), EndsWith("missing ]: [\\x1b"));
}

TEST(Pattern, NamesWhatRe2DoesNotSupport) {
  for (const std::string part : {"(?=", "(?!", "(?<"})
    EXPECT_THAT(
        problem("a" + part + "b)"),
        EndsWith("'" + part + "' is not supported: the syntax is RE2's, without lookahead and lookbehind"));
  EXPECT_THAT(problem("(a)\\1"),
              EndsWith("'\\1' is not supported: the syntax is RE2's, without backreferences"));
}

TEST(Pattern, BoundsTheSizeOfAnExpression) {
  EXPECT_EQ(problem(std::string(10'000, 'a')), "");
  EXPECT_EQ(problem(std::string(10'001, 'a')),
            "'" + std::string(60, 'a') +
                "...' is not a regular expression: it has 10001 bytes, expected at most 10000");
  EXPECT_THAT(problem(std::string(16'000, '(') + "a" + std::string(16'000, ')')),
              HasSubstr("it has 32001 bytes"));
  EXPECT_THAT(problem("(a{100}){11}"),
              EndsWith("'{11}' repeats, with what is around it, more than 1000 times"));
  EXPECT_EQ(problem(".{900}"), "");
  EXPECT_THAT(problem(".{900}x.{900}x.{900}"), HasSubstr("instructions of RE2, expected at most 20000"));
}

TEST(Pattern, TakesTimeLinearInTheText) {
  const std::string text(40'000, 'a');
  for (const char* expression : {".*b", "(a+)+b", "(a|b)*b", "(a|a)*b", "(.*)*b", "((a*)*)*b"}) {
    const Result<Pattern> pattern = Pattern::parse(expression);
    ASSERT_TRUE(pattern) << expression;
    EXPECT_FALSE(pattern->finds(text)) << expression;
    EXPECT_FALSE(pattern->matches(text)) << expression;
    EXPECT_TRUE(pattern->matches(text + "b")) << expression;
  }
  const std::string nested = std::string(4'000, '(') + "a" + std::string(4'000, ')');
  EXPECT_TRUE(Pattern::parse(nested)->finds(text));
}

TEST(Pattern, CountsWhatIsNoUtf8AsOneCharacterPerByte) {
  EXPECT_TRUE(
      Pattern::parse("a.b")->matches("a\xff"
                                     "b"));
  EXPECT_TRUE(
      Pattern::parse("a..b")->matches("a\xff\xfe"
                                      "b"));
  EXPECT_FALSE(
      Pattern::parse("a.b")->matches("a\xff\xfe"
                                     "b"));
  EXPECT_TRUE(Pattern::parse("a[\xC3\xA4]b")
                  ->matches("a\xC3\xA4"
                            "b"));
  EXPECT_TRUE(Pattern::parse(".*b")->finds(std::string("\0\xff\0b", 4)));
}

/// An expression of the syntax that RE2 and ECMAScript share.
std::string some_expression(std::mt19937& random, int depth) {
  const auto below = [&](uint32_t n) { return random() % n; };
  if (depth == 0) return std::string(1, "ab."[below(3)]);
  const std::string inner = some_expression(random, depth - 1);
  switch (below(7)) {
    case 0:
      return inner + some_expression(random, depth - 1);
    case 1:
      return "(" + inner + "|" + some_expression(random, depth - 1) + ")";
    case 2:
      return "(" + inner + ")*";
    case 3:
      return "(" + inner + ")?";
    case 4:
      return "(" + inner + "){1,2}";
    case 5:
      return "[^a]" + inner;
    default:
      return below(2) ? "^" + inner : inner + "$";
  }
}

TEST(Pattern, AgreesWithABacktrackingMatcherOnSmallTexts) {
  std::mt19937 random(1);
  for (int i = 0; i < 1'000; ++i) {
    const std::string expression = some_expression(random, 3);
    const std::regex oracle(expression);
    const Result<Pattern> pattern = Pattern::parse(expression);
    ASSERT_TRUE(pattern) << expression;
    for (uint32_t bits = 0; bits < 64; ++bits) {
      std::string text;
      for (uint32_t rest = bits; rest > 1; rest >>= 1) text += rest & 1 ? 'a' : 'b';
      EXPECT_EQ(pattern->finds(text), std::regex_search(text, oracle)) << expression << " in " << text;
      EXPECT_EQ(pattern->matches(text), std::regex_match(text, oracle)) << expression << " is " << text;
    }
  }
}

}  // namespace
}  // namespace hlosim
