// Gathers of rows and collectives that the compiler offloads run beside the TensorCore.
//
//   offload_gathers(editor, device, needs);       // tokens for their experts, from tables larger than VMEM
#pragma once

#include "flags/compiler_choices.h"
#include "hlo/module_editor.h"
#include "lower/room_needs.h"
#include "model/device.h"

namespace hlosim {

/// A gather starts where it stood, and ends before its first user. What decides: offloads_gather()
/// (interconnect/offload.h).
void offload_gathers(ModuleEditor& editor, const DeviceConfig& device, RoomNeeds& needs);

/// Marks all-gathers, reduce-scatters and all-reduces as offloaded where the choices specify it and
/// TensorCores would drive them
/// otherwise (`ici.core_bandwidth`). Instructions with frontend attributes stay as they are.
void mark_offloaded_collectives(ModuleEditor& editor, const DeviceConfig& device,
                                const CompilerChoices& choices);

}  // namespace hlosim
