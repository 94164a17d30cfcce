// Discrete Fourier transforms of any length, in double.
//
//   const FftPlan plan(12);
//   std::vector<ComplexDouble> out(12), scratch(static_cast<size_t>(plan.scratch_size()));
//   plan.transform(in, out.data(), scratch.data());
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace hlosim {

struct ComplexDouble {
  double re = 0, im = 0;
};

/// Everything that transforms of one length have in common. Lengths whose prime factors are small are done by
/// mixed radices, others as a convolution (Bluestein): O(n log n) in any case, relative error about 1e-15 ·
/// log n.
class FftPlan {
 public:
  explicit FftPlan(int64_t length);  // Requires: length ≥ 1
  ~FftPlan();
  FftPlan(FftPlan&&) noexcept;

  int64_t length() const { return length_; }
  /// Elements of scratch memory that transform() needs.
  int64_t scratch_size() const;

  /// out[k] = Σ in[j]·exp(-2πi·jk/n). `in`, `out` and `scratch` don't overlap.
  void transform(const ComplexDouble* in, ComplexDouble* out, ComplexDouble* scratch) const;

 private:
  struct Stage {
    int64_t radix, rest;  // a transform of radix·rest elements from `radix` ones of `rest`
  };
  struct Convolution;
  void stages(ComplexDouble* out, const ComplexDouble* in, int64_t stride, size_t stage,
              ComplexDouble* scratch) const;
  void combine(ComplexDouble* out, int64_t stride, const Stage& stage, ComplexDouble* scratch) const;
  void convolve(const ComplexDouble* in, ComplexDouble* out, ComplexDouble* scratch) const;

  int64_t length_;
  std::vector<Stage> stages_;
  std::vector<ComplexDouble> roots_;          // exp(-2πi·k/n)
  std::unique_ptr<Convolution> convolution_;  // for lengths with a large prime factor
};

}  // namespace hlosim
