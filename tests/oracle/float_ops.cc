// Floats. The error of a result is how far it moves when the operands move by theirs, plus the accuracy that
// functions without an exact definition are granted.
#include <algorithm>
#include <cmath>

#include "oracle/elementwise.h"

namespace hlosim::test {
namespace {

/// Units in the last place of the compute type that a function may be off.
constexpr double kFunctionUlps = 16;

struct Function {
  double (*of)(double) = nullptr;
  bool exact = false;     // correctly rounded everywhere
  bool periodic = false;  // corners do not bound it
};

double logistic(double x) { return 1 / (1 + std::exp(-x)); }
double reciprocal_root(double x) { return 1 / std::sqrt(x); }
double sign(double x) { return std::isnan(x) || x == 0 ? x : std::copysign(1.0, x); }
double round_even(double x) { return std::nearbyint(x); }

Function function_of(Opcode opcode) {
  switch (opcode) {
    case Opcode::kCeil:
      return {std::ceil, true};
    case Opcode::kFloor:
      return {std::floor, true};
    case Opcode::kRoundNearestAfz:
      return {std::round, true};
    case Opcode::kRoundNearestEven:
      return {round_even, true};
    case Opcode::kSign:
      return {sign, true};
    case Opcode::kSqrt:
      return {std::sqrt, true};
    case Opcode::kRsqrt:
      return {reciprocal_root};
    case Opcode::kCbrt:
      return {std::cbrt};
    case Opcode::kExp:
      return {std::exp};
    case Opcode::kExpm1:
      return {std::expm1};
    case Opcode::kLog:
      return {std::log};
    case Opcode::kLog1p:
      return {std::log1p};
    case Opcode::kTanh:
      return {std::tanh};
    case Opcode::kLogistic:
      return {logistic};
    case Opcode::kErf:
      return {std::erf};
    case Opcode::kSin:
      return {std::sin, false, true};
    case Opcode::kCos:
      return {std::cos, false, true};
    case Opcode::kTan:
      return {std::tan, false, true};
    case Opcode::kSinh:
      return {std::sinh};
    case Opcode::kCosh:
      return {std::cosh};
    case Opcode::kAcos:
      return {std::acos};
    case Opcode::kAsin:
      return {std::asin};
    case Opcode::kAcosh:
      return {std::acosh};
    case Opcode::kAsinh:
      return {std::asinh};
    case Opcode::kAtanh:
      return {std::atanh};
    default:
      return {};
  }
}

/// How far f may be from its value: infinite when it is finite here and not there.
double deviation(double center, std::initializer_list<double> others) {
  double largest = 0;
  for (const double other : others) {
    if (std::isnan(center) && std::isnan(other)) continue;
    if (center == other) {
      if (std::signbit(center) != std::signbit(other)) largest = std::max(largest, kTiny);
      continue;
    }
    if (!std::isfinite(center) || !std::isfinite(other)) return kInfinity;
    largest = std::max(largest, std::fabs(center - other) * 1.01);
  }
  return largest;
}

/// Accuracy granted to an inexact function whose right result is `value`.
double slack(ElementType type, double value) {
  if (!std::isfinite(value)) return 0;
  const double largest = compute_type(type) == ElementType::kF64
                             ? std::numeric_limits<double>::max()
                             : static_cast<double>(std::numeric_limits<float>::max());
  if (std::fabs(value) > largest) return 0;
  return kFunctionUlps * 2 * unit_roundoff(compute_type(type)) * std::fabs(value) + smallest_normal(type);
}

/// The result of a function that is exact where its operand is: bits where nothing is in doubt.
Element apply(ElementType from, ElementType to, const Function& function, const Element& x) {
  const double value = real_of(from, x), result = function.of(value);
  double error = function.exact ? 0 : slack(to, result);
  // Values at which every implementation is exact.
  if (value == 0 && (result == 0 || result == 1 || std::isinf(result))) error = 0;
  if (x.error > 0 && !std::isnan(value)) {
    if (function.periodic && (x.error > 0.1 || !std::isfinite(value))) return kUnknown;
    if (std::isnan(result)) return kUnknown;  // the domain may begin between the corners
    error += deviation(result, {function.of(value - x.error), function.of(value + x.error)});
  }
  return float_element(to, result, error);
}

Element is_finite(ElementType from, const Element& x) {
  const double value = real_of(from, x);
  const bool finite = std::isfinite(value);
  if (x.error > 0 && finite && !std::isfinite(real_of(from, float_element(from, std::fabs(value) + x.error))))
    return kUnknown;
  return {uint64_t{finite}, 0, 0};
}

Element with_sign(ElementType type, const Element& x, bool flip) {
  // Bits, so that NaN payloads and signs are those of the operand.
  if (type == ElementType::kF8E8M0FNU) return x;
  const double value = real_of(type, x);
  if (std::isnan(value)) {
    const uint64_t sign_bit = uint64_t{1} << (bit_width(type) - 1);
    const bool single_nan = type == ElementType::kF8E4M3FNUZ || type == ElementType::kF8E5M2FNUZ ||
                            type == ElementType::kF8E4M3B11FNUZ;
    if (single_nan) return x;
    return {flip ? x.bits ^ sign_bit : x.bits & ~sign_bit, 0, std::max(x.error, kTiny)};
  }
  Element result = float_element(type, flip ? -value : std::fabs(value));
  result.error = x.error;
  return result;
}

/// Value with a monotone or Lipschitz function of two numbers applied at the corners of what both may be.
template <class F>
Element at_corners(ElementType to, ElementType from, const Element& a, const Element& b, double extra,
                   F&& f) {
  const double x = real_of(from, a), y = real_of(from, b), value = f(x, y);
  double error = extra;
  if ((a.error > 0 && !std::isnan(x)) || (b.error > 0 && !std::isnan(y)))
    error += deviation(value, {f(x - a.error, y - b.error), f(x - a.error, y + b.error),
                               f(x + a.error, y - b.error), f(x + a.error, y + b.error)});
  return float_element(to, value, error);
}

Element divide(ElementType to, ElementType from, const Element& a, const Element& b) {
  const double y = real_of(from, b);
  if (b.error > 0 && std::fabs(y) <= b.error)
    return std::isnan(real_of(from, a)) ? float_element(to, NAN) : kUnknown;
  return at_corners(to, from, a, b, 0, [](double x, double z) { return x / z; });
}

Element remainder(ElementType to, ElementType from, const Element& a, const Element& b) {
  const double x = real_of(from, a), y = real_of(from, b);
  if (a.error > 0 || b.error > 0) {
    if (std::isnan(x) || std::isnan(y)) return float_element(to, NAN);
    if (std::fabs(y) <= b.error || !std::isfinite(x)) return kUnknown;
    const auto quotient = [&](double dx, double dy) { return std::trunc((x + dx) / (y + dy)); };
    const double q = std::trunc(x / y);
    for (const double dx : {-a.error, a.error})
      for (const double dy : {-b.error, b.error})
        if (quotient(dx, dy) != q || std::fabs(q) > 1e6) return kUnknown;
  }
  return at_corners(to, from, a, b, 0, [](double u, double v) { return std::fmod(u, v); });
}

/// max (direction 1) or min (-1): NaN wins, the first of equals.
Element extreme(ElementType from, const Element& a, const Element& b, int direction) {
  const double x = real_of(from, a), y = real_of(from, b);
  if (std::isnan(x) || std::isnan(y)) {
    const Element& nan = std::isnan(x) ? a : b;
    return {nan.bits, 0, std::max(nan.error, kTiny)};
  }
  const bool second = direction > 0 ? x < y : y < x;
  const Element& chosen = second ? b : a;
  const Element& other = second ? a : b;
  Element result = chosen;
  if (x == y && a.bits != b.bits) result.error = std::max(result.error, kTiny);
  const double gap = std::fabs(x - y);
  // The other one may win when their errors overlap.
  if (std::isfinite(gap) && gap <= a.error + b.error && a.error + b.error > 0)
    result.error = std::max({result.error, a.error, b.error, std::isinf(other.error) ? kInfinity : 0.0});
  if (a.unknown() || b.unknown()) result.error = kInfinity;
  return result;
}

Element arc_tangent(ElementType to, ElementType from, const Element& a, const Element& b) {
  const double y = real_of(from, a), x = real_of(from, b);
  if ((a.error > 0 || b.error > 0) && std::fabs(y) <= a.error && std::fabs(x) <= b.error) return kUnknown;
  const double value = std::atan2(y, x);
  const double extra = y == 0 && x >= 0 && !std::signbit(x) ? 0 : slack(to, value);
  return at_corners(to, from, a, b, extra, [](double u, double v) { return std::atan2(u, v); });
}

Element power(ElementType to, ElementType from, const Element& a, const Element& b) {
  const double x = real_of(from, a), y = real_of(from, b), value = std::pow(x, y);
  const bool certain = y == 0 || x == 1 || (x == 0 && !std::isnan(y));
  if (a.error > 0 && std::fabs(x) <= a.error) return kUnknown;
  if (b.error > 0 && x < 0) return kUnknown;  // whole exponents between the corners
  return at_corners(to, from, a, b, certain ? 0 : 4 * slack(to, value),
                    [](double u, double v) { return std::pow(u, v); });
}

}  // namespace

std::optional<Element> float_unary(Opcode opcode, ElementType from, ElementType to, const Element& x) {
  if (x.unknown()) return kUnknown;
  switch (opcode) {
    case Opcode::kIsFinite:
      return is_finite(from, x);
    case Opcode::kNegate:
    case Opcode::kAbs: {
      const Element result = with_sign(from, x, opcode == Opcode::kNegate);
      return from == to ? result : convert_element(from, to, result);
    }
    case Opcode::kReal:
      return convert_element(from, to, x);
    case Opcode::kImag:
      return float_element(to, 0);
    default:
      break;
  }
  const Function function = function_of(opcode);
  if (!function.of) return std::nullopt;
  return apply(from, to, function, x);
}

std::optional<Element> float_binary(Opcode opcode, ElementType from, ElementType to, const Element& a,
                                    const Element& b) {
  if (a.unknown() || b.unknown()) return kUnknown;
  const auto corners = [&](auto&& f) { return at_corners(to, from, a, b, 0, f); };
  switch (opcode) {
    case Opcode::kAdd:
      return corners([](double x, double y) { return x + y; });
    case Opcode::kSubtract:
      return corners([](double x, double y) { return x - y; });
    case Opcode::kMultiply:
      return corners([](double x, double y) { return x * y; });
    case Opcode::kDivide:
      return divide(to, from, a, b);
    case Opcode::kRemainder:
      return remainder(to, from, a, b);
    case Opcode::kMaximum:
      return convert_element(from, to, extreme(from, a, b, 1));
    case Opcode::kMinimum:
      return convert_element(from, to, extreme(from, a, b, -1));
    case Opcode::kAtan2:
      return arc_tangent(to, from, a, b);
    case Opcode::kPower:
      return power(to, from, a, b);
    default:
      return std::nullopt;
  }
}

}  // namespace hlosim::test
