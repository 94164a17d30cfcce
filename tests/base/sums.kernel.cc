#include "sums.h"

namespace hlosim::HLOSIM_ISA {
namespace {

void multiply_add(const float* a, const float* b, const float* c, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = a[i] * b[i] + c[i];
}

int64_t sum(const int32_t* values, int64_t n) {
  int64_t total = 0;
  for (int64_t i = 0; i < n; ++i) total += values[i];
  return total;
}

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

}  // namespace

const SumKernels kSums = {.multiply_add = multiply_add, .sum = sum, .vector_bytes = kVectorBytes};

}  // namespace hlosim::HLOSIM_ISA
