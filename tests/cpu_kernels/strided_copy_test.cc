#include "cpu_kernels/strided_copy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <random>

namespace hlosim {
namespace {

using List = std::vector<int64_t>;

struct Case {
  List dimensions, source, destination;
  int64_t source_offset = 0, destination_offset = 0;  // elements
  int64_t source_size = 0, destination_size = 0;
};

// Where the elements lie so that every stride stays inside its memory.
Case make_case(List dimensions, List source, List destination) {
  Case c{dimensions, source, destination};
  const auto extent = [&](const List& strides, int64_t& offset, int64_t& size) {
    int64_t low = 0, high = 0;
    for (size_t i = 0; i < dimensions.size(); ++i)
      (strides[i] < 0 ? low : high) += strides[i] * std::max<int64_t>(dimensions[i] - 1, 0);
    offset = -low;
    size = high - low + 1;
  };
  extent(source, c.source_offset, c.source_size);
  extent(destination, c.destination_offset, c.destination_size);
  return c;
}

// Every byte of the destination, those between the elements included, against one loop per element.
void expect_copied(const Case& c, int64_t width) {
  std::vector<std::byte> source(static_cast<size_t>(c.source_size * width));
  for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::byte>(i * 7 + i / 251);
  std::vector<std::byte> got(static_cast<size_t>(c.destination_size * width), std::byte{0xee}),
      expected = got;

  List index(c.dimensions.size(), 0);
  int64_t count = 1;
  for (const int64_t n : c.dimensions) count *= n;
  for (int64_t k = 0; k < count; ++k) {
    int64_t rest = k, from = c.source_offset, to = c.destination_offset;
    for (size_t d = c.dimensions.size(); d-- > 0;) {
      from += rest % c.dimensions[d] * c.source[d];
      to += rest % c.dimensions[d] * c.destination[d];
      rest /= c.dimensions[d];
    }
    std::memcpy(&expected[static_cast<size_t>(to * width)], &source[static_cast<size_t>(from * width)],
                static_cast<size_t>(width));
  }
  const StridedCopy copy(c.dimensions, c.source, c.destination, width);
  const std::byte* in = source.data() + c.source_offset * width;
  copy.run(in, got.data() + c.destination_offset * width);
  EXPECT_EQ(got, expected) << "dimensions " << testing::PrintToString(c.dimensions) << " source "
                           << testing::PrintToString(c.source) << " destination "
                           << testing::PrintToString(c.destination) << " width " << width;
  std::fill(got.begin(), got.end(), std::byte{0xee});
  copy.run_here(in, got.data() + c.destination_offset * width);
  EXPECT_EQ(got, expected) << "on one thread";
}

TEST(StridedCopy, KindsOfCopies) {
  const Case cases[] = {
      make_case({}, {}, {}),
      make_case({5}, {1}, {1}),
      make_case({0, 3}, {3, 1}, {3, 1}),
      make_case({100, 70}, {1, 100}, {70, 1}),  // transpose
      make_case({64, 64}, {1, 64}, {64, 1}),
      make_case({3, 33, 47}, {1, 3, 99}, {1551, 47, 1}),  // 0 2 1 reversed
      make_case({40, 50, 2}, {2, 80, 1}, {100, 2, 1}),    // pairs are transposed as one
      make_case({40, 50, 3}, {3, 120, 1}, {150, 3, 1}),
      make_case({301, 2}, {1, 301}, {2, 1}),  // few columns
      make_case({301, 3}, {1, 301}, {3, 1}),
      make_case({301, 4}, {1, 305}, {4, 1}),
      make_case({2, 77, 3}, {231, 1, 77}, {231, 3, 1}),
      make_case({301, 3}, {1, 301}, {5, 1}),
      make_case({7, 9}, {0, 0}, {9, 1}),  // one element everywhere
      make_case({7, 9}, {0, 1}, {9, 1}),  // rows
      make_case({7, 9}, {1, 0}, {9, 1}),  // columns
      make_case({6, 11}, {11, -1}, {11, 1}),
      make_case({6, 11}, {-11, 1}, {11, 1}),
      make_case({6, 11}, {-11, -1}, {11, 1}),
      make_case({4, 5}, {10, 2}, {5, 1}),  // strided slice
      make_case({4, 5}, {5, 1}, {30, 3}),  // interior padding
      make_case({4, 5}, {5, 1}, {5, -1}),
      make_case({2, 3, 2, 3, 2}, {36, 1, 3, 6, 18}, {36, 12, 6, 2, 1}),
  };
  for (const Case& c : cases)
    for (const int64_t width : {1, 2, 4, 8, 16}) expect_copied(c, width);
}

// Large enough for several threads and pieces; 16 MiB and more goes past the caches.
TEST(StridedCopy, ManyPieces) {
  expect_copied(make_case({300, 700}, {1, 300}, {700, 1}), 4);
  expect_copied(make_case({2112, 2112}, {1, 2112}, {2112, 1}), 4);
  expect_copied(make_case({400000}, {1}, {1}), 4);
  expect_copied(make_case({2000000, 3}, {1, 2000000}, {3, 1}), 4);
  expect_copied(make_case({3, 100000}, {0, 1}, {100000, 1}), 8);
  expect_copied(make_case({500, 700}, {700, -1}, {700, 1}), 2);
  expect_copied(make_case({2, 4000, 70}, {280000, 1, 4000}, {280000, 70, 1}), 1);
}

TEST(StridedCopy, RandomPermutationsAndSigns) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const size_t rank = 1 + random() % 5;
    List dimensions(rank), source(rank), destination(rank), order(rank);
    for (int64_t& n : dimensions) n = 1 + random() % 9;
    const auto arrange = [&](List& strides) {
      std::iota(order.begin(), order.end(), 0);
      std::shuffle(order.begin(), order.end(), random);
      int64_t stride = 1 + random() % 2;
      for (const int64_t d : order) {
        const auto at = static_cast<size_t>(d);
        strides[at] = random() % 4 == 0 ? -stride : stride;
        stride *= dimensions[at] + static_cast<int64_t>(random() % 2);
      }
    };
    arrange(source);
    if (random() % 4 == 0) source[random() % rank] = 0;
    arrange(destination);
    expect_copied(make_case(dimensions, source, destination), int64_t{1} << random() % 5);
  }
}

TEST(FillElements, AnyWidth) {
  for (const int64_t width : {1, 2, 4, 8, 16}) {
    std::vector<std::byte> value(static_cast<size_t>(width)), got(static_cast<size_t>(width * 100001));
    for (size_t i = 0; i < value.size(); ++i) value[i] = static_cast<std::byte>(i + 1);
    fill_elements(got.data(), value.data(), width, 100001);
    for (size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], value[i % value.size()]) << i;
  }
}

}  // namespace
}  // namespace hlosim
