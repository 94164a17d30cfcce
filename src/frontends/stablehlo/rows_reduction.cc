// Reductions, windows, maps and scans.
#include <algorithm>

#include "stablehlo/captured_operands.h"
#include "stablehlo/types.h"
#include "stablehlo/windows.h"

namespace hlosim::stablehlo {
namespace {

Attr to_apply(OpLowering& op, AttrKey key, size_t region, std::string_view name) {
  const ComputationId computation[] = {op.region(region, name)};
  return op.builder().computations(key, computation);
}

/// Operand `i` in the integers of the reducer, which may be wider; HLO's reducers are of the arrays' type.
InstructionId promoted_operand(OpLowering& op, size_t i) {
  const InstructionId operand = op.operand(i);
  const size_t arrays = op.operand_count() / 2;
  if (op.failed() || !op.has_region(0)) return operand;
  const mlir::Block& block = *op.mlir().regions[0].blocks[0];
  const size_t argument = i < arrays ? arrays + i : i - arrays;
  if (argument >= block.arguments.size() || !block.arguments[argument]->type->element) return operand;
  const ElementType wider = element_type_of(*block.arguments[argument]->type->element);
  return is_integer(wider) && (is_integer(op.type(operand)) || is_pred(op.type(operand)))
             ? op.convert(operand, wider)
             : operand;
}

/// Arrays, then initial values, with what the region takes from outside in both.
Values folded_operands(OpLowering& op, CapturedOperands& outside) {
  const size_t arrays = op.operand_count() / 2;
  Values own_arrays, own_initial;
  for (size_t i = 0; i < op.operand_count(); ++i)
    (i < arrays ? own_arrays : own_initial).push_back(promoted_operand(op, i));
  Values operands = outside.with_arrays(own_arrays);
  const Values initial = outside.with_scalars(own_initial);
  operands.insert(operands.end(), initial.begin(), initial.end());
  return operands;
}

void lower_reduce(OpLowering& op, Opcode) {
  CapturedOperands outside(op, RegionForm::kFold);
  const Values operands = folded_operands(op, outside);
  std::vector<Attr> attrs = {op.ints(AttrKey::kDimensions, "dimensions")};
  attrs.push_back(outside.region(AttrKey::kToApply, "region"));
  outside.give(op.make(Opcode::kReduce, operands, attrs));
}

/// The window of reduce_window and select_and_scatter over arrays of `rank` dimensions.
std::optional<Attr> window_of(OpLowering& op, int64_t rank) {
  const auto count = static_cast<size_t>(rank);
  const std::vector<int64_t> ones(count, 1);
  const auto sizes = op.list_or("window_dimensions", ones), strides = op.list_or("window_strides", ones),
             base = op.list_or("base_dilations", ones), dilation = op.list_or("window_dilations", ones);
  const IntRows padding = op.has("padding") ? op.table("padding") : IntRows(count, {0, 0});
  if (op.failed()) return std::nullopt;
  if (sizes.size() != count || strides.size() != count || base.size() != count || dilation.size() != count ||
      padding.size() != count) {
    op.fail("the window's lists differ in length from the {} dimensions of the operand", count);
    return std::nullopt;
  }
  std::vector<WindowDimension> window(count);
  for (size_t i = 0; i < count; ++i) {
    WindowDimension& w = window[i];
    w.size = sizes[i], w.stride = strides[i], w.base_dilation = base[i], w.window_dilation = dilation[i];
    w.padding_low = padding[i][0], w.padding_high = padding[i][1];
  }
  return window_attr(op, window);
}

void lower_reduce_window(OpLowering& op, Opcode) {
  if (!op.takes_at_least(2)) return;
  CapturedOperands outside(op, RegionForm::kFold);
  const Values operands = folded_operands(op, outside);
  if (op.failed()) return;
  const auto window = window_of(op, op.rank(operands[0]));
  if (!window) return;
  std::vector<Attr> attrs;
  if (op.rank(operands[0]) > 0) attrs.push_back(*window);
  attrs.push_back(outside.region(AttrKey::kToApply, "region"));
  outside.give(op.make(Opcode::kReduceWindow, operands, attrs));
}

void lower_select_and_scatter(OpLowering& op, Opcode) {
  if (!op.takes(3)) return;
  const Values operands = op.operands();
  if (op.failed()) return;
  const auto window = window_of(op, op.rank(operands[0]));
  if (!window) return;
  std::vector<Attr> attrs;
  if (op.rank(operands[0]) > 0) attrs.push_back(*window);
  attrs.push_back(to_apply(op, AttrKey::kSelect, 0, "select"));
  attrs.push_back(to_apply(op, AttrKey::kScatter, 1, "scatter"));
  op.give(op.make(Opcode::kSelectAndScatter, operands, attrs, op.result()));
}

void lower_map(OpLowering& op, Opcode) {
  CapturedOperands outside(op, RegionForm::kOne);
  const Values operands = outside.with_arrays(op.operands());
  std::vector<Attr> attrs = {op.ints(AttrKey::kDimensions, "dimensions")};
  attrs.push_back(outside.region(AttrKey::kToApply, "region"));
  op.give(op.make(Opcode::kMap, operands, attrs, op.result()));
}

void lower_scan(OpLowering& op, Opcode) {
  const Values operands = op.operands();
  const int64_t dimension = op.integer("dimension");
  int64_t carries = 0;
  if (const mlir::Attribute* sizes = op.find("operandSegmentSizes"); sizes && sizes->integers.size() == 2)
    carries = sizes->integers[1];
  if (op.failed()) return;
  std::vector<Attr> attrs = {op.ints(AttrKey::kDimensions, {dimension}),
                             Attr::make_int(AttrKey::kNumCarries, carries)};
  if (op.flag("is_reverse")) attrs.push_back(Attr::make_bool(AttrKey::kIsReverse, true));
  if (op.flag("is_associative")) attrs.push_back(Attr::make_bool(AttrKey::kIsAssociative, true));
  attrs.push_back(to_apply(op, AttrKey::kToApply, 0, "scan"));
  op.give_elements(op.make(Opcode::kScan, operands, attrs, op.whole_result()));
}

constexpr Row kReductionRows[] = {
    {"stablehlo.map", lower_map},
    {"stablehlo.reduce", lower_reduce},
    {"stablehlo.reduce_window", lower_reduce_window},
    {"stablehlo.scan", lower_scan},
    {"chlo.scan", lower_scan},
    {"stablehlo.select_and_scatter", lower_select_and_scatter},
};

}  // namespace

std::span<const Row> reduction_rows() { return kReductionRows; }

}  // namespace hlosim::stablehlo
