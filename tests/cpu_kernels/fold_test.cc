#include "cpu_kernels/fold.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "threads/parallel.h"

namespace hlosim {
namespace {

using List = std::vector<int64_t>;

List row_major(const List& dimensions) {
  List strides(dimensions.size(), 1);
  for (size_t i = dimensions.size(); i-- > 1;) strides[i - 1] = strides[i] * dimensions[i];
  return strides;
}

int64_t count_of(const List& dimensions, const std::vector<uint8_t>& reduced, int which) {
  int64_t count = 1;
  for (size_t i = 0; i < dimensions.size(); ++i)
    if (which < 0 || reduced[i] == which) count *= dimensions[i];
  return count;
}

template <class T>
std::vector<T> folded(FoldOp op, ElementType type, const List& dimensions,
                      const std::vector<uint8_t>& reduced, const std::vector<T>& in, T init) {
  std::vector<T> out(static_cast<size_t>(count_of(dimensions, reduced, 0)));
  const FoldKernel kernel = fold_kernel(op, type);
  fold(kernel, dimensions, row_major(dimensions), reduced, reinterpret_cast<const std::byte*>(in.data()),
       reinterpret_cast<const std::byte*>(&init), reinterpret_cast<std::byte*>(out.data()));
  return out;
}

// One loop over the elements.
template <class A, class T, class F>
std::vector<A> slowly(const List& dimensions, const std::vector<uint8_t>& reduced, const std::vector<T>& in,
                      A init, F&& f) {
  std::vector<A> out(static_cast<size_t>(count_of(dimensions, reduced, 0)), init);
  for (int64_t k = 0; k < count_of(dimensions, reduced, -1); ++k) {
    int64_t rest = k, to = 0, weight = 1;
    for (size_t d = dimensions.size(); d-- > 0;) {
      if (!reduced[d]) {
        to += rest % dimensions[d] * weight;
        weight *= dimensions[d];
      }
      rest /= dimensions[d];
    }
    A& total = out[static_cast<size_t>(to)];
    total = f(total, static_cast<A>(in[static_cast<size_t>(k)]));
  }
  return out;
}

struct Extent {
  List dimensions;
  std::vector<uint8_t> reduced;
};

std::vector<Extent> extents() {
  return {
      {{}, {}},
      {{7}, {0}},
      {{7}, {1}},
      {{0}, {1}},
      {{3, 0}, {0, 1}},
      {{0, 3}, {0, 1}},
      {{5, 70}, {0, 1}},
      {{70, 5}, {1, 0}},
      {{9, 4, 33}, {1, 0, 1}},
      {{9, 4, 33}, {0, 1, 0}},
      {{9, 1, 33, 1}, {0, 1, 1, 0}},
      {{200000}, {1}},  // cut into pieces
      {{3, 150001}, {0, 1}},
      {{300, 2, 700}, {1, 0, 1}},  // several rows a piece
      {{20, 3000}, {0, 1}},        // many outputs
      {{700, 3000}, {1, 0}},       // two blocks of columns, pieces of rows
      {{1000, 7}, {0, 1}},         // short rows
      {{90000, 3}, {1, 0}},        // narrow columns
      {{4, 5000, 3, 7}, {1, 0, 1, 0}},
      {{40, 600, 50}, {0, 1, 0}},
      {{50, 40, 600}, {1, 0, 0}},
  };
}

TEST(Fold, IntegersOfAllWidthsAgreeWithOneLoop) {
  std::mt19937_64 random(3);
  const auto check = [&]<class T>(T, ElementType type) {
    for (const Extent& extent : extents()) {
      const int64_t count = count_of(extent.dimensions, extent.reduced, -1);
      // Cuts depend on the shape, not on the type: once is enough for what is large.
      if (count > 100000 && type != ElementType::kS32) continue;
      std::vector<T> in(static_cast<size_t>(count));
      for (T& x : in) x = static_cast<T>(random());
      const auto both = [&](FoldOp op, auto&& f) {
        EXPECT_EQ(folded<T>(op, type, extent.dimensions, extent.reduced, in, T{3}),
                  slowly<T>(extent.dimensions, extent.reduced, in, T{3}, f))
            << testing::PrintToString(extent.dimensions) << " op " << static_cast<int>(op);
      };
      both(FoldOp::kAdd,
           [](T a, T b) { return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); });
      both(FoldOp::kMultiply,
           [](T a, T b) { return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b)); });
      both(FoldOp::kMaximum, [](T a, T b) { return std::max(a, b); });
      both(FoldOp::kMinimum, [](T a, T b) { return std::min(a, b); });
      both(FoldOp::kAnd, [](T a, T b) { return static_cast<T>(a & b); });
      both(FoldOp::kOr, [](T a, T b) { return static_cast<T>(a | b); });
      both(FoldOp::kXor, [](T a, T b) { return static_cast<T>(a ^ b); });
    }
  };
  check(int8_t(), ElementType::kS8);
  check(uint8_t(), ElementType::kU8);
  check(int16_t(), ElementType::kS16);
  check(uint16_t(), ElementType::kU16);
  check(int32_t(), ElementType::kS32);
  check(uint32_t(), ElementType::kU32);
  check(int64_t(), ElementType::kS64);
  check(uint64_t(), ElementType::kU64);
}

template <class T>
void check_floats(ElementType type, double tolerance) {
  std::mt19937 random(4);
  std::normal_distribution<double> normal;
  for (const Extent& extent : extents()) {
    std::vector<T> in(static_cast<size_t>(count_of(extent.dimensions, extent.reduced, -1)));
    for (T& x : in) x = static_cast<T>(normal(random));
    const auto largest = folded<T>(FoldOp::kMaximum, type, extent.dimensions, extent.reduced, in, T{-1});
    EXPECT_EQ(largest, slowly<T>(extent.dimensions, extent.reduced, in, T{-1},
                                 [](T a, T b) { return std::max(a, b); }));
    const auto smallest = folded<T>(FoldOp::kMinimum, type, extent.dimensions, extent.reduced, in, T{1});
    EXPECT_EQ(smallest, slowly<T>(extent.dimensions, extent.reduced, in, T{1},
                                  [](T a, T b) { return std::min(a, b); }));
    const auto sum = folded<T>(FoldOp::kAdd, type, extent.dimensions, extent.reduced, in, T{2});
    const auto exact = slowly<long double>(extent.dimensions, extent.reduced, in, 2.0L,
                                           [](long double a, long double b) { return a + b; });
    const double size = std::sqrt(static_cast<double>(in.size()) + 1);
    for (size_t i = 0; i < sum.size(); ++i)
      EXPECT_NEAR(sum[i], static_cast<double>(exact[i]),
                  tolerance * (size + std::abs(static_cast<double>(exact[i]))));
  }
}

TEST(Fold, Floats) {
  check_floats<float>(ElementType::kF32, 1e-7);
  check_floats<double>(ElementType::kF64, 1e-14);
}

// rows() is widen(), row() and finish() of each, and has the same bits on every level.
TEST(Fold, RowsAreFoldedAsOneByOne) {
  std::mt19937 random(9);
  const float special[] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN};
  for (const int64_t n : {1, 7, 8, 63, 64, 65, 128, 200, 1000})
    for (const int rare : {2, 5000}) {
      constexpr int64_t kRows = 9;
      std::vector<float> in(static_cast<size_t>(n * kRows));
      for (float& x : in)
        x = random() % static_cast<unsigned>(rare) == 0
                ? special[random() % 5]
                : static_cast<float>(static_cast<int32_t>(random())) * 0x1p-30f;
      for (const FoldOp op : {FoldOp::kAdd, FoldOp::kMultiply, FoldOp::kMaximum, FoldOp::kMinimum}) {
        const auto folded_by = [&](const FoldKernels& level) {
          const FoldKernel& kernel =
              level.kernels[static_cast<size_t>(FoldType::kF32)][static_cast<size_t>(op)];
          const float init = -0.0f;
          std::vector<uint32_t> together(kRows), apart(kRows);
          kernel.rows(in.data(), n, kRows, &init, together.data());
          for (size_t r = 0; r < kRows; ++r) {
            double total[1];
            kernel.widen(&init, 1, total);
            kernel.row(in.data() + static_cast<int64_t>(r) * n, n, total);
            kernel.finish(total, 1, &apart[r]);
          }
          for (size_t r = 0; r < kRows; ++r) {
            // Which of two NaNs a sum is, that is its sign, is not said.
            const bool nan = (apart[r] & 0x7fffffffu) > 0x7f800000u;
            if (nan && (together[r] & 0x7fffffffu) > 0x7f800000u) together[r] = apart[r] = 0x7fc00000u;
          }
          EXPECT_EQ(together, apart) << n << " op " << static_cast<int>(op);
          return together;
        };
        const auto expected = folded_by(isa_v2::kFolds);
        for (const IsaLevel level : {IsaLevel::kV3, IsaLevel::kV4})
          if (level <= supported_isa_level()) {
            EXPECT_EQ(folded_by(HLOSIM_PICK_KERNELS(level, kFolds)), expected) << n << name(level);
          }
      }
    }
}

TEST(Fold, NanWinsWhereverItIs) {
  const float nan = std::nanf("");
  for (const int64_t n : {1, 5, 64, 65, 500, 100000})
    for (const int64_t at : {int64_t{0}, n / 2, n - 1}) {
      std::vector<float> in(static_cast<size_t>(n), 1.0f);
      in[static_cast<size_t>(at)] = nan;
      EXPECT_TRUE(std::isnan(folded<float>(FoldOp::kMaximum, ElementType::kF32, {n}, {1}, in, 0.0f)[0]))
          << n << " " << at;
      EXPECT_TRUE(
          std::isnan(folded<float>(FoldOp::kMinimum, ElementType::kF32, {n, 1}, {1, 0}, in, 0.0f)[0]));
      in[static_cast<size_t>(at)] = 1;
      EXPECT_TRUE(std::isnan(folded<float>(FoldOp::kMaximum, ElementType::kF32, {n}, {1}, in, nan)[0]));
    }
}

// 2^24 + 1 + 1 + … stays 2^24 when every step rounds to f32.
TEST(Fold, SmallFloatsAreRoundedOnce) {
  std::vector<float> ones(1000, 1.0f);
  EXPECT_EQ(folded<float>(FoldOp::kAdd, ElementType::kF32, {1000}, {1}, ones, 16777216.0f)[0], 16778216.0f);
  EXPECT_EQ(folded<float>(FoldOp::kAdd, ElementType::kF32, {500, 2}, {1, 0}, ones, 16777216.0f)[1],
            16777716.0f);
  const std::vector<uint16_t> bf16_ones(1000, 0x3f80);
  EXPECT_EQ(folded<uint16_t>(FoldOp::kAdd, ElementType::kBF16, {1000}, {1}, bf16_ones, 0)[0],
            0x447a);                                                     // 1000
  const std::vector<uint16_t> mixed = {0x3f80, 0xc040, 0x4000, 0x7fc0};  // 1 -3 2 nan
  EXPECT_EQ(
      folded<uint16_t>(FoldOp::kMaximum, ElementType::kBF16, {3}, {1}, {mixed[0], mixed[1], mixed[2]}, 0)[0],
      0x4000);
  EXPECT_EQ(folded<uint16_t>(FoldOp::kMinimum, ElementType::kBF16, {4}, {1}, mixed, 0)[0] & 0x7fc0, 0x7fc0);
}

TEST(Fold, PredIsLogical) {
  const std::vector<uint8_t> in = {1, 1, 0, 1, 1, 1};
  const auto rows = [&](FoldOp op, uint8_t init) {
    const auto out = folded<uint8_t>(op, ElementType::kPred, {2, 3}, {0, 1}, in, init);
    return std::pair<int, int>(out[0], out[1]);
  };
  EXPECT_EQ(rows(FoldOp::kAnd, 1), std::pair(0, 1));
  EXPECT_EQ(rows(FoldOp::kMultiply, 1), std::pair(0, 1));
  EXPECT_EQ(rows(FoldOp::kAdd, 0), std::pair(1, 1));
  EXPECT_EQ(rows(FoldOp::kXor, 0), std::pair(0, 1));
}

TEST(Fold, DoesNotDependOnTheNumberOfThreads) {
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  const std::vector<Extent> large = {{{3, 150001}, {0, 1}}, {{700, 3000}, {1, 0}}, {{90000, 3}, {1, 0}}};
  for (const Extent& extent : large) {
    std::vector<float> in(static_cast<size_t>(count_of(extent.dimensions, extent.reduced, -1)));
    for (float& x : in) x = normal(random);
    set_thread_count(1);
    const auto one =
        folded<float>(FoldOp::kAdd, ElementType::kF32, extent.dimensions, extent.reduced, in, 0.0f);
    set_thread_count(3);
    EXPECT_EQ(folded<float>(FoldOp::kAdd, ElementType::kF32, extent.dimensions, extent.reduced, in, 0.0f),
              one);
    set_thread_count(0);
  }
}

TEST(Fold, OtherTypesHaveNoKernel) {
  EXPECT_FALSE(fold_kernel(FoldOp::kAdd, ElementType::kC64));
  EXPECT_FALSE(fold_kernel(FoldOp::kAdd, ElementType::kS4));
  EXPECT_FALSE(fold_kernel(FoldOp::kAnd, ElementType::kF32));
}

}  // namespace
}  // namespace hlosim
