#include "ops/views.h"

#include <algorithm>

#include "layout/bitcast.h"
#include "layout/sizes.h"

namespace hlosim {
namespace {

// A view of the operand in the element type that it has; evaluate_converted() asks for it with another one.
bool keeps_type(const OpContext& op) {
  return op.operand_shape(0)->is_array() && op.operand_shape(0)->element_type == op.shape()->element_type;
}

}  // namespace

bool view_copy(const OpContext& op, const StridedView& operand, StridedView& result) {
  if (!keeps_type(op)) return false;
  result = operand;
  return true;
}

bool view_bitcast(const OpContext& op, const StridedView& operand, StridedView& result) {
  const ShapeRef from = op.operand_shape(0), to = op.shape();
  if (!keeps_type(op) || element_storage_bits(from) != element_storage_bits(to)) return false;
  const BitcastClass bitcast = classify_bitcast(from, to);
  if (!bitcast.is_no_op()) return false;
  if (bitcast.kind != BitcastKind::kTranspose && bitcast.kind != BitcastKind::kTiledTranspose) {
    std::optional<StridedView> view = reshaped(operand, to->dimensions);
    if (view) result = std::move(*view);
    return view.has_value();
  }
  result = {operand.offset, {}, {}};
  for (const int64_t i : bitcast.permutation) {
    result.dimensions.push_back(operand.dimensions[static_cast<size_t>(i)]);
    result.strides.push_back(operand.strides[static_cast<size_t>(i)]);
  }
  return true;
}

bool view_broadcast(const OpContext& op, const StridedView& operand, StridedView& result) {
  if (!keeps_type(op)) return false;
  const ShapeRef shape = op.shape();
  result = {operand.offset, {shape->dimensions.begin(), shape->dimensions.end()}, {}};
  result.strides.assign(shape->dimensions.size(), 0);
  const std::span<const int64_t> dimensions = op.ints(AttrKey::kDimensions);
  // Two operand dimensions at one result dimension walk its diagonal.
  for (size_t i = 0; i < dimensions.size(); ++i)
    result.strides[static_cast<size_t>(dimensions[i])] += operand.strides[i];
  return true;
}

bool view_reshape(const OpContext& op, const StridedView& operand, StridedView& result) {
  if (!keeps_type(op)) return false;
  std::optional<StridedView> view = reshaped(operand, op.shape()->dimensions);
  if (view) result = std::move(*view);
  return view.has_value();
}

bool view_reverse(const OpContext& op, const StridedView& operand, StridedView& result) {
  if (!keeps_type(op)) return false;
  result = operand;
  for (const int64_t dimension : op.ints(AttrKey::kDimensions)) {
    const auto i = static_cast<size_t>(dimension);
    if (result.dimensions[i] == 0) continue;
    result.offset += (result.dimensions[i] - 1) * result.strides[i];
    result.strides[i] = -result.strides[i];
  }
  return true;
}

bool view_slice(const OpContext& op, const StridedView& operand, StridedView& result) {
  if (!keeps_type(op)) return false;
  const ShapeRef shape = op.shape();
  result = {operand.offset, {shape->dimensions.begin(), shape->dimensions.end()}, operand.strides};
  if (shape->element_count() == 0) return true;
  const auto slices = op.int_lists(AttrKey::kSlice);
  for (size_t i = 0; i < slices.size(); ++i) {
    result.offset += slices[i][0] * operand.strides[i];
    // A stride of the text may be huge where only one element is taken.
    result.strides[i] = result.dimensions[i] > 1 ? operand.strides[i] * slices[i][2] : 0;
  }
  return true;
}

bool view_transpose(const OpContext& op, const StridedView& operand, StridedView& result) {
  if (!keeps_type(op)) return false;
  result = {operand.offset, {}, {}};
  for (const int64_t i : op.ints(AttrKey::kDimensions)) {
    result.dimensions.push_back(operand.dimensions[static_cast<size_t>(i)]);
    result.strides.push_back(operand.strides[static_cast<size_t>(i)]);
  }
  return true;
}

}  // namespace hlosim
