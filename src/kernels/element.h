// Elementwise arithmetic on dense arrays.
#pragma once

#include <cstdint>

#include "layout/element_type.h"

namespace hlosim {

/// Computes `n` result elements from `n` elements of each operand (up to 3, dense). `out` may be an operand's
/// pointer when the result's elements are as wide as the operand's or narrower.
using ElementFn = void (*)(void* out, const void* const in[], uint64_t immediate, int64_t n);

struct ElementKernel {
  ElementFn fn = nullptr;
  uint64_t immediate = 0;
  explicit operator bool() const { return fn != nullptr; }
};

}  // namespace hlosim
