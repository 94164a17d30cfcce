// Gather and scatter: access through tensors of indices.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/saturating.h"
#include "hlo/op_def.h"
#include "ops/op_table.h"
#include "ops/reducer.h"
#include "ops/require.h"
#include "ops/work.h"
#include "ops/xla_cost_rules.h"

namespace hlosim {
namespace {

/// How the tensor of indices is read, in the words of gather; scatter's attributes mean the same.
struct IndexAttrs {
  AttrKey batching, indices_batching, map;
};
constexpr IndexAttrs kGatherIndices = {AttrKey::kOperandBatchingDims, AttrKey::kStartIndicesBatchingDims,
                                       AttrKey::kStartIndexMap};
constexpr IndexAttrs kScatterIndices = {AttrKey::kInputBatchingDims, AttrKey::kScatterIndicesBatchingDims,
                                        AttrKey::kScatterDimsToOperandDims};

/// Requires: values in [0, rank).
DimensionSet set_of(Dimensions values, int64_t rank) {
  DimensionSet set(rank);
  for (const int64_t value : values) set.insert(value);
  return set;
}

/// Number of index vectors' dimensions: those of the indices without index_vector_dim.
int64_t batch_rank(ShapeRef indices, int64_t vector_dim) {
  return vector_dim == indices->rank() ? indices->rank() : indices->rank() - 1;
}

/// Batch dimension i of the indices: dimension i, index_vector_dim skipped.
int64_t batch_dimension(int64_t i, int64_t vector_dim) { return i < vector_dim ? i : i + 1; }

// The numbered constraints that gather and scatter have in common.
// C2: indices are integers; index_vector_dim is one of their dimensions, or their number.
// C3: the index map has an entry, one of the operand's dimensions, for each number of an index vector.
// C4: batching dimensions pair dimensions of the operand with dimensions of the indices. Their sizes may
//     differ: XLA compares them with nothing.
bool require_indices(OpContext& op, ShapeRef operand, int64_t indices_operand, const IndexAttrs& attrs) {
  if (!require_integral(op, 2, indices_operand)) return false;
  const ShapeRef indices = op.operand_shape(indices_operand);
  const int64_t vector_dim = op.integer(AttrKey::kIndexVectorDim);
  if (vector_dim < 0 || vector_dim > indices->rank()) {
    op.error(2, "index_vector_dim is {}, expected 0 to {} for indices {}", vector_dim, indices->rank(),
             text_of(indices));
    return false;
  }
  const Dimensions map = op.ints(attrs.map);
  const int64_t numbers = vector_dim == indices->rank() ? 1 : indices->dim(vector_dim);
  if (numbers != Shape::kUnbounded && !require_count(op, 3, to_text(attrs.map), map.size(), numbers))
    return false;
  if (!require_unique(op, 3, to_text(attrs.map), map, operand->rank())) return false;

  const Dimensions batching = op.ints(attrs.batching), paired = op.ints(attrs.indices_batching);
  if (!require_sorted(op, 4, to_text(attrs.batching), batching)) return false;
  if (!require_in_range(op, 4, to_text(attrs.batching), batching, operand->rank())) return false;
  if (!require_unique(op, 4, to_text(attrs.indices_batching), paired, indices->rank())) return false;
  if (!require_count(op, 4, to_text(attrs.indices_batching), paired.size(),
                     static_cast<int64_t>(batching.size())))
    return false;
  if (!holds(paired, vector_dim)) return true;
  op.error(4, "{} holds index_vector_dim {}", to_text(attrs.indices_batching), vector_dim);
  return false;
}

// Ascending dimensions of a rank, each once, without those that `others` holds (found in range before).
bool require_disjoint(OpContext& op, int constraint, AttrKey key, int64_t rank, AttrKey others) {
  const Dimensions list = op.ints(key);
  if (!require_sorted(op, constraint, to_text(key), list)) return false;
  if (!require_in_range(op, constraint, to_text(key), list, rank)) return false;
  const DimensionSet taken = set_of(op.ints(others), rank);
  for (const int64_t dimension : list) {
    if (!taken.contains(dimension)) continue;
    op.error(constraint, "{} and {} both hold {}, expected no common dimension", to_text(key),
             to_text(others), dimension);
    return false;
  }
  return true;
}

// ── gather ──────────────────────────────────────────────────────

// C1: operand and indices are arrays.
// C2, C3, C4: see require_indices.
// C5: offset_dims are ascending dimensions of the result, each once.
// C6: collapsed_slice_dims are ascending dimensions of the operand, each once, none a batching one.
// C7: slice_sizes has an entry for each dimension of the operand, from 0 to its size.
// C8: at most 1 for collapsed and batching dimensions.
// C9: each dimension of the operand is collapsed, batching, or one of the result's offset_dims.
bool require_gather(OpContext& op) {
  if (!require_arrays(op, 1)) return false;
  const ShapeRef operand = op.operand_shape(0), indices = op.operand_shape(1);
  if (!require_indices(op, operand, 1, kGatherIndices)) return false;
  const Dimensions offset = op.ints(AttrKey::kOffsetDims), collapsed = op.ints(AttrKey::kCollapsedSliceDims);
  const Dimensions batching = op.ints(AttrKey::kOperandBatchingDims), sizes = op.ints(AttrKey::kSliceSizes);
  const int64_t result_rank =
      static_cast<int64_t>(offset.size()) + batch_rank(indices, op.integer(AttrKey::kIndexVectorDim));
  if (!require_sorted(op, 5, "offset_dims", offset)) return false;
  if (!require_in_range(op, 5, "offset_dims", offset, result_rank)) return false;
  if (!require_disjoint(op, 6, AttrKey::kCollapsedSliceDims, operand->rank(), AttrKey::kOperandBatchingDims))
    return false;
  if (!require_count(op, 7, "slice_sizes", sizes.size(), operand->rank())) return false;
  const DimensionSet collapsed_set = set_of(collapsed, operand->rank());
  const DimensionSet batching_set = set_of(batching, operand->rank());
  for (int64_t i = 0; i < operand->rank(); ++i) {
    const int64_t size = sizes[static_cast<size_t>(i)], limit = operand->dim(i);
    if (size < 0 || (limit != Shape::kUnbounded && size > limit)) {
      op.error(7, "slice size {} of dimension {} of {}, expected 0 to {}", size, i, text_of(operand),
               size_text(limit));
      return false;
    }
    if (size > 1 && (collapsed_set.contains(i) || batching_set.contains(i))) {
      op.error(8, "slice size of dimension {} is {}, expected 0 or 1: it is not a dimension of the result", i,
               size);
      return false;
    }
  }
  if (offset.size() + collapsed.size() + batching.size() == sizes.size()) return true;
  op.error(9, "{} offset_dims, {} collapsed_slice_dims and {} operand_batching_dims, expected {} together",
           offset.size(), collapsed.size(), batching.size(), sizes.size());
  return false;
}

ShapeRef infer_gather(OpContext& op) {
  if (!require_gather(op)) return nullptr;
  const ShapeRef operand = op.operand_shape(0), indices = op.operand_shape(1);
  const Dimensions offset = op.ints(AttrKey::kOffsetDims), collapsed = op.ints(AttrKey::kCollapsedSliceDims);
  const Dimensions batching = op.ints(AttrKey::kOperandBatchingDims), sizes = op.ints(AttrKey::kSliceSizes);
  const int64_t vector_dim = op.integer(AttrKey::kIndexVectorDim);
  const int64_t rank = static_cast<int64_t>(offset.size()) + batch_rank(indices, vector_dim);
  const DimensionSet collapsed_set = set_of(collapsed, operand->rank());
  const DimensionSet batching_set = set_of(batching, operand->rank());
  DimensionList dimensions;
  int64_t window = 0, batch = 0;
  size_t next_offset = 0;
  for (int64_t i = 0; i < rank; ++i) {
    if (next_offset < offset.size() && offset[next_offset] == i) {
      ++next_offset;
      while (collapsed_set.contains(window) || batching_set.contains(window)) ++window;
      const int64_t size = sizes[static_cast<size_t>(window)];
      dimensions.add(size, operand->is_dynamic(window) && size == operand->dim(window));
      ++window;
    } else {
      const int64_t from = batch_dimension(batch++, vector_dim);
      dimensions.add(indices->dim(from), indices->is_dynamic(from));
    }
  }
  return dimensions.array(op, operand->element_type);
}

// ── scatter ─────────────────────────────────────────────────────

// C0: an odd number of operands: n arrays, the indices, n updates.
void check_scatter_syntax(OpContext& op) {
  if (op.operand_count() % 2 == 0)
    op.error(0, "{} operands, expected an odd number: arrays, indices, as many updates", op.operand_count());
}

// C1: all operands are arrays, at least one, the indices and its updates; arrays have the same
//     dimensions, so have updates.
bool require_scatter_operands(OpContext& op) {
  const int64_t count = op.operand_count() / 2;
  if (count < 1 || op.operand_count() != 2 * count + 1) {
    op.error(1, "{} operands, expected at least 3, an odd number", op.operand_count());
    return false;
  }
  if (!require_arrays(op, 1)) return false;
  for (const int64_t first : {int64_t{0}, count + 1}) {
    for (int64_t i = first + 1; i < first + count; ++i) {
      if (same_dimensions(op.operand_shape(first), op.operand_shape(i))) continue;
      op.error(1, "operands {} and {}, {} and {}, differ in dimensions", first, i,
               text_of(op.operand_shape(first)), text_of(op.operand_shape(i)));
      return false;
    }
  }
  return true;
}

// C2, C3, C4: see require_indices.
// C5: update_window_dims are ascending dimensions of the updates, each once.
// C6: inserted_window_dims are ascending dimensions of the operand, each once, none a batching one.
// C7: each dimension of the operand is inserted, batching, or one of the updates' window.
// C8: the updates have the dimensions of the index vectors and those of the window.
// C9: the window of the updates is nowhere larger than the operand.
// C10: the other dimensions of the updates are those of the index vectors.
bool require_updates(OpContext& op) {
  const int64_t count = op.operand_count() / 2;
  const ShapeRef operand = op.operand_shape(0), indices = op.operand_shape(count),
                 updates = op.operand_shape(count + 1);
  const Dimensions window = op.ints(AttrKey::kUpdateWindowDims),
                   inserted = op.ints(AttrKey::kInsertedWindowDims);
  const Dimensions batching = op.ints(AttrKey::kInputBatchingDims);
  if (!require_sorted(op, 5, "update_window_dims", window)) return false;
  if (!require_in_range(op, 5, "update_window_dims", window, updates->rank())) return false;
  if (!require_disjoint(op, 6, AttrKey::kInsertedWindowDims, operand->rank(), AttrKey::kInputBatchingDims))
    return false;
  if (static_cast<int64_t>(window.size() + inserted.size() + batching.size()) != operand->rank()) {
    op.error(
        7, "{} update_window_dims, {} inserted_window_dims and {} input_batching_dims, expected {} together",
        window.size(), inserted.size(), batching.size(), operand->rank());
    return false;
  }
  const int64_t vector_dim = op.integer(AttrKey::kIndexVectorDim);
  const int64_t rank = static_cast<int64_t>(window.size()) + batch_rank(indices, vector_dim);
  if (updates->rank() != rank) {
    op.error(8, "updates {} have {} dimensions, expected {}", text_of(updates), updates->rank(), rank);
    return false;
  }
  const DimensionSet inserted_set = set_of(inserted, operand->rank());
  const DimensionSet batching_set = set_of(batching, operand->rank());
  int64_t from = 0, batch = 0;
  size_t next_window = 0;
  for (int64_t i = 0; i < rank; ++i) {
    if (next_window < window.size() && window[next_window] == i) {
      ++next_window;
      while (inserted_set.contains(from) || batching_set.contains(from)) ++from;
      const int64_t limit = operand->dim(from);
      if (updates->dim(i) > limit && limit != Shape::kUnbounded) {
        op.error(9,
                 "dimension {} of updates {} is a window of dimension {} of {}, expected at most {} elements",
                 i, text_of(updates), from, text_of(operand), limit);
        return false;
      }
      ++from;
      continue;
    }
    const int64_t of_indices = batch_dimension(batch++, vector_dim);
    if (sizes_agree(updates->dim(i), indices->dim(of_indices))) continue;
    op.error(10, "dimension {} of updates {} is dimension {} of indices {}, expected the same size", i,
             text_of(updates), of_indices, text_of(indices));
    return false;
  }
  return true;
}

// C11: the computation combines a scalar of each operand with one of its updates.
ShapeRef infer_scatter(OpContext& op) {
  if (!require_scatter_operands(op)) return nullptr;
  const int64_t count = op.operand_count() / 2;
  if (!require_indices(op, op.operand_shape(0), count, kScatterIndices) || !require_updates(op))
    return nullptr;
  if (count == 1) {
    const ElementType types[] = {op.operand_shape(0)->element_type, op.operand_shape(2)->element_type};
    const bool fits = require_reducer(op, 11, op.called(), std::span(types, 1), std::span(types + 1, 1));
    return fits ? op.operand_shape(0) : nullptr;
  }
  std::vector<ElementType> accumulators, values;
  std::vector<ShapeRef> results;
  for (int64_t i = 0; i < count; ++i) {
    results.push_back(op.operand_shape(i));
    accumulators.push_back(results.back()->element_type);
    values.push_back(op.operand_shape(count + 1 + i)->element_type);
  }
  return require_reducer(op, 11, op.called(), accumulators, values) ? op.shapes().tuple(results) : nullptr;
}

// ── work ────────────────────────────────────────────────────────

int64_t index_vectors(ShapeRef indices, int64_t vector_dim) {
  int64_t count = 1;
  for (int64_t i = 0; i < indices->rank(); ++i)
    if (i != vector_dim) count = saturating_multiply(count, indices->dim(i));
  return count;
}

/// Rows of `array`, in parts of one register's lanes.
double lane_rows(ShapeRef array, const VectorShape& vector) {
  const int64_t minor = minor_dimension(array, 0);
  if (minor < 0 || array->dim(minor) == 0) return 1;
  const auto along = static_cast<double>(array->dim(minor));
  return static_cast<double>(array->element_count()) / along *
         std::ceil(along / static_cast<double>(vector.lanes));
}

/// Reads of the operand what the result holds, one slice for each index vector.
void gather_work(const OpContext& op, Work& work) {
  work.operand_read[0] = op.shape();
  work.scattered_accesses = index_vectors(op.operand_shape(1), op.integer(AttrKey::kIndexVectorDim));
  work.moved_tiles = lane_rows(op.shape(), work.vector);
}

/// In place: reads, combines and writes windows of the operands' memory as large as the updates.
void scatter_work(const OpContext& op, Work& work) {
  const auto count = static_cast<size_t>(op.operand_count() / 2);
  std::vector<ShapeRef> updates;
  for (size_t i = 0; i < count; ++i) {
    updates.push_back(op.operand_shape(static_cast<int64_t>(count + 1 + i)));
    work.operand_read[i] = updates.back();
  }
  add_applications(op, op.called(), updates[0], 1, work);
  work.result_written = count == 1 ? updates[0] : op.shapes().tuple(updates);
  const ShapeRef indices = op.operand_shape(static_cast<int64_t>(count));
  work.scattered_accesses = index_vectors(indices, op.integer(AttrKey::kIndexVectorDim));
  work.moved_tiles = lane_rows(updates[0], work.vector);
}

constexpr AttrSpec kGatherAttrs[] = {
    {AttrKey::kOffsetDims, AttrSyntax::kInts, true},
    {AttrKey::kCollapsedSliceDims, AttrSyntax::kInts, true},
    {AttrKey::kStartIndexMap, AttrSyntax::kInts, true},
    {AttrKey::kIndexVectorDim, AttrSyntax::kInt, true},
    {AttrKey::kSliceSizes, AttrSyntax::kInts, true},
    {AttrKey::kIndicesAreSorted, AttrSyntax::kBool},
    {AttrKey::kOperandBatchingDims, AttrSyntax::kInts},
    {AttrKey::kStartIndicesBatchingDims, AttrSyntax::kInts},
};
constexpr AttrSpec kScatterAttrs[] = {
    {AttrKey::kUpdateWindowDims, AttrSyntax::kInts, true},
    {AttrKey::kInsertedWindowDims, AttrSyntax::kInts, true},
    {AttrKey::kScatterDimsToOperandDims, AttrSyntax::kInts, true},
    {AttrKey::kIndexVectorDim, AttrSyntax::kInt, true},
    {AttrKey::kToApply, AttrSyntax::kComputation, true},
    {AttrKey::kIndicesAreSorted, AttrSyntax::kBool},
    {AttrKey::kUniqueIndices, AttrSyntax::kBool},
    {AttrKey::kInputBatchingDims, AttrSyntax::kInts},
    {AttrKey::kScatterIndicesBatchingDims, AttrSyntax::kInts},
};

}  // namespace

constexpr OpDef kGatherOp = {
    .name = "gather",
    .arity = exactly(2),
    .attrs = kGatherAttrs,
    .infer_shape = infer_gather,
    .xla_cost = xla_cost_gather,
    .work = gather_work,
    .evaluation = EvaluationKind::kGather,
    .rules = {FusionRule::kNever, LayoutRole::kKeep, ValueRule::kMakesAll, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kCompute, AsyncPart::kNone,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kGather}};
constexpr OpDef kScatterOp = {
    .name = "scatter",
    .arity = at_least(1),
    .attrs = kScatterAttrs,
    .check_syntax = check_scatter_syntax,
    .infer_shape = infer_scatter,
    .xla_cost = xla_cost_scatter,
    .work = scatter_work,
    .evaluation = EvaluationKind::kScatter,
    .rules = {FusionRule::kEndsUpdate, LayoutRole::kKeep, ValueRule::kMakesAll, UseRule::kAll,
              CallRule::kEmbedded, InPlaceRule::kEachUpdated, OverwriteRule::kFirst, AsyncKind::kCompute,
              AsyncPart::kNone, BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone,
              DimensionRule::kScatter}};

}  // namespace hlosim
