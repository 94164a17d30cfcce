// Functions of f64: the C library's, which are within an ulp.
#include <cmath>

#include "cpu_kernels/element/element_parts.h"

namespace hlosim {
namespace {

double logistic(double x) {
  const double e = std::exp(-std::fabs(x));  // no overflow on either side
  return (x < 0 ? e : 1.0) / (1.0 + e);
}

/// The library's own for f64 is off by an ulp for numbers as simple as 27.
double cube_root(double x) { return static_cast<double>(std::cbrt(static_cast<long double>(x))); }

template <double (*F)(double)>
void function(void* out, const void* const in[], uint64_t, int64_t n) {
  auto* const o = static_cast<double*>(out);
  const auto* const a = static_cast<const double*>(in[0]);
  for (int64_t i = 0; i < n; ++i) o[i] = F(a[i]);
}
template <double (*F)(double, double)>
void function(void* out, const void* const in[], uint64_t, int64_t n) {
  auto* const o = static_cast<double*>(out);
  const auto* const a = static_cast<const double*>(in[0]);
  const auto* const b = static_cast<const double*>(in[1]);
  for (int64_t i = 0; i < n; ++i) o[i] = F(a[i], b[i]);
}

}  // namespace

ElementFn f64_function(ElementOp op) {
  switch (op) {
    case ElementOp::kExp:
      return function<std::exp>;
    case ElementOp::kExpMinusOne:
      return function<std::expm1>;
    case ElementOp::kLog:
      return function<std::log>;
    case ElementOp::kLogPlusOne:
      return function<std::log1p>;
    case ElementOp::kLogistic:
      return function<logistic>;
    case ElementOp::kErf:
      return function<std::erf>;
    case ElementOp::kCbrt:
      return function<cube_root>;
    case ElementOp::kSin:
      return function<std::sin>;
    case ElementOp::kCos:
      return function<std::cos>;
    case ElementOp::kTan:
      return function<std::tan>;
    case ElementOp::kAsin:
      return function<std::asin>;
    case ElementOp::kAcos:
      return function<std::acos>;
    case ElementOp::kSinh:
      return function<std::sinh>;
    case ElementOp::kCosh:
      return function<std::cosh>;
    case ElementOp::kTanh:
      return function<std::tanh>;
    case ElementOp::kAsinh:
      return function<std::asinh>;
    case ElementOp::kAcosh:
      return function<std::acosh>;
    case ElementOp::kAtanh:
      return function<std::atanh>;
    case ElementOp::kPower:
      return function<std::pow>;
    case ElementOp::kAtan2:
      return function<std::atan2>;
    case ElementOp::kRemainder:
      return function<std::fmod>;
    default:
      return nullptr;
  }
}

}  // namespace hlosim
