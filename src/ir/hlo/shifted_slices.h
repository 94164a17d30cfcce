// Custom calls that XLA's partitioner and what goes before it make of neighbouring reads of one array.
//
//   // custom-call(x), custom_call_target="_SPMDInternalOp_MultiSlice",
//   //   backend_config="dimension=0,amount=1,start_indices=[7],limit_indices=[27],strides=[1]"
//   shifted_slices(op)->slices[1]                  // {{8, 28, 1}}: the second begins an element later
//   // custom_call_target="_SPMDInternalOp_RotateRight", backend_config="dimension=0,amount=2"
//   shifted_slices(op)->rotates_by                 // 2: element i goes to i + 2, the last two to the front
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "hlo/op_def.h"

namespace hlosim {

struct ShiftedSlices {
  int64_t dimension = 0;    // along which they are shifted
  int64_t rotates_by = -1;  // 0 … size - 1: the only result is all of the array, rotated
  /// Of each result, start, limit and stride of each dimension.
  std::vector<std::vector<std::array<int64_t, 3>>> slices;
};

/// Nullopt: it is no such call, or its shapes are not those.
std::optional<ShiftedSlices> shifted_slices(const OpContext& op);

}  // namespace hlosim
