// The kernels of a module that have bodies, and what they cost.
//
//   KernelBodies kernels(device, custom_calls);
//   if (const KernelOfCall* kernel = kernels.find(module, call, problem)) … kernel->cost.time
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/custom_call_costs.h"
#include "model/pallas/kernel_body_cost.h"

namespace hlosim {

/// One kernel as a call has it.
struct KernelOfCall {
  mosaic::KernelBody body;
  KernelBodyCost cost;
};

/// Is it a call of a TPU kernel that carries its body?
bool has_kernel_body(const Instruction& call);

/// The body of such a call, gone through with what the module, or `given`, says of its operands; without a
/// density, cost_estimate tells in how many steps conditions on data are met. Errors: it has no form that is
/// known.
Result<mosaic::KernelBody> kernel_body_of(const Module& module, const Instruction& call,
                                          const DeviceConfig& device, const CustomCallCosts* given = nullptr);

/// The integers of an operand that is a constant, or whose values are given; empty: they aren't known.
std::vector<int64_t> operand_values(const Module& module, const Instruction& call, size_t operand,
                                    const CustomCallCosts* given);

/// The limit of scoped VMEM that the call's configuration names; 0: none.
Bytes scoped_vmem_of(const Instruction& call);

class KernelBodies {
 public:
  explicit KernelBodies(const DeviceConfig& device, const CustomCallCosts* given = nullptr)
      : device_(device), given_(given) {}

  /// Null: it has no body, or one that is no use, and `problem` says why. Kernels alike are gone through
  /// once.
  const KernelOfCall* find(const Module& module, const Instruction& call, std::string& problem);

 private:
  struct Known {
    std::unique_ptr<KernelOfCall> kernel;
    std::string problem;
  };
  const DeviceConfig& device_;
  const CustomCallCosts* given_;
  std::unordered_map<std::string, Known> known_;  // by configuration, density, and what is known of operands
};

}  // namespace hlosim
