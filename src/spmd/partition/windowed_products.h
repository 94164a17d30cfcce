// Products whose operand is gathered, or whose sums are scattered, as a ring: parts of the operand or of the
// sums go from device to device beside the products of those that are there.
//
//   window_products(made, op_table(), {.when = WindowedEinsum::When::kThreshold});
//   made.reshardings[0].windowed                   // a permute of one part, where a gather was
#pragma once

#include "hlo/op_def.h"
#include "partition/partition.h"

namespace hlosim {

/// Rings of more devices stay gathers and scatters: the program has a product for each device of a ring.
inline constexpr int64_t kLongestRing = 32;

/// Where a product alone takes what an added all-gather makes, along a dimension that is no batch dimension;
/// or where an added reduce-scatter alone takes what a product makes. Parts go both ways round. Of these, the
/// ones that `einsum` asks for.
void window_products(Partitioned& made, const OpTable& table, const WindowedEinsum& einsum);

}  // namespace hlosim
