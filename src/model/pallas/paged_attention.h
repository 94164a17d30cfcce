// Ragged paged attention: new tokens of many sequences against a cache of pages. The kernel goes through
// sequences, blocks of queries and blocks of keys in loops of its body, and copies pages by itself.
//
//   PagedProblem problem{.heads = 8, .kv_heads = 1, .head_size = 128, .page_size = 128, .most_keys = 2048};
//   problem.sequences = {{.count = 64, .queries = 1, .keys = 1500}};
//   paged_attention_cost(device.config, problem, default_paged_blocks(device.config, problem))->kernel
//
// docs/kernels.md has the equations and their sources.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/source.h"
#include "layout/element_type.h"
#include "model/device.h"
#include "model/pallas/kernel_cost.h"
#include "model/pallas/sequence_lengths.h"

namespace hlosim {

enum class PagedVersion : uint8_t { kV2, kV3 };

/// Heads are those of one device.
struct PagedProblem {
  PagedVersion version = PagedVersion::kV3;
  int64_t heads = 0, kv_heads = 0, head_size = 0;
  ElementType q = ElementType::kBF16, kv = ElementType::kBF16;
  int64_t page_size = 0;
  int64_t most_keys = 0;  // pages of a sequence times their size
  std::optional<int64_t> window{};
  bool soft_cap = false;
  bool updates_cache = true;  // new keys and values are written by the kernel (v3)
  std::vector<SequenceLength> sequences{};
};

/// Tokens of one of the two calls of v3: fetched and computed at once. Of v2: `q` queries, `kv` keys.
struct PagedBlocks {
  int64_t decode_kv = 0, decode_kv_compute = 0;          // sequences of one new token
  int64_t q = 0, kv = 0, q_compute = 0, kv_compute = 0;  // all others
};

/// Errors: no sequences, sizes that aren't positive, heads that don't share keys evenly, sequences longer
/// than most_keys, blocks of keys that aren't whole pages, computed blocks that don't divide fetched ones,
/// a type that the MXU doesn't know. Blocks that need more VMEM than the device has are costed as well.
Result<KernelCost> paged_attention_cost(const DeviceConfig& device, const PagedProblem& problem,
                                        const PagedBlocks& blocks);

/// What servers take without a table of tuned sizes.
PagedBlocks default_paged_blocks(const DeviceConfig& device, const PagedProblem& problem);

/// Blocks to compare: only those of calls that have sequences differ.
std::vector<PagedBlocks> paged_block_candidates(const DeviceConfig& device, const PagedProblem& problem);

/// What the compiler does around v3: queries and new keys and values are brought into the kernel's layout.
std::vector<KernelPass> paged_attention_passes(const DeviceConfig& device, const PagedProblem& problem);

/// Bytes of one token in the cache of one layer, padding included.
double cache_bytes_per_token(const PagedProblem& problem, int64_t lanes);

}  // namespace hlosim
