// Frontend attributes: keys and values that other programs attach to instructions, kept as text.
#pragma once

#include <optional>
#include <string_view>

#include "hlo/op_def.h"

namespace hlosim {

/// Keys of a module's header: what was missing of its text, what the author calls its results.
inline constexpr std::string_view kMissingOfText = "hlosim.missing", kResultNames = "jax.result_info";

/// The value of `key` in frontend_attributes={key="value",key={...}}: the inside of its quotes, or its
/// braces with them. Empty optional: no such key.
std::optional<std::string_view> frontend_attribute(const Instruction& instruction, std::string_view key);
/// The same of those of the module's header.
std::optional<std::string_view> frontend_attribute(const Module& module, std::string_view key);

}  // namespace hlosim
