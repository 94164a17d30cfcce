// Running what makes random numbers, and what gives a device its number.
#pragma once

#include "evaluate/evaluate.h"

namespace hlosim {

/// Bits as XLA defines them for ThreeFry and Philox; the default algorithm is Philox, as on its CPU and GPU.
Evaluation evaluate_rng_bit_generator(EvaluateContext& op);

/// Philox words of the device's random state, which moves on by the blocks used. Uniform floats are a +
/// (b-a)·u with u = k/2^m in [0, 1), m = 24 (f64: 53); uniform integers a + bits mod (b-a), a where b ≤ a;
/// uniform pred are fair coins; normal numbers are a + b·z with z by Box and Muller's formula in f64.
Evaluation evaluate_rng(EvaluateContext& op);

/// The device's random state, 128 bits as (low, high); it moves on by `delta`.
Evaluation evaluate_rng_state(EvaluateContext& op);

Evaluation evaluate_partition_id(EvaluateContext& op);
Evaluation evaluate_replica_id(EvaluateContext& op);

}  // namespace hlosim
