// The largest size that fits: boundaries found by bisection are those that trying every size finds.
#include "study/fit_search.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/op_table.h"
#include "study/fit_table.h"
#include "support/estimated.h"

namespace hlosim {
namespace {

using testing::HasSubstr;

/// Reads and writes `size` times 4 MiB.
Result<Module> copy_of(int64_t size) {
  return test::module_or_fail(
      fmt::format("HloModule copy\nENTRY main {{\n  x = f32[{0},1024,1024] parameter(0)\n"
                  "  ROOT y = f32[{0},1024,1024] negate(x)\n}}\n",
                  size));
}

Device unit_with(const std::string& capacity) {
  return test::device_or_fail("unit", {{"hbm.capacity", capacity}});
}

Result<FitSearch> search(const FitQuestion& question, const Device& device) {
  return largest_that_fits(question, copy_of, op_table(), device, {});
}

TEST(FitSearch, FindsTheBoundaryOfEveryCapacity) {
  for (int64_t room = 1; room <= 20; ++room) {
    const Device device = unit_with(fmt::format("{} MiB", 8 * room + 3));
    const Result<FitSearch> found = search({.unit = 1, .most = 1000}, device);
    ASSERT_TRUE(found) << render(found.error());
    EXPECT_EQ(found->largest, room);
    EXPECT_FALSE(found->is_limited);
    for (const FitTrial& trial : found->trials) EXPECT_EQ(trial.fits(), trial.size <= room) << trial.size;
    EXPECT_LE(found->trials.size(), 10u);
  }
}

TEST(FitSearch, SizesAreMultiplesOfTheUnitAndTriedOnce) {
  const Result<FitSearch> found = search({.unit = 3, .most = 1000}, unit_with("100 MiB"));  // 12 fit
  ASSERT_TRUE(found);
  EXPECT_EQ(found->largest, 12);
  for (size_t i = 0; i < found->trials.size(); ++i) {
    EXPECT_EQ(found->trials[i].size % 3, 0);
    if (i > 0) {
      EXPECT_LT(found->trials[i - 1].size, found->trials[i].size);
    }
    EXPECT_GT(found->trials[i].time.count(), 0);
  }
}

TEST(FitSearch, NothingFitsOrTheLimitIsReached) {
  EXPECT_EQ(search({.unit = 4, .most = 100}, unit_with("30 MiB"))->largest, 0);
  const Result<FitSearch> limited = search({.unit = 1, .most = 5}, unit_with("900 MiB"));
  EXPECT_EQ(limited->largest, 5);
  EXPECT_TRUE(limited->is_limited);
}

TEST(FitSearch, ErrorsNameTheSize) {
  const auto broken = [](int64_t size) -> Result<Module> {
    if (size == 2) return failure("no such program");
    return copy_of(size);
  };
  const Result<FitSearch> found =
      largest_that_fits({.unit = 1, .most = 9}, broken, op_table(), unit_with("900 MiB"), {});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message, "at size 2: no such program");
}

TEST(FitTable, TokensOfEachSize) {
  const Device device = unit_with("100 MiB");
  const Result<FitSearch> found = search({.unit = 1, .most = 1000}, device);
  ASSERT_TRUE(found);
  const FitWords words{.key = "batch", .tokens = [](int64_t size) { return 10 * size; }};
  EXPECT_THAT(to_text(*found, words, device.config),
              HasSubstr("largest batch that fits into the 100.00 MiB of unit: 12"));
  EXPECT_THAT(to_json(*found, words, device.config), HasSubstr("\"largest\": 12"));
}

}  // namespace
}  // namespace hlosim
