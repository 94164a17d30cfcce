// Values of the slow evaluator: every element with a bound on what another right evaluator may answer.
//
// An element is its bits and an error. Error 0: these bits are the only right ones. A finite error: any
// value no further away is right as well (sums in another order, functions within their accuracy).
// Infinite: HLO says nothing about it. Errors are carried through every operation, so that a value
// behind a sum is compared as loosely as the sum allows and no looser, and a comparison of two values
// that are closer than their errors is known to be undecided.
#pragma once

#include <complex>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "layout/shape.h"

namespace hlosim::test {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Error of a value that is right but for the sign of zero or the bits of NaN.
inline constexpr double kTiny = std::numeric_limits<double>::denorm_min();

/// bits: floats as their bits, signed integers sign-extended, the others zero-extended; pred 0 or 1.
/// imaginary: the second part of complex numbers. The error bounds both parts.
struct Element {
  uint64_t bits = 0;
  uint64_t imaginary = 0;
  double error = 0;

  bool unknown() const { return error == kInfinity; }
};
inline constexpr Element kUnknown{0, 0, kInfinity};

using Index = std::vector<int64_t>;
using Complex = std::complex<double>;

// ── elements as numbers ─────────────────────────────────────────

/// The type of a complex type's parts; any other type itself.
ElementType part_type(ElementType type);
/// What arithmetic on `type` computes in: f32 for narrower floats.
ElementType compute_type(ElementType type);
/// Half a unit in the last place of 1 in `type`.
double unit_roundoff(ElementType type);
/// Smallest normal number of the type that `type` computes in.
double smallest_normal(ElementType type);

/// Floats: the value; complex: the real part; integers and pred: converted.
double real_of(ElementType type, const Element& element);
Complex complex_of(ElementType type, const Element& element);
inline int64_t integer_of(const Element& element) { return static_cast<int64_t>(element.bits); }

/// `value` as bits of a float type: types below 32 bits go by way of f32.
uint64_t float_bits(ElementType type, double value);
/// `value` cut to the width of an integer type and extended again; != 0 for pred.
Element integer_element(ElementType type, uint64_t value);
/// A float, given that the value before rounding may be `error` off.
Element float_element(ElementType type, double value, double error = 0);
Element complex_element(ElementType type, Complex value, double error);
/// Bits of one element in memory, byte_width(type) bytes, and back.
void store_element(ElementType type, const Element& element, std::byte* to);
Element load_element(ElementType type, const std::byte* from);

// ── values ──────────────────────────────────────────────────────

struct Value;
using ValuePtr = std::shared_ptr<const Value>;

struct Value {
  ShapeRef shape = nullptr;
  std::vector<Element> data;       // of arrays: row-major by logical index, bounds of dynamic dimensions
  Index sizes;                     // of arrays: runtime sizes
  std::vector<ValuePtr> elements;  // of tuples

  ElementType type() const { return shape->element_type; }
  int64_t dim(int64_t i) const { return shape->dim(i); }
  int64_t rank() const { return shape->rank(); }
  bool is_dynamic() const;
  const Element& at(std::span<const int64_t> index) const { return data[static_cast<size_t>(place(index))]; }
  Element& at(std::span<const int64_t> index) { return data[static_cast<size_t>(place(index))]; }
  /// Row-major number of `index`.
  int64_t place(std::span<const int64_t> index) const;
  /// Element of an array of integers; what it is when unknown does not matter to the caller.
  int64_t integer(int64_t i = 0) const { return integer_of(data[static_cast<size_t>(i)]); }
  bool any_unknown() const;
};

/// Zeros of `shape`, tuples and tokens included.
std::shared_ptr<Value> zero_value(ShapeRef shape);
/// The same with every element unknown.
std::shared_ptr<Value> unknown_value(ShapeRef shape);

/// First index of an array, all zeros; false when the array is empty.
bool first_index(std::span<const int64_t> dimensions, Index& index);
/// Next index in row-major order; false behind the last.
bool next_index(std::span<const int64_t> dimensions, Index& index);

/// Calls f(index) for every index of `dimensions` in row-major order.
template <class F>
void for_each_index(std::span<const int64_t> dimensions, F&& f) {
  Index index;
  if (!first_index(dimensions, index)) return;
  do f(static_cast<const Index&>(index));
  while (next_index(dimensions, index));
}

// ── comparison ──────────────────────────────────────────────────

/// Is `other` a right answer where the evaluator says `element`? Ordinary NaNs are all alike.
bool agrees(ElementType type, const Element& element, const Element& other);
std::string text_of(ElementType type, const Element& element);

}  // namespace hlosim::test
