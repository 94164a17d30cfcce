#include "stablehlo/constraints.h"

#include <algorithm>
#include <unordered_map>

#include "stablehlo/types.h"

namespace hlosim::stablehlo {
namespace {

using mlir::Type;
using mlir::TypeKind;

/// A type that no rule here is for: quantized, or of another dialect.
bool is_foreign(const Type& type) {
  if (type.kind == TypeKind::kTuple)
    return std::any_of(type.members.begin(), type.members.end(),
                       [](const Type* t) { return is_foreign(*t); });
  if (is_tensor(type)) return type.element->kind == TypeKind::kOpaque;
  return type.kind != TypeKind::kToken;
}

std::string class_text(uint32_t classes) {
  static constexpr std::pair<uint32_t, std::string_view> kWords[] = {
      {kPredClass, "truth values"},          {kIntClass, "integers"}, {kSignedClass, "signed integers"},
      {kUnsignedClass, "unsigned integers"}, {kFloatClass, "floats"}, {kComplexClass, "complex numbers"}};
  std::string text;
  for (const auto& [bits, word] : kWords) {
    if ((classes & bits) != bits) continue;
    classes &= ~bits;
    text += text.empty() ? "" : classes == 0 ? " or " : ", ";
    text += word;
  }
  return text;
}

using Table = std::unordered_map<std::string_view, const ConstraintRow*>;

const Table& stablehlo_table() {
  static const Table table = [] {
    Table made;
    for (const auto rows : {elementwise_constraints, shape_constraints, product_constraints,
                            region_constraints, collective_constraints, call_constraints})
      for (const ConstraintRow& row : rows()) made.emplace(row.name, &row);
    return made;
  }();
  return table;
}

const Table& chlo_table() {
  static const Table table = [] {
    Table made;
    for (const ConstraintRow& row : chlo_constraints()) made.emplace(row.name, &row);
    return made;
  }();
  return table;
}

}  // namespace

bool constraints_hold(OpLowering& op) {
  const size_t dot = op.mlir().name.find('.');
  const std::string_view dialect = op.mlir().name.substr(0, dot);
  if (dot == std::string_view::npos || (dialect != "stablehlo" && dialect != "chlo")) return true;
  const Table& table = dialect == "chlo" ? chlo_table() : stablehlo_table();
  const auto row = table.find(op.mlir().name.substr(dot + 1));
  if (row == table.end() || op.failed()) return !op.failed();
  for (const auto values : {op.mlir().operands, op.mlir().results})
    if (std::any_of(values.begin(), values.end(), [](const mlir::Value* v) { return is_foreign(*v->type); }))
      return true;
  return row->second->holds(Constrained(op)) && !op.failed();
}

bool is_tensor(const Type& type) { return type.kind == TypeKind::kTensor && type.element; }

uint32_t class_of(const Type& tensor) {
  if (!is_tensor(tensor)) return 0;
  const ElementType type = element_type_of(*tensor.element);
  if (is_complex(type)) return kComplexClass;
  if (is_pred(type)) return kPredClass;
  if (is_float(type)) return kFloatClass;
  if (!is_integer(type)) return 0;
  return is_signed_integer(type) ? kSignedClass : kUnsignedClass;
}

int64_t bits_of_element(const Type& element) {
  const ElementType type = element_type_of(element);
  return is_pred(type) ? 1 : type == ElementType::kInvalid ? 0 : bit_width(type);
}

bool same_element(const Type& a, const Type& b) {
  const ElementType type = element_type_of(a);
  return type == element_type_of(b) && (type != ElementType::kInvalid || a.word == b.word);
}

bool fit(int64_t a, int64_t b) { return a == b || a == mlir::kDynamic || b == mlir::kDynamic; }

bool same_sizes(std::span<const int64_t> a, std::span<const int64_t> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), fit);
}

bool same_types(const Type& a, const Type& b) {
  if (a.kind != b.kind) return false;
  if (a.kind == TypeKind::kTuple)
    return std::equal(a.members.begin(), a.members.end(), b.members.begin(), b.members.end(),
                      [](const Type* x, const Type* y) { return same_types(*x, *y); });
  if (!is_tensor(a) || !is_tensor(b)) return a.kind == TypeKind::kToken || a.word == b.word;
  return same_element(*a.element, *b.element) && same_sizes(a.dims, b.dims);
}

bool promotable(const Type& from, const Type& to) {
  const ElementType a = element_type_of(from), b = element_type_of(to);
  if (is_float(a) && is_float(b)) return true;
  const bool complex = is_complex(a) && is_complex(b);
  const bool integers = (is_integer(a) || is_pred(a)) && (is_integer(b) || is_pred(b));
  return (complex || integers) && bits_of_element(from) <= bits_of_element(to);
}

// ── Constrained ───────────────────────────────────────────────────────────────────────────────

bool Constrained::has(size_t operands, size_t results) const {
  if (!op_.takes(operands)) return false;
  if (this->results() == results) return true;
  op_.fail("has {} results, expected {}", this->results(), results);
  return false;
}

bool Constrained::operand_is(std::string_view constraint, size_t i, uint32_t classes) const {
  if ((class_of(in(i)) & classes) != 0) return true;
  return fail(constraint, "operand {} is {}, expected a tensor of {}", i, type_text(in(i)),
              class_text(classes));
}

bool Constrained::operand_is_token(std::string_view constraint, size_t i) const {
  return in(i).kind == TypeKind::kToken ||
         fail(constraint, "operand {} is {}, expected a token", i, type_text(in(i)));
}

bool Constrained::result_is_token(std::string_view constraint, size_t i) const {
  return out(i).kind == TypeKind::kToken ||
         fail(constraint, "result {} is {}, expected a token", i, type_text(out(i)));
}

bool Constrained::operand_has_rank(std::string_view constraint, size_t i, size_t rank) const {
  if (is_tensor(in(i)) && in(i).dims.size() == rank) return true;
  return fail(constraint, "operand {} is {}, expected a tensor of rank {}", i, type_text(in(i)), rank);
}

bool Constrained::same_elements(std::string_view constraint, const Type& a, const Type& b) const {
  if (is_tensor(a) && is_tensor(b) && same_element(*a.element, *b.element)) return true;
  return fail(constraint, "{} and {} differ in their elements, expected the same type", type_text(a),
              type_text(b));
}

bool Constrained::same_type(std::string_view constraint, const Type& a, const Type& b) const {
  return same_types(a, b) ||
         fail(constraint, "types {} and {} differ, expected the same", type_text(a), type_text(b));
}

bool Constrained::result_is(std::string_view constraint, size_t i, const Type& type) const {
  if (i >= results()) return true;
  return same_types(out(i), type) ||
         fail(constraint, "result {} is {}, expected {}", i, type_text(out(i)), type_text(type));
}

bool Constrained::result_is(std::string_view constraint, size_t i, std::string_view element,
                            std::span<const int64_t> sizes) const {
  Type scalar, type;
  scalar.word = element;
  type.kind = TypeKind::kTensor;
  type.element = &scalar;
  type.dims = sizes;
  return result_is(constraint, i, type);
}

std::optional<std::vector<int64_t>> Constrained::list(std::string_view name) const {
  const mlir::Attribute* attribute = op_.find(name);
  return attribute ? integers_of(*attribute) : std::nullopt;
}

}  // namespace hlosim::stablehlo
