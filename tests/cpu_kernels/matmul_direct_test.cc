// Products that read their operands where they lie have the bits of those that pack them, or the documented
// ones of complex numbers, for real numbers, whose sums depend on the order of their terms.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <random>
#include <type_traits>
#include <vector>

#include "cpu_kernels/matmul_recipe.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

using enum ElementType;

struct DirectLevel {
  IsaLevel isa;
  MatmulLevel level;
};

std::vector<DirectLevel> direct_levels() {
  std::vector<DirectLevel> list;
  for (const IsaLevel level : {IsaLevel::kV2, IsaLevel::kV3, IsaLevel::kV4})
    if (level <= supported_isa_level()) list.push_back({level, matmul_level(level, false)});
  return list;
}

struct Sizes {
  int64_t m, n, k;
};

/// Which operands are column-major: every way.
struct Majors {
  bool lhs, rhs, result;
};
std::vector<Majors> majors() {
  std::vector<Majors> all;
  for (int bits = 0; bits < 8; ++bits) all.push_back({(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0});
  return all;
}

template <class T>
std::vector<T> numbers(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<T> list(static_cast<size_t>(count));
  for (T& number : list) {
    if constexpr (std::is_integral_v<T>)
      number = static_cast<T>(uint64_t{random()} << 32 | random());
    else if constexpr (std::is_floating_point_v<T>)
      number = static_cast<T>(uniform(random));
    else
      number = T(static_cast<typename T::value_type>(uniform(random)),
                 static_cast<typename T::value_type>(uniform(random)));
  }
  return list;
}

template <class T>
struct Problem {
  Problem(Sizes s, Majors major, ElementType type)
      : sizes(s),
        lhs(numbers<T>(s.m * s.k, 1)),
        rhs(numbers<T>(s.k * s.n, 2)),
        product{.m = s.m,
                .n = s.n,
                .k = s.k,
                .lhs = {lhs.data(), type, major.lhs ? 1 : s.k, major.lhs ? s.m : 1},
                .rhs = {rhs.data(), type, major.rhs ? 1 : s.n, major.rhs ? s.k : 1},
                .result = {nullptr, type, major.result ? 1 : s.n, major.result ? s.m : 1}} {}

  T left(int64_t i, int64_t p) const {
    return lhs[static_cast<size_t>(i * product.lhs.row_stride + p * product.lhs.column_stride)];
  }
  T right(int64_t p, int64_t j) const {
    return rhs[static_cast<size_t>(p * product.rhs.row_stride + j * product.rhs.column_stride)];
  }
  size_t place(int64_t i, int64_t j) const {
    return static_cast<size_t>(i * product.result.row_stride + j * product.result.column_stride);
  }
  template <class Run>
  std::vector<T> result_of(Run run) {
    std::vector<T> result(static_cast<size_t>(sizes.m * sizes.n));
    product.result.data = result.data();
    run(product);
    return result;
  }

  Sizes sizes;
  std::vector<T> lhs, rhs;
  Matmul product;
};

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

std::string text(Sizes s, Majors major, const DirectLevel& level) {
  return fmt::format("{}x{}x{} on {}, column-major {}{}{}", s.m, s.k, s.n, name(level.isa), major.lhs,
                     major.rhs, major.result);
}

template <class T>
void expect_as_blocked(Sizes sizes, Majors major, ElementType type) {
  Problem<T> problem(sizes, major, type);
  for (const DirectLevel& level : direct_levels()) {
    const auto recipe = matmul_recipe(type, type, type, level.level);
    const auto blocked =
        problem.result_of([&](const Matmul& product) { blocked_matmul(product, *recipe, level.level); });
    const auto direct = problem.result_of([&](const Matmul& product) { matmul(product, level.level); });
    EXPECT_TRUE(same_bits(direct, blocked)) << to_text(type) << " " << text(sizes, major, level);
  }
}

/// Tiles of every number of rows and of lanes, blocks of k, and what few rows and few columns take.
std::vector<Sizes> sizes_of_all_paths() {
  std::vector<Sizes> all;
  for (int64_t m = 1; m <= 13; ++m)
    for (const int64_t n : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 47, 65})
      for (const int64_t k : {1, 2, 5}) all.push_back({m, n, k});
  for (const int64_t k : {384, 385, 800}) {
    all.push_back({5, 6, k});
    all.push_back({40, 37, k});
    all.push_back({40, 3, k});
    all.push_back({200, 16, k});
    for (const int64_t m : {1, 2, 3, 7, 8, 11, 16}) all.push_back({m, 53, k});
  }
  all.push_back({3, 6001, 17});
  return all;
}

TEST(MatmulDirect, SumsOfF64AreThoseOfBlocks) {
  for (const Sizes& sizes : sizes_of_all_paths())
    for (const Majors& major : majors()) expect_as_blocked<double>(sizes, major, kF64);
}

/// Too much work for one sum of f32, not enough to pack lhs.
constexpr Sizes kMedium[] = {{150, 140, 800}, {400, 300, 500}};

TEST(MatmulDirect, MediumProductsSumInBlocks) {
  for (const Sizes& sizes : kMedium)
    for (const bool rhs_major : {false, true})
      for (const int threads : {1, 4}) {
        set_thread_count(threads);
        expect_as_blocked<float>(sizes, {false, rhs_major, false}, kF32);
        expect_as_blocked<double>(sizes, {false, rhs_major, false}, kF64);
        expect_as_blocked<float>(sizes, {false, rhs_major, true}, kF32);
        expect_as_blocked<double>(sizes, {false, rhs_major, true}, kF64);
      }
  set_thread_count(0);
}

TEST(MatmulDirect, IntegersWrapAsInBlocks) {
  for (const Sizes& sizes : sizes_of_all_paths())
    for (const Majors& major : majors()) {
      expect_as_blocked<int32_t>(sizes, major, kS32);
      expect_as_blocked<uint64_t>(sizes, major, kU64);
    }
}

/// Four sums, each product and each sum rounded.
template <class T>
std::complex<T> rounded_apart(const Problem<std::complex<T>>& problem, int64_t i, int64_t j) {
  T rr = 0, ii = 0, ri = 0, ir = 0;
  for (int64_t p = 0; p < problem.sizes.k; ++p) {
    const auto a = problem.left(i, p), b = problem.right(p, j);
    rr += a.real() * b.real(), ii += a.imag() * b.imag();
    ri += a.real() * b.imag(), ir += a.imag() * b.real();
  }
  return {rr - ii, ri + ir};
}

/// Two sums of blocks of k, in which each term is added with one rounding where the level can.
template <class T>
std::complex<T> in_blocks(const Problem<std::complex<T>>& problem, int64_t i, int64_t j, bool fused) {
  const int64_t k = problem.sizes.k, block = sizeof(T) == 8 ? matmul_block_steps(2 * k) / 2 : k;
  const auto add = [&](T a, T b, T sum) { return fused ? std::fma(a, b, sum) : sum + a * b; };
  T re = 0, im = 0;
  for (int64_t first = 0; first < k; first += block) {
    T block_re = 0, block_im = 0;
    for (int64_t p = first; p < std::min(k, first + block); ++p) {
      const auto a = problem.left(i, p), b = problem.right(p, j);
      block_re = add(a.imag(), -b.imag(), add(a.real(), b.real(), block_re));
      block_im = add(a.imag(), b.real(), add(a.real(), b.imag(), block_im));
    }
    re = first == 0 ? block_re : re + block_re;
    im = first == 0 ? block_im : im + block_im;
  }
  return {re, im};
}

template <class T>
void expect_right(Sizes sizes, Majors major, ElementType type, bool is_small) {
  Problem<std::complex<T>> problem(sizes, major, type);
  const auto expected = [&](bool fused) {
    std::vector<std::complex<T>> result(static_cast<size_t>(sizes.m * sizes.n));
    for (int64_t i = 0; i < sizes.m; ++i)
      for (int64_t j = 0; j < sizes.n; ++j)
        result[problem.place(i, j)] =
            is_small ? rounded_apart(problem, i, j) : in_blocks(problem, i, j, fused);
    return result;
  };
  const auto apart = expected(false), fused = is_small ? apart : expected(true);
  for (const DirectLevel& level : direct_levels()) {
    const auto result = problem.result_of([&](const Matmul& product) { matmul(product, level.level); });
    EXPECT_TRUE(same_bits(result, level.isa == IsaLevel::kV2 ? apart : fused))
        << to_text(type) << " " << text(sizes, major, level);
  }
}

TEST(MatmulDirect, SmallComplexProductsRoundApart) {
  for (const Majors& major : majors()) {
    for (int64_t m = 1; m <= 7; ++m)
      for (const int64_t n : {1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 33})
        for (const int64_t k : {0, 1, 2, 5}) {
          expect_right<float>({m, n, k}, major, kC64, true);
          expect_right<double>({m, n, k}, major, kC128, true);
        }
    expect_right<float>({64, 64, 64}, major, kC64, true);
    expect_right<double>({3, 100, 800}, major, kC128, true);
  }
}

TEST(MatmulDirect, ComplexProductsOfFewRowsSumInBlocks) {
  for (const Majors major : {Majors{}, Majors{false, true, false}, Majors{true, false, true}})
    for (const int64_t m : {1, 2, 7, 16})
      for (const int64_t k : {193, 500}) {
        const Sizes sizes{m, 64 * 64 * 64 / (m * k) + 1 + m % 3, k};
        expect_right<float>(sizes, major, kC64, false);
        expect_right<double>(sizes, major, kC128, false);
      }
}

TEST(MatmulDirect, TheNumberOfThreadsDoesNotShow) {
  for (const Sizes sizes :
       {Sizes{1, 3001, 500}, Sizes{8, 900, 1000}, Sizes{5000, 3, 700}, kMedium[0], kMedium[1]}) {
    std::vector<double> real;
    std::vector<std::complex<double>> complex;
    Problem<double> reals(sizes, {}, kF64);
    Problem<std::complex<double>> complexes(sizes, {}, kC128);
    for (const int threads : {1, 2, 5}) {
      set_thread_count(threads);
      const auto multiply = [](const Matmul& product) { matmul(product); };
      const auto real_now = reals.result_of(multiply);
      const auto complex_now = complexes.result_of(multiply);
      if (real.empty()) real = real_now, complex = complex_now;
      EXPECT_TRUE(same_bits(real, real_now) && same_bits(complex, complex_now)) << sizes.m << ", " << threads;
    }
    set_thread_count(0);
  }
}

}  // namespace
}  // namespace hlosim
