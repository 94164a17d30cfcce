#include "threads/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <vector>

namespace hlosim {
namespace {

class Parallel : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { set_thread_count(GetParam()); }
  void TearDown() override { set_thread_count(0); }
};

TEST_P(Parallel, EveryIndexOnceAndCutsAtMultiplesOfTheGrain) {
  for (const int64_t count : {0, 1, 7, 64, 65, 1000, 4096})
    for (const int64_t grain : {1, 3, 64, 5000}) {
      std::vector<std::atomic<int>> seen(static_cast<size_t>(count));
      std::atomic<bool> aligned = true;
      parallel_for(count, grain, [&](int64_t begin, int64_t end) {
        if (begin % grain != 0 || (end != count && end % grain != 0)) aligned = false;
        for (int64_t i = begin; i < end; ++i) seen[static_cast<size_t>(i)]++;
      });
      EXPECT_TRUE(aligned) << count << " by " << grain;
      for (const auto& times : seen) ASSERT_EQ(times, 1) << count << " by " << grain;
    }
}

TEST_P(Parallel, Nests) {
  std::atomic<int> sum = 0;
  parallel_for(8, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      parallel_for(8, 1, [&](int64_t b, int64_t e) { sum += static_cast<int>(e - b); });
  });
  EXPECT_EQ(sum, 64);
}

INSTANTIATE_TEST_SUITE_P(Threads, Parallel, testing::Values(1, 2, 5));

}  // namespace
}  // namespace hlosim
