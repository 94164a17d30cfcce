// Collectives that the compiler gives to the SparseCores because a flag says so.
#pragma once

#include "hlo/module_editor.h"
#include "model/device.h"

namespace hlosim {

/// All-gathers, reduce-scatters and all-reduces are marked as the SparseCores' where the device says so
/// (`sparsecore.offload_all_gathers` and others, which flags set) and TensorCores would drive them otherwise
/// (`ici.core_bandwidth`). What the text gives to somebody already stays.
void sparse_collectives(ModuleEditor& editor, const DeviceConfig& device);

}  // namespace hlosim
