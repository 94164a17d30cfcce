// The dialect's constraints on operations that HLO's own rules don't hold: the numbered ones of StableHLO's
// specification (C1, C2, …) and the types of inputs (I1, …), on types and attributes as they are written.
//
//   if (!constraints_hold(op)) return;     // reported at the operation, as "C1: …"
//
// A dynamic dimension fits any size. Operations on quantized types aren't checked, as they are refused
// anyway.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mlir/ir.h"
#include "stablehlo/op_lowering.h"

namespace hlosim::stablehlo {

/// False after a report.
bool constraints_hold(OpLowering& op);

/// Element types that an operand may have, as a set.
enum ElementClass : uint32_t {
  kPredClass = 1,
  kSignedClass = 2,  // and signless
  kUnsignedClass = 4,
  kFloatClass = 8,
  kComplexClass = 16,
  kIntClass = kSignedClass | kUnsignedClass,
  kFloatOrComplexClass = kFloatClass | kComplexClass,
  kNumberClass = kIntClass | kFloatOrComplexClass,
  kAnyClass = kNumberClass | kPredClass,
};

/// An operation whose constraints are checked; types that it doesn't have are reported.
class Constrained {
 public:
  explicit Constrained(OpLowering& op) : op_(op) {}

  OpLowering& op() const { return op_; }
  const mlir::Operation& mlir() const { return op_.mlir(); }
  size_t operands() const { return mlir().operands.size(); }
  size_t results() const { return mlir().results.size(); }
  const mlir::Type& in(size_t i) const { return *mlir().operands[i]->type; }
  const mlir::Type& out(size_t i = 0) const { return *mlir().results[i]->type; }

  /// False, after a report "C1: …". `constraint`: its number, or the attribute that it is on; empty: CHLO's
  /// have none.
  template <class... Args>
  bool fail(std::string_view constraint, fmt::format_string<Args...> format, Args&&... args) const {
    op_.fail("{}{}{}", constraint, constraint.empty() ? "" : ": ",
             fmt::format(format, std::forward<Args>(args)...));
    return false;
  }

  /// Exactly so many operands and results.
  bool has(size_t operands, size_t results) const;
  /// Operand i is a tensor of these elements.
  bool operand_is(std::string_view constraint, size_t i, uint32_t classes) const;
  bool operand_is_token(std::string_view constraint, size_t i) const;
  bool result_is_token(std::string_view constraint, size_t i) const;
  bool operand_has_rank(std::string_view constraint, size_t i, size_t rank) const;
  /// Element types alike.
  bool same_elements(std::string_view constraint, const mlir::Type& a, const mlir::Type& b) const;
  bool same_type(std::string_view constraint, const mlir::Type& a, const mlir::Type& b) const;
  /// Result i is `type`.
  bool result_is(std::string_view constraint, size_t i, const mlir::Type& type) const;
  /// Result i is a tensor of `element` (a word, as "i32") and these sizes.
  bool result_is(std::string_view constraint, size_t i, std::string_view element,
                 std::span<const int64_t> sizes) const;

  /// The attribute's list; nullopt: it isn't there (lists of a wrong kind are reported by who lowers it).
  std::optional<std::vector<int64_t>> list(std::string_view name) const;

 private:
  OpLowering& op_;
};

bool is_tensor(const mlir::Type& type);
/// A bit of ElementClass; 0: no tensor of numbers.
uint32_t class_of(const mlir::Type& tensor);
/// Of numbers and truth values; of complex ones both parts.
int64_t bits_of_element(const mlir::Type& element);
bool same_element(const mlir::Type& a, const mlir::Type& b);
/// Sizes alike where both are known.
bool fit(int64_t a, int64_t b);
bool same_sizes(std::span<const int64_t> a, std::span<const int64_t> b);
/// Tensors of one element type and shape, tuples of such, tokens.
bool same_types(const mlir::Type& a, const mlir::Type& b);
/// `from` may be computed in `to`: the same kind of number, at least as wide. Floats count as equally wide.
bool promotable(const mlir::Type& from, const mlir::Type& to);

struct ConstraintRow {
  std::string_view name;  // without its dialect
  bool (*holds)(const Constrained& op);
};
std::span<const ConstraintRow> elementwise_constraints();
std::span<const ConstraintRow> shape_constraints();
std::span<const ConstraintRow> product_constraints();
std::span<const ConstraintRow> region_constraints();
std::span<const ConstraintRow> collective_constraints();
std::span<const ConstraintRow> call_constraints();
std::span<const ConstraintRow> chlo_constraints();

}  // namespace hlosim::stablehlo
