// Custom calls on arrays whose blocks have scales: element (…, i) counts times scale (…, i / block).
#include <algorithm>
#include <charconv>
#include <optional>

#include "array/convert_array.h"
#include "base/rounding.h"
#include "base/saturating.h"
#include "cpu_kernels/matmul.h"
#include "evaluate/custom_calls/custom_call_evaluations.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

// An array of rows along its last dimension, and the scales of each row.
struct ScaledRows {
  ElementType type{}, scale_type{};  // kInvalid: no scales
  int64_t rows = 0, length = 0;
  int64_t scales = 0;  // of a row, at least length / block
  int64_t block = 1;
};

/// `block_size` of the backend config; 0: it doesn't say.
int64_t configured_block(const OpContext& op) {
  constexpr std::string_view kKey = "block_size";
  std::string_view config = op.text(AttrKey::kBackendConfig);
  const size_t at = config.find(kKey);
  if (at == std::string_view::npos) return 0;
  config.remove_prefix(at + kKey.size());
  const size_t digits = config.find_first_of("0123456789");
  int64_t block = 0;
  if (digits != std::string_view::npos)
    std::from_chars(config.data() + digits, config.data() + config.size(), block);
  return std::max<int64_t>(block, 0);
}

std::optional<ScaledRows> scaled_rows(ShapeRef values, ShapeRef scales, int64_t configured) {
  if (!values->is_array() || values->rank() == 0 || !values->is_static() ||
      !can_convert(values->element_type, ElementType::kF32) || is_complex(values->element_type))
    return std::nullopt;
  ScaledRows rows;
  rows.type = values->element_type;
  rows.rows = 1;
  const int64_t last = values->rank() - 1;
  for (int64_t i = 0; i < last; ++i) rows.rows = saturating_multiply(rows.rows, values->dim(i));
  rows.length = values->dim(last);
  if (!scales) return rows;
  if (!scales->is_array() || scales->rank() != values->rank() || !scales->is_static() ||
      !is_float(scales->element_type) || !can_convert(scales->element_type, ElementType::kF32))
    return std::nullopt;
  for (int64_t i = 0; i < last; ++i)
    if (scales->dim(i) != values->dim(i)) return std::nullopt;
  rows.scale_type = scales->element_type;
  rows.scales = scales->dim(last);
  if (rows.scales == 0 || (configured == 0 && rows.length % rows.scales != 0)) return std::nullopt;
  rows.block = configured > 0 ? configured : std::max<int64_t>(rows.length / rows.scales, 1);
  if (ceil_div(rows.length, rows.block) > rows.scales) return std::nullopt;
  return rows;
}

/// The products in f32.
Buffer scaled(MemoryPool& pool, const ScaledRows& rows, const Array& values, const Array* scales) {
  const int64_t count = rows.rows * rows.length;
  Buffer result =
      writable(pool, converted(pool, values.data, rows.type, ElementType::kF32, count), count * 4);
  if (!scales) return result;
  const Buffer factors =
      converted(pool, scales->data, rows.scale_type, ElementType::kF32, rows.rows * rows.scales);
  auto* out = reinterpret_cast<float*>(result.data());
  const auto* factor = reinterpret_cast<const float*>(factors.data());
  parallel_for(rows.rows, std::max<int64_t>(1, 16384 / std::max<int64_t>(rows.length, 1)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t r = begin; r < end; ++r)
                   for (int64_t i = 0; i < rows.length; ++i)
                     out[r * rows.length + i] *= factor[r * rows.scales + i / rows.block];
               });
  return result;
}

}  // namespace

Evaluation evaluate_dequantize(EvaluateContext& op) {
  const auto rows = op.operand_count() == 2
                        ? scaled_rows(op.operand_shape(0), op.operand_shape(1), configured_block(op))
                        : std::nullopt;
  const ShapeRef shape = op.shape();
  if (!rows || !shape->is_array() || shape->element_count() != op.operand_shape(0)->element_count() ||
      !can_convert(ElementType::kF32, shape->element_type))
    return op.unsupported();
  return [rows = *rows, type = shape->element_type](Invocation& call) {
    MemoryPool& pool = call.device().pool();
    call.result().data = converted(pool, scaled(pool, rows, call.operand(0), &call.operand(1)),
                                   ElementType::kF32, type, rows.rows * rows.length);
  };
}

Evaluation evaluate_block_scaled_dot(EvaluateContext& op) {
  const int64_t operands = op.operand_count(), block = configured_block(op);
  const ShapeRef shape = op.shape();
  if (operands < 3 || operands > 4 || !shape->is_array()) return op.unsupported();
  const ShapeRef lhs = op.operand_shape(0), rhs = op.operand_shape(1);
  const auto left = scaled_rows(lhs, op.operand_shape(2), block);
  const auto right = scaled_rows(rhs, operands == 4 ? op.operand_shape(3) : nullptr, block);
  const int64_t rank = lhs->rank();
  bool fits = left && right && rank >= 2 && rank <= 3 && rhs->rank() == rank && shape->rank() == rank &&
              left->length == right->length && shape->dim(rank - 2) == lhs->dim(rank - 2) &&
              shape->dim(rank - 1) == rhs->dim(rank - 2) &&
              matmul_supports(ElementType::kF32, ElementType::kF32, shape->element_type);
  fits = fits && (rank == 2 || (lhs->dim(0) == rhs->dim(0) && lhs->dim(0) == shape->dim(0)));
  if (!fits) return op.unsupported();
  const int64_t batch = rank == 3 ? lhs->dim(0) : 1, m = lhs->dim(rank - 2), n = rhs->dim(rank - 2),
                k = left->length;
  return [=, left = *left, right = *right, type = shape->element_type](Invocation& call) {
    MemoryPool& pool = call.device().pool();
    const Buffer a = scaled(pool, left, call.operand(0), &call.operand(2));
    const Buffer b = scaled(pool, right, call.operand(1), operands == 4 ? &call.operand(3) : nullptr);
    const MatmulBatch batches[] = {{batch, m * k, n * k, m * n}};
    Matmul product;
    product.m = m, product.n = n, product.k = k;
    product.lhs = {a.data(), ElementType::kF32, k, 1};
    product.rhs = {b.data(), ElementType::kF32, 1, k};
    product.result = {call.make_result().bytes(), type, n, 1};
    product.batch = batches;
    matmul(product);
  };
}

}  // namespace hlosim
