// Matrix products on raw memory: result[b, i, j] = Σ_p lhs[b, i, p] · rhs[b, p, j].
//
//   const float a[2][3], b[3][2]; float c[2][2];
//   matmul({.m = 2, .n = 2, .k = 3,
//           .lhs = {a, ElementType::kF32, 3, 1}, .rhs = {b, ElementType::kF32, 2, 1},
//           .result = {c, ElementType::kF32, 2, 1}});
//
// Transposed operands are a matter of strides: the blocked product gathers while it packs. Each element
// of the result is summed in an order that depends on the sizes, strides, types and the instruction set
// only, never on the number of threads.
#pragma once

#include <cstdint>
#include <span>

#include "layout/element_type.h"

namespace hlosim {

/// Elements as in Array (array/array.h); strides in elements, any sign.
struct MatmulOperand {
  const void* data = nullptr;
  ElementType type = ElementType::kInvalid;
  int64_t row_stride = 0, column_stride = 0;
};

struct MatmulResult {
  void* data = nullptr;
  ElementType type = ElementType::kInvalid;
  int64_t row_stride = 0, column_stride = 0;
};

struct MatmulBatch {
  int64_t size = 1;
  int64_t lhs_stride = 0, rhs_stride = 0, result_stride = 0;
};

struct Matmul {
  int64_t m = 0, n = 0, k = 0;
  MatmulOperand lhs;                        // m × k
  MatmulOperand rhs;                        // k × n
  MatmulResult result;                      // m × n, of distinct elements, apart from the operands
  std::span<const MatmulBatch> batch = {};  // any number of dimensions, as all their indices together
};

/// Is there a product of these types?
///   floats up to 32 bits → f32, bf16, f16: products and sums in f32, one rounding to the result's type
///   f64, c64, c128 → the same
///   integers of one byte, or of two with a result of at most 32 bits; s32/u32 → result of at most 32 bits;
///   s64/u64 → the same: modulo 2^width, sub-byte results cut and extended
///   pred → pred: or of ands
bool matmul_supports(ElementType lhs, ElementType rhs, ElementType result);

/// Requires: matmul_supports(). Any size may be 0; with k = 0 the result is 0.
void matmul(const Matmul& product);

}  // namespace hlosim
