// The next token of each sequence from its logits, as model servers choose it.
//
//   const SampledTokens made = sampled_tokens(graph, logits, inputs);      // logits [b, 1, vocab]
#pragma once

#include "workloads/model_operations.h"

namespace hlosim {

/// The first of the largest logits [b, 1, vocab]: s32[b, 1].
Expr most_likely_tokens(ExpressionGraph& graph, Expr logits);

/// Of each sequence: f32[b], s32[b], f32[b]; and the generator's state u64[2].
struct SamplingInputs {
  Expr temperature, top_k, top_p, state;
};
struct SampledTokens {
  Expr tokens;  // s32[b, 1]
  Expr state;   // of the generator, for the next step
};
/// A token drawn from the top_k most likely ones, and of these from the fewest that have top_p of the
/// probability together. Both limits are found bit by bit (32 passes over the logits each), as
/// vllm-project/tpu-inference does (layers/common/binary_search.py); the draw adds Gumbel noise. Computed in
/// f32; equal logits are kept or dropped together.
SampledTokens sampled_tokens(ExpressionGraph& graph, Expr logits, const SamplingInputs& inputs);

}  // namespace hlosim
