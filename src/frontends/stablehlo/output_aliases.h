// Results that stand where operands do, as custom calls and fusions of MLIR say it.
//
//   // {output_operand_aliases = [#stablehlo.output_operand_alias<
//   //     output_tuple_indices = [0], operand_index = 1, operand_tuple_indices = []>]}
//   output_aliases(op, "output_operand_aliases")  // output_to_operand_aliasing={{0}: (1, {})}
#pragma once

#include <optional>
#include <string_view>

#include "stablehlo/op_lowering.h"

namespace hlosim::stablehlo {

/// nullopt: the attribute isn't there, or empty.
std::optional<Attr> output_aliases(OpLowering& op, std::string_view attribute);

}  // namespace hlosim::stablehlo
