// Constraints of CHLO's operations.
#include <algorithm>

#include "stablehlo/constraints.h"
#include "stablehlo/types.h"

namespace hlosim::stablehlo {
namespace {

using mlir::Type;
using Sizes = std::vector<int64_t>;

template <uint32_t kClasses, size_t kOperands>
bool chlo_one_type(const Constrained& op) {
  if (!op.has(kOperands, 1)) return false;
  for (size_t i = 0; i < kOperands; ++i)
    if (!op.operand_is("", i, kClasses) || !op.same_type("", op.in(0), op.in(i))) return false;
  return op.result_is("", 0, op.in(0));
}

/// A truth value for each element.
bool chlo_predicate(const Constrained& op) {
  if (!op.has(1, 1) || !op.operand_is("", 0, kFloatClass)) return false;
  return op.result_is("", 0, "i1", op.in(0).dims);
}

/// How the operand of lower rank lies: ascending dimensions of the other, one for each of its own.
bool broadcast_dimensions(const Constrained& op) {
  const auto dimensions = op.list("broadcast_dimensions");
  if (!dimensions) return true;
  const size_t a = op.in(0).dims.size(), b = op.in(1).dims.size();
  const bool ascending = std::is_sorted(dimensions->begin(), dimensions->end(), std::less_equal<>());
  const bool inside = dimensions->empty() ||
                      (dimensions->front() >= 0 && dimensions->back() < static_cast<int64_t>(std::max(a, b)));
  if (a == b && dimensions->empty()) return true;
  if (dimensions->size() == std::min(a, b) && ascending && inside) return true;
  return op.fail("broadcast_dimensions", "is [{}], expected {} ascending dimensions of {}",
                 fmt::join(*dimensions, ", "), std::min(a, b), std::max(a, b));
}

template <uint32_t kClasses>
bool broadcast_binary(const Constrained& op) {
  return op.has(2, 1) && op.operand_is("", 0, kClasses) && op.operand_is("", 1, kClasses) &&
         op.same_elements("", op.in(0), op.in(1)) && op.same_elements("", op.in(0), op.out()) &&
         broadcast_dimensions(op);
}

bool broadcast_compare(const Constrained& op) {
  if (!op.has(2, 1) || !op.same_elements("", op.in(0), op.in(1)) || !broadcast_dimensions(op)) return false;
  return class_of(op.out()) == kPredClass ||
         op.fail("", "is {}, expected a tensor of truth values", type_text(op.out()));
}

bool broadcast_complex(const Constrained& op) {
  return op.has(2, 1) && op.operand_is("", 0, kFloatClass) && op.same_elements("", op.in(0), op.in(1)) &&
         broadcast_dimensions(op);
}

bool broadcast_select(const Constrained& op) {
  return op.has(3, 1) && op.operand_is("", 0, kPredClass) && op.same_elements("", op.in(1), op.in(2)) &&
         op.same_elements("", op.in(1), op.out());
}

bool constant_like(const Constrained& op) {
  const mlir::Attribute* value = op.op().find("value");
  if (!op.has(1, 1) || !op.operand_is("", 0, kAnyClass)) return false;
  const bool right = !value || !is_tensor(op.out()) || !value->type ||
                     value->type->kind != mlir::TypeKind::kElement ||
                     same_element(*value->type, *op.out().element);
  if (!right)
    return op.fail("value", "is of {}, expected the result's elements, {}", type_text(*value->type),
                   type_text(op.out()));
  return op.result_is("", 0, op.in(0));
}

bool top_k(const Constrained& op) {
  const auto k = op.list("k");
  if (!op.has(1, 2) || !op.operand_is("", 0, kAnyClass) || !k || k->size() != 1) return !op.op().failed();
  const auto dims = op.in(0).dims;
  if (dims.empty()) return op.fail("", "operand 0 is {}, expected rank 1 at least", type_text(op.in(0)));
  if ((*k)[0] < 0 || (dims.back() != mlir::kDynamic && (*k)[0] > dims.back()))
    return op.fail("k", "is {}, expected at most the {} elements of the last dimension", (*k)[0],
                   dims.back());
  Sizes sizes(dims.begin(), dims.end());
  sizes.back() = (*k)[0];
  Type values = op.in(0);
  values.dims = sizes;
  return op.result_is("", 0, values) && op.result_is("", 1, "i32", sizes);
}

bool ragged_dot(const Constrained& op) {
  const mlir::Attribute* config = op.op().find("precision_config");
  if (!config || config->items.size() <= 2) return true;
  return op.fail("precision_config", "has {} words, expected one for each of 2 operands",
                 config->items.size());
}

/// The size that scan_dim_size states is that of all inputs.
bool scan(const Constrained& op) {
  const auto size = op.list("scan_dim_size"), dimension = op.list("dimension");
  const mlir::Attribute* segments = op.op().find("operandSegmentSizes");
  if (!size || !dimension || size->size() != 1 || dimension->size() != 1 || !segments) return true;
  const auto inputs = static_cast<size_t>(segments->integers.empty() ? 0 : segments->integers[0]);
  for (size_t i = 0; i < std::min(inputs, op.operands()); ++i) {
    const auto dims = op.in(i).dims;
    const int64_t along = (*dimension)[0];
    if (along < 0 || along >= static_cast<int64_t>(dims.size())) continue;
    if (!fit(dims[static_cast<size_t>(along)], (*size)[0]))
      return op.fail("scan_dim_size", "is {}, but operand {} is {}", (*size)[0], i, type_text(op.in(i)));
  }
  return true;
}

constexpr uint32_t kChloLogicClass = kPredClass | kIntClass;

constexpr ConstraintRow kChloConstraints[] = {
    {"acos", chlo_one_type<kFloatOrComplexClass, 1>},
    {"acosh", chlo_one_type<kFloatOrComplexClass, 1>},
    {"asin", chlo_one_type<kFloatOrComplexClass, 1>},
    {"asinh", chlo_one_type<kFloatOrComplexClass, 1>},
    {"atan", chlo_one_type<kFloatOrComplexClass, 1>},
    {"atanh", chlo_one_type<kFloatOrComplexClass, 1>},
    {"bessel_i1e", chlo_one_type<kFloatClass, 1>},
    {"broadcast_add", broadcast_binary<kAnyClass>},
    {"broadcast_and", broadcast_binary<kChloLogicClass>},
    {"broadcast_atan2", broadcast_binary<kFloatOrComplexClass>},
    {"broadcast_compare", broadcast_compare},
    {"broadcast_complex", broadcast_complex},
    {"broadcast_divide", broadcast_binary<kNumberClass>},
    {"broadcast_maximum", broadcast_binary<kAnyClass>},
    {"broadcast_minimum", broadcast_binary<kAnyClass>},
    {"broadcast_multiply", broadcast_binary<kAnyClass>},
    {"broadcast_next_after", broadcast_binary<kFloatClass>},
    {"broadcast_or", broadcast_binary<kChloLogicClass>},
    {"broadcast_polygamma", broadcast_binary<kFloatOrComplexClass>},
    {"broadcast_power", broadcast_binary<kNumberClass>},
    {"broadcast_remainder", broadcast_binary<kNumberClass>},
    {"broadcast_select", broadcast_select},
    {"broadcast_shift_left", broadcast_binary<kIntClass>},
    {"broadcast_shift_right_arithmetic", broadcast_binary<kIntClass>},
    {"broadcast_shift_right_logical", broadcast_binary<kIntClass>},
    {"broadcast_subtract", broadcast_binary<kNumberClass>},
    {"broadcast_xor", broadcast_binary<kChloLogicClass>},
    {"broadcast_zeta", broadcast_binary<kFloatOrComplexClass>},
    {"conj", chlo_one_type<kAnyClass, 1>},
    {"constant_like", constant_like},
    {"cosh", chlo_one_type<kFloatOrComplexClass, 1>},
    {"digamma", chlo_one_type<kFloatOrComplexClass, 1>},
    {"erf", chlo_one_type<kFloatOrComplexClass, 1>},
    {"erf_inv", chlo_one_type<kFloatOrComplexClass, 1>},
    {"erfc", chlo_one_type<kFloatOrComplexClass, 1>},
    {"is_inf", chlo_predicate},
    {"is_neg_inf", chlo_predicate},
    {"is_pos_inf", chlo_predicate},
    {"lgamma", chlo_one_type<kFloatOrComplexClass, 1>},
    {"mulhi", chlo_one_type<kIntClass, 2>},
    {"next_after", chlo_one_type<kFloatClass, 2>},
    {"polygamma", chlo_one_type<kFloatOrComplexClass, 2>},
    {"ragged_dot", ragged_dot},
    {"scan", scan},
    {"sinh", chlo_one_type<kFloatOrComplexClass, 1>},
    {"square", chlo_one_type<kFloatOrComplexClass, 1>},
    {"tan", chlo_one_type<kFloatOrComplexClass, 1>},
    {"top_k", top_k},
    {"zeta", chlo_one_type<kFloatOrComplexClass, 2>},
};

}  // namespace

std::span<const ConstraintRow> chlo_constraints() { return kChloConstraints; }

}  // namespace hlosim::stablehlo
