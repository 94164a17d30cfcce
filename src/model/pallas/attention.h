// Flash attention as a grid of blocks: for every head, blocks of queries against blocks of keys and values
// that stream by; blocks that a mask leaves empty are neither fetched nor computed.
//
//   AttentionProblem problem{.batch = 2, .heads = 16, .kv_heads = 16, .queries = 8192, .keys = 8192,
//                            .head_size = 128, .value_size = 128, .causal = true};
//   const AttentionBlocks blocks = *best_attention_blocks(device.config, AttentionPass::kForward, problem);
//   attention_cost(device.config, AttentionPass::kForward, problem, blocks)->kernel
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/source.h"
#include "layout/element_type.h"
#include "model/device.h"
#include "model/pallas/kernel_cost.h"
#include "ops/work.h"

namespace hlosim {

enum class AttentionPass : uint8_t {
  kForward,
  kBackward,    // gradients of queries, keys and values in one kernel
  kBackwardKv,  // of keys and values alone
  kBackwardQ,   // of queries alone
};

struct AttentionProblem {
  int64_t batch = 1, heads = 1, kv_heads = 1;
  int64_t queries = 0, keys = 0;  // lengths of the sequences
  int64_t head_size = 0, value_size = 0;
  ElementType type = ElementType::kBF16;
  MatmulPrecision precision{};
  bool causal = false;
  std::optional<int64_t> window{};  // a query sees so many keys, its own position the last of them
  bool soft_cap = false;
  bool segments = false;       // tokens see those of their own segment
  bool residuals = false;      // forward: maximum and sum of each row as well
  bool known_maximum = false;  // a bound on the logits takes the place of their maximum
  bool base2 = true;           // the exponential is one of 2
  bool masks_all = false;      // positions are compared in every block that is computed
  std::optional<ElementType> bias{};
  std::optional<int64_t> active_blocks{};  // that the call's tables list; absent: by causal and window
};

struct AttentionBlocks {
  int64_t q = 0, kv = 0, kv_compute = 0;  // kv is fetched, kv_compute worked on at once
  bool q_sequence_minor = false, k_sequence_minor = false, v_sequence_minor = false;
};

/// Blocks of one head.
struct BlockCount {
  int64_t all = 0, computed = 0, masked = 0;
};
/// Requires: blocks that divide the sequences.
BlockCount count_blocks(const AttentionProblem& problem, const AttentionBlocks& blocks);

/// Errors: sizes that aren't positive, heads that don't share keys evenly, blocks that aren't multiples of
/// 128 or don't divide what they cut, a type that the MXU doesn't know. Blocks that need more VMEM than there
/// is are costed as well: KernelCost::fits().
Result<KernelCost> attention_cost(const DeviceConfig& device, AttentionPass pass,
                                  const AttentionProblem& problem, const AttentionBlocks& blocks);

/// What the compiler does around the kernel for arrays [batch, sequence, heads, head size] in its own
/// layouts: sequences and heads change places, queries are scaled, residuals are taken out of their rows.
std::vector<KernelPass> attention_passes(const DeviceConfig& device, AttentionPass pass,
                                         const AttentionProblem& problem, const AttentionBlocks& blocks);

/// Blocks to compare: powers of two from 128 to 4096.
std::vector<AttentionBlocks> attention_block_candidates(const DeviceConfig& device, AttentionPass pass,
                                                        const AttentionProblem& problem);

/// The candidates that take least time of those that fit; without any, none.
std::optional<AttentionBlocks> best_attention_blocks(const DeviceConfig& device, AttentionPass pass,
                                                     const AttentionProblem& problem);

}  // namespace hlosim
