// Collectives that the compiler gives to the SparseCores because a flag says so.
#pragma once

#include "flags/compiler_choices.h"
#include "hlo/module_editor.h"
#include "model/device.h"

namespace hlosim {

/// All-gathers, reduce-scatters and all-reduces are marked as the SparseCores' where the choices say so and
/// TensorCores would drive them otherwise (`ici.core_bandwidth`). What the text gives to somebody already
/// stays.
void sparse_collectives(ModuleEditor& editor, const DeviceConfig& device, const CompilerChoices& choices);

}  // namespace hlosim
