// Integers of 1, 2 and 4 bits. They lie in bytes, extended; bytes are computed with and the result is cut to
// the width again. Shifts and counts of bits see the operands without the extension.
#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "cpu_kernels/element/element_parts.h"

namespace hlosim {
namespace {

constexpr int64_t kNarrowChunk = 256;

/// The low `bits` bits, extended.
int8_t cut(int8_t x, int bits, bool extends_sign) {
  const int up = 8 - bits;
  const auto shifted = static_cast<uint8_t>(static_cast<uint8_t>(x) << up);
  return static_cast<int8_t>(extends_sign ? static_cast<int8_t>(shifted) >> up : shifted >> up);
}
void cut_all(int8_t* x, int64_t n, int bits, bool extends_sign) {
  for (int64_t i = 0; i < n; ++i) x[i] = cut(x[i], bits, extends_sign);
}

const ElementTable& byte_table(IsaLevel level, bool of_signed) {
  return of_signed ? HLOSIM_PICK_KERNELS(level, kS8Elements) : HLOSIM_PICK_KERNELS(level, kU8Elements);
}

void narrow(void* out, const void* const in[], uint64_t immediate, int64_t n) {
  const Packed packed(immediate);
  const auto op = static_cast<ElementOp>(packed.first);
  const auto type = static_cast<ElementType>(packed.second);
  const int bits = bit_width(type);
  const bool has_sign = is_signed_integer(type);
  const bool counts = op == ElementOp::kPopulationCount || op == ElementOp::kCountLeadingZeros;
  const bool shifts = op == ElementOp::kShiftLeft || op == ElementOp::kShiftRightLogical ||
                      op == ElementOp::kShiftRightArithmetic;
  const bool arithmetic_shift = op == ElementOp::kShiftRightArithmetic;
  const ElementFn fn = byte_table(packed.level, shifts || counts ? arithmetic_shift : has_sign)[op];
  int8_t chunk[3][kNarrowChunk];
  const void* const chunks[] = {chunk[0], chunk[1], chunk[2]};
  for (int64_t begin = 0; begin < n; begin += kNarrowChunk) {
    const int64_t count = std::min(n - begin, kNarrowChunk);
    for (int j = 0; j < operand_count(op); ++j) {
      std::memcpy(chunk[j], static_cast<const char*>(in[j]) + begin, static_cast<size_t>(count));
      if (shifts || counts) cut_all(chunk[j], count, bits, arithmetic_shift && j == 0);
    }
    auto* const result = static_cast<int8_t*>(out) + begin;
    if (op == ElementOp::kMulhi) {
      for (int64_t i = 0; i < count; ++i) result[i] = static_cast<int8_t>(chunk[0][i] * chunk[1][i] >> bits);
    } else {
      fn(result, chunks, 0, count);
    }
    if (op == ElementOp::kCountLeadingZeros)
      for (int64_t i = 0; i < count; ++i) result[i] = static_cast<int8_t>(result[i] - (8 - bits));
    if (!is_comparison(op)) cut_all(result, count, bits, has_sign);
  }
}

/// Conversion to s8 or u8, and then the low bits of an integer, the nearest value of a float.
void to_narrow(void* out, const void* const in[], uint64_t immediate, int64_t n) {
  const Packed packed(immediate);
  const auto from = static_cast<ElementType>(packed.first), to = static_cast<ElementType>(packed.second);
  const int bits = bit_width(to);
  const bool has_sign = is_signed_integer(to);
  const ElementType byte = has_sign ? ElementType::kS8 : ElementType::kU8;
  const ElementKernel to_byte = element_kernel(packed.level, ElementOp::kConvert, from, byte);
  to_byte.fn(out, in, to_byte.immediate, n);
  auto* const result = static_cast<int8_t*>(out);
  if (!is_float(from)) return cut_all(result, n, bits, has_sign);
  const int least = has_sign ? -(1 << (bits - 1)) : 0,
            most = has_sign ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
  for (int64_t i = 0; i < n; ++i) {
    const int value = has_sign ? int{result[i]} : int{static_cast<uint8_t>(result[i])};
    result[i] = static_cast<int8_t>(std::clamp(value, least, most));
  }
}

}  // namespace

ElementKernel narrow_kernel(IsaLevel level, ElementOp op, ElementType operand) {
  if (byte_table(level, true)[op] == nullptr) return {};
  return {narrow, Packed::pack(op, operand, level)};
}

ElementKernel narrow_conversion(IsaLevel level, ElementType operand, ElementType result) {
  return {to_narrow, Packed::pack(operand, result, level)};
}

}  // namespace hlosim
