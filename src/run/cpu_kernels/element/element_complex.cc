// Complex numbers. Sums and products are those of the parts' type, everything else is computed in f64: c64
// has no overflow inside functions then.
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "cpu_kernels/element/element_parts.h"

namespace hlosim {
namespace {

using Complex = std::complex<double>;
constexpr double kInf = std::numeric_limits<double>::infinity();

// ── functions ───────────────────────────────────────────────────

Complex negate(Complex z) { return {-z.real(), -z.imag()}; }

Complex sign(Complex z) {
  const double magnitude = std::hypot(z.real(), z.imag());
  return magnitude == 0 ? Complex() : Complex(z.real() / magnitude, z.imag() / magnitude);
}

/// exp(x) · (cos y, sin y), as XLA computes it: an infinite angle has no direction, not even where exp(x) is
/// 0 (C's cexp has 0 there).
Complex exponential(Complex z) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  if (std::isinf(z.imag())) return {kNaN, kNaN};
  return std::exp(z);
}

Complex exp_minus_one(Complex z) {
  const double x = z.real(), y = z.imag();
  if (!(std::fabs(x) < 1)) return std::exp(z) - 1.0;
  const double half = std::sin(y / 2);
  return {std::expm1(x) * std::cos(y) - 2 * half * half, std::exp(x) * std::sin(y)};
}

/// |1 + z|² - 1 = x(2 + x) + y², with the rounding errors of its terms: near 0 they cancel.
double excess_of_square(double x, double y) {
  const double xx = x * x, yy = y * y, linear = 2 * x;
  const double first = linear + xx, second = first + yy;
  const auto lost = [](double a, double b, double sum) {
    const double part = sum - a;
    return (a - (sum - part)) + (b - part);
  };
  return second +
         (lost(linear, xx, first) + lost(first, yy, second) + std::fma(x, x, -xx) + std::fma(y, y, -yy));
}

Complex log_plus_one(Complex z) {
  constexpr double kNear = 4;      // up to there squares are far from overflow
  constexpr double kFar = 0x1p60;  // from there on 1 is nothing
  const double x = z.real(), y = z.imag(), size = std::max(std::fabs(x), std::fabs(y));
  if (size > kFar) return std::log(z);
  const double excess = size < kNear ? excess_of_square(x, y) : -1;
  const double real = excess > -0.5 ? 0.5 * std::log1p(excess) : std::log(std::hypot(1 + x, y));
  return {real, std::atan2(y, 1 + x)};
}

Complex logistic(Complex z) {
  if (z.real() < 0) {
    const Complex e = std::exp(z);
    return e / (1.0 + e);
  }
  return 1.0 / (1.0 + std::exp(-z));
}

Complex power(Complex x, Complex y) {
  if (y == 0.0) return 1.0;
  if (x == 0.0 && y.real() > 0) return 0.0;
  if (x.real() == kInf && x.imag() == 0 && y.imag() == 0 && y.real() > 0) return x;
  return std::pow(x, y);
}

Complex cbrt(Complex z) { return power(z, 1.0 / 3.0); }
Complex rsqrt(Complex z) { return 1.0 / std::sqrt(z); }
Complex divide(Complex x, Complex y) { return x / y; }

/// -i log((x + iy) / sqrt(x² + y²)).
Complex atan2(Complex y, Complex x) {
  constexpr Complex kI(0, 1);
  const Complex logarithm = std::log((x + kI * y) / std::sqrt(x * x + y * y));
  return {logarithm.imag(), -logarithm.real()};
}

// ── loops; T is the type of the parts ───────────────────────────

template <class T>
Complex at(const void* array, int64_t i) {
  const T* const parts = static_cast<const T*>(array) + 2 * i;
  return {parts[0], parts[1]};
}
template <class T>
void put(void* array, int64_t i, Complex z) {
  T* const parts = static_cast<T*>(array) + 2 * i;
  parts[0] = static_cast<T>(z.real());
  parts[1] = static_cast<T>(z.imag());
}

template <class T, Complex (*F)(Complex)>
void function(void* out, const void* const in[], uint64_t, int64_t n) {
  for (int64_t i = 0; i < n; ++i) put<T>(out, i, F(at<T>(in[0], i)));
}
template <class T, Complex (*F)(const Complex&)>
void function(void* out, const void* const in[], uint64_t, int64_t n) {
  for (int64_t i = 0; i < n; ++i) put<T>(out, i, F(at<T>(in[0], i)));
}
template <class T, Complex (*F)(Complex, Complex)>
void function(void* out, const void* const in[], uint64_t, int64_t n) {
  for (int64_t i = 0; i < n; ++i) put<T>(out, i, F(at<T>(in[0], i), at<T>(in[1], i)));
}

/// Part by part.
template <class T, T (*F)(T, T)>
void by_parts(void* out, const void* const in[], uint64_t, int64_t n) {
  T* const o = static_cast<T*>(out);
  const T *const a = static_cast<const T*>(in[0]), *const b = static_cast<const T*>(in[1]);
  for (int64_t i = 0; i < 2 * n; ++i) o[i] = F(a[i], b[i]);
}
template <class T>
T sum(T x, T y) {
  return x + y;
}
template <class T>
T difference(T x, T y) {
  return x - y;
}

template <class T>
void multiply(void* out, const void* const in[], uint64_t, int64_t n) {
  T* const o = static_cast<T*>(out);
  const T *const a = static_cast<const T*>(in[0]), *const b = static_cast<const T*>(in[1]);
  for (int64_t i = 0; i < 2 * n; i += 2) {
    const T re = a[i] * b[i] - a[i + 1] * b[i + 1], im = a[i] * b[i + 1] + a[i + 1] * b[i];
    o[i] = re;
    o[i + 1] = im;
  }
}

template <class T, bool kEqual>
void compare(void* out, const void* const in[], uint64_t, int64_t n) {
  auto* const o = static_cast<uint8_t*>(out);
  for (int64_t i = 0; i < n; ++i) o[i] = (at<T>(in[0], i) == at<T>(in[1], i)) == kEqual;
}

template <class T>
void magnitude(void* out, const void* const in[], uint64_t, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const Complex z = at<T>(in[0], i);
    static_cast<T*>(out)[i] = static_cast<T>(std::hypot(z.real(), z.imag()));
  }
}
template <class T, int kPart>
void part(void* out, const void* const in[], uint64_t, int64_t n) {
  for (int64_t i = 0; i < n; ++i) static_cast<T*>(out)[i] = static_cast<const T*>(in[0])[2 * i + kPart];
}
template <class T>
void compose(void* out, const void* const in[], uint64_t, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    put<T>(out, i, {static_cast<const T*>(in[0])[i], static_cast<const T*>(in[1])[i]});
}

template <class T>
ElementFn trigonometric(ElementOp op) {
  switch (op) {
    case ElementOp::kSin:
      return function<T, std::sin>;
    case ElementOp::kCos:
      return function<T, std::cos>;
    case ElementOp::kTan:
      return function<T, std::tan>;
    case ElementOp::kAsin:
      return function<T, std::asin>;
    case ElementOp::kAcos:
      return function<T, std::acos>;
    case ElementOp::kSinh:
      return function<T, std::sinh>;
    case ElementOp::kCosh:
      return function<T, std::cosh>;
    case ElementOp::kTanh:
      return function<T, std::tanh>;
    case ElementOp::kAsinh:
      return function<T, std::asinh>;
    case ElementOp::kAcosh:
      return function<T, std::acosh>;
    case ElementOp::kAtanh:
      return function<T, std::atanh>;
    default:
      return nullptr;
  }
}

template <class T>
ElementFn same_type(ElementOp op) {
  switch (op) {
    case ElementOp::kNegate:
      return function<T, negate>;
    case ElementOp::kSign:
      return function<T, sign>;
    case ElementOp::kExp:
      return function<T, exponential>;
    case ElementOp::kExpMinusOne:
      return function<T, exp_minus_one>;
    case ElementOp::kLog:
      return function<T, std::log>;
    case ElementOp::kLogPlusOne:
      return function<T, log_plus_one>;
    case ElementOp::kLogistic:
      return function<T, logistic>;
    case ElementOp::kSqrt:
      return function<T, std::sqrt>;
    case ElementOp::kRsqrt:
      return function<T, rsqrt>;
    case ElementOp::kCbrt:
      return function<T, cbrt>;
    case ElementOp::kAdd:
      return by_parts<T, sum>;
    case ElementOp::kSubtract:
      return by_parts<T, difference>;
    case ElementOp::kMultiply:
      return multiply<T>;
    case ElementOp::kDivide:
      return function<T, divide>;
    case ElementOp::kPower:
      return function<T, power>;
    case ElementOp::kAtan2:
      return function<T, atan2>;
    default:
      return trigonometric<T>(op);
  }
}

template <class T>
ElementFn kernel_of(ElementOp op, ElementType operand, ElementType result, ElementType whole,
                    ElementType part_type) {
  if (op == ElementOp::kComplex) return operand == part_type && result == whole ? compose<T> : nullptr;
  if (operand != whole) return nullptr;
  if (result == whole) return same_type<T>(op);
  if (result == ElementType::kPred)
    return op == ElementOp::kEqual      ? compare<T, true>
           : op == ElementOp::kNotEqual ? compare<T, false>
                                        : nullptr;
  if (result != part_type) return nullptr;
  switch (op) {
    case ElementOp::kAbs:
      return magnitude<T>;
    case ElementOp::kReal:
      return part<T, 0>;
    case ElementOp::kImag:
      return part<T, 1>;
    default:
      return nullptr;
  }
}

// ── conversions ─────────────────────────────────────────────────

ElementType part_type(ElementType type) {
  return type == ElementType::kC64    ? ElementType::kF32
         : type == ElementType::kC128 ? ElementType::kF64
                                      : type;
}

/// Parts become parts; a real number's imaginary part is 0, and of a complex one the real part is taken.
void convert(void* out, const void* const in[], uint64_t immediate, int64_t n) {
  const Packed packed(immediate);
  const auto from = static_cast<ElementType>(packed.first), to = static_cast<ElementType>(packed.second);
  const ElementType from_part = part_type(from), to_part = part_type(to);
  const ElementKernel kernel = element_kernel(packed.level, ElementOp::kConvert, from_part, to_part);
  const int64_t from_bytes = byte_width(from_part), to_bytes = byte_width(to_part);
  if (is_complex(from) && is_complex(to)) return kernel.fn(out, in, kernel.immediate, 2 * n);
  constexpr int64_t kChunk = 256;
  alignas(16) char chunk[kChunk * sizeof(double)];
  for (int64_t begin = 0; begin < n; begin += kChunk) {
    const int64_t count = std::min(n - begin, kChunk);
    if (is_complex(from)) {
      const void* const source[] = {static_cast<const char*>(in[0]) + 2 * begin * from_bytes};
      (from == ElementType::kC64 ? part<float, 0> : part<double, 0>)(chunk, source, 0, count);
      const void* const parts[] = {chunk};
      kernel.fn(static_cast<char*>(out) + begin * to_bytes, parts, kernel.immediate, count);
    } else {
      const void* const source[] = {static_cast<const char*>(in[0]) + begin * from_bytes};
      kernel.fn(chunk, source, kernel.immediate, count);
      static const double kZeros[kChunk] = {};
      const void* const parts[] = {chunk, kZeros};
      (to == ElementType::kC64
           ? compose<float>
           : compose<double>)(static_cast<char*>(out) + 2 * begin * to_bytes, parts, 0, count);
    }
  }
}

}  // namespace

ElementFn complex_kernel(ElementOp op, ElementType operand, ElementType result) {
  const ElementFn single = kernel_of<float>(op, operand, result, ElementType::kC64, ElementType::kF32);
  return single != nullptr ? single
                           : kernel_of<double>(op, operand, result, ElementType::kC128, ElementType::kF64);
}

ElementKernel complex_conversion(IsaLevel level, ElementType operand, ElementType result) {
  return {convert, Packed::pack(operand, result, level)};
}

}  // namespace hlosim
