// The slow, obvious evaluator: every operation as its definition says, element by element. What the
// executor computes is compared with it; the two share no numeric code.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "hlo/module.h"
#include "oracle/value.h"

namespace hlosim::test {

class Evaluator;

/// One instruction with the values of its operands, as the functions of the opcodes see it.
struct Operation {
  Evaluator& evaluator;
  const Instruction& instruction;
  std::vector<ValuePtr> operands;

  ShapeRef shape() const { return instruction.shape; }
  const Value& operand(size_t i) const { return *operands[i]; }
  bool has(AttrKey key) const { return instruction.find(key) != nullptr; }
  bool flag(AttrKey key, bool otherwise = false) const {
    const Attr* attr = instruction.find(key);
    return attr ? attr->flag() : otherwise;
  }
  int64_t integer(AttrKey key, int64_t otherwise = 0) const {
    const Attr* attr = instruction.find(key);
    return attr ? attr->integer() : otherwise;
  }
  std::span<const int64_t> ints(AttrKey key) const {
    const Attr* attr = instruction.find(key);
    return attr ? attr->ints() : std::span<const int64_t>();
  }
  std::string_view text(AttrKey key) const {
    const Attr* attr = instruction.find(key);
    return attr ? attr->text() : std::string_view();
  }
  std::vector<WindowDimension> window(int64_t rank) const;
  ComputationId called(AttrKey key = AttrKey::kToApply) const {
    return instruction.find(key)->computations()[0];
  }
  /// Remembers what is wrong, with the opcode and the name, and returns null.
  ValuePtr fail(std::string_view why);
};

class Evaluator {
 public:
  explicit Evaluator(const Module& module) : module_(module) {}

  /// The entry's result; null after an error().
  ValuePtr run(std::span<const ValuePtr> parameters);
  /// "topk %t: not supported"; empty when nothing failed.
  const std::string& error() const { return error_; }

  // ── for the functions of the opcodes ────────────────────────────
  const Module& module() const { return module_; }
  /// The result of a computation; null after an error.
  ValuePtr call(ComputationId computation, std::span<const ValuePtr> arguments);
  /// The same on scalars: one element for each parameter, of any float precision; empty after an error.
  std::vector<Element> apply(ComputationId computation, std::span<const ElementType> types,
                             std::span<const Element> arguments, std::span<const ElementType> results);
  /// The opcode of a computation that is one operation on its two parameters in their order, or in any
  /// order when that does not matter.
  std::optional<Opcode> single_operation(ComputationId computation) const;
  ElementType parameter_type(ComputationId computation, size_t i) const;
  size_t parameter_count(ComputationId computation) const { return module_[computation].parameters.size(); }
  /// Values of the instructions evaluated in the innermost computation.
  const ValuePtr& value_of(InstructionId id) { return (*frame_)[id]; }
  ValuePtr fail(std::string why) {
    if (error_.empty()) error_ = std::move(why);
    return nullptr;
  }
  /// Sums and products may be rounded to their type after each step, not only at the end.
  bool rounds_each_step = false;
  /// Instructions evaluated so far; runs end with an error beyond a limit.
  int64_t steps = 0;

 private:
  using Frame = std::unordered_map<InstructionId, ValuePtr>;
  ValuePtr evaluate(const Instruction& instruction);

  const Module& module_;
  Frame* frame_ = nullptr;
  std::span<const ValuePtr> arguments_;
  std::string error_;
  int depth_ = 0;
};

/// `value` with the layout and, among floats, the element type of `shape`.
ValuePtr retyped(const ValuePtr& value, ShapeRef shape);

/// A reduction in progress: applies a computation in row-major order, and knows how far the results of
/// other orders may be.
class Accumulator {
 public:
  Accumulator(Evaluator& evaluator, ComputationId computation, std::span<const Element> inits,
              std::span<const ElementType> init_types, bool rounds_each_step = false);
  /// Folds one element of each input in; false after an error.
  bool add(std::span<const Element> values, std::span<const ElementType> types);
  /// In the types asked for.
  std::vector<Element> result(std::span<const ElementType> types) const;

 private:
  void add_to_sum(const Element& value);
  void multiply(const Element& value);
  /// Is the value so far rounded to its own, narrow type at each step?
  bool rounds_narrow() const;
  /// Half a unit in the last place of what the steps are rounded to.
  double step_roundoff() const;
  Element sum() const;
  Element product() const;

  Evaluator& evaluator_;
  ComputationId computation_;
  std::optional<Opcode> opcode_;
  bool rounds_each_step_;
  std::vector<ElementType> types_;
  std::vector<Element> values_;
  std::optional<Element> single_;  // of the first step
  int64_t count_ = 0;
  long double total_ = 0;  // sum or product so far
  double magnitudes_ = 0, errors_ = 0;
  double growth_ = 0, decay_ = 0;  // sums of positive and negative exponents of a product's factors
};

// ── opcodes, by family; null after an error ─────────────────────
ValuePtr evaluate_elementwise(Operation& op);
ValuePtr evaluate_broadcast(Operation& op);
ValuePtr evaluate_reshape(Operation& op);
ValuePtr evaluate_transpose(Operation& op);
ValuePtr evaluate_reverse(Operation& op);
ValuePtr evaluate_concatenate(Operation& op);
ValuePtr evaluate_slice(Operation& op);
ValuePtr evaluate_pad(Operation& op);
ValuePtr evaluate_iota(Operation& op);
ValuePtr evaluate_bitcast(Operation& op);
ValuePtr evaluate_bitcast_convert(Operation& op);
ValuePtr evaluate_dynamic_slice(Operation& op);
ValuePtr evaluate_dynamic_update_slice(Operation& op);
ValuePtr evaluate_dynamic_reshape(Operation& op);
ValuePtr evaluate_get_dimension_size(Operation& op);
ValuePtr evaluate_set_dimension_size(Operation& op);
ValuePtr evaluate_gather(Operation& op);
ValuePtr evaluate_scatter(Operation& op);
ValuePtr evaluate_reduce(Operation& op);
ValuePtr evaluate_reduce_window(Operation& op);
ValuePtr evaluate_select_and_scatter(Operation& op);
ValuePtr evaluate_map(Operation& op);
ValuePtr evaluate_scan(Operation& op);
ValuePtr evaluate_sort(Operation& op);
ValuePtr evaluate_topk(Operation& op);
ValuePtr evaluate_dot(Operation& op);
ValuePtr evaluate_ragged_dot(Operation& op);
ValuePtr evaluate_scaled_dot(Operation& op);
ValuePtr evaluate_convolution(Operation& op);
ValuePtr evaluate_cholesky(Operation& op);
ValuePtr evaluate_triangular_solve(Operation& op);
ValuePtr evaluate_fft(Operation& op);
ValuePtr evaluate_batch_norm_training(Operation& op);
ValuePtr evaluate_batch_norm_inference(Operation& op);
ValuePtr evaluate_batch_norm_grad(Operation& op);
ValuePtr evaluate_rng_bit_generator(Operation& op);
ValuePtr evaluate_while(Operation& op);
ValuePtr evaluate_conditional(Operation& op);
ValuePtr evaluate_call(Operation& op);
ValuePtr evaluate_async_start(Operation& op);
ValuePtr evaluate_async_update(Operation& op);
ValuePtr evaluate_async_done(Operation& op);
ValuePtr evaluate_copy_start(Operation& op);
ValuePtr evaluate_custom_call(Operation& op);
ValuePtr evaluate_lone_collective(Operation& op);

/// The places a window takes along a dimension of `size` elements.
int64_t places_of_window(int64_t size, const WindowDimension& window);
/// The element under window position `tap` at place `place`; nullopt: padding or a hole.
std::optional<int64_t> element_under_window(int64_t size, const WindowDimension& window, int64_t place,
                                            int64_t tap);

}  // namespace hlosim::test
