#include "array/arguments.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "array/element_values.h"
#include "base/check.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

constexpr uint64_t kGoldenGamma = 0x9e3779b97f4a7c15;
constexpr int64_t kGrain = 1 << 14;  // elements that are worth a task

uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/// Output `index` of SplitMix64 from `state`.
uint64_t output(uint64_t state, int64_t index) {
  return mix(state + (static_cast<uint64_t>(index) + 1) * kGoldenGamma);
}

/// Integers are below this power of two.
int index_bits(ElementType type) {
  const int magnitude_bits = bit_width(type) - (is_signed_integer(type) ? 1 : 0);
  return is_pred(type) ? 1 : std::min(3, magnitude_bits);
}

/// Element values by the leading bits of a random number, for types of at most 16 bits.
std::vector<uint16_t> random_values(ElementType type) {
  const bool powers = type == ElementType::kF8E8M0FNU;
  const int precision = powers ? 2 : float_limits(type).mantissa_bits + 1;
  std::vector<uint16_t> values(size_t{1} << precision);
  for (size_t k = 0; k < values.size(); ++k) {
    const double value = powers ? std::ldexp(1.0, -static_cast<int>(k))
                                : std::ldexp(static_cast<double>(k), 1 - precision) - 1.0;
    values[k] = static_cast<uint16_t>(exact_bits(type, value));
  }
  return values;
}

/// The values that iota goes through again and again.
std::vector<uint16_t> iota_values(ElementType type) {
  const bool powers = type == ElementType::kF8E8M0FNU;
  const FloatLimits limits = float_limits(type);
  const int bits = powers ? 3 : std::min(limits.mantissa_bits, limits.largest_exponent) + 1;
  std::vector<uint16_t> values(size_t{1} << bits);
  for (size_t k = 0; k < values.size(); ++k)
    values[k] = static_cast<uint16_t>(
        exact_bits(type, powers ? std::ldexp(1.0, static_cast<int>(k)) : static_cast<double>(k)));
  return values;
}

ElementType part_type(ElementType type) {
  if (type == ElementType::kC64) return ElementType::kF32;
  return type == ElementType::kC128 ? ElementType::kF64 : type;
}

/// Element i = value_of(i).
template <class T, class F>
void fill(std::byte* data, int64_t count, F&& value_of) {
  parallel_for(count, kGrain, [&](int64_t begin, int64_t end) {
    T* const out = reinterpret_cast<T*>(data);
    for (int64_t i = begin; i < end; ++i) out[i] = static_cast<T>(value_of(i));
  });
}

/// The low bits of bits_of(i), as many as an element of `type` has.
template <class F>
void fill_bits(std::byte* data, int64_t count, ElementType type, F&& bits_of) {
  switch (byte_width(type)) {
    case 1:
      return fill<uint8_t>(data, count, bits_of);
    case 2:
      return fill<uint16_t>(data, count, bits_of);
    case 4:
      return fill<uint32_t>(data, count, bits_of);
    default:
      return fill<uint64_t>(data, count, bits_of);
  }
}

}  // namespace

Array random_array(ShapeRef shape, uint64_t seed, uint64_t stream, MemoryPool& pool) {
  Array array = make_array(pool, shape);
  const uint64_t state = mix(seed) ^ mix(stream + (uint64_t{1} << 63));
  const ElementType type = part_type(shape->element_type);
  const int64_t count = shape->element_count() * (is_complex(shape->element_type) ? 2 : 1);
  std::byte* const data = array.bytes();
  if (type == ElementType::kF32) {
    fill<float>(data, count,
                [&](int64_t i) { return static_cast<float>(output(state, i) >> 40) * 0x1p-23F - 1.0F; });
  } else if (type == ElementType::kF64) {
    fill<double>(data, count,
                 [&](int64_t i) { return static_cast<double>(output(state, i) >> 11) * 0x1p-52 - 1.0; });
  } else if (is_float(type)) {
    const std::vector<uint16_t> values = random_values(type);
    const int shift = 65 - std::bit_width(values.size());
    fill_bits(data, count, type, [&](int64_t i) { return values[output(state, i) >> shift]; });
  } else {
    const int bits = index_bits(type);
    fill_bits(data, count, type, [&](int64_t i) { return bits == 0 ? 0 : output(state, i) >> (64 - bits); });
  }
  return array;
}

Array zero_array(ShapeRef shape, MemoryPool& pool) {
  Array array = make_array(pool, shape);
  if (const int64_t bytes = data_bytes(shape); bytes > 0)
    std::memset(array.bytes(), 0, static_cast<size_t>(bytes));
  return array;
}

Array iota_array(ShapeRef shape, MemoryPool& pool) {
  Array array = make_array(pool, shape);
  const ElementType type = part_type(shape->element_type);
  const int64_t parts = is_complex(shape->element_type) ? 2 : 1;
  const int64_t count = shape->element_count() * parts;
  std::byte* const data = array.bytes();
  if (type == ElementType::kF32) {
    fill<float>(data, count,
                [&](int64_t i) { return i % parts != 0 ? 0.0F : static_cast<float>(i / parts & 0xffffff); });
  } else if (type == ElementType::kF64) {
    fill<double>(data, count,
                 [&](int64_t i) { return i % parts != 0 ? 0.0 : static_cast<double>(i / parts); });
  } else if (is_float(type)) {
    const std::vector<uint16_t> values = iota_values(type);
    fill_bits(data, count, type,
              [&](int64_t i) { return values[static_cast<size_t>(i) & (values.size() - 1)]; });
  } else {
    const int bits = is_pred(type) ? 1 : bit_width(type) - (is_signed_integer(type) ? 1 : 0);
    const uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
    fill_bits(data, count, type, [&](int64_t i) { return static_cast<uint64_t>(i) & mask; });
  }
  return array;
}

Array argument_array(ArgumentKind kind, ShapeRef shape, uint64_t seed, uint64_t stream, MemoryPool& pool) {
  switch (kind) {
    case ArgumentKind::kRandom:
      return random_array(shape, seed, stream, pool);
    case ArgumentKind::kZeros:
      return zero_array(shape, pool);
    case ArgumentKind::kIota:
      return iota_array(shape, pool);
  }
  HLOSIM_CHECK(false, "argument kind {}", static_cast<int>(kind));
}

}  // namespace hlosim
