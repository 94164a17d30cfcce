#include "profile/json_scanner.h"

#include <gtest/gtest.h>

#include "profile/decimal_time.h"

namespace hlosim {
namespace {

/// Every scalar of a text, each level in brackets.
std::string flat(JsonScanner& scan) {
  std::string out, value;
  switch (scan.kind()) {
    case '{':
      scan.object([&](std::string_view key) { out += std::string(key) + ":" + flat(scan) + ";"; });
      return "{" + out + "}";
    case '[':
      scan.array([&] { out += flat(scan) + ";"; });
      return "[" + out + "]";
    default:
      scan.scalar(value);
      return value;
  }
}

TEST(JsonScanner, GoesThroughValuesInOrder) {
  JsonScanner scan(R"( {"a": [1, -2.5e3, true, null, [], {}], "b\n": "c\u00e9\"", "": {"x": "y"}} )");
  EXPECT_EQ(flat(scan), "{a:[1;-2.5e3;true;null;[];{};];b\n:c\xc3\xa9\";:{x:y;};}");
  EXPECT_FALSE(scan.failed()) << scan.expected();
  EXPECT_TRUE(scan.at_end());
}

TEST(JsonScanner, SkipsWhatNobodyAsksFor) {
  JsonScanner scan(R"([{"skipped": [{"deep": "\\\""}, 3]}, 7])");
  std::string last;
  int count = 0;
  scan.array([&] {
    if (count++ == 0)
      scan.skip();
    else
      scan.scalar(last);
  });
  EXPECT_FALSE(scan.failed());
  EXPECT_EQ(last, "7");
}

TEST(JsonScanner, SaysWhereWhatIsMissing) {
  const auto failure = [](std::string_view text) {
    JsonScanner scan(text);
    scan.skip();
    return scan.failed() ? std::to_string(scan.offset()) + " " + scan.expected() : "none";
  };
  EXPECT_EQ(failure("{\"a\" 1}"), "5 ':'");
  EXPECT_EQ(failure("[1 2]"), "3 ','");
  EXPECT_EQ(failure("[1,"), "3 a value");
  EXPECT_EQ(failure("\"abc"), "4 the end of a text");
  EXPECT_EQ(failure("\"\\q\""), "3 an escape");
  EXPECT_EQ(failure("\"\\u12g4\""), "3 four hex digits");
  EXPECT_EQ(failure(""), "0 a value");
  EXPECT_EQ(failure("[@]"), "1 a value");
  EXPECT_NE(failure(std::string(101, '[')).find("at most 100 levels"), std::string::npos);
  EXPECT_NE(failure(std::string(100'000, '[')).find("at most 100 levels"), std::string::npos);
}

TEST(DecimalTime, IsExact) {
  EXPECT_EQ(picoseconds_of("12.5", 6), 12'500'000);
  EXPECT_EQ(picoseconds_of("0.000001", 6), 1);
  EXPECT_EQ(picoseconds_of("4503599627.123457", 6), 4'503'599'627'123'457);  // beyond what a double holds
  EXPECT_EQ(picoseconds_of("1.0000004", 6), 1'000'000);
  EXPECT_EQ(picoseconds_of("1.0000005", 6), 1'000'001);
  EXPECT_EQ(picoseconds_of("1,234.5", 6), 1'234'500'000);
  EXPECT_EQ(picoseconds_of("1e3", 6), 1'000'000'000);
  EXPECT_EQ(whole_amount("1.34217728e9"), 1'342'177'280);
  for (const char* wrong : {"", ".", "-1", "x", "1x", "nan", "1e30", "99999999999999999999"})
    EXPECT_EQ(picoseconds_of(wrong, 6), std::nullopt) << wrong;
}

}  // namespace
}  // namespace hlosim
