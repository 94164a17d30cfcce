// What the known custom call targets compute. ops/custom_calls/custom_call_targets.cc says which target is
// which.
#pragma once

#include "evaluate/evaluate.h"
#include "ops/leaf_shapes.h"

namespace hlosim {

/// What the caller has registered for the target, else what the target is known to do.
Evaluation evaluate_custom_call(EvaluateContext& op);

/// The result's leaves are the operands'. Refused where shapes differ: a shard of what several devices hold.
Evaluation evaluate_identity_call(EvaluateContext& op);
Evaluation evaluate_concat_bitcast(EvaluateContext& op);
/// The called computation is what the call does; refused without one.
Evaluation evaluate_called_computation(EvaluateContext& op);
/// Zeros for each array of the result; tokens have none. What XLA leaves unspecified becomes repeatable so.
Evaluation evaluate_zeros_call(EvaluateContext& op);
/// (values, s32 indices): the first k of each row by the comparator over (value, value[, index, index]), by
/// descending total order without one; the lower index first among equals.
Evaluation evaluate_top_k_call(EvaluateContext& op);
/// (data of the bounds' size, s32 runtime size of each dimension).
Evaluation evaluate_pad_to_static(EvaluateContext& op);
/// (data, s32 runtime size of each dimension) → data of these sizes.
Evaluation evaluate_slice_to_dynamic(EvaluateContext& op);
/// The low word of the device's random state.
Evaluation evaluate_rng_seed(EvaluateContext& op);
/// xla_builder.math.*: the called computation, else the function of that name.
Evaluation evaluate_builder_math(EvaluateContext& op);

/// alpha · lhs · rhs + beta · operand 2 by gemm_backend_config, then bias, relu or gelu as its epilogue says;
/// other epilogues are refused by name. Results behind the first are workspace: zeros.
Evaluation evaluate_gemm_call(EvaluateContext& op);
/// (values, scales): each value times the scale of its block along the last dimension. There are
/// size / scales elements in a block, or `block_size` of the backend config.
Evaluation evaluate_dequantize(EvaluateContext& op);
/// (lhs [b, m, k], rhs [b, n, k], scales of lhs[, scales of rhs]) → [b, m, n], the dequantized operands'
/// product; b may be left out.
Evaluation evaluate_block_scaled_dot(EvaluateContext& op);

/// A kernel that says of itself which attention it computes (attention_call.cc): forward, the gradients of
/// queries, of keys and values, or of all three.
bool is_stated_attention(const OpContext& op);
Evaluation evaluate_attention_call(EvaluateContext& op);

/// Neighbouring slices of one array, or its rotation (hlo/shifted_slices.h).
Evaluation evaluate_shifted_slices(EvaluateContext& op);

// ── shared by them ──────────────────────────────────────────────

/// Same kind, element type and dimensions; a buffer is as good as its array.
bool holds_the_same(ShapeRef a, ShapeRef b);
/// The first of to_apply and called_computations; null: none.
const ComputationId* called_computation(const OpContext& op);

}  // namespace hlosim
