#include "eigen_matmul.h"

#include <Eigen/Core>

#include "threads/parallel.h"

namespace hlosim {

void eigen_matmul(int64_t m, int64_t n, int64_t k, const float* a, const float* b, float* c) {
  using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::Map<const Matrix> lhs(a, m, k), rhs(b, k, n);
  Eigen::Map<Matrix> result(c, m, n);
  if (thread_count() == 1) {
    result.noalias() = lhs * rhs;
    return;
  }
  // Strips of the longer side.
  if (n >= m) {
    parallel_for(n, std::max<int64_t>(32, (n / thread_count() + 31) / 32 * 32),
                 [&](int64_t begin, int64_t end) {
                   result.middleCols(begin, end - begin).noalias() = lhs * rhs.middleCols(begin, end - begin);
                 });
  } else {
    parallel_for(m, std::max<int64_t>(32, (m / thread_count() + 31) / 32 * 32),
                 [&](int64_t begin, int64_t end) {
                   result.middleRows(begin, end - begin).noalias() = lhs.middleRows(begin, end - begin) * rhs;
                 });
  }
}

void read_native(const float* data, int64_t count) {
  typedef float Vector __attribute__((vector_size(64), aligned(4)));
  Vector sums[4] = {};
  int64_t i = 0;
  for (; i + 64 <= count; i += 64)
    for (int j = 0; j < 4; ++j) sums[j] += *reinterpret_cast<const Vector*>(data + i + j * 16);
  const Vector sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  asm volatile("" : : "x"(sum[0]));
}

}  // namespace hlosim
