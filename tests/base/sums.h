// A small kernel in three levels, for cpu_test.cc and the check of the compiled code.
#pragma once

#include <cstdint>

#include "base/cpu.h"

namespace hlosim {

struct SumKernels {
  /// out[i] = a[i] * b[i] + c[i], product and sum rounded separately.
  void (*multiply_add)(const float* a, const float* b, const float* c, float* out, int64_t n) = nullptr;
  int64_t (*sum)(const int32_t* values, int64_t n) = nullptr;
  /// Bytes of the vector registers that the level has.
  int vector_bytes = 0;
};

HLOSIM_KERNEL_TABLE(SumKernels, kSums)

}  // namespace hlosim
