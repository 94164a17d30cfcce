// Fusions written by hand as one loop each, and compiled for this machine: what a compiler would make of
// them.
#pragma once

#include <cstdint>

namespace hlosim {

/// out = a·b + c
void multiply_add_loop(const float* a, const float* b, const float* c, float* out, int64_t n);
/// out = max(a·b + c, c)
void three_operations_loop(const float* a, const float* b, const float* c, float* out, int64_t n);
/// out = ½ x (1 + tanh(√(2/π) (x + 0.044715 x³)))
void gelu_loop(const float* x, float* out, int64_t n);

}  // namespace hlosim
