// What one operation of a kernel's body takes of the vector, matrix and load units, by its types.
//
//   const OperationCost cost = operation_cost(*op, {});    // tpu.matmul of 256x128 and 128x512
//   cost.product.k, cost.stored                            // 128, 0
#pragma once

#include <optional>
#include <string_view>

#include "mosaic/kernel_body.h"

namespace hlosim::mosaic {

struct OperationCost {
  std::optional<KernelProduct> product;
  std::array<VectorAmount, kVectorClasses> vector;
  double loaded = 0, stored = 0, scalar = 0, copied = 0, sent = 0;
  bool is_known = true;  // false: it works on vectors, and nothing here says how
};

OperationCost operation_cost(const mlir::Operation& op, const RegisterShape& registers);

/// The name without `stable_mosaic.` in front.
std::string_view plain_name(const mlir::Operation& op);

/// Bits of an element's type; 32 where it has none of its own.
int64_t element_bits(const mlir::Type& element);
/// Bytes that a memref or vector takes: dense, and in tiles of a register's sublanes (more of narrower types)
/// x lanes.
double dense_bytes(const mlir::Type& type);
double tiled_bytes(const mlir::Type& type, const RegisterShape& registers);
/// "vmem", "smem", "any", "hbm", …; "vmem" where the type says nothing.
std::string_view memory_space(const mlir::Type& memref);

}  // namespace hlosim::mosaic
