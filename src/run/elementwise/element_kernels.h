// The kernel of an elementwise instruction.
//
//   if (const ElementKernel kernel = elementwise_kernel(op)) kernel.fn(out, operands, kernel.immediate, n);
#pragma once

#include "cpu_kernels/element.h"
#include "hlo/op_def.h"

namespace hlosim {

/// From operand elements to result elements. Null where these types are not supported. Requires:
/// op.def().element.
ElementKernel elementwise_kernel(const OpContext& op);

}  // namespace hlosim
