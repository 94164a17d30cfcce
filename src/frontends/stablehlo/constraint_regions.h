// What constraints on regions share.
#pragma once

#include "stablehlo/constraints.h"

namespace hlosim::stablehlo {

/// The block of region i; null after a report.
const mlir::Block* block_of(const Constrained& op, size_t i);
/// What a block returns; empty also where it doesn't end by a return.
std::span<const mlir::Value* const> returned(const mlir::Block& block);

/// The region makes of `inputs` current values and as many next ones that many. `elements`: tensors whose
/// elements come next, `initial`: what it starts from; either may be promoted to wider numbers.
bool reducer_holds(const Constrained& op, std::string_view constraint, size_t region, size_t inputs,
                   std::span<const mlir::Type* const> elements, std::span<const mlir::Type* const> initial);

/// Batching dimensions of a scatter come in pairs of one size, and no index is for one.
bool scatter_batching_holds(const Constrained& op);

}  // namespace hlosim::stablehlo
