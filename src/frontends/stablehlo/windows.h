// What operations with windows and products of matrices share.
//
//   give_convolution(op, {{1, 1}, {0, 1}});        // operands 0 and 1, padded so
#pragma once

#include <vector>

#include "stablehlo/op_lowering.h"

namespace hlosim::stablehlo {

using IntRows = std::vector<std::vector<int64_t>>;

/// The convolution of operands 0 and 1 with the window that the attributes name. `padding`: low and high of
/// each spatial dimension; empty: none.
void give_convolution(OpLowering& op, const IntRows& padding);

Attr window_attr(OpLowering& op, std::span<const WindowDimension> dimensions);

/// operand_precision=, where the attribute precision_config asks for more than the default.
std::vector<Attr> precision_attrs(OpLowering& op);

}  // namespace hlosim::stablehlo
