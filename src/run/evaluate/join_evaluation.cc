// Running concatenate and pad: results made of several sources.
#include <algorithm>

#include "base/rounding.h"
#include "cpu_kernels/strided_copy.h"
#include "evaluate/data_movement_evaluation.h"

namespace hlosim {

Evaluation evaluate_concatenate(EvaluateContext& op) {
  return evaluate_joined(op, op.ints(AttrKey::kDimensions)[0]);
}

Evaluation evaluate_joined(EvaluateContext& op, int64_t dimension) {
  const ShapeRef result = op.shape();
  const auto along = static_cast<size_t>(dimension);
  const int64_t width = byte_width(result->element_type);
  const std::vector<int64_t> strides = dense_strides(result->dimensions);
  struct Part {
    StridedCopy copy;
    int64_t offset;  // bytes
  };
  std::vector<Part> parts;
  int64_t position = 0;
  for (int64_t i = 0; i < op.operand_count(); ++i) {
    const ShapeRef operand = op.operand_shape(i);
    if (operand->element_type != result->element_type) return op.unsupported();
    parts.push_back({StridedCopy(operand->dimensions, dense_strides(operand->dimensions), strides, width),
                     position * strides[along] * width});
    position += operand->dimensions[along];
  }
  // Dynamic operands take the room of their bounds, as in XLA's evaluator.
  return [parts](Invocation& call) {
    if (parts.size() == 1) return call.set_result(call.take(0));
    std::byte* out = call.make_result().bytes();
    for (size_t i = 0; i < parts.size(); ++i)
      parts[i].copy.run(call.operand(i).bytes(), out + parts[i].offset);
  };
}

namespace {

__extension__ typedef __int128 Int128;  // sums of products of arbitrary 64-bit attributes

// Where the elements of one dimension go that padding leaves in the result.
struct PaddedDimension {
  int64_t first = 0, count = 0;  // elements of the operand
  int64_t position = 0;          // of the first, in the result
  int64_t step = 1;
};

PaddedDimension padded(int64_t size, int64_t result_size, std::span<const int64_t> padding) {
  const Int128 low = padding[0], step = Int128{padding[2]} + 1;
  const Int128 first = low < 0 ? ceil_div(-low, step) : 0;
  // The last one at a position below result_size.
  const Int128 last = result_size > low ? std::min<Int128>(size - 1, (result_size - 1 - low) / step) : -1;
  if (last < first) return {};
  return {static_cast<int64_t>(first), static_cast<int64_t>(last - first + 1),
          static_cast<int64_t>(low + first * step), last > first ? static_cast<int64_t>(step) : 1};
}

}  // namespace

Evaluation evaluate_pad(EvaluateContext& op) {
  const ShapeRef operand = op.operand_shape(0), result = op.shape();
  const ElementType type = result->element_type;
  if (operand->element_type != type || op.operand_shape(1)->element_type != type) return op.unsupported();
  const int64_t width = byte_width(type);
  const std::vector<int64_t> from = dense_strides(operand->dimensions),
                             to = dense_strides(result->dimensions);
  std::vector<int64_t> sizes, strides;
  int64_t source = 0, destination = 0, kept = 1;
  const auto padding = op.int_lists(AttrKey::kPadding);
  for (size_t i = 0; i < padding.size(); ++i) {
    const PaddedDimension dimension = padded(operand->dimensions[i], result->dimensions[i], padding[i]);
    sizes.push_back(dimension.count);
    strides.push_back(dimension.step * to[i]);
    source += dimension.first * from[i] * width;
    destination += dimension.position * to[i] * width;
    kept *= dimension.count;
  }
  const int64_t count = result->element_count();
  return [copy = StridedCopy(sizes, from, strides, width), source, destination, width, count,
          kept](Invocation& call) {
    std::byte* out = call.make_result().bytes();
    if (kept < count) fill_elements(out, call.operand(1).bytes(), width, count);
    if (kept > 0) copy.run(call.operand(0).bytes() + source, out + destination);
  };
}

}  // namespace hlosim
