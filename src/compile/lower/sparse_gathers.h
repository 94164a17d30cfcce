// Gathers of rows that the generation's compiler gives to the SparseCores run beside the TensorCore.
//
//   sparse_gathers(editor, device);               // tokens for their experts, from tables larger than VMEM
#pragma once

#include "flags/compiler_choices.h"
#include "hlo/module_editor.h"
#include "model/device.h"

namespace hlosim {

/// A gather starts where it stood, and ends before its first user. What decides: offloads_gather()
/// (sim/sparse_offload.h).
void sparse_gathers(ModuleEditor& editor, const DeviceConfig& device);

/// All-gathers, reduce-scatters and all-reduces are marked as the SparseCores' where the choices say so and
/// TensorCores would drive them otherwise (`ici.core_bandwidth`). What the text gives to somebody already
/// stays.
void sparse_collectives(ModuleEditor& editor, const DeviceConfig& device, const CompilerChoices& choices);

}  // namespace hlosim
