// Constraints of operations that give elements other places, of tuples and tokens, and of operations whose
// sizes are operands.
#include <algorithm>

#include "stablehlo/constraints.h"
#include "stablehlo/types.h"

namespace hlosim::stablehlo {
namespace {

using mlir::Type;
using Sizes = std::vector<int64_t>;

/// One tensor whose elements are the result's.
bool keeps_elements(const Constrained& op) {
  return op.has(1, 1) && op.operand_is("I1", 0, kAnyClass) && op.same_elements("C1", op.in(0), op.out());
}
/// The same of the first of several operands.
bool keeps_first_elements(const Constrained& op) {
  return op.operands() == 0 || op.results() != 1 ||
         (op.operand_is("I1", 0, kAnyClass) && op.same_elements("C1", op.in(0), op.out()));
}
/// The result has the first operand's type.
bool keeps_first_type(const Constrained& op) {
  return op.operands() == 0 || op.results() != 1 || op.result_is("C1", 0, op.in(0));
}

bool constant(const Constrained& op) {
  const mlir::Attribute* value = op.op().find("value");
  if (!op.has(0, 1) || !value || !value->type) return op.op().mlir().operands.empty();
  return op.result_is("C1", 0, *value->type);
}

bool iota(const Constrained& op) {
  if (!op.has(0, 1)) return false;
  if ((class_of(op.out()) & kNumberClass) != 0) return true;
  return op.fail("O1", "the result is {}, expected a tensor of integers, floats or complex numbers",
                 type_text(op.out()));
}

bool bitcast_convert(const Constrained& op) {
  if (!op.has(1, 1) || !op.operand_is("I1", 0, kAnyClass)) return false;
  if ((class_of(op.in(0)) == kComplexClass) == (class_of(op.out()) == kComplexClass)) return true;
  return op.fail("C2", "{} becomes {}, expected complex numbers in both or none", type_text(op.in(0)),
                 type_text(op.out()));
}

bool broadcast(const Constrained& op) {
  if (!keeps_elements(op)) return false;
  const auto sizes = op.list("broadcast_sizes");
  if (!sizes) return true;
  Sizes whole;
  for (const int64_t size : *sizes) {
    if (size < 0) return op.fail("broadcast_sizes", "holds {}, expected sizes of at least 0", size);
    whole.push_back(size);
  }
  whole.insert(whole.end(), op.in(0).dims.begin(), op.in(0).dims.end());
  Type type = op.in(0);
  type.dims = whole;
  return op.result_is("C2", 0, type);
}

bool slice(const Constrained& op) {
  if (!keeps_elements(op)) return false;
  return op.op().has("strides") || op.op().need("strides") != nullptr;
}

bool pad(const Constrained& op) {
  if (!op.has(2, 1) || !op.operand_is("I1", 0, kAnyClass) || !op.operand_has_rank("I2", 1, 0)) return false;
  return op.same_elements("C1", op.in(0), op.in(1)) && op.same_elements("C1", op.in(0), op.out());
}

bool concatenate(const Constrained& op) {
  for (size_t i = 1; i < op.operands(); ++i)
    if (!op.same_elements("C1", op.in(0), op.in(i))) return false;
  return keeps_first_elements(op);
}

/// Operands from `first` on are scalars of one type of integers.
bool start_indices(const Constrained& op, std::string_view constraint, size_t first) {
  for (size_t i = first; i < op.operands(); ++i)
    if (!op.operand_is("I2", i, kIntClass) || !op.operand_has_rank("I2", i, 0) ||
        !op.same_type(constraint, op.in(first), op.in(i)))
      return false;
  return true;
}
bool dynamic_slice(const Constrained& op) { return keeps_first_elements(op) && start_indices(op, "C3", 1); }
bool dynamic_update_slice(const Constrained& op) {
  if (op.operands() < 2) return true;
  return keeps_first_type(op) && op.same_elements("C2", op.in(0), op.in(1)) && start_indices(op, "C5", 2);
}

bool get_dimension_size(const Constrained& op) {
  return op.has(1, 1) && op.operand_is("I1", 0, kAnyClass) && op.result_is("O1", 0, "i32", {});
}

bool set_dimension_size(const Constrained& op) {
  if (!op.has(2, 1) || !op.operand_has_rank("I2", 1, 0)) return false;
  const bool is_size = is_tensor(op.in(1)) && op.in(1).element->word == "i32";
  return is_size || op.fail("I2", "operand 1 is {}, expected tensor<i32>", type_text(op.in(1)));
}

bool tuple(const Constrained& op) {
  if (op.results() != 1) return true;
  std::vector<const Type*> members;
  for (size_t i = 0; i < op.operands(); ++i) members.push_back(&op.in(i));
  Type type;
  type.kind = mlir::TypeKind::kTuple;
  type.members = members;
  return op.result_is("C1", 0, type);
}

bool get_tuple_element(const Constrained& op) {
  if (!op.has(1, 1)) return false;
  const auto index = op.list("index");
  if (op.in(0).kind != mlir::TypeKind::kTuple)
    return op.fail("I1", "operand 0 is {}, expected a tuple", type_text(op.in(0)));
  if (!index || index->size() != 1) return true;
  if ((*index)[0] < 0 || (*index)[0] >= static_cast<int64_t>(op.in(0).members.size()))
    return op.fail("C1", "index {} is none of {}", (*index)[0], type_text(op.in(0)));
  return op.result_is("C2", 0, *op.in(0).members[static_cast<size_t>((*index)[0])]);
}

bool optimization_barrier(const Constrained& op) {
  if (!op.has(op.operands(), op.operands())) return false;
  for (size_t i = 0; i < op.operands(); ++i)
    if (!op.result_is("C1", i, op.in(i))) return false;
  return true;
}

bool after_all(const Constrained& op) {
  for (size_t i = 0; i < op.operands(); ++i)
    if (!op.operand_is_token("I1", i)) return false;
  return op.results() != 1 || op.result_is_token("O1", 0);
}
bool create_token(const Constrained& op) { return op.has(0, 1) && op.result_is_token("O1", 0); }
bool device_number(const Constrained& op) { return op.has(0, 1) && op.result_is("O1", 0, "ui32", {}); }

// ── sizes as operands ─────────────────────────────────────────────────────────────────────────

/// The integers of a value that is a constant.
std::optional<Sizes> constant_of(const mlir::Value& value) {
  if (!value.owner || !is_constant(*value.owner)) return std::nullopt;
  const mlir::Attribute* elements = value.owner->find("value");
  return elements ? integers_of(*elements) : std::nullopt;
}

/// Operand i is a list of integers, `count` of them.
bool is_list(const Constrained& op, std::string_view constraint, size_t i, int64_t count) {
  const bool index = is_tensor(op.in(i)) && op.in(i).element->word == "index";
  if ((!index && !op.operand_is(constraint, i, kIntClass)) || !op.operand_has_rank(constraint, i, 1))
    return false;
  return fit(op.in(i).dims[0], count) ||
         op.fail(constraint, "operand {} has {} elements, expected {}", i, op.in(i).dims[0], count);
}

/// Operand i holds the sizes of the result.
bool is_shape_of_result(const Constrained& op, std::string_view constraint, size_t i) {
  if (!is_tensor(op.out())) return true;
  if (!is_list(op, constraint, i, static_cast<int64_t>(op.out().dims.size()))) return false;
  const std::optional<Sizes> sizes = constant_of(*op.mlir().operands[i]);
  if (!sizes || same_sizes(*sizes, op.out().dims)) return true;
  return op.fail(constraint, "the shape [{}] isn't that of the result {}", fmt::join(*sizes, ", "),
                 type_text(op.out()));
}

bool dynamic_reshape(const Constrained& op) {
  return op.has(2, 1) && op.operand_is("I1", 0, kAnyClass) && op.same_elements("C1", op.in(0), op.out()) &&
         is_shape_of_result(op, "C4", 1);
}
bool dynamic_iota(const Constrained& op) { return op.has(1, 1) && is_shape_of_result(op, "C2", 0); }

bool dynamic_broadcast_in_dim(const Constrained& op) {
  if (!op.has(2, 1) || !op.operand_is("I1", 0, kAnyClass) || !op.same_elements("C1", op.in(0), op.out()) ||
      !is_shape_of_result(op, "C7", 1))
    return false;
  Sizes known;
  for (const std::string_view name : {"known_expanding_dimensions", "known_nonexpanding_dimensions"})
    for (const int64_t dimension : op.list(name).value_or(Sizes())) {
      if (dimension < 0 || dimension >= static_cast<int64_t>(op.in(0).dims.size()))
        return op.fail("C9", "{} names dimension {} of {}", name, dimension, type_text(op.in(0)));
      if (std::count(known.begin(), known.end(), dimension) > 0)
        return op.fail("C8", "{} names dimension {}, which is named before", name, dimension);
      known.push_back(dimension);
    }
  return true;
}

bool dynamic_pad(const Constrained& op) {
  if (!op.has(5, 1) || !op.operand_is("I1", 0, kAnyClass) || !op.operand_has_rank("I2", 1, 0) ||
      !op.same_elements("C1", op.in(0), op.in(1)) || !op.same_elements("C1", op.in(0), op.out()))
    return false;
  for (size_t i = 2; i < 5; ++i)
    if (!is_list(op, "C2", i, static_cast<int64_t>(op.in(0).dims.size()))) return false;
  return true;
}

bool real_dynamic_slice(const Constrained& op) {
  if (!op.has(4, 1) || !op.operand_is("I1", 0, kAnyClass) || !op.same_elements("C1", op.in(0), op.out()))
    return false;
  for (size_t i = 1; i < 4; ++i)
    if (!is_list(op, "C2", i, static_cast<int64_t>(op.in(0).dims.size())) ||
        !op.same_type("C3", op.in(1), op.in(i)))
      return false;
  return true;
}

constexpr ConstraintRow kShapesConstraints[] = {
    {"after_all", after_all},
    {"bitcast_convert", bitcast_convert},
    {"broadcast", broadcast},
    {"broadcast_in_dim", keeps_elements},
    {"concatenate", concatenate},
    {"constant", constant},
    {"create_token", create_token},
    {"dynamic_broadcast_in_dim", dynamic_broadcast_in_dim},
    {"dynamic_iota", dynamic_iota},
    {"dynamic_pad", dynamic_pad},
    {"dynamic_reshape", dynamic_reshape},
    {"dynamic_slice", dynamic_slice},
    {"dynamic_update_slice", dynamic_update_slice},
    {"get_dimension_size", get_dimension_size},
    {"get_tuple_element", get_tuple_element},
    {"iota", iota},
    {"optimization_barrier", optimization_barrier},
    {"pad", pad},
    {"partition_id", device_number},
    {"real_dynamic_slice", real_dynamic_slice},
    {"replica_id", device_number},
    {"reshape", keeps_elements},
    {"reverse", keeps_first_type},
    {"set_dimension_size", set_dimension_size},
    {"slice", slice},
    {"transpose", keeps_elements},
    {"tuple", tuple},
};

}  // namespace

std::span<const ConstraintRow> shape_constraints() { return kShapesConstraints; }

}  // namespace hlosim::stablehlo
