// A layer of experts in one kernel of every device: rows of tokens are sent to the devices of their experts,
// go through two products with an activation between, and come back to be added up.
//
//   ExpertProblem problem{.tokens = 4096, .experts = 160, .top_k = 8, .model = 6144, .hidden = 2560,
//                         .devices = 8, .exchange = 5.5};
//   expert_layer_cost(device.config, problem, {.tokens = 128, .hidden = 512})->kernel
#pragma once

#include <cstdint>
#include <vector>

#include "base/source.h"
#include "layout/element_type.h"
#include "model/device.h"
#include "model/pallas/kernel_cost.h"

namespace hlosim {

struct ExpertProblem {
  int64_t tokens = 0;  // of all devices
  int64_t experts = 0, shared_experts = 0, top_k = 1;
  int64_t model = 0, hidden = 0;  // elements of a token, and inside an expert
  int64_t devices = 1;            // that share experts and tokens
  ElementType activations = ElementType::kBF16, weights = ElementType::kBF16;
  ElementType wire = ElementType::kBF16;  // rows on their way to an expert; they come back as activations
  bool pipelined = false;  // exchange, weights and products of different experts run beside each other
  double exchange = 0;     // picoseconds per byte that a device sends to all others alike
};

/// `tokens`: of a device, worked on together (kernels that aren't pipelined), or rows of one expert.
struct ExpertBlocks {
  int64_t tokens = 0, hidden = 0;
};

/// Every pass over the tokens reads the weights of all local experts. Tokens are dealt evenly.
/// Errors: sizes that aren't positive, experts or tokens that devices can't share evenly, a type that the MXU
/// doesn't know.
Result<KernelCost> expert_layer_cost(const DeviceConfig& device, const ExpertProblem& problem,
                                     const ExpertBlocks& blocks);

/// Blocks to compare.
std::vector<ExpertBlocks> expert_block_candidates(const ExpertProblem& problem);

/// Bytes of all arrays of one device.
double expert_layer_bytes(const ExpertProblem& problem);

}  // namespace hlosim
