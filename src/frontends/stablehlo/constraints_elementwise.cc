// Constraints of operations on elements.
#include <algorithm>
#include <array>

#include "stablehlo/constraints.h"
#include "stablehlo/types.h"

namespace hlosim::stablehlo {
namespace {

using mlir::Type;

/// Operands and result have one type.
template <uint32_t kClasses, size_t kOperands>
bool one_type(const Constrained& op) {
  if (!op.has(kOperands, 1)) return false;
  for (size_t i = 0; i < kOperands; ++i)
    if (!op.operand_is("I1", i, kClasses)) return false;
  for (size_t i = 1; i < kOperands; ++i)
    if (!op.same_type("C1", op.in(0), op.in(i))) return false;
  return op.result_is("C1", 0, op.in(0));
}

bool is_zero(const mlir::Attribute* value) { return !value || (value->number == 0 && value->integer == 0); }

/// A tolerance is for the mode TOLERANCE alone, and is no negative number.
bool accuracy_holds(const Constrained& op) {
  const mlir::Attribute* accuracy = op.op().find("result_accuracy");
  if (!accuracy || accuracy->kind != mlir::AttributeKind::kStruct) return true;
  const mlir::Attribute* mode = accuracy->find("mode");
  const std::string_view word = mode ? mode->text : "DEFAULT";
  const bool known = word == "DEFAULT" || word == "HIGHEST" || word == "TOLERANCE";
  if (!known) return op.fail("result_accuracy", "mode {} is none of DEFAULT, HIGHEST and TOLERANCE", word);
  for (const std::string_view name : {"atol", "rtol", "ulps"}) {
    const mlir::Attribute* value = accuracy->find(name);
    if (word != "TOLERANCE" && !is_zero(value))
      return op.fail("result_accuracy", "{} is not 0 in mode {}, expected a tolerance in mode TOLERANCE only",
                     name, word);
    if (value && (value->number < 0 || value->integer < 0))
      return op.fail("result_accuracy", "{} is negative", name);
  }
  return true;
}

template <uint32_t kClasses>
bool function(const Constrained& op) {
  return one_type<kClasses, 1>(op) && accuracy_holds(op);
}

/// What the result's elements are; its sizes are the operand's.
bool result_of(const Constrained& op, std::string_view constraint, const Type& element) {
  Type type = op.in(0);
  type.element = &element;
  return op.result_is(constraint, 0, type);
}

template <uint32_t kClasses>
bool real_part(const Constrained& op) {
  if (!op.has(1, 1) || !op.operand_is("I1", 0, kClasses)) return false;
  const Type& element = *op.in(0).element;
  return result_of(op, "C2", element.members.empty() ? element : *element.members[0]);
}

bool predicate(const Constrained& op) {
  if (!op.has(1, 1) || !op.operand_is("I1", 0, kFloatClass)) return false;
  Type truth;
  truth.word = "i1";
  return result_of(op, "C1", truth);
}

bool complex(const Constrained& op) {
  if (!op.has(2, 1) || !op.operand_is("I1", 0, kFloatClass) || !op.same_type("C1", op.in(0), op.in(1)))
    return false;
  const std::string_view word = op.in(0).element->word;
  if (word != "f32" && word != "f64")
    return op.fail("I1", "operand 0 is {}, expected elements of f32 or f64", type_text(op.in(0)));
  Type element;
  const Type* const members[] = {op.in(0).element};
  element.kind = mlir::TypeKind::kComplex;
  element.members = members;
  return result_of(op, "C3", element);
}

bool one_of(const Constrained& op, std::string_view attribute,
            std::initializer_list<std::string_view> words) {
  const mlir::Attribute* value = op.op().find(attribute);
  if (!value || std::find(words.begin(), words.end(), value->text) != words.end()) return true;
  return op.fail(attribute, "'{}' is none of {}", value->text, fmt::join(words, ", "));
}

bool compare(const Constrained& op) {
  if (!op.has(2, 1) || !op.operand_is("I1", 0, kAnyClass) || !op.same_type("C1", op.in(0), op.in(1)) ||
      !one_of(op, "comparison_direction", {"EQ", "NE", "GE", "GT", "LE", "LT"}) ||
      !one_of(op, "compare_type", {"NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"}))
    return false;
  Type truth;
  truth.word = "i1";
  return result_of(op, "C2", truth);
}

bool select(const Constrained& op) {
  if (!op.has(3, 1) || !op.operand_is("I1", 0, kPredClass) || !op.same_type("C2", op.in(1), op.in(2)))
    return false;
  const bool fits =
      op.in(0).dims.empty() || (is_tensor(op.in(1)) && same_sizes(op.in(0).dims, op.in(1).dims));
  if (!fits)
    return op.fail("C1", "the condition is {}, expected a scalar or the sizes of {}", type_text(op.in(0)),
                   type_text(op.in(1)));
  return op.result_is("C2", 0, op.in(1));
}

bool clamp(const Constrained& op) {
  if (!op.has(3, 1) || !op.operand_is("I2", 1, kAnyClass)) return false;
  for (const size_t bound : {0, 2}) {
    if (!op.same_elements("C3", op.in(bound), op.in(1))) return false;
    if (op.in(bound).dims.empty() || same_sizes(op.in(bound).dims, op.in(1).dims)) continue;
    return op.fail(bound == 0 ? "C1" : "C2", "operand {} is {}, expected a scalar or the sizes of {}", bound,
                   type_text(op.in(bound)), type_text(op.in(1)));
  }
  return op.result_is("C4", 0, op.in(1));
}

bool convert(const Constrained& op) {
  if (!op.has(1, 1) || !op.operand_is("I1", 0, kAnyClass)) return false;
  if (is_tensor(op.out()) && same_sizes(op.in(0).dims, op.out().dims)) return true;
  return op.fail("C1", "operand {} and result {} differ in shape", type_text(op.in(0)), type_text(op.out()));
}

bool reduce_precision(const Constrained& op) {
  if (!one_type<kFloatClass, 1>(op)) return false;
  const auto exponent = op.list("exponent_bits"), mantissa = op.list("mantissa_bits");
  if (exponent && exponent->size() == 1 && (*exponent)[0] < 1)
    return op.fail("C2", "exponent_bits is {}, expected at least 1", (*exponent)[0]);
  if (mantissa && mantissa->size() == 1 && (*mantissa)[0] < 0)
    return op.fail("C3", "mantissa_bits is {}, expected at least 0", (*mantissa)[0]);
  return true;
}

constexpr uint32_t kLogicClass = kPredClass | kIntClass;
constexpr uint32_t kSignedNumberClass = kSignedClass | kFloatOrComplexClass;

constexpr ConstraintRow kElementwiseConstraints[] = {
    {"abs", real_part<kSignedNumberClass>},
    {"add", one_type<kAnyClass, 2>},
    {"and", one_type<kLogicClass, 2>},
    {"atan2", one_type<kFloatOrComplexClass, 2>},
    {"cbrt", function<kFloatOrComplexClass>},
    {"ceil", one_type<kFloatClass, 1>},
    {"clamp", clamp},
    {"compare", compare},
    {"complex", complex},
    {"convert", convert},
    {"cosine", function<kFloatOrComplexClass>},
    {"count_leading_zeros", one_type<kIntClass, 1>},
    {"divide", one_type<kNumberClass, 2>},
    {"exponential", function<kFloatOrComplexClass>},
    {"exponential_minus_one", function<kFloatOrComplexClass>},
    {"floor", one_type<kFloatClass, 1>},
    {"imag", real_part<kFloatOrComplexClass>},
    {"is_finite", predicate},
    {"log", function<kFloatOrComplexClass>},
    {"log_plus_one", function<kFloatOrComplexClass>},
    {"logistic", function<kFloatOrComplexClass>},
    {"maximum", one_type<kAnyClass, 2>},
    {"minimum", one_type<kAnyClass, 2>},
    {"multiply", one_type<kAnyClass, 2>},
    {"negate", one_type<kNumberClass, 1>},
    {"not", one_type<kLogicClass, 1>},
    {"or", one_type<kLogicClass, 2>},
    {"popcnt", one_type<kIntClass, 1>},
    {"power", one_type<kNumberClass, 2>},
    {"real", real_part<kFloatOrComplexClass>},
    {"reduce_precision", reduce_precision},
    {"remainder", one_type<kNumberClass, 2>},
    {"round_nearest_afz", one_type<kFloatClass, 1>},
    {"round_nearest_even", one_type<kFloatClass, 1>},
    {"rsqrt", function<kFloatOrComplexClass>},
    {"select", select},
    {"shift_left", one_type<kIntClass, 2>},
    {"shift_right_arithmetic", one_type<kIntClass, 2>},
    {"shift_right_logical", one_type<kIntClass, 2>},
    {"sign", one_type<kSignedNumberClass, 1>},
    {"sine", function<kFloatOrComplexClass>},
    {"sqrt", function<kFloatOrComplexClass>},
    {"subtract", one_type<kNumberClass, 2>},
    {"tan", function<kFloatOrComplexClass>},
    {"tanh", function<kFloatOrComplexClass>},
    {"xor", one_type<kLogicClass, 2>},
};

}  // namespace

std::span<const ConstraintRow> elementwise_constraints() { return kElementwiseConstraints; }

}  // namespace hlosim::stablehlo
