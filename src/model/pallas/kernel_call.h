// Custom calls of TPU kernels (target tpu_custom_call): which kernel a call is, by its name and shapes, and
// what its author says that it costs.
//
//   if (const std::optional<KernelCall> call = find_kernel_call(module, instruction, device.config))
//     call->cost.kernel                            // by its blocks
//   else if (const std::optional<CostEstimate> estimate = cost_estimate_of(instruction)) …
//
// Splash attention (and flash attention of the same operands): bf16[batch…,heads,sequence,head size] after
// the tables of its mask, block sizes in `kernel_metadata`. The loss of a linear layer: x, labels, w.
// Kernels of servers: model/pallas/serving_call.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "hlo/module.h"
#include "model/device.h"
#include "model/pallas/kernel_cost.h"

namespace hlosim {

class CustomCallCosts;  // model/custom_call_costs.h

struct KernelCall {
  std::string what;           // "attention forward", "gradients of a linear layer's loss", …
  bool blocks_given = false;  // by its metadata; else the best that fit
  KernelCost cost;            // of the kernel alone
};

/// Empty: no call of a TPU kernel, another kernel, shapes or blocks that don't fit the kernel of that name.
/// `given`: values of operands that decide what the kernel does.
std::optional<KernelCall> find_kernel_call(const Module& module, const Instruction& instruction,
                                           const DeviceConfig& device,
                                           const CustomCallCosts* given = nullptr);

/// custom_call_config.cost_estimate of the call's backend_config; it is the author's and may be wrong.
struct CostEstimate {
  double flops = 0, transcendentals = 0, bytes = 0;
};
/// Empty: no call of a TPU kernel, none given, or all zero.
std::optional<CostEstimate> cost_estimate_of(const Instruction& instruction);

}  // namespace hlosim
