// Custom calls of servers' and experts' kernels, by their names and operands: grouped products (gmm, tgmm),
// ragged paged attention (RPAd, RPAm), latent attention (MLA), quantised products.
//
//   if (const std::optional<KernelCall> call = find_serving_call(module, instruction, device.config,
// given))
//     call->cost.kernel
#pragma once

#include <optional>

#include "model/custom_call_costs.h"
#include "model/pallas/kernel_call.h"

namespace hlosim {

/// Lengths of groups and sequences are those of constants, or of `given`; else they are assumed, and `what`
/// says so. Empty: no such kernel, or shapes that don't fit the kernel of that name.
std::optional<KernelCall> find_serving_call(const Module& module, const Instruction& call,
                                            const DeviceConfig& device, const CustomCallCosts* given);

}  // namespace hlosim
