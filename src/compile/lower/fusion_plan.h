// Decides what is stored and which stored values one kernel makes (lower/fuse.h has the rules).
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

/// One kernel: its instructions, operands first, and those of them that are stored. An instruction may be in
/// several. One member: no fusion.
struct FusionGroup {
  std::vector<InstructionId> members, outputs;
  std::string_view kind = "kLoop";
};

/// In an order in which they can run.
struct FusionPlan {
  std::vector<FusionGroup> groups;
};

/// `vmem`: room for what a product takes and makes beside its weights.
FusionPlan plan_fusions(Module& module, const OpTable& table, const DeviceConfig& device, const Room& vmem,
                        ComputationId id);

}  // namespace hlosim
