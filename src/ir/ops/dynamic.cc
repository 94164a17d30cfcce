// Operations whose positions or sizes are operands: dynamic slices and dimension sizes.
#include <algorithm>
#include <cstring>
#include <limits>

#include "hlo/op_def.h"
#include "layout/window_runs.h"
#include "ops/op_table.h"
#include "ops/require.h"
#include "ops/work.h"
#include "ops/xla_cost_rules.h"

namespace hlosim {
namespace {

// The start indices of a slice of `sliced`, operands `first` and up: one integer scalar for each
// dimension, all of one type, or a single vector with an element for each dimension.
bool require_starts(OpContext& op, int constraint, int64_t first, ShapeRef sliced) {
  const int64_t count = op.operand_count() - first;
  for (int64_t i = first; i < op.operand_count(); ++i)
    if (!require_array(op, constraint, i) || !require_integral(op, constraint, i)) return false;
  if (count >= 1 && op.operand_shape(first)->rank() == 1) {
    const ShapeRef vector = op.operand_shape(first);
    if (count == 1 && vector->dim(0) == sliced->rank()) return true;
    op.error(constraint,
             "start indices are {} operands, the first one {}, expected one vector of {} elements or {} "
             "scalars",
             count, text_of(vector), sliced->rank(), sliced->rank());
    return false;
  }
  if (count != sliced->rank()) {
    op.error(constraint, "{} start indices, expected {}: one for each dimension of {}", count, sliced->rank(),
             text_of(sliced));
    return false;
  }
  for (int64_t i = first; i < op.operand_count(); ++i) {
    if (!require_scalar(op, constraint, i)) return false;
    if (compatible(op.operand_shape(first), op.operand_shape(i))) continue;
    op.error(constraint, "start indices {} and {} differ in type", text_of(op.operand_shape(first)),
             text_of(op.operand_shape(i)));
    return false;
  }
  return true;
}

// C1: the operand is an array.
// C2: the start indices are one integer scalar for each dimension, all of one type, or one vector.
// C3: dynamic_slice_sizes has an entry for each dimension.
// C4: 0 <= slice size <= size of the dimension.
ShapeRef infer_dynamic_slice(OpContext& op) {
  if (!require_operands(op, 1) || !require_array(op, 1, 0)) return nullptr;
  const ShapeRef operand = op.operand_shape(0);
  if (!require_starts(op, 2, 1, operand)) return nullptr;
  const std::span<const int64_t> sizes = op.ints(AttrKey::kDynamicSliceSizes);
  if (!require_count(op, 3, "dynamic_slice_sizes", sizes.size(), operand->rank())) return nullptr;
  DimensionList dimensions;
  for (int64_t i = 0; i < operand->rank(); ++i) {
    const int64_t size = sizes[static_cast<size_t>(i)], limit = operand->dim(i);
    if (size < 0 || (limit != Shape::kUnbounded && size > limit))
      return op.error(4, "slice size {} of dimension {} of {}, expected 0 to {}", size, i, text_of(operand),
                      size_text(limit));
    dimensions.add(size, operand->is_dynamic(i));
  }
  return dimensions.array(op, operand->element_type);
}

// C1: there are an operand and an update, both arrays.
// C2: the start indices are one integer scalar for each dimension, all of one type, or one vector.
// C3: operand and update have the same number of dimensions.
// C4: and the same element type, up to the precision of floats.
// C5: the update is nowhere larger than the operand.
ShapeRef infer_dynamic_update_slice(OpContext& op) {
  if (op.operand_count() < 2)
    return op.error(1, "{} operands, expected at least 2: the array and its update", op.operand_count());
  if (!require_arrays(op, 1, 0, 2)) return nullptr;
  const ShapeRef operand = op.operand_shape(0), update = op.operand_shape(1);
  if (!require_starts(op, 2, 2, operand)) return nullptr;
  if (update->rank() != operand->rank())
    return op.error(3, "{} is updated by {}, expected the same number of dimensions", text_of(operand),
                    text_of(update));
  if (!same_up_to_float_precision(operand->element_type, update->element_type))
    return op.error(4, "{} is updated by {}, expected the same element type", text_of(operand),
                    text_of(update));
  for (int64_t i = 0; i < operand->rank(); ++i) {
    const int64_t size = update->dim(i), limit = operand->dim(i);
    if (size > limit && limit != Shape::kUnbounded)
      return op.error(5, "{} is updated by {}, expected at most {} elements in dimension {}",
                      text_of(operand), text_of(update), size_text(limit), i);
  }
  return operand;
}

// C1: the result is an array with a size operand for each dimension.
// C2: operand and result have the same number of elements.
void check_dynamic_reshape_syntax(OpContext& op) {
  const ShapeRef result = op.shape();
  if (!result->is_array()) {
    op.error(1, "declared shape is {}, expected an array", text_of(result));
    return;
  }
  if (op.operand_count() != 1 + result->rank()) {
    op.error(1, "{} size operands, expected {}: one for each dimension of {}", op.operand_count() - 1,
             result->rank(), text_of(result));
    return;
  }
  const ShapeRef operand = op.operand_shape(0);
  if (operand->is_array() && operand->element_count() != result->element_count())
    op.error(2, "{} elements in {} become {} in {}, expected the same number", operand->element_count(),
             text_of(operand), result->element_count(), text_of(result));
}

// C3: operand and result are arrays of the same element type, up to the precision of floats.
// C4: the sizes are of type s32.
ShapeRef infer_dynamic_reshape(OpContext& op) {
  const ShapeRef operand = op.operand_shape(0), result = op.shape();
  if (!operand->is_array() || !same_up_to_float_precision(operand->element_type, result->element_type))
    return op.error(3, "{} becomes {}, expected the same element type", text_of(operand), text_of(result));
  for (int64_t i = 1; i < op.operand_count(); ++i)
    if (op.operand_shape(i)->element_type != ElementType::kS32)
      return op.error(4, "size operand {} has shape {}, expected s32[]", i, text_of(op.operand_shape(i)));
  return result;
}

// C1: the operand is an array.
// C2: the dimension is one of its.
// C3: its size fits an s32.
bool require_sized_dimension(OpContext& op) {
  if (!require_array(op, 1, 0)) return false;
  const ShapeRef operand = op.operand_shape(0);
  const int64_t dimension = op.ints(AttrKey::kDimensions)[0];
  if (!require_dimension(op, 2, "dimension", dimension, operand->rank())) return false;
  if (operand->dim(dimension) <= std::numeric_limits<int32_t>::max()) return true;
  op.error(3, "dimension {} of {} is too large for the type s32 of sizes", dimension, text_of(operand));
  return false;
}

ShapeRef infer_get_dimension_size(OpContext& op) {
  return require_sized_dimension(op) ? op.shapes().scalar(ElementType::kS32) : nullptr;
}

// C4: the size is an s32 scalar.
ShapeRef infer_set_dimension_size(OpContext& op) {
  if (!require_sized_dimension(op)) return nullptr;
  const ShapeRef operand = op.operand_shape(0), size = op.operand_shape(1);
  if (!size->is_scalar() || size->element_type != ElementType::kS32)
    return op.error(4, "the size has shape {}, expected s32[]", text_of(size));
  DimensionList dimensions;
  dimensions.add_all(operand);
  dimensions.dynamic(static_cast<size_t>(op.ints(AttrKey::kDimensions)[0])) = true;
  return dimensions.array(op, operand->element_type);
}

// ── work ────────────────────────────────────────────────────────

void dynamic_slice_work(const OpContext& op, Work& work) {
  work.operand_read[0] = op.shape();
  work.scattered_accesses = 1;
  work.moved_tiles = moved_tiles(op.shape(), op.shape());
}

/// In place: the result is the operand's memory, a copy would be an instruction of its own. The update
/// streams to its place as any result does, also out of a product that makes it.
void dynamic_update_slice_work(const OpContext& op, Work& work) {
  work.operand_read[0] = nullptr;
  work.result_written = op.operand_shape(1);
  work.moved_tiles = moved_tiles(op.operand_shape(1), op.operand_shape(1));
}

/// Only the number in front of the data is read or written.
void dimension_size_work(const OpContext& op, Work& work) {
  work.operand_read[0] = nullptr;
  if (op.operand_count() > 1) work.result_written = op.operand_shape(1);
}

constexpr AttrSpec kDynamicSliceAttrs[] = {{AttrKey::kDynamicSliceSizes, AttrSyntax::kInts, true}};
constexpr AttrSpec kDimensionSizeAttrs[] = {{AttrKey::kDimensions, AttrSyntax::kInts1, true}};

}  // namespace

constexpr OpDef kDynamicReshapeOp = {
    .name = "dynamic-reshape",
    .arity = at_least(1),
    .traits = kNeedsShape,
    .check_syntax = check_dynamic_reshape_syntax,
    .infer_shape = infer_dynamic_reshape,
    .evaluation = EvaluationKind::kDynamicReshape,
    .rules = {FusionRule::kNever, LayoutRole::kKeep, ValueRule::kMakesAll, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kCompute, AsyncPart::kNone,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kFixed}};
constexpr OpDef kDynamicSliceOp = {
    .name = "dynamic-slice",
    .arity = at_least(0),
    .traits = kNeedsShape,
    .attrs = kDynamicSliceAttrs,
    .infer_shape = infer_dynamic_slice,
    .xla_cost = xla_cost_dynamic_slice,
    .work = dynamic_slice_work,
    .evaluation = EvaluationKind::kDynamicSlice,
    .rules = {FusionRule::kPart, LayoutRole::kLike, ValueRule::kMakesAll, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kCopy, AsyncPart::kNone,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kDynamicSlice}};
constexpr OpDef kDynamicUpdateSliceOp = {
    .name = "dynamic-update-slice",
    .arity = at_least(0),
    .traits = kNeedsShape | kExactTypes,
    .infer_shape = infer_dynamic_update_slice,
    .xla_cost = xla_cost_dynamic_update_slice,
    .work = dynamic_update_slice_work,
    .evaluation = EvaluationKind::kDynamicUpdateSlice,
    .rules = {FusionRule::kEndsUpdate, LayoutRole::kLike, ValueRule::kMakesAll, UseRule::kAll,
              CallRule::kNone, InPlaceRule::kFirst, OverwriteRule::kUpdate, AsyncKind::kCopy,
              AsyncPart::kNone, BufferRule::kUpdate, NumberRule::kComputed, Identity::kNone,
              DimensionRule::kDynamicUpdate}};
constexpr OpDef kGetDimensionSizeOp = {
    .name = "get-dimension-size",
    .arity = exactly(1),
    .attrs = kDimensionSizeAttrs,
    .infer_shape = infer_get_dimension_size,
    .work = dimension_size_work,
    .evaluation = EvaluationKind::kGetDimensionSize,
    .rules = {FusionRule::kNever, LayoutRole::kAny, ValueRule::kMakesAll, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kCompute, AsyncPart::kNone,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kFree}};
constexpr OpDef kSetDimensionSizeOp = {
    .name = "set-dimension-size",
    .arity = exactly(2),
    .attrs = kDimensionSizeAttrs,
    .infer_shape = infer_set_dimension_size,
    .work = dimension_size_work,
    .evaluation = EvaluationKind::kSetDimensionSize,
    .rules = {FusionRule::kNever, LayoutRole::kKeep, ValueRule::kMakesAll, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kFirst, OverwriteRule::kFirst, AsyncKind::kCompute, AsyncPart::kNone,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kFixed}};

}  // namespace hlosim
