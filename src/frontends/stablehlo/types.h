// MLIR types → HLO shapes.
//
//   Result<ShapeRef> shape = shape_of(type, pool);   // tensor<2x3xbf16> → bf16[2,3]
//   if (!shape) … shape.error().message              // "!quant.uniform<…> is a quantized type: …"
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "layout/shape.h"
#include "mlir/ir.h"

namespace hlosim::stablehlo {

/// kInvalid: none of HLO's.
ElementType element_type_of(const mlir::Type& type);

/// The shape, without layouts. Failures (without a place) say which type has none: quantized, unranked, of a
/// dynamic dimension without a bound, of another dialect.
Result<ShapeRef> shape_of(const mlir::Type& type, ShapePool& shapes);

/// A dimension whose size isn't known and has no bound, here or in an element of a tuple.
bool is_dynamic(const mlir::Type& type);
/// Those dimensions of a tensor.
std::vector<size_t> dynamic_dimensions(const mlir::Type& type);

/// As MLIR writes it: `tensor<2x?xf32>`.
std::string type_text(const mlir::Type& type);

}  // namespace hlosim::stablehlo
