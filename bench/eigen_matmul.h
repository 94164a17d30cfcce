// What benchmarks compare with, compiled for the machine at hand (eigen_matmul.cc, -march=native).
#pragma once

#include <cstdint>

namespace hlosim {

/// c[m,n] = a[m,k] · b[k,n], row-major, in strips of columns on all threads.
void eigen_matmul(int64_t m, int64_t n, int64_t k, const float* a, const float* b, float* c);

/// Reads all of it.
void read_native(const float* data, int64_t count);

}  // namespace hlosim
