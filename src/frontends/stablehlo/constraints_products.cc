// Constraints of products, convolutions, linear algebra, normalization and random numbers.
#include <algorithm>
#include <array>

#include "stablehlo/constraints.h"
#include "stablehlo/types.h"

namespace hlosim::stablehlo {
namespace {

using mlir::Type;
using Sizes = std::vector<int64_t>;

/// None, or a word for each operand.
bool precision(const Constrained& op, std::string_view constraint) {
  const mlir::Attribute* config = op.op().find("precision_config");
  if (!config || config->items.empty() || config->items.size() == 2) return true;
  // Texts of old have one word for both.
  return config->items.size() == 1 ||
         op.fail(constraint, "precision_config has {} words, expected one for each of the 2 operands",
                 config->items.size());
}

struct Algorithm {
  std::string_view operands, sum;
  int64_t operations;
};
/// The algorithms that some device has, of operands of one type and one component each.
constexpr Algorithm kAlgorithms[] = {
    {"f16", "f16", 1},  {"f16", "f32", 1},  {"bf16", "bf16", 1}, {"bf16", "f32", 1},
    {"bf16", "f32", 3}, {"bf16", "f32", 6}, {"bf16", "f32", 9},  {"tf32", "f32", 1},
    {"tf32", "f32", 3}, {"f32", "f32", 1},  {"f64", "f64", 1},
};

bool algorithm(const Constrained& op) {
  const mlir::Attribute* given = op.op().find("algorithm");
  if (!given || given->entries.empty()) return true;
  const auto word = [&](std::string_view name) -> std::string_view {
    const mlir::Attribute* entry = given->find(name);
    return !entry ? std::string_view() : entry->type ? entry->type->word : entry->text;
  };
  const auto number = [&](std::string_view name) {
    const mlir::Attribute* entry = given->find(name);
    return entry ? entry->integer : 1;
  };
  const std::string_view lhs = word("lhs_precision_type"), rhs = word("rhs_precision_type"),
                         sum = word("accumulation_type");
  for (const std::string_view name :
       {"lhs_component_count", "rhs_component_count", "num_primitive_operations"})
    if (number(name) < 1) return op.fail("C21", "{} is {}, expected at least 1", name, number(name));
  const int64_t operations = number("num_primitive_operations");
  const bool imprecise =
      number("allow_imprecise_accumulation") != 0 && given->find("allow_imprecise_accumulation") != nullptr;
  const bool narrow = lhs.starts_with("f8") && rhs.starts_with("f8");
  const bool known =
      narrow ? sum == "f32" && operations == 1
             : !imprecise && std::any_of(std::begin(kAlgorithms), std::end(kAlgorithms), [&](const auto& a) {
                 return a.operands == lhs && a.operands == rhs && a.sum == sum && a.operations == operations;
               });
  const bool components = number("lhs_component_count") == 1 && number("rhs_component_count") == 1;
  if (known && components) return true;
  return op.fail("C23", "no device has the algorithm of {} by {} in {} with {} primitive operations{}{}", lhs,
                 rhs, sum, operations, components ? "" : " and several components",
                 imprecise ? ", imprecise" : "");
}

bool dot_general(const Constrained& op) {
  return op.has(2, 1) && op.operand_is("I1", 0, kAnyClass) && op.operand_is("I2", 1, kAnyClass) &&
         precision(op, "C11") && algorithm(op);
}

bool dot(const Constrained& op) {
  if (!op.has(2, 1) || !op.operand_is("I1", 0, kAnyClass) || !op.operand_is("I2", 1, kAnyClass)) return false;
  for (size_t i = 0; i < 2; ++i)
    if (op.in(i).dims.size() > 2)
      return op.fail("I1", "operand {} is {}, expected a vector or a matrix", i, type_text(op.in(i)));
  if (!promotable(*op.in(0).element, *op.in(1).element) && !promotable(*op.in(1).element, *op.in(0).element))
    return op.same_elements("C13", op.in(0), op.in(1));
  return precision(op, "C11");
}

bool convolution(const Constrained& op) {
  if (op.operands() < 2) return true;
  if (!op.operand_is("I1", 0, kAnyClass) || !op.operand_is("I2", 1, kAnyClass)) return false;
  for (const std::string_view name : {"batch_group_count", "feature_group_count"})
    if (!op.op().need(name)) return false;
  const mlir::Attribute* padding = op.op().find("padding");
  if (padding && padding->type && (padding->type->dims.size() != 2 || padding->type->dims[1] != 2))
    return op.fail("C4", "padding is {}, expected 2 columns", type_text(*padding->type));
  const bool alike = class_of(op.in(0)) == class_of(op.in(1)) ||
                     ((class_of(op.in(0)) | class_of(op.in(1))) & ~kIntClass) == 0;
  if (!alike || (class_of(op.in(0)) != kFloatClass && !same_element(*op.in(0).element, *op.in(1).element)))
    return op.same_elements("C27", op.in(0), op.in(1));
  return precision(op, "C24");
}

/// Its padding is an operand.
bool dynamic_conv(const Constrained& op) {
  if (!op.has(3, 1) || !convolution(op)) return false;
  const Type& padding = op.in(2);
  if (!op.operand_is("I3", 2, kIntClass) || !op.operand_has_rank("I3", 2, 2)) return false;
  if (fit(padding.dims[1], 2) && fit(padding.dims[0] + 2, static_cast<int64_t>(op.in(0).dims.size())))
    return true;
  return op.fail("C4", "operand 2 is {}, expected 2 columns and a row for each spatial dimension",
                 type_text(padding));
}

// ── linear algebra ────────────────────────────────────────────────────────────────────────────

bool cholesky(const Constrained& op) {
  return op.has(1, 1) && op.operand_is("I1", 0, kFloatOrComplexClass) && op.result_is("C1", 0, op.in(0));
}

bool triangular_solve(const Constrained& op) {
  if (!op.has(2, 1)) return false;
  for (const std::string_view name : {"left_side", "lower", "unit_diagonal"})
    if (!op.op().need(name)) return false;
  return op.operand_is("I1", 0, kFloatOrComplexClass) && op.same_elements("C1", op.in(0), op.in(1)) &&
         op.result_is("C4", 0, op.in(1));
}

bool fft(const Constrained& op) {
  if (!op.has(1, 1)) return false;
  const auto length = op.list("fft_length");
  const mlir::Attribute* type = op.op().find("fft_type");
  if (!length || !type || type->text == "IRFFT" || !is_tensor(op.in(0))) return true;
  const auto dims = op.in(0).dims;
  if (length->size() <= dims.size() && !same_sizes(dims.last(length->size()), *length))
    return op.fail("C5", "fft_length [{}] isn't that of the last dimensions of {}", fmt::join(*length, ", "),
                   type_text(op.in(0)));
  return true;
}

// ── normalization ─────────────────────────────────────────────────────────────────────────────

/// Operands and results are of one type of floats; `vectors` have a dimension, the others the first operand's
/// shape.
bool normalized(const Constrained& op, size_t operands, std::span<const size_t> vectors, size_t results) {
  if (!op.has(operands, results)) return false;
  const mlir::Attribute* epsilon = op.op().find("epsilon");
  if (epsilon && epsilon->kind != mlir::AttributeKind::kFloat)
    return op.fail("I6", "epsilon is not a float, expected one of f32");
  const auto feature = op.list("feature_index");
  for (size_t i = 0; i < operands; ++i) {
    if (!op.operand_is("I1", i, kFloatClass) || !op.same_elements("C2", op.in(0), op.in(i))) return false;
    const bool vector = std::find(vectors.begin(), vectors.end(), i) != vectors.end();
    if (vector ? !op.operand_has_rank("I2", i, 1) : !op.same_type("C3", op.in(0), op.in(i))) return false;
  }
  const auto rank = static_cast<int64_t>(op.in(0).dims.size());
  if (!feature || feature->size() != 1) return true;
  if ((*feature)[0] < 0 || (*feature)[0] >= rank)
    return op.fail("C1", "feature_index is {}, expected a dimension of {}", (*feature)[0],
                   type_text(op.in(0)));
  Type statistics = op.in(0);
  statistics.dims = op.in(0).dims.subspan(static_cast<size_t>((*feature)[0]), 1);
  for (size_t i = 0; i < results; ++i)
    if (!op.result_is(i == 0 ? "C3" : "C4", i, i == 0 ? op.in(0) : statistics)) return false;
  return true;
}

bool batch_norm_grad(const Constrained& op) {
  constexpr std::array<size_t, 3> kVectors = {1, 2, 3};
  return normalized(op, 5, kVectors, 3);
}
bool batch_norm_inference(const Constrained& op) {
  constexpr std::array<size_t, 4> kVectors = {1, 2, 3, 4};
  return normalized(op, 5, kVectors, 1);
}
bool batch_norm_training(const Constrained& op) {
  constexpr std::array<size_t, 2> kVectors = {1, 2};
  return normalized(op, 3, kVectors, 3);
}

// ── random numbers ────────────────────────────────────────────────────────────────────────────

bool word_of(const Constrained& op, std::string_view attribute,
             std::initializer_list<std::string_view> words) {
  const mlir::Attribute* value = op.op().find(attribute);
  if (!value || std::find(words.begin(), words.end(), value->text) != words.end()) return true;
  return op.fail(attribute, "'{}' is none of {}", value->text, fmt::join(words, ", "));
}

bool rng(const Constrained& op) {
  if (!op.has(3, 1) || !word_of(op, "rng_distribution", {"UNIFORM", "NORMAL"})) return false;
  const mlir::Attribute* distribution = op.op().find("rng_distribution");
  const bool normal = distribution && distribution->text == "NORMAL";
  for (size_t i = 0; i < 2; ++i)
    if (!op.operand_is(normal ? "C2" : "I1", i,
                       normal ? kFloatClass : kPredClass | kIntClass | kFloatClass) ||
        !op.operand_has_rank("I1", i, 0) || !op.same_elements("C1", op.in(0), op.in(i)))
      return false;
  const bool index = is_tensor(op.in(2)) && op.in(2).element->word == "index";
  if ((!index && !op.operand_is("I3", 2, kIntClass)) || !op.operand_has_rank("I3", 2, 1) ||
      !op.same_elements("C1", op.in(0), op.out()))
    return false;
  if (!fit(op.in(2).dims[0], static_cast<int64_t>(op.out().dims.size())))
    return op.fail("C3", "the shape has {} sizes, but the result is {}", op.in(2).dims[0],
                   type_text(op.out()));
  const mlir::Operation* owner = op.mlir().operands[2]->owner;
  const mlir::Attribute* value = owner && is_constant(*owner) ? owner->find("value") : nullptr;
  const auto sizes = value ? integers_of(*value) : std::nullopt;
  return !sizes || same_sizes(*sizes, op.out().dims) ||
         op.fail("C3", "the shape [{}] isn't that of the result {}", fmt::join(*sizes, ", "),
                 type_text(op.out()));
}

bool rng_bit_generator(const Constrained& op) {
  if (!op.has(1, 2) || !op.operand_is("I2", 0, kIntClass | kFloatClass) || !op.operand_has_rank("I2", 0, 1) ||
      !word_of(op, "rng_algorithm", {"DEFAULT", "THREE_FRY", "PHILOX"}) || !op.result_is("C1", 0, op.in(0)))
    return false;
  if ((class_of(op.out(1)) & (kIntClass | kFloatClass)) == 0)
    return op.fail("O2", "result 1 is {}, expected a tensor of integers or floats", type_text(op.out(1)));
  const mlir::Attribute* chosen = op.op().find("rng_algorithm");
  const int64_t size = op.in(0).dims[0];
  if (!chosen || size == mlir::kDynamic) return true;
  const int64_t bits = size * bits_of_element(*op.in(0).element);
  const bool right = chosen->text == "THREE_FRY" ? bits == 128
                     : chosen->text == "PHILOX"  ? bits == 128 || bits == 192
                                                 : true;
  return right || op.fail("C2", "{} has a state of {} bits, expected 128{}", chosen->text, bits,
                          chosen->text == "PHILOX" ? " or 192" : "");
}

constexpr ConstraintRow kProductsConstraints[] = {
    {"batch_norm_grad", batch_norm_grad},
    {"batch_norm_inference", batch_norm_inference},
    {"batch_norm_training", batch_norm_training},
    {"cholesky", cholesky},
    {"convolution", convolution},
    {"dot", dot},
    {"dot_general", dot_general},
    {"dynamic_conv", dynamic_conv},
    {"fft", fft},
    {"rng", rng},
    {"rng_bit_generator", rng_bit_generator},
    {"triangular_solve", triangular_solve},
};

}  // namespace

std::span<const ConstraintRow> product_constraints() { return kProductsConstraints; }

}  // namespace hlosim::stablehlo
