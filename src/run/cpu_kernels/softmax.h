// Softmax of rows of f32 in one pass over memory: e^(x - largest) over the sum of these.
//
//   const float least = -INFINITY, zero = 0;
//   softmax(x, 128, rows, least, zero, out);       // out[r][i] = e[r][i] / (zero + Σ e[r][…])
#pragma once

#include <cstdint>

#include "base/cpu.h"

namespace hlosim {

/// Rows have a multiple of this many elements, up to kSoftmaxMost: those stay in the L1 cache.
inline constexpr int64_t kSoftmaxStep = 64, kSoftmaxMost = 4096;

/// For each row: m = maximum(least, x…), e = exponential(x - m), out = e / (init + Σ e), with the bits that
/// these give one after another (cpu_kernels/fold.h, cpu_kernels/element.h). `out` may be `in`; no other
/// overlap.
void softmax(const float* in, int64_t n, int64_t rows, float least, float init, float* out);

struct SoftmaxKernels {
  /// The rows before the first one with a NaN, and how many these are.
  int64_t (*of_numbers)(const float* in, int64_t n, int64_t rows, float least, float init, float* out);
};
HLOSIM_KERNEL_TABLE(SoftmaxKernels, kSoftmax)

}  // namespace hlosim
