// Neighbouring slices of one array, and rotations.
#include <array>

#include "cpu_kernels/strided_copy.h"
#include "evaluate/custom_calls/custom_call_evaluations.h"
#include "hlo/shifted_slices.h"

namespace hlosim {
namespace {

/// A box of the operand and where it goes.
struct ShiftPiece {
  size_t result = 0;
  int64_t from = 0, to = 0;  // elements
  StridedCopy copy;
};

ShiftPiece sliced(ShapeRef operand, ShapeRef result, size_t number,
                  const std::vector<std::array<int64_t, 3>>& slice) {
  std::vector<int64_t> from = dense_strides(operand->dimensions);
  ShiftPiece piece;
  piece.result = number;
  for (size_t i = 0; i < from.size(); ++i) {
    piece.from += slice[i][0] * from[i];
    from[i] *= slice[i][2];
  }
  piece.copy = StridedCopy(result->dimensions, from, dense_strides(result->dimensions),
                           byte_width(operand->element_type));
  return piece;
}

/// Elements [begin, begin + size) along the dimension go to `to`.
ShiftPiece moved(ShapeRef shape, int64_t dimension, int64_t begin, int64_t size, int64_t to) {
  const std::vector<int64_t> strides = dense_strides(shape->dimensions);
  std::vector<int64_t> sizes(shape->dimensions.begin(), shape->dimensions.end());
  sizes[static_cast<size_t>(dimension)] = size;
  const int64_t stride = strides[static_cast<size_t>(dimension)];
  return {0, begin * stride, to * stride,
          StridedCopy(sizes, strides, strides, byte_width(shape->element_type))};
}

}  // namespace

Evaluation evaluate_shifted_slices(EvaluateContext& op) {
  const std::optional<ShiftedSlices> shifts = shifted_slices(op);
  if (!shifts) return op.unsupported();
  const ShapeRef operand = op.operand_shape(0);
  std::vector<ShiftPiece> pieces;
  if (shifts->rotates_by >= 0) {
    const int64_t size = operand->dim(shifts->dimension), by = shifts->rotates_by;
    pieces.push_back(moved(operand, shifts->dimension, 0, size - by, by));
    pieces.push_back(moved(operand, shifts->dimension, size - by, by, 0));
  } else {
    const auto results = leaves_of(op.shape());
    for (size_t i = 0; i < results.size(); ++i)
      pieces.push_back(sliced(operand, results[i], i, shifts->slices[i]));
  }
  const int64_t width = byte_width(operand->element_type);
  return [pieces, width](Invocation& call) {
    std::vector<std::byte*> results;
    for (size_t i = 0; i < call.result_count(); ++i) results.push_back(call.make_result(i).bytes());
    for (const ShiftPiece& piece : pieces)
      if (data_bytes(call.result(piece.result).shape) > 0)
        piece.copy.run(call.operand(0).bytes() + piece.from * width,
                       results[piece.result] + piece.to * width);
  };
}

}  // namespace hlosim
