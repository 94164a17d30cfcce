// Sources of the cost of a custom call, the most trustworthy first:
//
//   the user's figure        --custom-call-costs            model/custom_call_costs.h
//   the kernel's body        not read yet: its place is between these two
//   a known kernel's blocks  its name, shapes and metadata   find_kernel_call()
//   the author's estimate    custom_call_config              cost_estimate_of()
//   bytes                    of operands and results
//
//   const CustomCallCostSource source = custom_call_cost_source(module, instruction, device);
//   if (source) source.apply(device, memory, cost);
#pragma once

#include <optional>
#include <string>

#include "model/memory_system.h"
#include "model/pallas/kernel_call.h"

namespace hlosim {

struct CustomCallCostSource {
  std::optional<KernelCall> kernel;
  std::optional<CostEstimate> estimate;  // where there is no kernel

  explicit operator bool() const { return kernel || estimate; }
  /// What the cost rests on, for the report's assumptions and those who ask why.
  std::string text(const DeviceConfig& device) const;
  /// Requires: `cost` has the traffic of the call's operands and results, and no work. Post: time, traffic
  /// and counts, but for what every instruction has: latencies and the start of its own.
  void apply(const DeviceConfig& device, const MemorySystem& memory, InstructionCost& cost) const;
};

/// Neither for other instructions.
/// `given`: values of operands that decide what a kernel does.
CustomCallCostSource custom_call_cost_source(const Module& module, const Instruction& instruction,
                                             const DeviceConfig& device,
                                             const CustomCallCosts* given = nullptr);

}  // namespace hlosim
