// Slices that a collective-permute in its form in place moves from one buffer into another:
//
//   collective-permute(input, output, input offsets, output offsets), slice_sizes={{…},…}
#pragma once

#include <optional>
#include <vector>

#include "evaluate/evaluate.h"

namespace hlosim {

/// A slice of one of the input buffers, and where its offsets are among the operands' leaves.
struct MovedSlice {
  size_t buffer;
  std::vector<int64_t> sizes;
  size_t input_offsets, output_offsets;
};

/// Nullopt: operands and sizes don't fit together.
std::optional<std::vector<MovedSlice>> moved_slices(const EvaluateContext& op);

/// Index of the element at the offsets `offsets[0 … rank)`; nullopt: the slice lies outside of `shape`.
std::optional<int64_t> offset_of(ShapeRef shape, const MovedSlice& slice, std::span<const Array> offsets);

/// False: it lies outside of one of the buffers. `operands` are all leaves of the device whose slice it is.
bool move_slice(const MovedSlice& slice, std::span<const Array> operands, const Array& input, Array& output);

}  // namespace hlosim
