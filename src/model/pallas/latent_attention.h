// Ragged paged attention over latents (MLA, absorbed weights): all query heads share one key of
// kv_lora_rank + qk_rope_head_dim elements per token, whose first part is the value as well.
//
//   LatentProblem problem{.heads = 8, .latent = 512, .rope = 64, .page_size = 256};
//   problem.sequences = {{.count = 64, .queries = 1, .keys = 4096}};
//   latent_attention_cost(device.config, problem, {.pages = 16, .queries = 1, .batch = 2})->kernel
#pragma once

#include <cstdint>
#include <vector>

#include "base/source.h"
#include "layout/element_type.h"
#include "model/device.h"
#include "model/pallas/kernel_cost.h"
#include "model/pallas/sequence_lengths.h"

namespace hlosim {

struct LatentProblem {
  int64_t heads = 0;                // of one device
  int64_t latent = 512, rope = 64;  // elements
  ElementType q = ElementType::kBF16, kv = ElementType::kBF16;
  int64_t page_size = 0;
  std::vector<SequenceLength> sequences{};
};

struct LatentBlocks {
  int64_t decode_pages = 0, decode_batch = 0;  // sequences of one new token, several at a time
  int64_t pages = 0, queries = 0;              // all others
};

/// Errors: no sequences, sizes that aren't positive, a type that the MXU doesn't know. Blocks that need
/// more VMEM than the device has are costed as well.
Result<KernelCost> latent_attention_cost(const DeviceConfig& device, const LatentProblem& problem,
                                         const LatentBlocks& blocks);

/// What servers take without a table of tuned sizes.
LatentBlocks default_latent_blocks();
/// Blocks to compare: only those of calls that have sequences differ.
std::vector<LatentBlocks> latent_block_candidates(const DeviceConfig& device, const LatentProblem& problem);

}  // namespace hlosim
