// What the known custom call targets compute, in plain instructions. custom_call_targets.cc says which is
// which.
#pragma once

#include "lower/library_calls/spelling.h"

namespace hlosim {

/// Each returns what stands for the call; invalid: it can't be said, and nothing was changed but the
/// spelling's list.
InstructionId spell_out_gemm(Spelling& spelling);  // as evaluate_gemm_call(); real numbers only
/// cuDNN's convolutions without scales, side inputs and activations; the backward ones of one group.
InstructionId spell_out_convolution_forward(Spelling& spelling);
InstructionId spell_out_convolution_graph(Spelling& spelling);  // the same, where no graph says more
/// activation(scale · convolution + side_scale · side input + bias), sums of 16 bits and less in f32, of s8
/// in s32.
InstructionId spell_out_convolution_fused(Spelling& spelling);
InstructionId spell_out_convolution_backward_input(Spelling& spelling);
InstructionId spell_out_convolution_backward_filter(Spelling& spelling);

}  // namespace hlosim
