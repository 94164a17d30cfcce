// Roundings that XLA leaves out.
#pragma once

#include "model/device.h"
#include "modules/edit.h"

namespace hlosim {

/// `id` rounds values of type `wide` to at least 16 bits. To fewer, rounding is intended: quantisation.
bool is_rounding(const Module& module, InstructionId id, ElementType wide);

/// Leaves out roundings of reshapes that are widened again (xla_allow_excess_precision, XLA's default),
/// unless the reshape moves elements and nothing else uses it: it stores them rounded. `simplify` leaves out
/// all others. Requires: every array has a layout.
void drop_roundings(ModuleEditor& editor, const OpTable& table, const DeviceConfig& device);

/// Elements stay where they are, or all of them fit into a register.
bool moves_nothing(const Module& module, const Instruction& reshape, const DeviceConfig& device);

}  // namespace hlosim
