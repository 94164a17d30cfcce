// Gathers and scatters that walk through an array and their indices together: where index i along a dimension
// of the indices always says i, each part of the array needs that part of the indices alone.
//
//   indices = s32[2,8,4] concatenate(iota along 1, iota along 2), index_vector_dim=0, start_index_map={0,1}
//   parallel_indices(op, 1, {0, 1})                // {{.component = 0, .array = 0, .indices = 1},
//                                                  //  {.component = 1, .array = 1, .indices = 2}}
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hlo/op_def.h"

namespace hlosim {

/// Component `component` of an index counts dimension `indices` of the indices, and goes along dimension
/// `array` of what is read or changed.
struct ParallelIndex {
  int64_t component = 0, array = 0, indices = 0;
};

/// `indices`: which operand of the gather or scatter they are; `map`: the dimension of operand 0 that each
/// component goes along. Only of components that reach every element of the dimension, each dimension of the
/// indices once.
std::vector<ParallelIndex> parallel_indices(const OpContext& op, int64_t indices,
                                            std::span<const int64_t> map);

}  // namespace hlosim
