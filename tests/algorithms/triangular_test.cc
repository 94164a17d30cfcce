#include "algorithms/triangular.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <random>
#include <vector>

namespace hlosim {
namespace {

template <class T>
constexpr ElementType kType = ElementType::kInvalid;
template <>
constexpr ElementType kType<float> = ElementType::kF32;
template <>
constexpr ElementType kType<double> = ElementType::kF64;
template <>
constexpr ElementType kType<std::complex<float>> = ElementType::kC64;
template <>
constexpr ElementType kType<std::complex<double>> = ElementType::kC128;

template <class T>
struct Parts {
  using Real = T;
  static T make(double re, double) { return static_cast<T>(re); }
  static T conjugate(T x) { return x; }
};
template <class R>
struct Parts<std::complex<R>> {
  using Real = R;
  static std::complex<R> make(double re, double im) { return {static_cast<R>(re), static_cast<R>(im)}; }
  static std::complex<R> conjugate(std::complex<R> x) { return std::conj(x); }
};

template <class T>
class Triangular : public ::testing::Test {
 protected:
  using Real = typename Parts<T>::Real;
  std::vector<T> random(int64_t count) {
    std::vector<T> values;
    for (int64_t i = 0; i < count; ++i)
      values.push_back(Parts<T>::make(numbers_(engine_), numbers_(engine_)));
    return values;
  }
  static T at(const std::vector<T>& m, int64_t columns, int64_t i, int64_t j) {
    return m[static_cast<size_t>(i * columns + j)];
  }
  static constexpr Real kBound = std::is_same_v<Real, float> ? Real(2e-4) : Real(1e-12);
  static constexpr Real kNaN = std::numeric_limits<Real>::quiet_NaN();

 private:
  std::mt19937_64 engine_{7};
  std::uniform_real_distribution<double> numbers_{-1, 1};
};

using Types = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Triangular, Types);

TYPED_TEST(Triangular, FactorTimesItsAdjointIsTheMatrix) {
  using T = TypeParam;
  for (const int64_t n : {1, 2, 3, 7, 40, 150}) {
    for (const bool lower : {true, false}) {
      const std::vector<T> g = this->random(n * n);
      std::vector<T> a(g.size()), out(g.size(), T(99));
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j) {
          T sum = i == j ? T(1) : T(0);
          for (int64_t k = 0; k < n; ++k)
            sum += this->at(g, n, i, k) * Parts<T>::conjugate(this->at(g, n, j, k));
          a[static_cast<size_t>(i * n + j)] = sum;
        }
      std::vector<T> read = a;  // the other triangle isn't looked at
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j)
          if (lower ? j > i : j < i) read[static_cast<size_t>(i * n + j)] = T(this->kNaN);
      cholesky(kType<T>, n, lower, read.data(), out.data());
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j) {
          if (lower ? j > i : j < i) {
            EXPECT_EQ(this->at(out, n, i, j), T(0));
          }
          T sum = 0;
          for (int64_t k = 0; k < n; ++k)
            sum += lower ? this->at(out, n, i, k) * Parts<T>::conjugate(this->at(out, n, j, k))
                         : Parts<T>::conjugate(this->at(out, n, k, i)) * this->at(out, n, k, j);
          EXPECT_LT(std::abs(sum - this->at(a, n, i, j)),
                    this->kBound * static_cast<typename Parts<T>::Real>(n));
        }
    }
  }
}

TYPED_TEST(Triangular, NotPositiveDefiniteIsNaN) {
  using T = TypeParam;
  for (const bool lower : {true, false}) {
    const std::vector<T> a = {T(1), T(2), T(2), T(1)};
    std::vector<T> out(4);
    cholesky(kType<T>, 2, lower, a.data(), out.data());
    for (const T x : out) EXPECT_TRUE(std::isnan(std::abs(x)));
  }
}

TYPED_TEST(Triangular, EverySystemIsSolved) {
  using T = TypeParam;
  using Transpose = TriangularSystem::Transpose;
  for (const int64_t n : {1, 3, 30})
    for (const int64_t m : {1, 5})
      for (const bool left : {true, false})
        for (const bool lower : {true, false})
          for (const bool unit : {true, false})
            for (const Transpose transpose : {Transpose::kNone, Transpose::kTranspose, Transpose::kAdjoint}) {
              std::vector<T> a = this->random(n * n);
              // Nothing of the other triangle is read, nor a diagonal of ones.
              for (int64_t i = 0; i < n; ++i)
                for (int64_t j = 0; j < n; ++j) {
                  T& x = a[static_cast<size_t>(i * n + j)];
                  x = i == j                    ? (unit ? T(this->kNaN) : x + T(3))
                      : (lower ? j > i : j < i) ? T(this->kNaN)
                                                : x / T(8);
                }
              const auto op = [&](int64_t i, int64_t j) {
                const bool plain = transpose == Transpose::kNone;
                const int64_t r = plain ? i : j, c = plain ? j : i;
                if (r == c && unit) return T(1);
                if (lower ? c > r : c < r) return T(0);
                const T x = this->at(a, n, r, c);
                return transpose == Transpose::kAdjoint ? Parts<T>::conjugate(x) : x;
              };
              const std::vector<T> b = this->random(n * m);
              std::vector<T> x = b;
              solve({kType<T>, n, m, left, lower, unit, transpose}, a.data(), x.data());
              for (int64_t i = 0; i < n; ++i)
                for (int64_t j = 0; j < m; ++j) {
                  T sum = 0;
                  for (int64_t k = 0; k < n; ++k)
                    sum += left ? op(i, k) * this->at(x, m, k, j) : this->at(x, n, j, k) * op(k, i);
                  const T right = left ? this->at(b, m, i, j) : this->at(b, n, j, i);
                  EXPECT_LT(std::abs(sum - right), this->kBound)
                      << n << " " << m << " " << left << lower << unit;
                }
            }
}

}  // namespace
}  // namespace hlosim
