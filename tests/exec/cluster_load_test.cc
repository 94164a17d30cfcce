#include "exec/cluster_load.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <random>

#include "array/copy_strided.h"

namespace hlosim {
namespace {

// What copy_strided makes of a view of the numbers 0, 1, ….
std::vector<uint32_t> copied(const StridedView& view, const std::vector<uint32_t>& memory) {
  std::vector<uint32_t> all(static_cast<size_t>(view.count()));
  copy_strided(view, 4, reinterpret_cast<const std::byte*>(memory.data()),
               reinterpret_cast<std::byte*>(all.data()));
  return all;
}

StridedView random_view(std::mt19937& random, int64_t memory) {
  StridedView view;
  const auto rank = random() % 5;
  int64_t lowest = 0, highest = 0;
  for (size_t d = 0; d < rank; ++d) {
    const int64_t size = 1 + static_cast<int64_t>(random() % (d + 1 == rank ? 300 : 6));
    int64_t stride = static_cast<int64_t>(random() % 7) - 3;
    if (random() % 2) stride = d + 1 == rank ? 1 : 0;
    view.dimensions.push_back(size);
    view.strides.push_back(stride);
    (stride < 0 ? lowest : highest) += stride * (size - 1);
  }
  view.offset = -lowest;
  EXPECT_LT(highest - lowest, memory);
  return view;
}

TEST(BlockLoad, ReadsEveryBlockOfAView) {
  std::vector<uint32_t> memory(4096);
  std::iota(memory.begin(), memory.end(), 0u);
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    const StridedView view = random_view(random, static_cast<int64_t>(memory.size()));
    const std::vector<uint32_t> expected = copied(view, memory);
    const int64_t block = 1 + static_cast<int64_t>(random() % 80), count = view.count();
    const LoadPlan plan(view, 4);
    BlockLoad load(plan, block);
    load.begin(reinterpret_cast<const std::byte*>(memory.data()));
    // From somewhere to the end, then all over.
    for (int64_t at : {static_cast<int64_t>(random()) % count, int64_t{0}})
      while (at < count) {
        const int64_t n = std::min(count - at, 1 + static_cast<int64_t>(random()) % block);
        const std::byte* got = load.at(at, n);
        ASSERT_EQ(std::memcmp(got, expected.data() + at, static_cast<size_t>(n) * 4), 0)
            << "round " << round << ", elements " << at << " to " << at + n << " of " << count;
        at += n;
      }
  }
}

TEST(BlockLoad, ReadsElementsOfEveryWidth) {
  const StridedView view{1, {3, 5}, {10, 2}};
  for (const int64_t width : {1, 2, 4, 8, 16}) {
    std::vector<std::byte> memory(static_cast<size_t>(40 * width)), expected(static_cast<size_t>(15 * width));
    for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::byte>(i * 7);
    copy_strided(view, width, memory.data(), expected.data());
    const LoadPlan plan(view, width);
    BlockLoad load(plan, 15);
    load.begin(memory.data());
    EXPECT_EQ(std::memcmp(load.at(0, 15), expected.data(), expected.size()), 0) << width;
  }
}

TEST(BlockLoad, ReadsOneElementForEachRow) {
  std::vector<uint32_t> memory(500);
  std::iota(memory.begin(), memory.end(), 0u);
  const auto* base = reinterpret_cast<const std::byte*>(memory.data());
  // Rows of 40 elements: numbers in a row, numbers apart, one number.
  for (const StridedView& view : {StridedView{3, {12, 40}, {1, 0}}, StridedView{100, {3, 4, 40}, {-20, 5, 0}},
                                  StridedView{7, {480}, {0}}}) {
    const std::vector<uint32_t> expected = copied(view, memory);
    const LoadPlan plan(view, 4);
    BlockLoad load(plan, 160, true, {40, true});
    load.begin(base);
    for (const int64_t at : {0, 40, 160, 200, 413}) {
      const int64_t n = at % 40 == 0 ? std::min<int64_t>(160, 480 - at) : 27;
      const std::byte* got = load.at(at, n);
      for (int64_t i = 0; i < n; ++i)
        ASSERT_EQ(std::memcmp(got + i / 40 * 4, &expected[static_cast<size_t>(at + i)], 4), 0)
            << at << "+" << i;
    }
  }
}

TEST(BlockRows, AreWholeWhereAllInputsHaveThem) {
  const auto uniform = [](int64_t rows, int64_t row) { return LoadPlan({0, {rows, row}, {1, 0}}, 4); };
  const LoadPlan dense({0, {6400}, {1}}, 4), wide({0, {16, 400}, {500, 1}}, 4);
  BlockRows rows;
  rows.add(dense);
  EXPECT_EQ(rows.length, 0);
  rows.add(uniform(100, 64));
  rows.add(uniform(100, 64));
  EXPECT_EQ(rows.length, 64);
  EXPECT_TRUE(rows.several);
  rows.add(wide);  // in pieces of its rows it is read without a copy
  EXPECT_EQ(rows.length, 400);
  EXPECT_FALSE(rows.several);
  BlockRows long_rows;
  long_rows.add(uniform(3, 5000));
  EXPECT_EQ(long_rows.length, 5000);
  EXPECT_FALSE(long_rows.several);
}

TEST(BlockLoad, CopiesNothingThatLiesAsItIsRead) {
  std::vector<uint32_t> memory(2000);
  const auto* base = reinterpret_cast<const std::byte*>(memory.data());
  const LoadPlan dense({7, {4, 5}, {5, 1}}, 4);
  EXPECT_TRUE(dense.is_dense());
  BlockLoad load(dense, 8);
  load.begin(base);
  EXPECT_EQ(load.at(3, 8), base + 40);

  const LoadPlan rows({0, {3, 500}, {600, 1}}, 4);
  EXPECT_EQ(rows.row(), 500);
  BlockLoad row(rows, 100);
  row.begin(base);
  EXPECT_EQ(row.at(500, 100), base + 2400);
}

}  // namespace
}  // namespace hlosim
