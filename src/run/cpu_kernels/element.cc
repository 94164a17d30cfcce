#include "cpu_kernels/element.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

#include "cpu_kernels/element/element_parts.h"

namespace hlosim {
namespace {

bool is_integer_of_bytes(ElementType type) { return is_integer(type) && bit_width(type) >= 8; }
/// Not to be confused with f32 and f64, which the processor computes with.
bool is_small_float(ElementType type) { return is_float(type) && bit_width(type) <= 16; }
/// 0 for 1 byte, 1 for 2, 2 for 4, 3 for 8, 4 for 16.
int width_index(ElementType type) { return std::countr_zero(static_cast<uint64_t>(byte_width(type))); }

template <int kBytes>
void copy(void* out, const void* const in[], uint64_t, int64_t n) {
  if (out != in[0]) std::memmove(out, in[0], static_cast<size_t>(n) * kBytes);
}
constexpr ElementFn kCopies[] = {copy<1>, copy<2>, copy<4>, copy<8>, copy<16>};

const ElementTable& integer_table(IsaLevel level, ElementType type) {
  switch (type) {
    case ElementType::kS8:
      return HLOSIM_PICK_KERNELS(level, kS8Elements);
    case ElementType::kS16:
      return HLOSIM_PICK_KERNELS(level, kS16Elements);
    case ElementType::kS32:
      return HLOSIM_PICK_KERNELS(level, kS32Elements);
    case ElementType::kS64:
      return HLOSIM_PICK_KERNELS(level, kS64Elements);
    case ElementType::kU8:
      return HLOSIM_PICK_KERNELS(level, kU8Elements);
    case ElementType::kU16:
      return HLOSIM_PICK_KERNELS(level, kU16Elements);
    case ElementType::kU32:
      return HLOSIM_PICK_KERNELS(level, kU32Elements);
    case ElementType::kU64:
      return HLOSIM_PICK_KERNELS(level, kU64Elements);
    default:
      return HLOSIM_PICK_KERNELS(level, kPredElements);
  }
}

// ── conversions ─────────────────────────────────────────────────

/// Between pred and integers. Narrow integers and pred are read as the bytes they lie in.
ElementKernel integer_conversion(IsaLevel level, ElementType from, ElementType to) {
  const ResizeTable& resize = HLOSIM_PICK_KERNELS(level, kResize);
  if (is_pred(to)) return {resize.to_pred[width_index(from)]};
  if (bit_width(to) < 8) return narrow_conversion(level, from, to);
  const int i = width_index(from), j = width_index(to);
  if (i == j) return {kCopies[i]};
  return {is_signed_integer(from) ? resize.extend_sign[i][j] : resize.extend_zero[i][j]};
}

ElementKernel conversion(IsaLevel level, ElementType from, ElementType to) {
  if (from == to) return {kCopies[width_index(from)]};
  if (is_complex(from) || is_complex(to)) return complex_conversion(level, from, to);
  if (!is_float(from) && !is_float(to)) return integer_conversion(level, from, to);
  if (is_integer(to) && bit_width(to) < 8) return narrow_conversion(level, from, to);
  const CompositeTable& composites = HLOSIM_PICK_KERNELS(level, kComposites);
  const uint64_t both = conversion_immediate(from, to);
  if (from == ElementType::kF64) {
    if (const ElementFn direct = HLOSIM_PICK_KERNELS(level, kFromF64)[to]) return {direct};
    // XLA rounds to f32 before it rounds to a type of 16 bits.
    return {bit_width(to) == 16 ? composites.convert_by_f32 : composites.convert_from_f64_by_odd_f32, both};
  }
  if (from == ElementType::kF32) return {HLOSIM_PICK_KERNELS(level, kFromF32)[to]};
  if (to == ElementType::kF32) return {HLOSIM_PICK_KERNELS(level, kToF32)[from]};
  if (to == ElementType::kF64)
    if (const ElementFn direct = HLOSIM_PICK_KERNELS(level, kToF64)[from]) return {direct};
  return {composites.convert_by_f32, both};
}

// ── other operations ────────────────────────────────────────────

ElementFn small_reduce_precision(IsaLevel level, ElementType type) {
  const ReducePrecisionTable& table = HLOSIM_PICK_KERNELS(level, kReducePrecision);
  switch (type) {
    case ElementType::kF16:
      return table.f16;
    case ElementType::kBF16:
      return table.bf16;
    case ElementType::kF8E5M2:
      return table.f8e5m2;
    case ElementType::kF8E4M3:
      return table.f8e4m3;
    case ElementType::kF8E3M4:
      return table.f8e3m4;
    default:
      return nullptr;
  }
}

ElementKernel small_float_kernel(IsaLevel level, ElementOp op, ElementType type, uint64_t immediate) {
  if (op == ElementOp::kReducePrecision) return {small_reduce_precision(level, type), immediate};
  if (type == ElementType::kBF16)
    if (const ElementFn direct = HLOSIM_PICK_KERNELS(level, kBf16Elements)[op]) return {direct, immediate};
  if (HLOSIM_PICK_KERNELS(level, kF32Elements)[op] == nullptr &&
      HLOSIM_PICK_KERNELS(level, kF32Functions)[op] == nullptr)
    return {};
  return {HLOSIM_PICK_KERNELS(level, kComposites).via_f32, via_f32_immediate(type, op, immediate)};
}

ElementKernel float_kernel(IsaLevel level, ElementOp op, ElementType type, uint64_t immediate) {
  if (is_small_float(type)) return small_float_kernel(level, op, type, immediate);
  if (type == ElementType::kF32) {
    const ElementFn fn = HLOSIM_PICK_KERNELS(level, kF32Elements)[op];
    return {fn != nullptr ? fn : HLOSIM_PICK_KERNELS(level, kF32Functions)[op], immediate};
  }
  const ElementFn fn = HLOSIM_PICK_KERNELS(level, kF64Elements)[op];
  return {fn != nullptr ? fn : f64_function(op), immediate};
}

// ── mixed precision ─────────────────────────────────────────────
// Immediate: from the low byte on the operation, the types of three operands, the one computed in, the
// result's.

void mixed(void* out, const void* const in[], uint64_t immediate, int64_t n) {
  const auto type = [&](int i) { return static_cast<ElementType>(immediate >> 8 * (i + 1) & 255); };
  const auto op = static_cast<ElementOp>(immediate & 255);
  const ElementType computed = type(3), result = type(4);
  const ElementKernel kernel = element_kernel(op, computed, result);
  constexpr int64_t kChunk = 256;
  alignas(64) std::byte chunk[3][kChunk * sizeof(double)];
  const void* const chunks[] = {chunk[0], chunk[1], chunk[2]};
  for (int64_t begin = 0; begin < n; begin += kChunk) {
    const int64_t count = std::min(n - begin, kChunk);
    for (int i = 0; i < operand_count(op); ++i) {
      const void* const source[] = {static_cast<const std::byte*>(in[i]) + begin * byte_width(type(i))};
      const ElementKernel load =
          element_kernel(ElementOp::kConvert, type(i), is_pred(type(i)) ? type(i) : computed);
      load.fn(chunk[i], source, load.immediate, count);
    }
    kernel.fn(static_cast<std::byte*>(out) + begin * byte_width(result), chunks, kernel.immediate, count);
  }
}

}  // namespace

ElementKernel element_kernel(IsaLevel level, ElementOp op, ElementType operand, ElementType result,
                             uint64_t immediate) {
  switch (op) {
    case ElementOp::kCopy:
      if (byte_width(operand) != byte_width(result)) return {};
      return {kCopies[width_index(operand)]};
    case ElementOp::kSelect:
      if (operand != result) return {};
      return {HLOSIM_PICK_KERNELS(level, kSelect).fn[width_index(operand)]};
    case ElementOp::kConvert:
      return conversion(level, operand, result);
    case ElementOp::kStochasticConvert:
      return stochastic_convert_kernel(level, operand, result);
    default:
      break;
  }
  if (is_complex(operand) || op == ElementOp::kComplex) return {complex_kernel(op, operand, result)};
  const bool to_pred = op == ElementOp::kIsFinite || is_comparison(op);
  if (result != (to_pred ? ElementType::kPred : operand)) return {};
  if (is_float(operand)) return float_kernel(level, op, operand, immediate);
  if (is_pred(operand) || is_integer_of_bytes(operand)) return {integer_table(level, operand)[op]};
  return narrow_kernel(level, op, operand);
}

ElementKernel element_kernel(ElementOp op, ElementType operand, ElementType result, uint64_t immediate) {
  static const IsaLevel level = isa_level().value_or(supported_isa_level());
  return element_kernel(level, op, operand, result, immediate);
}

ElementKernel mixed_element_kernel(ElementOp op, std::span<const ElementType> operands, ElementType computed,
                                   ElementType result) {
  if (is_complex(computed) || !element_kernel(op, computed, result)) return {};
  uint64_t immediate = static_cast<uint64_t>(op);
  for (size_t i = 0; i < operands.size(); ++i) immediate |= static_cast<uint64_t>(operands[i]) << 8 * (i + 1);
  immediate |= static_cast<uint64_t>(computed) << 32 | static_cast<uint64_t>(result) << 40;
  return {mixed, immediate};
}

}  // namespace hlosim
