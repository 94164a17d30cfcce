// Where the writer of a program says that an operation comes from → HLO's metadata.
//
//   loc("jit(f)/add"("model.py":12:3))     {op_name="jit(f)/add" source_file="model.py" source_line=12}
#pragma once

#include <string>
#include <string_view>

#include "mlir/ir.h"

namespace hlosim::stablehlo {

/// The outermost name and the innermost line; empty where there is neither.
std::string metadata_text(const mlir::Location& location);

/// The outermost name; empty: there is none.
std::string_view location_name(const mlir::Location* location);

}  // namespace hlosim::stablehlo
