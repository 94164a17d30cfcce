// Gather, scatter and sort.
#include "stablehlo/captured_operands.h"

namespace hlosim::stablehlo {
namespace {

void lower_gather(OpLowering& op, Opcode) {
  if (op.takes(2)) give_gather(op, op.list("slice_sizes"));
}

void lower_scatter(OpLowering& op, Opcode) {
  const mlir::Attribute* numbers = op.need("scatter_dimension_numbers");
  if (!numbers) return;
  std::vector<Attr> attrs = {
      op.ints(AttrKey::kUpdateWindowDims, op.list_in(*numbers, "update_window_dims")),
      op.ints(AttrKey::kInsertedWindowDims, op.list_in(*numbers, "inserted_window_dims")),
      op.ints(AttrKey::kScatterDimsToOperandDims, op.list_in(*numbers, "scatter_dims_to_operand_dims"))};
  const std::vector<int64_t> input_batch = op.list_in(*numbers, "input_batching_dims"),
                             index_batch = op.list_in(*numbers, "scatter_indices_batching_dims");
  if (!input_batch.empty()) attrs.push_back(op.ints(AttrKey::kInputBatchingDims, input_batch));
  if (!index_batch.empty()) attrs.push_back(op.ints(AttrKey::kScatterIndicesBatchingDims, index_batch));
  attrs.push_back(Attr::make_int(AttrKey::kIndexVectorDim, op.integer_in(*numbers, "index_vector_dim", 0)));
  if (op.flag("indices_are_sorted")) attrs.push_back(Attr::make_bool(AttrKey::kIndicesAreSorted, true));
  if (op.flag("unique_indices")) attrs.push_back(Attr::make_bool(AttrKey::kUniqueIndices, true));
  CapturedOperands outside(op, RegionForm::kFold);
  const size_t arrays = op.operand_count() / 2;
  Values operands = outside.with_arrays(op.operands(0, arrays));
  operands.push_back(op.operand(arrays));
  const Values updates = outside.with_arrays(op.operands(arrays + 1));
  operands.insert(operands.end(), updates.begin(), updates.end());
  attrs.push_back(outside.region(AttrKey::kToApply, "scatter"));
  outside.give(op.make(Opcode::kScatter, operands, attrs));
}

void lower_sort(OpLowering& op, Opcode) {
  if (!op.takes_at_least(1)) return;
  CapturedOperands outside(op, RegionForm::kPairs);
  const Values operands = outside.with_arrays(op.operands());
  int64_t dimension = op.integer("dimension", -1);
  if (op.failed()) return;
  if (dimension < 0) dimension += op.rank(operands[0]);
  std::vector<Attr> attrs = {op.ints(AttrKey::kDimensions, {dimension})};
  if (op.flag("is_stable")) attrs.push_back(Attr::make_bool(AttrKey::kIsStable, true));
  attrs.push_back(outside.region(AttrKey::kToApply, "compare"));
  outside.give(op.make(Opcode::kSort, operands, attrs));
}

/// Rows of the operand by index: torch's index_select.
void lower_torch_index_select(OpLowering& op, Opcode) {
  if (!op.takes(2)) return;
  const InstructionId operand = op.operand(0), index = op.operand(1);
  const int64_t dim = op.integer("dim"), batch = op.integer("batch_dims", 0);
  if (op.failed()) return;
  const ShapeRef from = op.shape(operand), at = op.shape(index);
  if (dim < 0 || dim >= from->rank() || batch < 0 || batch > dim || batch > at->rank()) {
    op.fail("dim = {}, batch_dims = {} don't fit {} and {}", dim, batch, to_text_without_layout(from),
            to_text_without_layout(at));
    return;
  }
  std::vector<int64_t> offset, batching, sizes(from->dimensions.begin(), from->dimensions.end());
  for (int64_t i = 0; i < batch; ++i) batching.push_back(i), sizes[static_cast<size_t>(i)] = 1;
  sizes[static_cast<size_t>(dim)] = 1;
  for (int64_t i = batch; i < from->rank(); ++i)
    if (i != dim) offset.push_back(i < dim ? i : i - 1 + at->rank() - batch);
  std::vector<Attr> attrs = {
      op.ints(AttrKey::kOffsetDims, offset), op.ints(AttrKey::kCollapsedSliceDims, {dim}),
      op.ints(AttrKey::kStartIndexMap, {dim}), Attr::make_int(AttrKey::kIndexVectorDim, at->rank()),
      op.ints(AttrKey::kSliceSizes, sizes)};
  if (!batching.empty()) {
    attrs.push_back(op.ints(AttrKey::kOperandBatchingDims, batching));
    attrs.push_back(op.ints(AttrKey::kStartIndicesBatchingDims, batching));
  }
  const InstructionId operands[] = {operand, index};
  op.give(op.make(Opcode::kGather, operands, attrs, op.result()));
}

constexpr Row kIndexingRows[] = {
    {"stablehlo.gather", lower_gather},
    {"stablehlo.scatter", lower_scatter},
    {"stablehlo.sort", lower_sort},
    {"stablehlo.torch_index_select", lower_torch_index_select},
};

}  // namespace

void give_gather(OpLowering& op, const std::vector<int64_t>& slice_sizes) {
  const mlir::Attribute* numbers = op.need("dimension_numbers");
  if (!numbers) return;
  std::vector<Attr> attrs = {
      op.ints(AttrKey::kOffsetDims, op.list_in(*numbers, "offset_dims")),
      op.ints(AttrKey::kCollapsedSliceDims, op.list_in(*numbers, "collapsed_slice_dims")),
      op.ints(AttrKey::kStartIndexMap, op.list_in(*numbers, "start_index_map"))};
  const std::vector<int64_t> operand_batch = op.list_in(*numbers, "operand_batching_dims"),
                             index_batch = op.list_in(*numbers, "start_indices_batching_dims");
  if (!operand_batch.empty()) attrs.push_back(op.ints(AttrKey::kOperandBatchingDims, operand_batch));
  if (!index_batch.empty()) attrs.push_back(op.ints(AttrKey::kStartIndicesBatchingDims, index_batch));
  attrs.push_back(Attr::make_int(AttrKey::kIndexVectorDim, op.integer_in(*numbers, "index_vector_dim", 0)));
  attrs.push_back(op.ints(AttrKey::kSliceSizes, slice_sizes));
  if (op.flag("indices_are_sorted")) attrs.push_back(Attr::make_bool(AttrKey::kIndicesAreSorted, true));
  const InstructionId operands[] = {op.operand(0), op.operand(1)};
  op.give(op.make(Opcode::kGather, operands, attrs, op.result()));
}

std::span<const Row> indexing_rows() { return kIndexingRows; }

}  // namespace hlosim::stablehlo
