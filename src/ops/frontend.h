// Frontend attributes: keys and values that other programs attach to instructions, kept as text.
#pragma once

#include <optional>
#include <string_view>

#include "hlo/op_def.h"

namespace hlosim {

/// The value of `key` in frontend_attributes={key="value",key={...}}: the inside of its quotes, or its
/// braces with them. Empty optional: no such key.
std::optional<std::string_view> frontend_attribute(const Instruction& instruction, std::string_view key);

}  // namespace hlosim
