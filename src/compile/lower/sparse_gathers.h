// Gathers of rows that the generation's compiler gives to the SparseCores run beside the TensorCore.
//
//   sparse_gathers(editor, device);               // tokens for their experts, from tables larger than VMEM
#pragma once

#include "hlo/module_editor.h"
#include "model/device.h"

namespace hlosim {

/// A gather starts where it stood, and ends before its first user. What decides: offloads_gather()
/// (sim/sparse_offload.h).
void sparse_gathers(ModuleEditor& editor, const DeviceConfig& device);

}  // namespace hlosim
