// What is said of an instruction in a module.
#pragma once

#include <string_view>

#include "base/source.h"
#include "hlo/module.h"

namespace hlosim {

/// The error "<opcode>: message" at the instruction's opcode.
Diagnostic error_at(const Module& module, const Instruction& instruction, std::string_view message);

}  // namespace hlosim
