#include "base/number_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hlosim {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(NumberText, BeginsWithANumberHoweverLarge) {
  const std::tuple<const char*, double, size_t> rows[] = {{"12", 12, 2},
                                                          {"-1.5e3 GHz", -1500, 6},
                                                          {"+4x", 4, 2},
                                                          {"1e400", kInfinity, 5},
                                                          {"-1e400", -kInfinity, 6},
                                                          {"1e-400", 0, 6},
                                                          {"-1e-400 s", 0, 7},
                                                          {"inf", kInfinity, 3},
                                                          {".inf", kInfinity, 4},
                                                          {"-.Inf", -kInfinity, 5},
                                                          {"+.INF", kInfinity, 5},
                                                          {"infinity", kInfinity, 8},
                                                          {".5", 0.5, 2},
                                                          {"1e", 1, 1},
                                                          {"0x10", 0, 1}};
  for (const auto& [text, value, length] : rows) {
    const std::optional<LeadingNumber> number = leading_number(text);
    ASSERT_TRUE(number) << text;
    EXPECT_EQ(number->value, value) << text;
    EXPECT_EQ(number->length, length) << text;
  }
  for (const char* text : {"", "GHz", "nan", ".nan", "-", "+", "--1", "+-1", ".", " 1", "-nan"})
    EXPECT_FALSE(leading_number(text)) << text;
}

TEST(NumberText, IsBeyondOrNot) {
  for (const char* text : {"1e400", "-1e400", "inf", " .inf ", "7", "-7", "6.1"})
    EXPECT_TRUE(is_number_beyond(text, 6)) << text;
  for (const char* text : {"6", "-6", "1e-400", "7 GHz", "nan", "", "seven"})
    EXPECT_FALSE(is_number_beyond(text, 6)) << text;
  EXPECT_TRUE(is_number_beyond("inf", std::numeric_limits<double>::max()));
}

}  // namespace
}  // namespace hlosim
