// Shapes of the leaves of a value, and of all operands of an instruction.
#pragma once

#include <vector>

#include "hlo/op_def.h"

namespace hlosim {

inline std::vector<ShapeRef> leaves_of(ShapeRef shape) {
  std::vector<ShapeRef> leaves;
  for_each_leaf(shape, [&](ShapeRef leaf) { leaves.push_back(leaf); });
  return leaves;
}

/// Of all operands, in order.
inline std::vector<ShapeRef> operand_leaves_of(const OpContext& op) {
  std::vector<ShapeRef> leaves;
  for (int64_t i = 0; i < op.operand_count(); ++i)
    for_each_leaf(op.operand_shape(i), [&](ShapeRef leaf) { leaves.push_back(leaf); });
  return leaves;
}

}  // namespace hlosim
