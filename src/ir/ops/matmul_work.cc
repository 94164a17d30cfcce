#include "ops/matmul_work.h"

#include <algorithm>

#include "ops/infer.h"

namespace hlosim {
namespace {

bool ends_with_any(std::string_view text, std::initializer_list<std::string_view> endings) {
  return std::any_of(endings.begin(), endings.end(),
                     [&](std::string_view ending) { return text.ends_with(ending); });
}

}  // namespace

MatmulPrecision matmul_precision(const OpContext& op) {
  const std::string_view algorithm = op.text(AttrKey::kAlgorithm);
  if (ends_with_any(algorithm, {"_x6", "_x9", "tf32_f32_x3", "dot_f32_f32_f32", "dot_f64_f64_f64"}))
    return MatmulPrecision::kHighest;
  if (ends_with_any(algorithm, {"bf16_f32_x3", "tf32_f32"})) return MatmulPrecision::kHigh;
  if (!algorithm.empty() && algorithm != "unset") return MatmulPrecision::kDefault;
  MatmulPrecision precision = MatmulPrecision::kDefault;
  if (const Attr* attr = op.find(AttrKey::kOperandPrecision)) {
    for (const std::string_view word : attr->words()) {
      if (word == "highest") precision = std::max(precision, MatmulPrecision::kHighest);
      if (word == "high") precision = std::max(precision, MatmulPrecision::kHigh);
    }
  }
  return precision;
}

void check_packed_nibble(OpContext& op) {
  const Attr* attr = op.find(AttrKey::kOperandPrecision);
  if (!attr) return;
  const auto words = attr->words();
  const auto nibbles = std::count(words.begin(), words.end(), "packed_nibble");
  if (nibbles == 1) op.error(0, "packed_nibble is given for one operand, expected both or none");
  if (nibbles != 2) return;
  for (int64_t i = 0; i < 2; ++i) {
    const ElementType type = op.operand_shape(i)->element_type;
    if (!is_integer(type) || bit_width(type) != 8)
      op.error(0, "packed_nibble needs 8-bit integers, operand {} is {}", i, text_of(op.operand_shape(i)));
  }
}

void add_matmul(const OpContext& op, Work& work, int64_t batch, int64_t m, int64_t n, int64_t k) {
  if (batch <= 0 || m <= 0 || n <= 0 || k <= 0) return;
  MatmulWork matmul;
  matmul.batch = batch, matmul.m = m, matmul.n = n, matmul.k = k;
  matmul.lhs = op.operand_shape(0)->element_type;
  matmul.rhs = op.operand_shape(1)->element_type;
  matmul.precision = matmul_precision(op);
  work.matmuls.push_back(matmul);
}

}  // namespace hlosim
