// A kernel as its caller names it: its arrays, options and block sizes, all as text.
//
//   const KernelSetting arrays[] = {{"q", "bf16[2,8192,16,128]"}, {"k", "bf16[2,8192,16,128]"},
//                                   {"v", "bf16[2,8192,16,128]"}, {"causal", "true"}};
//   const Result<KernelRequest> request = read_kernel("flash_attention", arrays, {});
//   kernel_cost(device.config, *request)->time     // with the best blocks that fit
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "model/pallas/attention.h"
#include "model/pallas/linear_loss.h"
#include "report/kernel_settings.h"
#include "report/serving_kernels.h"

namespace hlosim {

struct KernelRequest {
  std::string kernel;
  bool is_loss = false;
  AttentionPass pass = AttentionPass::kForward;
  AttentionProblem attention;
  std::optional<AttentionBlocks> attention_blocks;
  LinearLossProblem loss;
  std::optional<LinearLossBlocks> loss_blocks;
  std::optional<ServingRequest> serving;  // in place of all of these
  bool alone = false;                     // without what the compiler does around it
};

/// "flash_attention", "linear_softmax_cross_entropy_loss", both with "_vjp", and serving_kernel_names().
std::span<const std::string_view> kernel_names();

/// What the arguments of a kernel are called: arrays, then options. Empty for an unknown kernel.
std::span<const std::string_view> kernel_arguments(std::string_view kernel);
std::span<const std::string_view> kernel_blocks(std::string_view kernel);

/// Errors name the argument or block size: unknown ones, missing arrays, values that don't read, arrays that
/// don't go together, block sizes that are given in part.
/// `lengths`: of groups or sequences, for kernels that have such.
Result<KernelRequest> read_kernel(std::string_view kernel, std::span<const KernelSetting> arguments,
                                  std::span<const KernelSetting> blocks, std::string_view lengths = {});

/// The kernel with what the compiler does around it; without block sizes, with the best that fit.
/// Errors: as attention_cost() and linear_loss_cost(); no blocks that fit.
Result<KernelCost> kernel_cost(const DeviceConfig& device, const KernelRequest& request);

/// All blocks to choose from, by their time. Errors: as kernel_cost(); a kernel without blocks.
Result<BlockRanking> rank_blocks(const DeviceConfig& device, const KernelRequest& request);

/// Were blocks given?
bool has_blocks(const KernelRequest& request);

/// The arrays that it reads and writes, without padding.
Bytes kernel_bytes(const KernelRequest& request);

}  // namespace hlosim
