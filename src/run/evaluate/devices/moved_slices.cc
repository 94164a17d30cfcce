#include "evaluate/devices/moved_slices.h"

#include <algorithm>

#include "cpu_kernels/strided_copy.h"
#include "ops/leaf_shapes.h"

namespace hlosim {

std::optional<std::vector<MovedSlice>> moved_slices(const EvaluateContext& op) {
  const auto inputs = leaves_of(op.operand_shape(0)), outputs = leaves_of(op.operand_shape(1));
  const auto sizes = op.int_lists(AttrKey::kSliceSizes);
  size_t from = op.first_leaf(2), to = op.first_leaf(3);
  std::vector<MovedSlice> slices;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const size_t buffer = i * inputs.size() / sizes.size();
    const ShapeRef input = inputs[buffer], output = outputs[buffer];
    const auto rank = static_cast<size_t>(input->rank());
    if (sizes[i].size() != rank || output->rank() != input->rank() ||
        input->element_type != output->element_type)
      return std::nullopt;
    for (size_t d = 0; d < rank; ++d)
      if (sizes[i][d] < 0 || sizes[i][d] > std::min(input->dimensions[d], output->dimensions[d]))
        return std::nullopt;
    slices.push_back({buffer, {sizes[i].begin(), sizes[i].end()}, from, to});
    from += rank, to += rank;
  }
  if (to > op.operand_leaves() || from > op.first_leaf(3)) return std::nullopt;
  return slices;
}

std::optional<int64_t> offset_of(ShapeRef shape, const MovedSlice& slice, std::span<const Array> offsets) {
  int64_t at = 0;
  for (int64_t d = 0; d < shape->rank(); ++d) {
    const int64_t offset = integer_at(offsets[static_cast<size_t>(d)], 0);
    if (offset < 0 || offset > shape->dim(d) - slice.sizes[static_cast<size_t>(d)]) return std::nullopt;
    at = at * shape->dim(d) + offset;
  }
  return at;
}

bool move_slice(const MovedSlice& slice, std::span<const Array> operands, const Array& input, Array& output) {
  const auto from = offset_of(input.shape, slice, operands.subspan(slice.input_offsets));
  const auto to = offset_of(output.shape, slice, operands.subspan(slice.output_offsets));
  if (!from || !to) return false;
  const int64_t width = byte_width(input.type());
  StridedCopy(slice.sizes, dense_strides(input.shape->dimensions), dense_strides(output.shape->dimensions),
              width)
      .run(input.bytes() + *from * width, output.bytes() + *to * width);
  return true;
}

}  // namespace hlosim
