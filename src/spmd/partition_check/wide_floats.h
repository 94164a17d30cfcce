// A module whose floats are f64: what it computes with next to no rounding.
//
//   const std::optional<Module> wide = with_wide_floats(module, op_table());     // bf16 dot → f64 dot
#pragma once

#include <optional>

#include "hlo/module.h"
#include "hlo/op_def.h"

namespace hlosim {

/// What looks at bits (bitcast-convert) gets those of the type that it was written for. Nullopt: all its
/// floats are that wide, or what looks at bits takes tuples.
std::optional<Module> with_wide_floats(const Module& module, const OpTable& table);

}  // namespace hlosim
