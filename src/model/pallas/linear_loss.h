// The cross-entropy of softmax(x · w) without logits in HBM, and its gradients: blocks of tokens against
// blocks of the vocabulary, each a sum over blocks of the hidden dimension.
//
//   const LinearLossProblem problem{.tokens = 4096, .hidden = 4096, .vocabulary = 128256};
//   linear_loss_cost(device.config, problem, {.tokens = 1024, .hidden = 1024, .vocabulary = 2048})->kernel
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/source.h"
#include "layout/element_type.h"
#include "model/device.h"
#include "model/pallas/kernel_cost.h"

namespace hlosim {

struct LinearLossProblem {
  int64_t tokens = 0, hidden = 0, vocabulary = 0;
  ElementType x = ElementType::kF32, w = ElementType::kBF16;
  bool gradients = false;  // of x and w, from the sums of the forward pass
};

/// Edges of the hidden dimension and the vocabulary may be cut; tokens come in whole blocks.
struct LinearLossBlocks {
  int64_t tokens = 0, hidden = 0, vocabulary = 0;
};

/// Errors: sizes that aren't positive, blocks that aren't multiples of 128, tokens that they don't divide,
/// types that the MXU doesn't know. One core does it all: sums go from block to block.
Result<KernelCost> linear_loss_cost(const DeviceConfig& device, const LinearLossProblem& problem,
                                    const LinearLossBlocks& blocks);

/// Blocks to compare.
std::vector<LinearLossBlocks> linear_loss_block_candidates(const DeviceConfig& device,
                                                           const LinearLossProblem& problem);

/// The blocks that take least time of those that fit; without any, none.
std::optional<LinearLossBlocks> best_linear_loss_blocks(const DeviceConfig& device,
                                                        const LinearLossProblem& problem);

}  // namespace hlosim
