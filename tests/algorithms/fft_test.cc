#include "algorithms/fft.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <random>

namespace hlosim {
namespace {

/// By the definition, in long double.
std::vector<std::complex<long double>> slow_transform(const std::vector<ComplexDouble>& in) {
  const auto n = static_cast<int64_t>(in.size());
  std::vector<std::complex<long double>> roots, out(in.size());
  for (int64_t k = 0; k < n; ++k)
    roots.push_back(std::polar(1.0L, -2 * std::numbers::pi_v<long double> * static_cast<long double>(k) /
                                         static_cast<long double>(n)));
  for (int64_t k = 0; k < n; ++k)
    for (int64_t j = 0; j < n; ++j)
      out[static_cast<size_t>(k)] +=
          std::complex<long double>(in[static_cast<size_t>(j)].re, in[static_cast<size_t>(j)].im) *
          roots[static_cast<size_t>(j * k % n)];
  return out;
}

void expect_right(int64_t length) {
  std::mt19937_64 random(static_cast<uint64_t>(length));
  std::uniform_real_distribution<double> numbers(-1, 1);
  std::vector<ComplexDouble> in(static_cast<size_t>(length)), out(in.size());
  for (ComplexDouble& x : in) x = {numbers(random), numbers(random)};
  const FftPlan plan(length);
  std::vector<ComplexDouble> scratch(static_cast<size_t>(plan.scratch_size()));
  plan.transform(in.data(), out.data(), scratch.data());
  const auto right = slow_transform(in);
  const double bound =
      1e-15 * std::sqrt(static_cast<double>(length)) * (4 + std::log2(static_cast<double>(length)));
  for (size_t k = 0; k < in.size(); ++k) {
    EXPECT_NEAR(out[k].re, static_cast<double>(right[k].real()), bound) << length << " at " << k;
    EXPECT_NEAR(out[k].im, static_cast<double>(right[k].imag()), bound) << length << " at " << k;
  }
}

TEST(Fft, EveryLengthUpTo200) {
  for (int64_t length = 1; length <= 200; ++length) expect_right(length);
}

TEST(Fft, LongerOnesOfEachKind) {
  for (const int64_t length : {1024, 2187, 1000, 961, 1013, 2 * 487, 1331}) expect_right(length);
}

}  // namespace
}  // namespace hlosim
