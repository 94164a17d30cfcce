// What a kernel source must not hold; tools/check_isa has to find both.
namespace hlosim {

// An inline function is a weak symbol.
__attribute__((noinline)) inline float twice(float value) { return 2 * value; }

float planted(float value) { return twice(value); }

// Compiled for AVX2, outside the kernels' namespaces.
void planted(float* values, long n) {
  for (long i = 0; i < n; ++i) values[i] *= 2;
}

}  // namespace hlosim
