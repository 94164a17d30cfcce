// Operations that only rearrange elements, by amounts that the text fixes.
#include <algorithm>
#include <vector>

#include "base/rounding.h"
#include "base/saturating.h"
#include "hlo/op_def.h"
#include "layout/bitcast.h"
#include "layout/sizes.h"
#include "layout/window_runs.h"
#include "ops/op_table.h"
#include "ops/reducer.h"
#include "ops/require.h"
#include "ops/reshape.h"
#include "ops/views.h"
#include "ops/work.h"
#include "ops/xla_cost_rules.h"

namespace hlosim {
namespace {

// ── shapes ──────────────────────────────────────────────────────

ShapeRef infer_bitcast(OpContext& op) { return op.shape(); }
ShapeRef infer_copy(OpContext& op) { return op.operand_shape(0); }

// C1: operand and result are arrays.
// C2: both are complex or neither is.
// C3: the wider element holds a whole number of the narrower ones.
// C4: to wider elements: the operand's last dimension, as long as that number, goes away.
//     To narrower ones: such a dimension comes behind the others.
ShapeRef infer_bitcast_convert(OpContext& op) {
  if (!require_array(op, 1, 0)) return nullptr;
  const ShapeRef operand = op.operand_shape(0), result = op.shape();
  if (!result->is_array()) return op.error(1, "result has shape {}, expected an array", text_of(result));
  if (is_complex(operand->element_type) != is_complex(result->element_type))
    return op.error(2, "{} to {}, expected both complex or neither", text_of(operand), text_of(result));
  const int from = bit_width(operand->element_type), to = bit_width(result->element_type);
  const int ratio = std::max(from, to) / std::min(from, to);
  if (ratio * std::min(from, to) != std::max(from, to))
    return op.error(3, "{} to {}: one width is not a multiple of the other", text_of(operand),
                    text_of(result));
  DimensionList dimensions;
  dimensions.add_all(operand);
  if (from > to) {
    dimensions.add(ratio);
  } else if (from < to) {
    if (operand->rank() == 0 || operand->dimensions.back() != ratio)
      return op.error(4, "{} to {}, expected a last dimension of {}", text_of(operand), text_of(result),
                      ratio);
    dimensions.remove_last();
  }
  return dimensions.array(op, result->element_type);
}

// C1: operand and result are arrays.
// C2: of the same element type, up to the precision of floats.
// C3: dimensions names a result dimension for each operand dimension.
// C4: which is of the same size.
ShapeRef infer_broadcast(OpContext& op) {
  if (!require_array(op, 1, 0)) return nullptr;
  const ShapeRef operand = op.operand_shape(0), result = op.shape();
  const std::span<const int64_t> dimensions = op.ints(AttrKey::kDimensions);
  if (!result) {
    // XLA's reader takes the list for sizes to be put in front, which is right for scalars only.
    if (operand->rank() == 0 && dimensions.empty()) return operand;
    return op.error(1, "the shape of the result has to be written, unless it is a scalar");
  }
  if (!result->is_array()) return op.error(1, "result has shape {}, expected an array", text_of(result));
  if (!same_up_to_float_precision(result->element_type, operand->element_type))
    return op.error(2, "operand {} and result {} differ in element type", text_of(operand), text_of(result));
  if (!require_count(op, 3, "dimensions", dimensions.size(), operand->rank())) return nullptr;
  if (!require_in_range(op, 3, "dimensions", dimensions, result->rank())) return nullptr;
  for (int64_t i = 0; i < operand->rank(); ++i) {
    const int64_t to = dimensions[static_cast<size_t>(i)];
    if (operand->dim(i) != result->dim(to))
      return op.error(4, "dimension {} of {} becomes dimension {} of {}, expected the same size", i,
                      text_of(operand), to, text_of(result));
  }
  return result;
}

// C1: at least one operand, all are arrays.
// C2: the dimension is one of theirs.
// C3: they have the same number of dimensions.
// C4: they have the same element type, up to the precision of floats.
// C5: they agree in all other dimensions.
ShapeRef infer_concatenate(OpContext& op) {
  if (!require_operands(op, 1) || !require_arrays(op, 1)) return nullptr;
  const ShapeRef first = op.operand_shape(0);
  const int64_t along = op.ints(AttrKey::kDimensions)[0];
  if (!require_dimension(op, 2, "dimension to concatenate along", along, first->rank())) return nullptr;
  DimensionList dimensions;
  dimensions.add_all(first);
  ElementType type = first->element_type;
  for (int64_t k = 1; k < op.operand_count(); ++k) {
    const ShapeRef next = op.operand_shape(k);
    if (next->rank() != first->rank())
      return op.error(3, "{} and {} differ in their number of dimensions", text_of(first), text_of(next));
    if (!same_up_to_float_precision(type, next->element_type))
      return op.error(4, "{} and {} differ in element type", text_of(first), text_of(next));
    type = higher_precision(type, next->element_type);
    for (int64_t i = 0; i < first->rank(); ++i) {
      const auto at = static_cast<size_t>(i);
      if (i == along) {
        const bool unbounded = dimensions[at] == Shape::kUnbounded || next->dim(i) == Shape::kUnbounded;
        dimensions[at] = unbounded ? Shape::kUnbounded : saturating_add(dimensions[at], next->dim(i));
      } else if (!sizes_agree(first->dim(i), next->dim(i))) {
        return op.error(5, "{} and {} differ in dimension {}, expected the same size in all but dimension {}",
                        text_of(first), text_of(next), i, along);
      }
      dimensions.dynamic(at) |= next->is_dynamic(i);
    }
  }
  return dimensions.array(op, type);
}

// C1: the operand is an array, the padding value a scalar.
// C2: they have the same element type, up to the precision of floats.
// C3: padding has an entry for each dimension.
// C4: interior padding is not negative.
// C5: no dimension becomes shorter than 0.
ShapeRef infer_pad(OpContext& op) {
  if (!require_array(op, 1, 0) || !require_scalar(op, 1, 1)) return nullptr;
  const ShapeRef operand = op.operand_shape(0), value = op.operand_shape(1);
  if (!same_up_to_float_precision(operand->element_type, value->element_type))
    return op.error(2, "operand {} and padding value {} differ in element type", text_of(operand),
                    text_of(value));
  const auto padding = op.int_lists(AttrKey::kPadding);
  if (!require_count(op, 3, "padding", padding.size(), operand->rank())) return nullptr;
  DimensionList dimensions;
  for (int64_t i = 0; i < operand->rank(); ++i) {
    const std::span<const int64_t> entry = padding[static_cast<size_t>(i)];
    const int64_t low = entry[0], high = entry[1], interior = entry[2], size = operand->dim(i);
    if (interior < 0)
      return op.error(4, "interior padding of dimension {} is {}, expected at least 0", i, interior);
    if (size == Shape::kUnbounded) {
      dimensions.add(size, true);
      continue;
    }
    const int64_t holes = saturating_multiply(std::max<int64_t>(size - 1, 0), interior);
    const int64_t padded = saturating_add(saturating_add(size, holes), saturating_add(low, high));
    if (padded < 0)
      return op.error(5, "padding {}_{}_{} leaves {} of the {} elements of dimension {}", low, high, interior,
                      padded, size, i);
    dimensions.add(padded, operand->is_dynamic(i));
  }
  return dimensions.array(op, higher_precision(operand->element_type, value->element_type));
}

// C1: operand and result are arrays with the same number of elements (`?` may stand for any size).
void check_reshape_syntax(OpContext& op) {
  const ShapeRef operand = op.operand_shape(0), result = op.shape();
  if (!operand->is_array() || !result->is_array() || operand->is_unbounded()) return;
  if (operand->element_count() != result->element_count())
    op.error(1, "{} elements in {} become {} in {}, expected the same number", operand->element_count(),
             text_of(operand), result->element_count(), text_of(result));
}

// C2: they have the same element type, up to the precision of floats.
ShapeRef infer_reshape(OpContext& op) {
  const ShapeRef operand = op.operand_shape(0), result = op.shape();
  if (!operand->is_array() || !result->is_array())
    return op.error(1, "{} becomes {}, expected arrays", text_of(operand), text_of(result));
  if (!same_up_to_float_precision(operand->element_type, result->element_type))
    return op.error(2, "{} becomes {}, expected the same element type", text_of(operand), text_of(result));
  return result;
}

// C1: the operand is an array.
// C2: dimensions are some of its, each at most once.
ShapeRef infer_reverse(OpContext& op) {
  if (!require_array(op, 1, 0)) return nullptr;
  const ShapeRef operand = op.operand_shape(0);
  return require_unique(op, 2, "dimensions", op.ints(AttrKey::kDimensions), operand->rank()) ? operand
                                                                                             : nullptr;
}

// C1: the operand is an array.
// C2: there is a start:limit:stride for each dimension.
// C3: 0 <= start <= limit <= size.
// C4: the stride is positive.
ShapeRef infer_slice(OpContext& op) {
  if (!require_array(op, 1, 0)) return nullptr;
  const ShapeRef operand = op.operand_shape(0);
  const auto slices = op.int_lists(AttrKey::kSlice);
  if (!require_count(op, 2, "slice", slices.size(), operand->rank())) return nullptr;
  DimensionList dimensions;
  for (int64_t i = 0; i < operand->rank(); ++i) {
    const std::span<const int64_t> entry = slices[static_cast<size_t>(i)];
    const int64_t start = entry[0], limit = entry[1], stride = entry[2], size = operand->dim(i);
    if (start < 0 || start > limit || (limit > size && size != Shape::kUnbounded))
      return op.error(3, "[{}:{}] of dimension {} of {}, expected 0 <= start <= limit <= {}", start, limit, i,
                      text_of(operand), size_text(size));
    if (stride <= 0) return op.error(4, "stride of dimension {} is {}, expected at least 1", i, stride);
    const int64_t length = limit - start;
    dimensions.add(ceil_div(length, stride), operand->is_dynamic(i));
  }
  return dimensions.array(op, operand->element_type);
}

/// A transpose whose text gives no shape leaves the elements where they are: the layout follows the
/// dimensions, as XLA infers it.
ShapeRef with_permuted_layout(ShapePool& shapes, ShapeRef array, const Layout* from,
                              std::span<const int64_t> dimensions) {
  if (!from) return array;
  std::vector<int64_t> renamed(dimensions.size()), minor_to_major(dimensions.size());
  for (size_t i = 0; i < dimensions.size(); ++i)
    renamed[static_cast<size_t>(dimensions[i])] = static_cast<int64_t>(i);
  for (size_t i = 0; i < dimensions.size(); ++i)
    minor_to_major[i] = renamed[static_cast<size_t>(from->minor_to_major[i])];
  Layout layout = *from;
  layout.minor_to_major = minor_to_major;
  return shapes.with_layout(array, shapes.layout(layout));
}

// C1: the operand is an array.
// C2: dimensions is a permutation of its dimensions.
ShapeRef infer_transpose(OpContext& op) {
  if (!require_array(op, 1, 0)) return nullptr;
  const ShapeRef operand = op.operand_shape(0);
  const std::span<const int64_t> from = op.ints(AttrKey::kDimensions);
  if (!require_count(op, 2, "dimensions", from.size(), operand->rank())) return nullptr;
  if (!require_unique(op, 2, "dimensions", from, operand->rank())) return nullptr;
  DimensionList dimensions;
  for (const int64_t i : from) dimensions.add(operand->dim(i), operand->is_dynamic(i));
  const ShapeRef result = dimensions.array(op, operand->element_type);
  return op.shape() ? result : with_permuted_layout(op.shapes(), result, operand->layout, from);
}

// ── work ────────────────────────────────────────────────────────
// A vector register holds a tile of the two fastest dimensions, lanes the fastest, sublanes the next.
// What stays aligned to registers is moved by DMA alone; the rest goes through the shuffle units.

void add_shuffle(Work& work, VectorOp unit, ShapeRef shape, double per_element = 1) {
  work.vectors.push_back({unit, shape, per_element});
}

/// Elements of `moved` shift by `offset` along logical dimension `dimension`.
void add_shift(Work& work, ShapeRef moved, int64_t dimension, int64_t offset) {
  if (offset == 0) return;
  if (dimension == minor_dimension(moved, 0)) {
    if (offset % work.vector.lanes != 0) add_shuffle(work, VectorOp::kCrossLane, moved);
  } else if (dimension == minor_dimension(moved, 1) && offset % work.vector.sublanes != 0) {
    add_shuffle(work, VectorOp::kCrossSublane, moved);
  }
}

/// Lanes become sublanes: registers of the array that has more of them pass the cross-lane units.
void add_turn(Work& work, ShapeRef operand, ShapeRef result) {
  add_shuffle(work, VectorOp::kTranspose, array_size(operand) > array_size(result) ? operand : result);
}

/// Result dimension i is operand dimension from(i).
template <class From>
void add_permutation(const OpContext& op, Work& work, From from) {
  const ShapeRef operand = op.operand_shape(0), result = op.shape();
  const auto stays = [&](int64_t k) {
    const int64_t dimension = minor_dimension(result, k);
    return dimension < 0 || from(dimension) == minor_dimension(operand, k);
  };
  if (!stays(0))
    add_turn(work, operand, result);
  else if (!stays(1))
    add_shuffle(work, VectorOp::kCrossSublane, result);
}

/// What `work` shuffles can't be moved as whole tiles.
void add_moves(Work& work, ShapeRef from, ShapeRef to) {
  work.moved_tiles += moved_tiles(from, to);
  work.regroups = std::ranges::any_of(
      work.vectors, [](const VectorWork& vector) { return vector.op != VectorOp::kSimple; });
}

void copy_work(const OpContext& op, Work& work) {
  const ShapeRef operand = op.operand_shape(0), result = op.shape();
  if (!operand->is_array() || operand->rank() != result->rank()) return;
  add_permutation(op, work, [](int64_t i) { return i; });
  const auto same_tile = [](const Tile& a, const Tile& b) {
    return std::ranges::equal(a.dimensions, b.dimensions);
  };
  const bool retiled = operand->layout && result->layout &&
                       !std::ranges::equal(operand->layout->tiles, result->layout->tiles, same_tile);
  if (work.vectors.empty() && retiled) add_shuffle(work, VectorOp::kCrossSublane, result);
  add_moves(work, operand, result);
  work.moved_tiles *= static_cast<double>(bank_conflicts(operand, result, work.vector.lanes));
}

/// With tiles it is known exactly whether every element stays where it is.
bool keeps_places(ShapeRef from, ShapeRef to) {
  if (!from->layout || !to->layout || (from->layout->tiles.empty() && to->layout->tiles.empty()))
    return false;
  const BitcastKind kind = classify_bitcast(from, to).kind;
  return kind == BitcastKind::kIdentity || kind == BitcastKind::kReshape ||
         kind == BitcastKind::kTiledReshape;
}

void transpose_work(const OpContext& op, Work& work) {
  const std::span<const int64_t> from = op.ints(AttrKey::kDimensions);
  add_permutation(op, work, [&](int64_t i) { return from[static_cast<size_t>(i)]; });
  if (!keeps_places(op.operand_shape(0), op.shape())) add_moves(work, op.operand_shape(0), op.shape());
}

/// Rows of whole registers that are cut or joined, where all of them together fill no tile (5 of 8): there is
/// no register of several rows to shuffle, so that each is loaded and stored by itself.
double single_rows(ShapeRef operand, ShapeRef result, int64_t lanes) {
  const auto fills_no_tile = [](ShapeRef array) {
    const int64_t rows = minor_dimension(array, 1);
    if (rows < 0 || !array->layout || array->layout->tiles.empty()) return false;
    const auto& tile = array->layout->tiles[0].dimensions;
    return tile.size() == 2 && array->dim(rows) < tile[0];
  };
  if (!fills_no_tile(operand) && !fills_no_tile(result)) return 0;
  return static_cast<double>(result->element_count()) / static_cast<double>(lanes);
}

}  // namespace

/// Rows of equal length, or of whole registers, keep their lanes; they keep their sublanes when they are as
/// long and also come in whole registers.
void add_reshape(ShapeRef operand, ShapeRef result, Work& work) {
  const auto size = [](ShapeRef array, int64_t k) {
    const int64_t dimension = minor_dimension(array, k);
    return dimension < 0 ? 1 : array->dim(dimension);
  };
  if (operand->element_count() <= 1 || keeps_places(operand, result)) return;
  const int64_t lanes = work.vector.lanes, sublanes = work.vector.sublanes;
  const bool whole_lanes = size(operand, 0) % lanes == 0 && size(result, 0) % lanes == 0;
  double rows = 0;
  if (whole_lanes && size(operand, 0) != size(result, 0)) {
    add_shuffle(work, VectorOp::kCrossSublane, result);
    rows = single_rows(operand, result, lanes);
  } else if (size(operand, 0) != size(result, 0))
    add_turn(work, operand, result);
  else if (size(operand, 1) != size(result, 1) &&
           (size(operand, 1) % sublanes != 0 || size(result, 1) % sublanes != 0))
    add_shuffle(work, VectorOp::kCrossSublane, result);
  add_moves(work, operand, result);
  work.moved_tiles = std::max(work.moved_tiles, rows);
}

namespace {

void reshape_work(const OpContext& op, Work& work) { add_reshape(op.operand_shape(0), op.shape(), work); }

void bitcast_convert_work(const OpContext& op, Work& work) {
  if (op.operand_shape(0)->rank() != op.shape()->rank()) add_shuffle(work, VectorOp::kCrossLane, op.shape());
}

/// Lanes of a register of `array` that hold elements, on average.
double filled_lanes(ShapeRef array, int64_t lanes) {
  const int64_t size = std::max<int64_t>(array->dim(minor_dimension(array, 0)), 1);
  return static_cast<double>(size) / static_cast<double>(ceil_div(size, lanes));
}

/// Along lanes each element of the operand fills registers of its own: one shuffle per lane.
void broadcast_work(const OpContext& op, Work& work) {
  const ShapeRef operand = op.operand_shape(0), result = op.shape();
  work.vectors.push_back({VectorOp::kSimple, result, 1});
  if (operand->rank() == 0) return;
  if (!std::ranges::count(op.ints(AttrKey::kDimensions), minor_dimension(result, 0)))
    add_shuffle(work, VectorOp::kCrossLane, operand, filled_lanes(operand, work.vector.lanes));
}

void concatenate_work(const OpContext& op, Work& work) {
  const int64_t along = op.ints(AttrKey::kDimensions)[0];
  int64_t offset = 0;
  for (int64_t k = 0; k < op.operand_count(); ++k) {
    add_shift(work, op.operand_shape(k), along, offset);
    offset = saturating_add(offset, op.operand_shape(k)->dim(along));
  }
  add_moves(work, op.shape(), op.shape());
}

void pad_work(const OpContext& op, Work& work) {
  const auto padding = op.int_lists(AttrKey::kPadding);
  work.vectors.push_back({VectorOp::kSimple, op.shape(), 1});  // select by position
  for (size_t i = 0; i < padding.size(); ++i) {
    // Holes move every element by a distance of its own.
    const int64_t offset = padding[i][2] != 0 ? 1 : padding[i][0];
    add_shift(work, op.operand_shape(0), static_cast<int64_t>(i), offset);
  }
  add_moves(work, op.shape(), op.shape());
}

void reverse_work(const OpContext& op, Work& work) {
  for (const int64_t dimension : op.ints(AttrKey::kDimensions)) add_shift(work, op.shape(), dimension, 1);
  add_moves(work, op.shape(), op.shape());
}

/// Reads the span of every slice; a stride skips whole rows but not elements inside registers.
void slice_work(const OpContext& op, Work& work) {
  const ShapeRef operand = op.operand_shape(0), result = op.shape();
  const auto slices = op.int_lists(AttrKey::kSlice);
  std::vector<int64_t> read;
  for (int64_t i = 0; i < operand->rank(); ++i) {
    const std::span<const int64_t> entry = slices[static_cast<size_t>(i)];
    const bool inside_register = i == minor_dimension(operand, 0) || i == minor_dimension(operand, 1);
    read.push_back(inside_register ? entry[1] - entry[0] : result->dim(i));
    add_shift(work, result, i, entry[2] != 1 ? 1 : entry[0]);
  }
  work.operand_read[0] = resized(op, operand, read);
  add_moves(work, result, result);
}

constexpr AttrSpec kBroadcastAttrs[] = {{AttrKey::kDimensions, AttrSyntax::kInts}};
constexpr AttrSpec kConcatenateAttrs[] = {{AttrKey::kDimensions, AttrSyntax::kInts1, true}};
constexpr AttrSpec kPadAttrs[] = {{AttrKey::kPadding, AttrSyntax::kPadding, true}};
constexpr AttrSpec kReshapeAttrs[] = {{AttrKey::kInferredDimension, AttrSyntax::kInt}};
constexpr AttrSpec kReverseAttrs[] = {{AttrKey::kDimensions, AttrSyntax::kInts, true}};
constexpr AttrSpec kSliceAttrs[] = {{AttrKey::kSlice, AttrSyntax::kSlices, true}};
constexpr AttrSpec kTransposeAttrs[] = {{AttrKey::kDimensions, AttrSyntax::kInts, true}};

// C1: dimensions is written unless the operand is a scalar.
void check_broadcast_syntax(OpContext& op) {
  if (op.has(AttrKey::kDimensions)) return;
  const ShapeRef operand = op.operand_shape(0);
  if (operand->is_array() && operand->rank() > 0)
    op.error(1, "attribute dimensions is missing, expected one entry for each dimension of {}",
             text_of(operand));
}

}  // namespace

constexpr OpDef kBitcastOp = {
    .name = "bitcast",
    .arity = exactly(1),
    .traits = kFree | kNeedsShape | kExactTypes,
    .infer_shape = infer_bitcast,
    .xla_cost = xla_cost_nothing,
    .view = view_bitcast,
    .evaluation = EvaluationKind::kBitcast,
    .rules = {FusionRule::kNever, LayoutRole::kKeep, ValueRule::kForwards, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kCompute, AsyncPart::kNone,
              BufferRule::kForbidden, NumberRule::kSameInteger, Identity::kNone, DimensionRule::kBitcast}};
constexpr OpDef kBitcastConvertOp = {
    .name = "bitcast-convert",
    .arity = exactly(1),
    .traits = kNeedsShape,
    .infer_shape = infer_bitcast_convert,
    .xla_cost = xla_cost_flop_per_element,
    .work = bitcast_convert_work,
    .evaluation = EvaluationKind::kBitcastConvert,
    .rules = {FusionRule::kNever, LayoutRole::kLike, ValueRule::kMakesAll, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kSameWidth, AsyncKind::kCompute, AsyncPart::kNone,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kRecast}};
constexpr OpDef kBroadcastOp = {
    .name = "broadcast",
    .arity = exactly(1),
    .attrs = kBroadcastAttrs,
    .check_syntax = check_broadcast_syntax,
    .infer_shape = infer_broadcast,
    .work = broadcast_work,
    .view = view_broadcast,
    .evaluation = EvaluationKind::kConverted,
    .rules = {FusionRule::kFill, LayoutRole::kBroadcast, ValueRule::kMakesAll, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kOfScalar, AsyncKind::kCompute, AsyncPart::kNone,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kKeepsUnits,
              DimensionRule::kBroadcast}};
constexpr OpDef kConcatenateOp = {
    .name = "concatenate",
    .arity = at_least(0),
    .attrs = kConcatenateAttrs,
    .infer_shape = infer_concatenate,
    .work = concatenate_work,
    .evaluation = EvaluationKind::kConcatenate,
    .rules = {FusionRule::kPart, LayoutRole::kLike, ValueRule::kMakesAll, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kCompute, AsyncPart::kNone,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kConcatenate}};
constexpr OpDef kCopyOp = {
    .name = "copy",
    .arity = exactly(1),
    .traits = kElementwise | kNoAsyncSugar,
    .infer_shape = infer_copy,
    .work = copy_work,
    .view = view_copy,
    .evaluation = EvaluationKind::kCopy,
    .rules = {FusionRule::kCopy, LayoutRole::kCopy, ValueRule::kShallowCopy, UseRule::kTop, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kByElement, AsyncKind::kCopy, AsyncPart::kPasses,
              BufferRule::kForbidden, NumberRule::kSame, Identity::kNone, DimensionRule::kEach}};
constexpr OpDef kPadOp = {
    .name = "pad",
    .arity = exactly(2),
    .attrs = kPadAttrs,
    .infer_shape = infer_pad,
    .work = pad_work,
    .evaluation = EvaluationKind::kPad,
    .rules = {FusionRule::kPart, LayoutRole::kLike, ValueRule::kMakesAll, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kCompute, AsyncPart::kNone,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kPad}};
constexpr OpDef kReshapeOp = {
    .name = "reshape",
    .arity = exactly(1),
    .traits = kNeedsShape,
    .attrs = kReshapeAttrs,
    .check_syntax = check_reshape_syntax,
    .infer_shape = infer_reshape,
    .work = reshape_work,
    .view = view_reshape,
    .evaluation = EvaluationKind::kConverted,
    .rules = {FusionRule::kReindex, LayoutRole::kReshape, ValueRule::kMakesAll, UseRule::kAll,
              CallRule::kNone, InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kCompute,
              AsyncPart::kNone, BufferRule::kForbidden, NumberRule::kSameInteger, Identity::kNone,
              DimensionRule::kReshape}};
constexpr OpDef kReverseOp = {
    .name = "reverse",
    .arity = exactly(1),
    .attrs = kReverseAttrs,
    .infer_shape = infer_reverse,
    .work = reverse_work,
    .view = view_reverse,
    .evaluation = EvaluationKind::kConverted,
    .rules = {FusionRule::kPart, LayoutRole::kLike, ValueRule::kMakesAll, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kCompute, AsyncPart::kNone,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kElement}};
constexpr OpDef kSliceOp = {
    .name = "slice",
    .arity = exactly(1),
    .traits = kNeedsShape,
    .attrs = kSliceAttrs,
    .infer_shape = infer_slice,
    .xla_cost = xla_cost_slice,
    .work = slice_work,
    .view = view_slice,
    .evaluation = EvaluationKind::kConverted,
    .rules = {FusionRule::kPart, LayoutRole::kLike, ValueRule::kMakesAll, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kCopy, AsyncPart::kNone,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kSlice}};
constexpr OpDef kTransposeOp = {
    .name = "transpose",
    .arity = exactly(1),
    .attrs = kTransposeAttrs,
    .infer_shape = infer_transpose,
    .xla_cost = xla_cost_transpose,
    .work = transpose_work,
    .view = view_transpose,
    .evaluation = EvaluationKind::kConverted,
    .rules = {FusionRule::kPart, LayoutRole::kTranspose, ValueRule::kMakesAll, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kCompute, AsyncPart::kNone,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kKeepsUnits,
              DimensionRule::kTranspose}};

}  // namespace hlosim
