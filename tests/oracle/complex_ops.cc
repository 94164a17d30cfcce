// Complex numbers: HLO leaves their infinities and NaNs free, and the rounding of parts that cancel.
#include <algorithm>
#include <cmath>

#include "oracle/elementwise.h"

namespace hlosim::test {
namespace {

constexpr double kFunctionUlps = 64;

bool is_moderate(ElementType type, Complex z) {
  const double limit = compute_type(type) == ElementType::kF64 ? 1e100 : 1e15;
  const auto fits = [&](double x) { return x == 0 || (std::fabs(x) < limit && std::fabs(x) > 1 / limit); };
  return std::isfinite(z.real()) && std::isfinite(z.imag()) && fits(z.real()) && fits(z.imag());
}

Element result_of(ElementType to, Complex value, double scale, double moved) {
  if (!is_moderate(to, value) || !(moved < kInfinity)) return kUnknown;
  return complex_element(to, value, kFunctionUlps * unit_roundoff(to) * scale + moved);
}

Complex function_value(Opcode opcode, Complex z, bool& known) {
  switch (opcode) {
    case Opcode::kExp:
      return std::exp(z);
    case Opcode::kExpm1:
      return std::exp(z) - 1.0;
    case Opcode::kLog:
      return std::log(z);
    case Opcode::kLog1p:
      return std::log(1.0 + z);
    case Opcode::kSqrt:
      return std::sqrt(z);
    case Opcode::kRsqrt:
      return 1.0 / std::sqrt(z);
    case Opcode::kTanh:
      return std::tanh(z);
    case Opcode::kLogistic:
      return 1.0 / (1.0 + std::exp(-z));
    case Opcode::kSin:
      return std::sin(z);
    case Opcode::kCos:
      return std::cos(z);
    case Opcode::kTan:
      return std::tan(z);
    case Opcode::kSinh:
      return std::sinh(z);
    case Opcode::kCosh:
      return std::cosh(z);
    case Opcode::kAsin:
      return std::asin(z);
    case Opcode::kAcos:
      return std::acos(z);
    case Opcode::kAsinh:
      return std::asinh(z);
    case Opcode::kAcosh:
      return std::acosh(z);
    case Opcode::kAtanh:
      return std::atanh(z);
    case Opcode::kSign:
      return z == 0.0 ? z : z / std::abs(z);
    default:
      known = false;
      return z;
  }
}

double moved_by(Opcode opcode, Complex z, double error, Complex center) {
  if (error == 0) return 0;
  double largest = 0;
  bool known = true;
  for (const double re : {-error, 0.0, error})
    for (const double im : {-error, 0.0, error})
      largest = std::max(largest, std::abs(function_value(opcode, z + Complex(re, im), known) - center));
  return std::isnan(largest) ? kInfinity : 1.5 * largest;
}

}  // namespace

std::optional<Element> complex_unary(Opcode opcode, ElementType from, ElementType to, const Element& x) {
  if (x.unknown()) return kUnknown;
  const Complex z = complex_of(from, x);
  const ElementType part = part_type(from);
  switch (opcode) {
    case Opcode::kReal:
      return convert_element(part, to, {x.bits, 0, x.error});
    case Opcode::kImag:
      return convert_element(part, to, {x.imaginary, 0, x.error});
    case Opcode::kNegate: {
      const Element negated = complex_element(from, -z, 0);
      return Element{negated.bits, negated.imaginary, std::max(x.error, negated.error)};
    }
    case Opcode::kAbs: {
      if (!std::isfinite(z.real()) || !std::isfinite(z.imag())) return kUnknown;
      const double magnitude = std::hypot(z.real(), z.imag());
      if (!is_moderate(from, z) && magnitude != 0) return kUnknown;
      return float_element(to, magnitude, kFunctionUlps * unit_roundoff(to) * magnitude + 2 * x.error);
    }
    default:
      break;
  }
  if (!is_moderate(from, z) || x.error > 0.05 * std::abs(z)) return kUnknown;
  bool known = true;
  const Complex value = function_value(opcode, z, known);
  if (!known) return std::nullopt;
  // Cancellation inside, as in exp(z) - 1 or log(1 + z), and branch cuts on the axes.
  const bool on_axis = z.real() == 0 || z.imag() == 0;
  if (on_axis && opcode != Opcode::kExp && opcode != Opcode::kSign) return kUnknown;
  const double pole = opcode == Opcode::kLogistic ? std::norm(value) : 0;  // 1 + exp(-z) cancels near it
  return result_of(to, value, std::abs(value) + 1 + std::abs(z) + pole * (1 + std::abs(z)),
                   moved_by(opcode, z, x.error, value));
}

std::optional<Element> complex_binary(Opcode opcode, ElementType type, const Element& a, const Element& b) {
  if (a.unknown() || b.unknown()) return kUnknown;
  const Complex x = complex_of(type, a), y = complex_of(type, b);
  const double size_x = std::abs(x), size_y = std::abs(y);
  if (opcode == Opcode::kAdd || opcode == Opcode::kSubtract) {
    const ElementType part = part_type(type);
    const auto re = float_binary(opcode, part, part, {a.bits, 0, a.error}, {b.bits, 0, b.error});
    const auto im = float_binary(opcode, part, part, {a.imaginary, 0, a.error}, {b.imaginary, 0, b.error});
    return Element{re->bits, im->bits, std::max(re->error, im->error)};
  }
  const bool moderate = is_moderate(type, x) && is_moderate(type, y);
  switch (opcode) {
    case Opcode::kMultiply: {
      if (!moderate) return kUnknown;
      double moved = 2 * (size_x * b.error + size_y * a.error + a.error * b.error);
      // The sign of a zero that is in doubt stays so, however small the other factor.
      if (a.error > 0 || b.error > 0) moved = std::max(moved, kTiny);
      return complex_element(type, x * y, 8 * unit_roundoff(type) * size_x * size_y + moved);
    }
    case Opcode::kDivide: {
      if (!moderate || size_y <= 2 * b.error || size_y == 0) return kUnknown;
      const Complex value = x / y;
      const double moved =
          2 * (a.error + std::abs(value) * b.error) / (size_y - 2 * std::min(b.error, size_y / 4));
      return result_of(type, value, std::abs(value), moved);
    }
    case Opcode::kPower: {
      if (!moderate || size_x == 0 || a.error > 0 || b.error > 0) return kUnknown;
      const Complex value = std::pow(x, y);
      return result_of(type, value, std::abs(value) * (1 + size_y * (std::fabs(std::log(size_x)) + 4)), 0);
    }
    case Opcode::kAtan2: {
      if (!moderate || a.error > 0 || b.error > 0) return kUnknown;
      const Complex sum = x * x + y * y;
      if (std::abs(sum) < 1e-2 * (size_x * size_x + size_y * size_y)) return kUnknown;
      const Complex value = Complex(0, -1) * std::log((y + Complex(0, 1) * x) / std::sqrt(sum));
      return result_of(type, value, 100 * (std::abs(value) + 1), 0);
    }
    default:
      return std::nullopt;
  }
}

}  // namespace hlosim::test
