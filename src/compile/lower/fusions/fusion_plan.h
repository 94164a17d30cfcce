// Groups the instructions of a computation into fused kernels (lower/fuse.h has the rules).
//
//   const FusionPlan plan = plan_fusions(module, table, device.config, vmem, module.entry);
//   for (const FusionGroup& group : plan.groups) kernels += group.members.size() > 1;
#pragma once

#include <string_view>
#include <vector>

#include "hlo/module.h"
#include "hlo/op_def.h"
#include "lower/room_needs.h"
#include "model/device.h"

namespace hlosim {

/// One kernel: its instructions, operands before users, and those of them that are its outputs. Several
/// kernels may recompute the same instruction. A group of one member is not a fusion.
struct FusionGroup {
  std::vector<InstructionId> members, outputs;
  std::string_view kind = "kLoop";
};

/// Kernels in an order in which they can run.
struct FusionPlan {
  std::vector<FusionGroup> groups;
};

/// `vmem`: the VMEM available for the activations and the result of a matmul, beside its weights.
FusionPlan plan_fusions(Module& module, const OpTable& table, const DeviceConfig& device, const Room& vmem,
                        ComputationId id);

}  // namespace hlosim
