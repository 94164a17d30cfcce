#include "algorithms/fft.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace hlosim {
namespace {

using Complex = ComplexDouble;

// A radix costs its square; a convolution costs three transforms of two to four times the length.
constexpr int64_t kLargestRadix = 31;

Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
Complex operator*(Complex a, Complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
Complex operator*(double s, Complex a) { return {s * a.re, s * a.im}; }
Complex conjugate(Complex a) { return {a.re, -a.im}; }
/// -i·a
Complex turned(Complex a) { return {a.im, -a.re}; }

/// exp(-2πi·k/n), 0 ≤ k < n, to the last bit or two: sine and cosine of at most an eighth of a turn.
Complex root(int64_t k, int64_t n) {
  if (8 * k > 4 * n) return conjugate(root(n - k, n));  // beyond half a turn
  if (8 * k > 2 * n) {                                  // beyond a quarter
    const Complex rest = root(4 * k - n, 4 * n);
    return turned(rest);
  }
  if (8 * k > n) {  // beyond an eighth: mirrored
    const double angle = 2 * std::numbers::pi * static_cast<double>(n - 4 * k) / (4 * static_cast<double>(n));
    return {std::sin(angle), -std::cos(angle)};
  }
  const double angle = 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
  return {std::cos(angle), -std::sin(angle)};
}

}  // namespace

// x[j]·c[j] convolved with conj(c), where c[j] = exp(-πi·j²/n): the transform is that, times c[k].
struct FftPlan::Convolution {
  std::vector<Complex> chirp;     // c
  std::vector<Complex> spectrum;  // of conj(c), cyclic, divided by the cyclic length
  std::unique_ptr<FftPlan> cyclic;
};

FftPlan::FftPlan(int64_t length) : length_(length) {
  int64_t rest = length;
  for (const int64_t radix : {int64_t{4}, int64_t{2}, int64_t{3}, int64_t{5}})
    while (rest % radix == 0 && rest > 1) stages_.push_back({radix, rest /= radix});
  for (int64_t radix = 7; radix <= kLargestRadix && rest > 1; radix += 2)
    while (rest % radix == 0) stages_.push_back({radix, rest /= radix});
  if (rest == 1) {
    roots_.resize(static_cast<size_t>(length));
    for (int64_t k = 0; k < length; ++k) roots_[static_cast<size_t>(k)] = root(k, length);
    return;
  }
  stages_.clear();
  convolution_ = std::make_unique<Convolution>();
  int64_t cyclic = 1;
  while (cyclic < 2 * length - 1) cyclic *= 2;
  convolution_->cyclic = std::make_unique<FftPlan>(cyclic);
  auto& chirp = convolution_->chirp;
  chirp.resize(static_cast<size_t>(length));
  for (int64_t j = 0, square = 0; j < length; ++j) {  // j² mod 2n
    chirp[static_cast<size_t>(j)] = root(square, 2 * length);
    square = (square + 2 * j + 1) % (2 * length);
  }
  std::vector<Complex> kernel(static_cast<size_t>(cyclic)),
      scratch(static_cast<size_t>(convolution_->cyclic->scratch_size()));
  for (size_t j = 0; j < chirp.size(); ++j) {
    kernel[j] = 1 / static_cast<double>(cyclic) * conjugate(chirp[j]);
    if (j > 0) kernel[kernel.size() - j] = kernel[j];
  }
  convolution_->spectrum.resize(kernel.size());
  convolution_->cyclic->transform(kernel.data(), convolution_->spectrum.data(), scratch.data());
}

FftPlan::~FftPlan() = default;
FftPlan::FftPlan(FftPlan&&) noexcept = default;

int64_t FftPlan::scratch_size() const {
  if (convolution_) return 2 * convolution_->cyclic->length() + convolution_->cyclic->scratch_size();
  return kLargestRadix;
}

void FftPlan::transform(const Complex* in, Complex* out, Complex* scratch) const {
  if (convolution_) return convolve(in, out, scratch);
  if (stages_.empty()) {
    out[0] = in[0];
    return;
  }
  stages(out, in, 1, 0, scratch);
}

// The elements in[0], in[stride], …: `radix` interleaved transforms, then their combination.
void FftPlan::stages(Complex* out, const Complex* in, int64_t stride, size_t stage, Complex* scratch) const {
  const Stage& now = stages_[stage];
  for (int64_t q = 0; q < now.radix; ++q) {
    if (now.rest == 1)
      out[q] = in[q * stride];
    else
      stages(out + q * now.rest, in + q * stride, stride * now.radix, stage + 1, scratch);
  }
  combine(out, stride, now, scratch);
}

void FftPlan::combine(Complex* out, int64_t stride, const Stage& stage, Complex* scratch) const {
  const int64_t rest = stage.rest, radix = stage.radix;
  const Complex* roots = roots_.data();
  switch (radix) {
    case 2:
      for (int64_t k = 0; k < rest; ++k) {
        const Complex a = out[k], b = roots[k * stride] * out[k + rest];
        out[k] = a + b;
        out[k + rest] = a - b;
      }
      return;
    case 3:
      for (int64_t k = 0; k < rest; ++k) {
        const Complex b = roots[k * stride] * out[k + rest], c = roots[2 * k * stride] * out[k + 2 * rest];
        const Complex sum = b + c, difference = std::numbers::sqrt3 / 2 * turned(b - c);
        const Complex a = out[k], middle = a - 0.5 * sum;
        out[k] = a + sum;
        out[k + rest] = middle + difference;
        out[k + 2 * rest] = middle - difference;
      }
      return;
    case 4:
      for (int64_t k = 0; k < rest; ++k) {
        const Complex a = out[k], b = roots[k * stride] * out[k + rest];
        const Complex c = roots[2 * k * stride] * out[k + 2 * rest],
                      d = roots[3 * k * stride] * out[k + 3 * rest];
        const Complex even = a + c, odd = b + d, even_rest = a - c, odd_rest = turned(b - d);
        out[k] = even + odd;
        out[k + rest] = even_rest + odd_rest;
        out[k + 2 * rest] = even - odd;
        out[k + 3 * rest] = even_rest - odd_rest;
      }
      return;
    default:
      break;
  }
  const int64_t step = stride * rest;  // of the radix-th roots
  for (int64_t k = 0; k < rest; ++k) {
    for (int64_t q = 0; q < radix; ++q) scratch[q] = roots[q * k * stride] * out[k + q * rest];
    for (int64_t p = 0; p < radix; ++p) {
      Complex sum = scratch[0];
      for (int64_t q = 1, turn = 0; q < radix; ++q) {
        turn += p;
        if (turn >= radix) turn -= radix;
        sum = sum + roots[turn * step] * scratch[q];
      }
      out[k + p * rest] = sum;
    }
  }
}

void FftPlan::convolve(const Complex* in, Complex* out, Complex* scratch) const {
  const auto& [chirp, spectrum, cyclic] = *convolution_;
  Complex *padded = scratch, *product = scratch + cyclic->length(), *more = product + cyclic->length();
  for (size_t j = 0; j < chirp.size(); ++j) padded[j] = chirp[j] * in[j];
  std::fill(padded + length_, padded + cyclic->length(), Complex{});
  cyclic->transform(padded, product, more);
  // Back by the same transform of the conjugate.
  for (size_t j = 0; j < spectrum.size(); ++j) padded[j] = conjugate(spectrum[j] * product[j]);
  cyclic->transform(padded, product, more);
  for (size_t k = 0; k < chirp.size(); ++k) out[k] = chirp[k] * conjugate(product[k]);
}

}  // namespace hlosim
