#include "evaluate/dynamic_evaluation.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "cpu_kernels/strided_copy.h"

namespace hlosim {
namespace {

/// Where a block lies in an array when its start indices are held inside.
class BlockPlace {
 public:
  /// The start indices are the operands from `first` on. Requires: require_starts().
  BlockPlace(const OpContext& op, int64_t first, ShapeRef array, ShapeRef block)
      : first_(static_cast<size_t>(first)),
        vector_(op.operand_count() > first && op.operand_shape(first)->rank() == 1),
        strides_(dense_strides(array->dimensions)) {
    for (int64_t i = 0; i < array->rank(); ++i) limits_.push_back(array->dim(i) - block->dim(i));
  }

  /// Number of the block's first element in the array.
  int64_t offset(const Invocation& call) const {
    int64_t offset = 0;
    for (size_t i = 0; i < limits_.size(); ++i) {
      const int64_t start = vector_ ? index_at(call.operand(first_), static_cast<int64_t>(i))
                                    : index_at(call.operand(first_ + i), 0);
      offset += std::clamp<int64_t>(start, 0, limits_[i]) * strides_[i];
    }
    return offset;
  }
  const std::vector<int64_t>& strides() const { return strides_; }

 private:
  /// Beyond what int64 holds, it is beyond any limit.
  static int64_t index_at(const Array& indices, int64_t i) {
    const int64_t index = integer_at(indices, i);
    return index < 0 && !is_signed_integer(indices.type()) ? std::numeric_limits<int64_t>::max() : index;
  }
  size_t first_;
  bool vector_;
  std::vector<int64_t> strides_, limits_;
};

/// The array to be changed where it lies: its own bytes when they aren't needed elsewhere, else a copy.
Array taken_to_change(Invocation& call, size_t operand) {
  Array array = call.take(operand);
  if (array.data.unique()) return array;
  const int64_t bytes = data_bytes(array.shape);
  Buffer copy = call.device().pool().allocate(bytes);
  const int64_t dimensions[] = {bytes}, strides[] = {1};
  StridedCopy(dimensions, strides, strides, 1).run(array.bytes(), copy.data());
  array.data = std::move(copy);
  return array;
}

/// Null where all sizes are the bounds.
std::shared_ptr<const std::vector<int64_t>> runtime_sizes(ShapeRef shape, std::vector<int64_t> sizes) {
  if (std::ranges::equal(sizes, shape->dimensions)) return nullptr;
  return std::make_shared<const std::vector<int64_t>>(std::move(sizes));
}

}  // namespace

Evaluation evaluate_dynamic_slice(EvaluateContext& op) {
  const ShapeRef operand = op.operand_shape(0), result = op.shape();
  if (operand->element_type != result->element_type) return op.unsupported();
  const int64_t width = byte_width(result->element_type);
  BlockPlace place(op, 1, operand, result);
  StridedCopy copy(result->dimensions, place.strides(), dense_strides(result->dimensions), width);
  return [place = std::move(place), copy = std::move(copy), width](Invocation& call) {
    const int64_t offset = place.offset(call) * width;
    copy.run(call.operand(0).bytes() + offset, call.make_result().bytes());
  };
}

Evaluation evaluate_dynamic_update_slice(EvaluateContext& op) {
  const ShapeRef operand = op.operand_shape(0), update = op.operand_shape(1);
  if (operand->element_type != op.shape()->element_type || update->element_type != operand->element_type)
    return op.unsupported();
  const int64_t width = byte_width(operand->element_type);
  BlockPlace place(op, 2, operand, update);
  StridedCopy copy(update->dimensions, dense_strides(update->dimensions), place.strides(), width);
  return [place = std::move(place), copy = std::move(copy), width](Invocation& call) {
    const int64_t offset = place.offset(call) * width;
    const Array block = call.operand(1);  // held: it may be the operand itself
    Array array = taken_to_change(call, 0);
    copy.run(block.bytes(), array.bytes() + offset);
    call.set_result(std::move(array));
  };
}

Evaluation evaluate_get_dimension_size(EvaluateContext& op) {
  const int64_t dimension = op.ints(AttrKey::kDimensions)[0];
  return [dimension](Invocation& call) {
    const auto size = static_cast<int32_t>(call.operand(0).size(dimension));
    std::memcpy(call.make_result().bytes(), &size, sizeof size);
  };
}

/// Sizes outside of 0 … bound are held there.
Evaluation evaluate_set_dimension_size(EvaluateContext& op) {
  const ShapeRef shape = op.shape();
  if (op.operand_shape(0)->element_type != shape->element_type) return op.unsupported();
  const auto dimension = static_cast<size_t>(op.ints(AttrKey::kDimensions)[0]);
  return [shape, dimension](Invocation& call) {
    const int64_t size = integer_at(call.operand(1), 0);
    Array array = call.take(0);
    std::vector<int64_t> sizes(shape->dimensions.begin(), shape->dimensions.end());
    if (array.sizes) sizes = *array.sizes;
    sizes[dimension] = std::clamp<int64_t>(size, 0, shape->dimensions[dimension]);
    array.sizes = runtime_sizes(shape, std::move(sizes));
    call.set_result(std::move(array));
  };
}

/// The elements in the order of the bounds; the sizes are what the operands say.
Evaluation evaluate_dynamic_reshape(EvaluateContext& op) {
  const ShapeRef shape = op.shape();
  if (op.operand_shape(0)->element_type != shape->element_type) return op.unsupported();
  return [shape](Invocation& call) {
    std::vector<int64_t> sizes;
    for (int64_t i = 0; i < shape->rank(); ++i)
      sizes.push_back(
          std::clamp<int64_t>(integer_at(call.operand(static_cast<size_t>(i + 1)), 0), 0, shape->dim(i)));
    Array array = call.take(0);
    array.sizes = runtime_sizes(shape, std::move(sizes));
    call.set_result(std::move(array));
  };
}

}  // namespace hlosim
