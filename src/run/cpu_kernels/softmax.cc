#include "cpu_kernels/softmax.h"

#include "base/check.h"
#include "cpu_kernels/element.h"
#include "cpu_kernels/fold.h"

namespace hlosim {
namespace {

// One operation after another.
void row_by_parts(const float* in, int64_t n, float least, float init, float* out) {
  static const FoldKernel largest = fold_kernel(FoldOp::kMaximum, ElementType::kF32),
                          sum = fold_kernel(FoldOp::kAdd, ElementType::kF32);
  static const ElementKernel exponential =
      element_kernel(ElementOp::kExp, ElementType::kF32, ElementType::kF32);
  float of_row = 0;
  largest.rows(in, n, 1, &least, &of_row);
  for (int64_t i = 0; i < n; ++i) out[i] = in[i] - of_row;
  const void* const differences[] = {out};
  exponential.fn(out, differences, exponential.immediate, n);
  sum.rows(out, n, 1, &init, &of_row);
  for (int64_t i = 0; i < n; ++i) out[i] /= of_row;
}

}  // namespace

void softmax(const float* in, int64_t n, int64_t rows, float least, float init, float* out) {
  HLOSIM_CHECK(n % kSoftmaxStep == 0 && n <= kSoftmaxMost, "rows of {}", n);
  static const SoftmaxKernels& kernels =
      HLOSIM_PICK_KERNELS(isa_level().value_or(supported_isa_level()), kSoftmax);
  for (int64_t row = 0; row < rows;) {
    row += kernels.of_numbers(in + row * n, n, rows - row, least, init, out + row * n);
    if (row == rows) break;
    row_by_parts(in + row * n, n, least, init, out + row * n);
    ++row;
  }
}

}  // namespace hlosim
