// Picks the C++ type of a matrix' elements while the program runs.
//
//   with_matrix_scalar(type, [&](auto zero) { solve<decltype(zero)>(...); });
#pragma once

#include <complex>

#include "base/check.h"
#include "layout/element_type.h"

namespace hlosim {

/// Calls `f` with a zero of f32, f64, c64 or c128; `type` is one of them.
template <class F>
void with_matrix_scalar(ElementType type, F&& f) {
  switch (type) {
    case ElementType::kF32:
      return f(float());
    case ElementType::kF64:
      return f(double());
    case ElementType::kC64:
      return f(std::complex<float>());
    case ElementType::kC128:
      return f(std::complex<double>());
    default:
      HLOSIM_CHECK(false, "matrices of {}", to_text(type));
  }
}

}  // namespace hlosim
