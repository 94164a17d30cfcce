#include "stablehlo/captured_operands.h"

#include "stablehlo/types.h"

namespace hlosim::stablehlo {

CapturedOperands::CapturedOperands(OpLowering& op, RegionForm form) : op_(op), form_(form) {
  if (op.failed() || !op.has_region(0)) return;
  for (const mlir::Value* value : op.captured(0)) {
    if (op.failed()) return;
    if (Lowering::is_made_anew(*value)) continue;
    const InstructionId outside = op.lowering().value(op.scope(), *value, op.mlir().offset);
    if (op.failed()) return;
    const ShapeRef shape = op.shape(outside);
    if (!shape->is_array() || shape->rank() != 0) {
      op.fail("its region uses %{} from outside, {}; expected its arguments, constants and scalars",
              value->name.empty() ? std::string_view("?") : value->name, to_text_without_layout(shape));
      return;
    }
    captured_.push_back(value);
    values_.push_back(outside);
  }
}

Values CapturedOperands::with_arrays(Values arrays) {
  if (op_.failed() || arrays.empty()) return arrays;
  const ShapeRef like = op_.shape(arrays[0]);
  for (const InstructionId value : values_) arrays.push_back(op_.splat(value, like));
  return arrays;
}

Values CapturedOperands::with_scalars(Values scalars) const {
  scalars.insert(scalars.end(), values_.begin(), values_.end());
  return scalars;
}

Attr CapturedOperands::region(AttrKey key, std::string_view name) {
  const ComputationId computation[] = {empty() ? op_.region(0, name) : this->computation(name)};
  return op_.builder().computations(key, computation);
}

ComputationId CapturedOperands::computation(std::string_view name) {
  if (op_.failed()) return {};
  const mlir::Block& block = *op_.mlir().regions[0].blocks[0];
  Scope inner;
  inner.outer = &op_.scope();
  size_t count = 0;
  const auto parameter = [&](ShapeRef shape) {
    return op_.builder().parameter(inner.body, shape, fmt::format("Arg_{}", count++),
                                   {op_.mlir().offset, {}});
  };
  const auto bring_in = [&] {
    for (size_t i = 0; i < captured_.size(); ++i) {
      inner.values[captured_[i]] = parameter(op_.shape(values_[i]));
      if (form_ == RegionForm::kPairs) parameter(op_.shape(values_[i]));
    }
  };
  for (size_t k = 0; k < block.arguments.size(); ++k) {
    if (form_ == RegionForm::kFold && k == block.arguments.size() / 2) bring_in();
    const Result<ShapeRef> shape = shape_of(*block.arguments[k]->type, op_.shapes());
    if (!shape) {
      op_.fail("{}", shape.error().message);
      return {};
    }
    inner.values[block.arguments[k]] = parameter(*shape);
  }
  bring_in();
  Values results = op_.lowering().block(inner, block);
  if (op_.failed()) return {};
  if (form_ == RegionForm::kFold)
    for (const mlir::Value* value : captured_) results.push_back(inner.values[value]);
  InstructionId root = results.empty() ? InstructionId() : results[0];
  if (results.size() != 1)
    root = op_.builder().add(inner.body, Opcode::kTuple, results, {}, nullptr, op_.place());
  return op_.builder().close(inner.body, name, root, op_.mlir().offset);
}

void CapturedOperands::give(InstructionId made) {
  if (empty() || form_ == RegionForm::kOne) return op_.give_elements(made);
  if (op_.failed()) return;
  op_.decorate(made);
  Values results;
  for (size_t i = 0; i < op_.result_count(); ++i)
    results.push_back(op_.element(made, static_cast<int64_t>(i)));
  op_.give_all(results);
}

}  // namespace hlosim::stablehlo
