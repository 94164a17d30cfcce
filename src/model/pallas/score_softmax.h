// Softmax over scores that are stored, and their product with values: the compiler's own kernel behind a
// fusion that writes the scores.
//
//   score_softmax_cost(device.config, {.queries = 8192, .keys = 8192, .head_size = 128})->kernel
#pragma once

#include <cstdint>

#include "base/source.h"
#include "layout/element_type.h"
#include "model/device.h"
#include "model/pallas/kernel_cost.h"

namespace hlosim {

struct ScoreSoftmaxProblem {
  int64_t queries = 0, keys = 0, head_size = 0;
  ElementType type = ElementType::kBF16;
};

/// Errors: sizes that aren't positive, a type that the MXU doesn't know.
Result<KernelCost> score_softmax_cost(const DeviceConfig& device, const ScoreSoftmaxProblem& problem);

}  // namespace hlosim
