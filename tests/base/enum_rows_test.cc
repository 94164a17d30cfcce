#include "base/enum_rows.h"

#include <gtest/gtest.h>

namespace hlosim {
namespace {

enum class Color : unsigned char { kRed, kGreen, kBlue };
struct Row {
  Color color;
  const char* name;
};

constexpr Row kRight[] = {{Color::kRed, "red"}, {Color::kGreen, "green"}, {Color::kBlue, "blue"}};
constexpr Row kSwapped[] = {{Color::kRed, "red"}, {Color::kBlue, "blue"}, {Color::kGreen, "green"}};
constexpr Row kGap[] = {{Color::kRed, "red"}, {Color::kBlue, "blue"}};
static_assert(rows_follow(kRight, &Row::color));

TEST(EnumRows, RowsThatFollowTheirEnumeratorsAndOthers) {
  EXPECT_TRUE(rows_follow(kRight, &Row::color));
  EXPECT_FALSE(rows_follow(kSwapped, &Row::color));
  EXPECT_FALSE(rows_follow(kGap, &Row::color));
}

}  // namespace
}  // namespace hlosim
