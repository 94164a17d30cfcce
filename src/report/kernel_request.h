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

namespace hlosim {

struct KernelSetting {
  std::string name, value;
};

struct KernelRequest {
  std::string kernel;
  bool is_loss = false;
  AttentionPass pass = AttentionPass::kForward;
  AttentionProblem attention;
  std::optional<AttentionBlocks> attention_blocks;
  LinearLossProblem loss;
  std::optional<LinearLossBlocks> loss_blocks;
};

/// "flash_attention", "flash_attention_vjp", "linear_softmax_cross_entropy_loss", "…_vjp"
std::span<const std::string_view> kernel_names();

/// What the arguments of a kernel are called: arrays, then options. Empty for an unknown kernel.
std::span<const std::string_view> kernel_arguments(std::string_view kernel);
std::span<const std::string_view> kernel_blocks(std::string_view kernel);

/// Errors name the argument or block size: unknown ones, missing arrays, values that don't read, arrays that
/// don't go together, block sizes that are given in part.
Result<KernelRequest> read_kernel(std::string_view kernel, std::span<const KernelSetting> arguments,
                                  std::span<const KernelSetting> blocks);

/// The kernel with what the compiler does around it; without block sizes, with the best that fit.
/// Errors: as attention_cost() and linear_loss_cost(); no blocks that fit.
Result<KernelCost> kernel_cost(const DeviceConfig& device, const KernelRequest& request);

/// The arrays that it reads and writes, without padding.
Bytes kernel_bytes(const KernelRequest& request);

}  // namespace hlosim
