// Attributes that hold sizes, at other sizes.
//
//   resized_attribute(op, attr, resized, arena)    // slice={[0:64]} → slice={[0:16]}
#pragma once

#include <functional>

#include "base/arena.h"
#include "hlo/op_def.h"

namespace hlosim {

/// What a dimension is divided by: of operand `operand`, or of the result for -1.
using DivisorOf = std::function<int64_t(int64_t operand, int64_t dimension)>;

/// `op` is the instruction at its old sizes. Attributes that hold shapes aren't changed.
Attr resized_attribute(const OpContext& op, const Attr& attr, const DivisorOf& divisor, Arena& arena);

/// A backend_config without what it says of the blocks of arrays (window_config).
std::string without_window_config(std::string_view backend_config);

}  // namespace hlosim
