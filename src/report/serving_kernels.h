// Kernels of servers and of experts as their callers name them: grouped products, ragged paged attention,
// latent attention, layers of experts, quantised products. Each is a row of one table: its arguments, its
// blocks, how both are read, costed and compared.
//
//   const Result<ServingRequest> request = read_serving_kernel("ragged_dot", arguments, blocks, "8x512");
//   serving_kernel_cost(device.config, *request)->kernel
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/pallas/expert_layer.h"
#include "model/pallas/grouped_product.h"
#include "model/pallas/latent_attention.h"
#include "model/pallas/paged_attention.h"
#include "model/pallas/quantized_matmul.h"
#include "model/pallas/score_softmax.h"
#include "report/kernel_settings.h"

namespace hlosim {

struct GroupedRequest {
  GroupedProblem problem;
  std::optional<GroupedBlocks> blocks;
};
struct PagedRequest {
  PagedProblem problem;
  std::optional<PagedBlocks> blocks;
};
struct LatentRequest {
  LatentProblem problem;
  std::optional<LatentBlocks> blocks;
};
struct ExpertRequest {
  ExpertProblem problem;
  std::optional<ExpertBlocks> blocks;
};
struct QuantizedRequest {
  QuantizedProblem problem;
  std::optional<QuantizedBlocks> blocks;
};
/// A product of two matrices whose result is written to HBM, in the blocks that hlosim takes for it.
struct ProductRequest {
  int64_t rows = 0, depth = 0, columns = 0;
  ElementType lhs = ElementType::kBF16, rhs = ElementType::kBF16, result = ElementType::kBF16;
};
struct SoftmaxRequest {
  ScoreSoftmaxProblem problem;
};
using ServingRequest = std::variant<GroupedRequest, PagedRequest, LatentRequest, ExpertRequest,
                                    QuantizedRequest, ProductRequest, SoftmaxRequest>;

/// Costs of all blocks that were compared.
struct BlockRanking {
  std::vector<KernelCost> fitting;   // the fastest first
  std::vector<KernelCost> rejected;  // need more VMEM than they may; those that need least first
};

std::span<const std::string_view> serving_kernel_names();
/// Empty for an unknown kernel.
std::span<const std::string_view> serving_kernel_arguments(std::string_view kernel);
std::span<const std::string_view> serving_kernel_blocks(std::string_view kernel);

/// Requires: a name of serving_kernel_names(). Errors name the argument, length or block size.
Result<ServingRequest> read_serving_kernel(std::string_view kernel, std::span<const KernelSetting> arguments,
                                           std::span<const KernelSetting> blocks, std::string_view lengths);

/// The kernel with what the compiler does around it. Without blocks: those that servers take by default for
/// attention, else the best that fit. Errors: those of the kernel; no blocks that fit.
Result<KernelCost> serving_kernel_cost(const DeviceConfig& device, const ServingRequest& request);

/// Errors: those of the kernel; it has no blocks to choose.
Result<BlockRanking> rank_serving_blocks(const DeviceConfig& device, const ServingRequest& request);

/// Were blocks given?
bool has_blocks(const ServingRequest& request);
/// Where blocks are from that were not given.
std::string_view blocks_origin(const ServingRequest& request);
/// The arrays that it reads and writes, without padding.
double serving_kernel_bytes(const ServingRequest& request);

/// Adds what one pair of candidates after the other takes to a ranking.
template <class Blocks, class Cost>
BlockRanking rank_candidates(std::span<const Blocks> candidates, Cost&& cost) {
  BlockRanking ranking;
  for (const Blocks& blocks : candidates)
    if (Result<KernelCost> made = cost(blocks))
      (made->fits() ? ranking.fitting : ranking.rejected).push_back(std::move(*made));
  std::ranges::stable_sort(ranking.fitting, {}, &KernelCost::time);
  std::ranges::stable_sort(ranking.rejected, {}, &KernelCost::vmem);
  return ranking;
}

}  // namespace hlosim
