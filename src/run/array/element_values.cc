#include "array/element_values.h"

#include <cstring>

#include "base/check.h"
#include "cpu_kernels/element.h"

namespace hlosim {
namespace {

/// Converts `count` elements from `begin` on.
void convert(ElementType from, const std::byte* data, int64_t begin, int64_t count, ElementType to,
             void* out) {
  const ElementKernel kernel = element_kernel(ElementOp::kConvert, from, to);
  HLOSIM_CHECK(kernel, "{} to {}", to_text(from), to_text(to));
  const void* const operands[] = {data + begin * byte_width(from)};
  kernel.fn(out, operands, kernel.immediate, count);
}

}  // namespace

FloatLimits float_limits(ElementType type) {
  switch (type) {
    case ElementType::kF4E2M1FN:
      return {1, 2};
    case ElementType::kF6E2M3FN:
      return {3, 2};
    case ElementType::kF6E3M2FN:
      return {2, 4};
    case ElementType::kF8E3M4:
      return {4, 3};
    case ElementType::kF8E4M3:
      return {3, 7};
    case ElementType::kF8E4M3B11FNUZ:
      return {3, 4};
    case ElementType::kF8E4M3FN:
      return {3, 8};
    case ElementType::kF8E4M3FNUZ:
      return {3, 7};
    case ElementType::kF8E5M2:
      return {2, 15};
    case ElementType::kF8E5M2FNUZ:
      return {2, 15};
    case ElementType::kF8E8M0FNU:
      return {0, 127};
    case ElementType::kF16:
      return {10, 15};
    case ElementType::kBF16:
      return {7, 127};
    case ElementType::kF32:
      return {23, 127};
    case ElementType::kF64:
      return {52, 1023};
    default:
      break;
  }
  HLOSIM_CHECK(false, "{} is not a float type", to_text(type));
}

void decode_floats(ElementType type, const std::byte* data, int64_t begin, int64_t count, double* out) {
  if (type == ElementType::kC64) return decode_floats(ElementType::kF32, data, 2 * begin, 2 * count, out);
  if (type == ElementType::kC128) return decode_floats(ElementType::kF64, data, 2 * begin, 2 * count, out);
  convert(type, data, begin, count, ElementType::kF64, out);
}

void decode_integers(ElementType type, const std::byte* data, int64_t begin, int64_t count, int64_t* out) {
  HLOSIM_CHECK(is_integer(type) || is_pred(type), "{}", to_text(type));
  convert(type, data, begin, count, ElementType::kS64, out);
}

uint64_t exact_bits(ElementType type, double value) {
  uint64_t bits = 0;
  convert(ElementType::kF64, reinterpret_cast<const std::byte*>(&value), 0, 1, type, &bits);
  return bits;
}

int64_t ordinal(ElementType type, uint64_t bits) {
  if (type == ElementType::kF8E8M0FNU) return static_cast<int64_t>(bits);
  const uint64_t sign_bit = uint64_t{1} << (bit_width(type) - 1);
  const auto magnitude = static_cast<int64_t>(bits & (sign_bit - 1));
  return (bits & sign_bit) != 0 ? -magnitude : magnitude;
}

}  // namespace hlosim
