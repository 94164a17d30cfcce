// The kernels of a module that have bodies, and what they cost.
//
//   KernelBodies kernels(device);
//   if (const KernelBodyCost* cost = kernels.cost(module, call, why)) … cost->time
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "model/pallas/kernel_body_cost.h"

namespace hlosim {

/// One kernel as a call has it.
struct KernelOfCall {
  mosaic::KernelBody body;
  KernelBodyCost cost;
};

/// Is it a call of a TPU kernel that carries its body?
bool has_kernel_body(const Instruction& call);

/// The body of such a call, gone through with what the module says of the call's operands. Errors: it doesn't
/// read, or isn't of a form that is known.
Result<mosaic::KernelBody> kernel_body_of(const Module& module, const Instruction& call);

/// The limit of scoped VMEM that the call's configuration names; 0: none.
Bytes scoped_vmem_of(const Instruction& call);

class KernelBodies {
 public:
  explicit KernelBodies(const DeviceConfig& device) : device_(device) {}

  /// Null: it has no body, or one that is no use, and `problem` says why. Kernels alike are gone through
  /// once.
  const KernelOfCall* find(const Module& module, const Instruction& call, std::string& problem);

 private:
  struct Known {
    std::unique_ptr<KernelOfCall> kernel;
    std::string problem;
  };
  const DeviceConfig& device_;
  std::unordered_map<std::string, Known> known_;  // by configuration, and what is known of the operands
};

}  // namespace hlosim
