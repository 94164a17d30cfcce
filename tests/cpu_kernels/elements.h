// Elements of all types for tests of elementwise kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "base/cpu.h"
#include "cpu_kernels/element.h"

namespace hlosim {

inline std::vector<ElementType> all_types() {
  std::vector<ElementType> types;
  for (int i = 1; i < kElementTypeCount; ++i) types.push_back(static_cast<ElementType>(i));
  return types;
}

inline std::vector<ElementOp> all_ops() {
  std::vector<ElementOp> ops;
  for (int i = 0; i < kElementOpCount; ++i) ops.push_back(static_cast<ElementOp>(i));
  return ops;
}

inline std::vector<IsaLevel> supported_levels() {
  std::vector<IsaLevel> levels;
  for (const IsaLevel level : {IsaLevel::kV2, IsaLevel::kV3, IsaLevel::kV4})
    if (level <= supported_isa_level()) levels.push_back(level);
  return levels;
}

/// The code `bits` of a type of at most 64 bits as it lies in memory: integers narrower than a byte extended.
inline uint64_t stored_code(ElementType type, uint64_t bits) {
  const int width = bit_width(type);
  if (is_pred(type)) return bits & 1;
  if (width < 64) bits &= (uint64_t{1} << width) - 1;
  if (is_signed_integer(type) && width < 64 && (bits >> (width - 1) & 1) != 0) bits |= ~uint64_t{0} << width;
  return bits;
}

/// Any codes, among them many of special values.
inline std::vector<std::byte> random_elements(ElementType type, int64_t n, std::mt19937_64& random) {
  const ElementType part = type == ElementType::kC64    ? ElementType::kF32
                           : type == ElementType::kC128 ? ElementType::kF64
                                                        : type;
  const auto width = static_cast<size_t>(byte_width(part));
  const int64_t parts = is_complex(type) ? 2 * n : n;
  std::vector<std::byte> data(static_cast<size_t>(parts) * width);
  const uint64_t specials[] = {0,
                               1,
                               2,
                               0x3f800000,
                               0xbf800000,
                               0x7f800000,
                               0xff800000,
                               0x7fc00000,
                               0x80000000,
                               127,
                               128,
                               255,
                               ~uint64_t{0},
                               uint64_t{1} << 63,
                               0x7ff0000000000000,
                               0x3ff0000000000000,
                               0x7c00,
                               0xfc00,
                               0x3c00,
                               0x8000,
                               0x7f80,
                               0xff80,
                               0x3f80,
                               0x7fff,
                               0xffff};
  for (int64_t i = 0; i < parts; ++i) {
    uint64_t bits = random();
    if (random() % 4 == 0) bits = specials[random() % std::size(specials)];
    // Floats near 1, where functions aren't constant.
    if (random() % 2 == 0 && part == ElementType::kF32)
      bits = 0x3c000000 + bits % 0x8000000 + (bits & 0x80000000);
    if (random() % 2 == 0 && part == ElementType::kF64)
      bits = 0x3f80000000000000 + bits % 0x100000000000000 + (bits & uint64_t{1} << 63);
    bits = stored_code(part, bits);
    std::memcpy(data.data() + static_cast<size_t>(i) * width, &bits, width);
  }
  return data;
}

/// Is the code a NaN of `type`?
inline bool is_nan_code(ElementType type, uint64_t bits) {
  if (!is_float(type)) return false;
  if (type == ElementType::kF64) {
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return value != value;
  }
  const ElementKernel to_f32 = element_kernel(ElementOp::kConvert, type, ElementType::kF32);
  float value = 0;
  const void* const in[] = {&bits};
  to_f32.fn(&value, in, to_f32.immediate, 1);
  return value != value;
}

/// Equal codes, NaNs of any sign and payload being equal.
inline bool same_elements(ElementType type, const std::vector<std::byte>& a,
                          const std::vector<std::byte>& b) {
  const ElementType part = type == ElementType::kC64    ? ElementType::kF32
                           : type == ElementType::kC128 ? ElementType::kF64
                                                        : type;
  const auto width = static_cast<size_t>(byte_width(part));
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); i += width) {
    if (std::memcmp(a.data() + i, b.data() + i, width) == 0) continue;
    uint64_t x = 0, y = 0;
    std::memcpy(&x, a.data() + i, width);
    std::memcpy(&y, b.data() + i, width);
    if (!is_nan_code(part, x) || !is_nan_code(part, y)) return false;
  }
  return true;
}

/// Runs `kernel` on arrays of elements.
template <class R, class... T>
std::vector<R> run_kernel(const ElementKernel& kernel, const std::vector<T>&... operands) {
  const size_t counts[] = {operands.size()...};
  const void* const in[] = {operands.data()...};
  std::vector<R> out(counts[0]);
  kernel.fn(out.data(), in, kernel.immediate, static_cast<int64_t>(counts[0]));
  return out;
}

/// Equal, or both NaN.
template <class T>
bool same(T x, T y) {
  return (x != x && y != y) || std::memcmp(&x, &y, sizeof x) == 0;
}

}  // namespace hlosim
