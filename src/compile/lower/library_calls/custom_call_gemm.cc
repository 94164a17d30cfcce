// The custom calls __cublas$gemm and __cublas$lt$matmul in plain instructions.
#include <algorithm>
#include <complex>

#include "hlo/stored_values.h"
#include "lower/library_calls/custom_call_spellings.h"
#include "ops/custom_calls/gemm_config.h"

namespace hlosim {
namespace {

/// x / 2 · (1 + tanh(√(2/π) · (x + 0.044715 x³)))
InstructionId spell_out_gelu(Spelling& spelling, InstructionId x) {
  const ShapeRef shape = spelling.shape_of(x);
  const auto times = [&](InstructionId value, double number) {
    return spelling.binary(Opcode::kMultiply, value, spelling.filled(shape, number));
  };
  const InstructionId cube = spelling.binary(Opcode::kMultiply, spelling.binary(Opcode::kMultiply, x, x), x);
  const InstructionId inner =
      times(spelling.binary(Opcode::kAdd, x, times(cube, 0.044715)), 0.7978845608028654);
  const InstructionId tanh = spelling.add(Opcode::kTanh, shape, {inner});
  const InstructionId factor = spelling.binary(Opcode::kAdd, tanh, spelling.filled(shape, 1));
  return spelling.binary(Opcode::kMultiply, times(x, 0.5), factor);
}

InstructionId spell_out_product(Spelling& spelling, const DotRoles& roles, ElementType type) {
  const ShapeRef lhs = spelling.shape_of(spelling.operand(0)), rhs = spelling.shape_of(spelling.operand(1));
  std::vector<int64_t> sizes;
  for (const int64_t i : roles.lhs_batch) sizes.push_back(lhs->dim(i));
  const auto add_free = [&](ShapeRef shape, const std::vector<int64_t>& batch,
                            const std::vector<int64_t>& depth) {
    for (int64_t i = 0; i < shape->rank(); ++i)
      if (std::ranges::count(batch, i) + std::ranges::count(depth, i) == 0) sizes.push_back(shape->dim(i));
  };
  add_free(lhs, roles.lhs_batch, roles.lhs_contracting);
  add_free(rhs, roles.rhs_batch, roles.rhs_contracting);
  std::vector<Attr> attrs;
  const auto note = [&](AttrKey key, const std::vector<int64_t>& dimensions) {
    if (!dimensions.empty()) attrs.push_back(ints_attr(spelling.module(), key, dimensions));
  };
  note(AttrKey::kLhsBatchDims, roles.lhs_batch);
  note(AttrKey::kLhsContractingDims, roles.lhs_contracting);
  note(AttrKey::kRhsBatchDims, roles.rhs_batch);
  note(AttrKey::kRhsContractingDims, roles.rhs_contracting);
  return spelling.add(Opcode::kDot, spelling.module().shapes().array(type, sizes),
                      {spelling.operand(0), spelling.operand(1)}, attrs);
}

}  // namespace

InstructionId spell_out_gemm(Spelling& spelling) {
  const Instruction& call = spelling.call();
  const ShapeRef result = call.shape->is_tuple() ? call.shape->elements[0] : call.shape;
  const auto is_plain_array = [&](ShapeRef shape) {
    return shape->is_array() && shape->is_static() && !is_complex(shape->element_type);
  };
  if (call.operands.size() < 2 || !is_plain_array(result)) return {};
  for (const InstructionId operand : call.operands)
    if (!is_plain_array(spelling.shape_of(operand))) return {};
  const Attr* text = call.find(AttrKey::kBackendConfig);
  const GemmConfig config = parse_gemm_config(text ? text->text() : std::string_view());
  GemmEpilogue epilogue{config.alpha, config.beta, false, false, false};
  const ShapeRef lhs = spelling.shape_of(spelling.operand(0)), rhs = spelling.shape_of(spelling.operand(1));
  if (!parse_epilogue(config.epilogue, epilogue) || config.alpha.imag() != 0 || lhs->rank() < 1 ||
      rhs->rank() < 2)
    return {};
  const size_t extras = (epilogue.beta != 0 ? 1 : 0) + (epilogue.bias ? 1 : 0);
  const auto roles = gemm_roles(config, lhs, rhs, result);
  if (!roles || call.operands.size() != 2 + extras) return {};

  const ElementType sums = epilogue.is_nothing() ? result->element_type : gemm_sum_type(result->element_type);
  InstructionId value = spelling.reshaped(spell_out_product(spelling, *roles, sums), result->dimensions);
  const ShapeRef shape = spelling.shape_of(value);
  const auto scaled = [&](InstructionId x, double factor) {
    return factor == 1 ? x : spelling.binary(Opcode::kMultiply, x, spelling.filled(shape, factor));
  };
  value = scaled(value, epilogue.alpha.real());
  size_t next = 2;
  if (epilogue.beta != 0) {
    const InstructionId addend = spelling.reshaped(spelling.operand(next++), result->dimensions);
    value = spelling.binary(Opcode::kAdd, value, scaled(spelling.converted(addend, sums), epilogue.beta));
  }
  if (epilogue.bias) {
    const int64_t last[] = {result->rank() - 1}, size[] = {result->dim(last[0])};
    const InstructionId bias = spelling.converted(spelling.reshaped(spelling.operand(next++), size), sums);
    value = spelling.binary(Opcode::kAdd, value, spelling.broadcast(bias, shape, last));
  }
  if (epilogue.relu) value = spelling.binary(Opcode::kMaximum, value, spelling.filled(shape, 0));
  if (epilogue.gelu) value = spell_out_gelu(spelling, value);
  return spelling.result(spelling.converted(value, result->element_type));
}

}  // namespace hlosim
