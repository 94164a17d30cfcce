// Matrices in row-major order that are triangular, or a product of triangular ones.
//
//   cholesky(ElementType::kF32, n, true, a, factor);                       // factor · factorᵀ = a
//   TriangularSystem system{.type = ElementType::kF32, .n = n, .m = 1, .left_side = true, .lower = true};
//   solve(system, factor, b);                      // factor · x = b; b becomes x
#pragma once

#include <cstdint>

#include "layout/element_type.h"

namespace hlosim {

/// From one triangle of the n×n matrix `in` (f32, f64, c64 or c128) the Cholesky factor: out·outᴴ = in for
/// the lower triangle, outᴴ·out = in for the upper. The other triangle isn't read and becomes 0. NaN
/// everywhere when the matrix isn't positive definite.
void cholesky(ElementType type, int64_t n, bool lower, const void* in, void* out);

struct TriangularSystem {
  enum class Transpose : uint8_t { kNone, kTranspose, kAdjoint };
  ElementType type{};          // f32, f64, c64 or c128
  int64_t n = 0;               // of the n×n matrix a
  int64_t m = 0;               // b is n×m on the left side, m×n on the right
  bool left_side = false;      // op(a)·x = b, else x·op(a) = b
  bool lower = false;          // which triangle of a counts
  bool unit_diagonal = false;  // its diagonal isn't read but taken to be 1
  Transpose transpose = Transpose::kNone;
};

/// Turns `b` into x.
void solve(const TriangularSystem& system, const void* a, void* b);

}  // namespace hlosim
