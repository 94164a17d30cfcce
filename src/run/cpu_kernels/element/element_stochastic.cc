// stochastic-convert: rounds up with a probability equal to the fraction that truncation would drop.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "cpu_kernels/element/element_parts.h"

namespace hlosim {
namespace {

constexpr int64_t kStochasticChunk = 256;

/// `random` has `width` bits.
int64_t rounded(double x, uint64_t random, int width, int result_bits) {
  if (std::isnan(x)) return 0;
  const double end = std::ldexp(1.0, result_bits - 1);  // one more than the largest
  const int64_t most = static_cast<int64_t>((uint64_t{1} << (result_bits - 1)) - 1);
  if (x >= end) return most;
  if (x <= -end) return -most - 1;
  double whole = 0;
  const double fraction = std::modf(std::fabs(x), &whole);
  const auto threshold = static_cast<uint64_t>(std::ldexp(fraction, width));
  auto magnitude = static_cast<int64_t>(whole);
  if (random < threshold) {
    if (magnitude == most && x > 0) return most;
    ++magnitude;
  }
  return x < 0 ? -magnitude : magnitude;
}

void stochastic_convert(void* out, const void* const in[], uint64_t immediate, int64_t n) {
  const Packed packed(immediate);
  const auto from = static_cast<ElementType>(packed.first), to = static_cast<ElementType>(packed.second);
  const int64_t width = byte_width(from), result_width = byte_width(to);
  const ElementKernel to_f64 = element_kernel(packed.level, ElementOp::kConvert, from, ElementType::kF64);
  double values[kStochasticChunk];
  for (int64_t begin = 0; begin < n; begin += kStochasticChunk) {
    const int64_t count = std::min(n - begin, kStochasticChunk);
    const void* const source[] = {static_cast<const char*>(in[0]) + begin * width};
    to_f64.fn(values, source, to_f64.immediate, count);
    for (int64_t i = 0; i < count; ++i) {
      uint64_t random = 0;
      std::memcpy(&random, static_cast<const char*>(in[1]) + (begin + i) * width, static_cast<size_t>(width));
      const int64_t result = rounded(values[i], random, bit_width(from), bit_width(to));
      std::memcpy(static_cast<char*>(out) + (begin + i) * result_width, &result,
                  static_cast<size_t>(result_width));
    }
  }
}

}  // namespace

ElementKernel stochastic_convert_kernel(IsaLevel level, ElementType operand, ElementType result) {
  if (!is_float(operand) || !is_signed_integer(result)) return {};
  return {stochastic_convert, Packed::pack(operand, result, level)};
}

}  // namespace hlosim
