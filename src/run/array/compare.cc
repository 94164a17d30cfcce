#include "array/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "array/byte_packing.h"
#include "array/element_values.h"
#include "base/check.h"

namespace hlosim {
namespace {

constexpr int64_t kBlock = 1024;  // elements decoded at a time

/// What one element is found to be.
struct Difference {
  bool misplaced = false;
  double abs = 0;
  double magnitude = 0;  // of what is expected
  uint64_t ulps = 0;
};

void count_difference(Comparison& result, int64_t index, const Difference& difference, Tolerance tolerance) {
  ++result.different;
  if (result.first_different < 0) result.first_different = index;
  bool outside = difference.misplaced;
  if (difference.misplaced) {
    ++result.misplaced;
  } else {
    result.max_abs = std::max(result.max_abs, difference.abs);
    if (difference.magnitude > 0)
      result.max_rel = std::max(result.max_rel, difference.abs / difference.magnitude);
    result.max_ulps = std::max(result.max_ulps, difference.ulps);
    outside = !(difference.abs <= std::max(tolerance.abs, tolerance.rel * difference.magnitude));
  }
  if (!outside) return;
  ++result.outside;
  if (result.first_outside < 0) result.first_outside = index;
}

void compare_integers(const std::byte* actual, const std::byte* expected, ElementType type,
                      Tolerance tolerance, Comparison& result) {
  int64_t a[kBlock], e[kBlock];
  const bool wide_unsigned = type == ElementType::kU64;
  for (int64_t begin = 0; begin < result.count; begin += kBlock) {
    const int64_t count = std::min(kBlock, result.count - begin);
    decode_integers(type, actual, begin, count, a);
    decode_integers(type, expected, begin, count, e);
    for (int64_t i = 0; i < count; ++i) {
      if (a[i] == e[i]) continue;
      const auto ua = static_cast<uint64_t>(a[i]), ue = static_cast<uint64_t>(e[i]);
      Difference difference;
      difference.ulps = (wide_unsigned ? ua > ue : a[i] > e[i]) ? ua - ue : ue - ua;
      difference.abs = static_cast<double>(difference.ulps);
      difference.magnitude = wide_unsigned ? static_cast<double>(ue) : std::fabs(static_cast<double>(e[i]));
      count_difference(result, begin + i, difference, tolerance);
    }
  }
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

uint64_t bits_at(const std::byte* data, int64_t index, int64_t width) {
  uint64_t bits = 0;
  std::memcpy(&bits, data + index * width, static_cast<size_t>(width));
  return bits;
}

/// Floats have one part, complex numbers two.
struct Parts {
  ElementType type;
  int64_t per_element;
  int64_t width;
};

Parts parts_of(ElementType type) {
  if (type == ElementType::kC64) return {ElementType::kF32, 2, 4};
  if (type == ElementType::kC128) return {ElementType::kF64, 2, 8};
  return {type, 1, byte_width(type)};
}

/// The elements at `index`, whose parts have the values `a` and `e`.
Difference float_difference(const std::byte* actual, const std::byte* expected, int64_t index,
                            const double* a, const double* e, const Parts& parts) {
  Difference difference;
  double square = 0, expected_square = 0;
  for (int64_t p = 0; p < parts.per_element; ++p) {
    if (same(a[p], e[p]) && !std::isfinite(e[p])) continue;
    if (!std::isfinite(a[p]) || !std::isfinite(e[p])) {
      difference.misplaced = true;
      return difference;
    }
    square = std::hypot(square, a[p] - e[p]);
    expected_square = std::hypot(expected_square, e[p]);
    const int64_t at = index * parts.per_element + p;
    const int64_t from = ordinal(parts.type, bits_at(actual, at, parts.width));
    const int64_t to = ordinal(parts.type, bits_at(expected, at, parts.width));
    const uint64_t ulps = from > to ? static_cast<uint64_t>(from) - static_cast<uint64_t>(to)
                                    : static_cast<uint64_t>(to) - static_cast<uint64_t>(from);
    difference.ulps = std::max(difference.ulps, ulps);
  }
  difference.abs = square;
  difference.magnitude = expected_square;
  return difference;
}

void compare_floats(const std::byte* actual, const std::byte* expected, ElementType type, Tolerance tolerance,
                    Comparison& result) {
  const Parts parts = parts_of(type);
  double a[2 * kBlock], e[2 * kBlock];
  for (int64_t begin = 0; begin < result.count; begin += kBlock) {
    const int64_t count = std::min(kBlock, result.count - begin);
    decode_floats(type, actual, begin, count, a);
    decode_floats(type, expected, begin, count, e);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t first = i * parts.per_element;
      const bool equal =
          same(a[first], e[first]) && (parts.per_element == 1 || same(a[first + 1], e[first + 1]));
      if (equal) continue;
      const Difference difference =
          float_difference(actual, expected, begin + i, a + first, e + first, parts);
      count_difference(result, begin + i, difference, tolerance);
    }
  }
}

}  // namespace

Tolerance default_tolerance(ElementType type) {
  if (is_integer(type) || is_pred(type)) return {};
  double bound = 0;
  switch (type) {
    case ElementType::kF64:
    case ElementType::kC128:
      bound = 1e-9;
      break;
    case ElementType::kF32:
    case ElementType::kC64:
      bound = 2e-5;
      break;
    case ElementType::kF16:
      bound = 4e-3;
      break;
    case ElementType::kBF16:
      bound = 2e-2;
      break;
    default:
      bound = std::min(1.0, std::ldexp(1.0, 1 - float_limits(type).mantissa_bits));
  }
  return {bound, bound};
}

Comparison compare(const Array& actual, const Array& expected, Tolerance tolerance) {
  HLOSIM_CHECK(actual.type() == expected.type() &&
                   std::equal(actual.shape->dimensions.begin(), actual.shape->dimensions.end(),
                              expected.shape->dimensions.begin(), expected.shape->dimensions.end()),
               "{} and {}", to_text(actual.shape), to_text(expected.shape));
  Comparison result;
  const std::vector<int64_t> sizes = runtime_sizes(actual);
  result.sizes_differ = sizes != runtime_sizes(expected);
  if (result.sizes_differ) return result;
  result.count = 1;
  for (const int64_t size : sizes) result.count *= size;
  std::vector<std::byte> packed_actual, packed_expected;
  if (actual.sizes) packed_actual = pack(actual);
  if (expected.sizes) packed_expected = pack(expected);
  const std::byte* const a = actual.sizes ? packed_actual.data() : actual.bytes();
  const std::byte* const e = expected.sizes ? packed_expected.data() : expected.bytes();
  const ElementType type = actual.type();
  if (is_integer(type) || is_pred(type))
    compare_integers(a, e, type, tolerance, result);
  else
    compare_floats(a, e, type, tolerance, result);
  return result;
}

}  // namespace hlosim
