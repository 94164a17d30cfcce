// Decides what is stored and which stored values one kernel makes (lower/fuse.h has the rules).
//
//   const FusionPlan plan = plan_fusions(module, table, device.config, module.entry);
//   for (const FusionGroup& group : plan.groups) kernels += group.members.size() > 1;
#pragma once

#include <string_view>
#include <vector>

#include "hlo/module.h"
#include "hlo/op_def.h"
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

FusionPlan plan_fusions(Module& module, const OpTable& table, const DeviceConfig& device, ComputationId id);

}  // namespace hlosim
