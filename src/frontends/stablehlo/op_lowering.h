// One operation that becomes HLO instructions: what the functions of the tables are given.
//
//   void lower_transpose(OpLowering& op) {
//     op.give(op.make(Opcode::kTranspose, {op.operand(0)}, {op.ints(AttrKey::kDimensions, "permutation")},
//                     op.result()));
//   }
//
// After the first fault everything that is made is an invalid id, and shapes of such are empty tuples, so
// that these functions need not ask after each step.
#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stablehlo/lowering.h"

namespace hlosim::stablehlo {

using Values = std::vector<InstructionId>;

class OpLowering {
 public:
  OpLowering(Lowering& lowering, Scope& scope, const mlir::Operation& op);

  const mlir::Operation& mlir() const { return op_; }
  Lowering& lowering() { return lowering_; }
  ModuleBuilder& builder() { return lowering_.builder(); }
  Scope& scope() { return scope_; }
  ShapePool& shapes() { return lowering_.shapes(); }
  Arena& arena() { return builder().module().arena(); }
  ModuleBuilder::Place place() const { return place_; }
  /// Without its dialect.
  std::string_view name() const { return op_.name.substr(op_.name.find('.') + 1); }

  template <class... Args>
  InstructionId fail(fmt::format_string<Args...> format, Args&&... args) {
    report(fmt::format(format, std::forward<Args>(args)...));
    return {};
  }
  bool failed() const { return lowering_.failed(); }

  // ── operands and results ──

  size_t operand_count() const { return op_.operands.size(); }
  size_t result_count() const { return op_.results.size(); }
  /// Reports where there are fewer.
  InstructionId operand(size_t i);
  Values operands(size_t from = 0, size_t to = std::string::npos);
  /// False after a report: there are more or fewer.
  bool takes(size_t count);
  bool takes_at_least(size_t count);
  ShapeRef shape(InstructionId id) { return builder().shape(id); }
  ElementType type(InstructionId id) { return shape(id)->element_type; }
  int64_t rank(InstructionId id) { return shape(id)->rank(); }
  /// The shape that the operation says result `i` has; null where a dimension of it is dynamic.
  ShapeRef result(size_t i = 0);
  /// The same, and a report where it is dynamic.
  ShapeRef static_result(size_t i = 0);
  /// One for each result, a tuple where there are several.
  ShapeRef whole_result();

  /// Result 0 is `value`.
  void give(InstructionId value);
  /// The results are `values`.
  void give_all(std::span<const InstructionId> values);
  /// The results are the elements of `tuple`; of one result: `tuple` itself.
  void give_elements(InstructionId tuple);

  /// Shardings and other attributes that any operation may have become `value`'s, if it was made here.
  void decorate(InstructionId value);

  // ── attributes; what isn't there and has no default is reported ──

  const mlir::Attribute* find(std::string_view name) const { return op_.find(name); }
  bool has(std::string_view name) const { return find(name) != nullptr; }
  const mlir::Attribute* need(std::string_view name);
  int64_t integer(std::string_view name, std::optional<int64_t> otherwise = {});
  bool flag(std::string_view name, bool otherwise = false);
  std::string_view text(std::string_view name);
  /// array<i64: …>, a dense list, or a list of integers.
  std::vector<int64_t> list(std::string_view name);
  std::vector<int64_t> list_or(std::string_view name, std::vector<int64_t> otherwise);
  std::vector<int64_t> list_in(const mlir::Attribute& structure, std::string_view name);
  int64_t integer_in(const mlir::Attribute& structure, std::string_view name, int64_t otherwise);
  /// Rows of a dense table; `columns` where the attribute doesn't say.
  std::vector<std::vector<int64_t>> table(std::string_view name, size_t columns = 2);

  Attr ints(AttrKey key, std::string_view name) { return builder().ints(key, list(name)); }
  Attr ints(AttrKey key, std::span<const int64_t> values) { return builder().ints(key, values); }
  Attr ints(AttrKey key, std::initializer_list<int64_t> values) {
    return builder().ints(key, {values.begin(), values.size()});
  }
  Attr word(AttrKey key, std::string_view word) { return builder().text(key, word); }

  // ── instructions ──

  InstructionId make(Opcode opcode, std::span<const InstructionId> operands, std::span<const Attr> attrs = {},
                     ShapeRef shape = nullptr);
  InstructionId make(Opcode opcode, std::initializer_list<InstructionId> operands,
                     std::initializer_list<Attr> attrs = {}, ShapeRef shape = nullptr) {
    return make(opcode, std::span(operands.begin(), operands.size()), std::span(attrs.begin(), attrs.size()),
                shape);
  }
  InstructionId tuple(std::span<const InstructionId> elements);
  InstructionId element(InstructionId tuple, int64_t index);
  InstructionId constant(const Literal* literal);
  /// `values` as a row-major array of integers or preds.
  InstructionId constant_ints(ElementType type, std::span<const int64_t> dimensions,
                              std::span<const int64_t> values);
  /// A scalar of any number type; the real part of a complex one.
  InstructionId number(ElementType type, double value);
  /// The scalar `value` in all elements of `shape`'s dimensions.
  InstructionId splat(InstructionId scalar, ShapeRef dimensions);
  /// `value` in all elements, in the type and of the dimensions of `like`.
  InstructionId number_like(InstructionId like, double value);
  /// `operand`'s dimension i is dimension `dimensions[i]` of the result; a dimension of 1 may grow.
  InstructionId broadcast_in_dim(InstructionId operand, std::span<const int64_t> dimensions, ShapeRef result);
  InstructionId reshape(InstructionId operand, std::span<const int64_t> dimensions);
  InstructionId convert(InstructionId operand, ElementType type);

  // ── regions ──

  /// Region `i` as a computation whose parameters are its arguments.
  ComputationId region(size_t i, std::string_view name);
  /// The same with other parameters: `order[k]` is the argument that parameter k is.
  ComputationId region(size_t i, std::string_view name, std::span<const size_t> order);
  /// The same for operands of the operation, each an argument: what the region uses from outside joins them.
  ComputationId closed_region(size_t i, std::string_view name, Values& operands);
  bool has_region(size_t i);
  /// Values from outside that a region uses, without those that are constants; in order of use.
  std::vector<const mlir::Value*> captured(size_t i);

 private:
  void report(std::string message);

  Lowering& lowering_;
  Scope& scope_;
  const mlir::Operation& op_;
  ModuleBuilder::Place place_;
  size_t first_made_;  // instructions of the module when it began
};

/// What an operation becomes.
struct Row {
  std::string_view name;  // with its dialect
  void (*lower)(OpLowering&, Opcode) = nullptr;
};
/// With the HLO opcode of the operation (mlir/stable_operations.h), for functions that several operations
/// share; kConstant where it has none.
struct RowOfOperation : Row {
  Opcode opcode = Opcode::kConstant;
};
/// Null: not known.
const RowOfOperation* find_row(std::string_view operation);

std::span<const Row> elementwise_rows();
std::span<const Row> shape_rows();
std::span<const Row> indexing_rows();
std::span<const Row> contraction_rows();
std::span<const Row> reduction_rows();
std::span<const Row> control_rows();
std::span<const Row> random_rows();
std::span<const Row> mhlo_rows();
std::span<const Row> linear_algebra_rows();
std::span<const Row> collective_rows();
std::span<const Row> transfer_rows();
std::span<const Row> call_rows();
std::span<const Row> dynamic_rows();
std::span<const Row> quantized_rows();
std::span<const Row> check_rows();
std::span<const Row> sharding_rows();
std::span<const Row> chlo_rows();
std::span<const Row> chlo_function_rows();
std::span<const Row> complex_function_rows();

/// The gather of operands 0 and 1 by the attribute dimension_numbers.
void give_gather(OpLowering& op, const std::vector<int64_t>& slice_sizes);

/// The operands as large as each other by numpy's rules: dimensions are matched from the last one, those of 1
/// grow.
Values broadcast_alike(OpLowering& op, const Values& operands);

/// The literal of a dense attribute in the elements of `shape`; null after a report.
const Literal* literal_of(OpLowering& op, const mlir::Attribute& dense, ShapeRef shape);
/// Integers of an attribute however it is written; nullopt: it holds none.
std::optional<std::vector<int64_t>> integers_of(const mlir::Attribute& attribute);

}  // namespace hlosim::stablehlo
