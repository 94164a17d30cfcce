// A product of activations and stored weights with one scale per output: y = (x · wᵀ) · scale. Activations
// are quantised per token inside where the MXU has the weights' type, else the weights are widened.
//
//   QuantizedProblem problem{.rows = 128, .depth = 4096, .columns = 28672, .weights = ElementType::kS8};
//   quantized_product_cost(device.config, problem, {.rows = 128, .columns = 28672, .depth = 256})->kernel
#pragma once

#include <cstdint>
#include <vector>

#include "base/source.h"
#include "layout/element_type.h"
#include "model/device.h"
#include "model/pallas/kernel_cost.h"

namespace hlosim {

struct QuantizedProblem {
  int64_t rows = 0, depth = 0, columns = 0;
  ElementType activations = ElementType::kBF16, weights = ElementType::kS8;
};
struct QuantizedBlocks {
  int64_t rows = 0, columns = 0, depth = 0;
};

/// Errors: sizes that aren't positive, a type that the MXU doesn't know.
Result<KernelCost> quantized_product_cost(const DeviceConfig& device, const QuantizedProblem& problem,
                                          const QuantizedBlocks& blocks);
/// What the compiler does before it: the largest value of each token.
std::vector<KernelPass> quantized_product_passes(const DeviceConfig& device, const QuantizedProblem& problem);
std::vector<QuantizedBlocks> quantized_block_candidates(const DeviceConfig& device,
                                                        const QuantizedProblem& problem);
/// The MXU takes the weights as they are stored.
bool multiplies_stored_weights(const DeviceConfig& device, const QuantizedProblem& problem);

}  // namespace hlosim
