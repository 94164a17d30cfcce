// What --budget leaves for a search.
#include "cli/tune/budget.h"

#include <gtest/gtest.h>

namespace hlosim {
namespace {

TEST(Budget, NoTimeIsNoLimit) {
  for (const char* text : {"0", "0s", "0ms", "0min"}) {
    const Result<double> budget = budget_seconds(text);
    ASSERT_TRUE(budget) << text;
    EXPECT_EQ(left_for_search(*budget, 1000), 0) << text;
  }
}

TEST(Budget, ReadingCountsTwiceUpToATenth) {
  EXPECT_DOUBLE_EQ(left_for_search(10, 0), 10);
  EXPECT_DOUBLE_EQ(left_for_search(10, 0.5), 9);
  EXPECT_DOUBLE_EQ(left_for_search(10, 3), 6);
}

TEST(Budget, ALimitThatIsReachedStaysOne) {
  for (const double passed : {9.5, 10.0, 11.0, 1e6}) {
    EXPECT_GT(left_for_search(10, passed), 0) << passed;
    EXPECT_LT(left_for_search(10, passed), 1e-3) << passed;
  }
}

}  // namespace
}  // namespace hlosim
