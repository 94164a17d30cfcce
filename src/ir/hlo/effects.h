// Which instructions do more than compute their result.
#pragma once

#include "hlo/module.h"
#include "hlo/op_def.h"

namespace hlosim {

/// Reads or changes what belongs to the device and not to values: random state, the host's channels, whatever
/// a custom call says; itself or in a computation that it calls. Such instructions keep their order.
bool uses_device_state(const Module& module, const OpTable& table, const Instruction& instruction);

/// Has to run even where its result isn't needed. Drawing a number isn't such a reason.
bool has_effect(const Module& module, const OpTable& table, const Instruction& instruction);

}  // namespace hlosim
