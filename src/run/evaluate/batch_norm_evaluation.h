// Running batch normalization.
#pragma once

#include "evaluate/evaluate.h"

namespace hlosim {

// Mean and variance of each feature are taken in f64; what a result element needs, too, before it is rounded
// once. The variance is Σx²/N - mean², as XLA defines it.

/// (x, scale, offset) → (normalized, mean, variance).
Evaluation evaluate_batch_norm_training(EvaluateContext& op);
/// (x, scale, offset, mean, variance) → normalized.
Evaluation evaluate_batch_norm_inference(EvaluateContext& op);
/// (x, scale, mean, variance, dy) → (dx, dscale, doffset).
Evaluation evaluate_batch_norm_grad(EvaluateContext& op);

}  // namespace hlosim
