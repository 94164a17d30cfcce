// Which dimensions of the operands of a product of arrays are paired.
//
//   const DotRoles roles = dot_roles(op);  // of dot, ragged-dot, scaled-dot
//   roles.lhs_contracting[i] is summed over together with roles.rhs_contracting[i]
#pragma once

#include <cstdint>
#include <vector>

#include "hlo/op_def.h"

namespace hlosim {

/// Dimensions of the two operands by the part they play; the others are free.
struct DotRoles {
  std::vector<int64_t> lhs_batch, rhs_batch;              // in pairs
  std::vector<int64_t> lhs_contracting, rhs_contracting;  // in pairs
};

/// The dimension numbers of dot-like attributes.
DotRoles dot_roles(const OpContext& op);

}  // namespace hlosim
