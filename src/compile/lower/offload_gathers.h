// Gathers of rows that the generation's compiler offloads run beside the TensorCore.
//
//   offload_gathers(editor, device);              // tokens for their experts, from tables larger than VMEM
#pragma once

#include "hlo/module_editor.h"
#include "model/device.h"

namespace hlosim {

/// A gather starts where it stood, and ends before its first user. What decides: offloads_gather()
/// (interconnect/offload.h).
void offload_gathers(ModuleEditor& editor, const DeviceConfig& device);

}  // namespace hlosim
