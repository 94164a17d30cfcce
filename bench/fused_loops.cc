#include "fused_loops.h"

namespace hlosim {
namespace {

// A rational approximation on [-8, 8], beyond which tanh is ±1 in f32.
inline float tanh_of(float x) {
  x = x < -8.0f ? -8.0f : x > 8.0f ? 8.0f : x;
  const float s = x * x;
  float p = -2.76076847742355e-16f;
  p = p * s + 2.00018790482477e-13f;
  p = p * s + -8.60467152213735e-11f;
  p = p * s + 5.12229709037114e-08f;
  p = p * s + 1.48572235717979e-05f;
  p = p * s + 6.37261928875436e-04f;
  p = p * s + 4.89352455891786e-03f;
  float q = 1.19825839466702e-06f;
  q = q * s + 1.18534705686654e-04f;
  q = q * s + 2.26843463243900e-03f;
  q = q * s + 4.89352518554385e-03f;
  return x * p / q;
}

}  // namespace

void multiply_add_loop(const float* a, const float* b, const float* c, float* out, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) out[i] = a[i] * b[i] + c[i];
}

void three_operations_loop(const float* a, const float* b, const float* c, float* out, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const float sum = a[i] * b[i] + c[i];
    out[i] = sum > c[i] ? sum : c[i];
  }
}

void gelu_loop(const float* x, float* out, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const float v = x[i];
    out[i] = 0.5f * v * (1.0f + tanh_of(0.7978845608f * (v + 0.044715f * v * v * v)));
  }
}

}  // namespace hlosim
