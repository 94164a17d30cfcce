// What the matrix products have in common: dot, ragged-dot, scaled-dot and convolution.
#pragma once

#include "hlo/op_def.h"
#include "ops/work.h"

namespace hlosim {

/// Passes over the MXU from `operand_precision` (the higher of the two) or, when there is one, the
/// `algorithm`: dot_bf16_bf16_f32_x3 and plain tf32 need three bf16 passes, _x6, _x9, tf32_x3, f32 and f64
/// six (the three smallest products of x9 lie below the rounding of f32). Anything else: one.
MatmulPrecision matmul_precision(const OpContext& op);

/// XLA's rule for packed_nibble: both operands or none, and both of 8-bit integers.
void check_packed_nibble(OpContext& op);

/// Appends a product unless a size is 0.
void add_matmul(const OpContext& op, Work& work, int64_t batch, int64_t m, int64_t n, int64_t k);

}  // namespace hlosim
