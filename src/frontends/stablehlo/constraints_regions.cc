// Constraints of operations with regions: reductions, scatter, sort, map, and control flow.
#include <algorithm>

#include "stablehlo/constraint_regions.h"
#include "stablehlo/types.h"

namespace hlosim::stablehlo {

const mlir::Block* block_of(const Constrained& op, size_t i) {
  return op.op().has_region(i) ? op.mlir().regions[i].blocks[0] : nullptr;
}

std::span<const mlir::Value* const> returned(const mlir::Block& block) {
  if (block.operations.empty() || !block.operations.back()->name.ends_with(".return")) return {};
  return block.operations.back()->operands;
}

namespace {

using mlir::Type;
using mlir::Value;
using Sizes = std::vector<int64_t>;

std::vector<const Type*> types_of(std::span<const Value* const> values) {
  std::vector<const Type*> types;
  for (const Value* value : values) types.push_back(value->type);
  return types;
}

}  // namespace

bool reducer_holds(const Constrained& op, std::string_view constraint, size_t region, size_t inputs,
                   std::span<const Type* const> elements, std::span<const Type* const> initial) {
  const mlir::Block* block = block_of(op, region);
  if (!block) return false;
  const auto arguments = types_of(block->arguments), results = types_of(returned(*block));
  if (arguments.size() != 2 * inputs)
    return op.fail(constraint, "the reducer takes {} values, expected {}", arguments.size(), 2 * inputs);
  if (results.size() != inputs)
    return op.fail(constraint, "the reducer returns {} values, expected {}", results.size(), inputs);
  for (size_t i = 0; i < inputs; ++i) {
    const Type &made = *results[i], &current = *arguments[i], &next = *arguments[inputs + i];
    if (!is_tensor(made) || !is_tensor(current) || !is_tensor(next) || !same_types(made, current) ||
        !same_sizes(made.dims, next.dims) ||
        (!same_element(*made.element, *next.element) && !promotable(*next.element, *made.element)))
      return op.fail(constraint, "the reducer makes {} of {} and {}, expected one type", type_text(made),
                     type_text(current), type_text(next));
    if (i < initial.size() && (!is_tensor(*initial[i]) || !promotable(*initial[i]->element, *made.element) ||
                               !same_sizes(initial[i]->dims, made.dims)))
      return op.fail(constraint, "the reducer makes {}, but the initial value is {}", type_text(made),
                     type_text(*initial[i]));
    if (i < elements.size() &&
        (!is_tensor(*elements[i]) || !promotable(*elements[i]->element, *next.element)))
      return op.fail(constraint, "the reducer takes {}, but the elements are of {}", type_text(next),
                     type_text(*elements[i]));
  }
  return true;
}

namespace {

/// Half of the operands are arrays, half initial values.
bool folds(const Constrained& op) {
  if (op.operands() == 0 || op.operands() % 2 != 0)
    return op.fail("I1", "has {} operands, expected as many arrays as initial values", op.operands());
  const size_t inputs = op.operands() / 2;
  const auto types = types_of(op.mlir().operands);
  const std::span<const Type* const> all(types);
  for (size_t i = 0; i < op.operands(); ++i)
    if (!op.operand_is("I1", i, kAnyClass)) return false;
  for (size_t i = 1; i < inputs; ++i)
    if (!same_sizes(types[0]->dims, types[i]->dims))
      return op.fail("C1", "arrays {} and {} differ in shape", type_text(*types[0]), type_text(*types[i]));
  return reducer_holds(op, "C6", 0, inputs, all.first(inputs), all.last(inputs));
}

/// Result i has these sizes, and elements of what the reducer returns.
bool folded_results(const Constrained& op, std::string_view constraint, std::span<const int64_t> sizes) {
  const size_t inputs = op.operands() / 2;
  if (!op.has(op.operands(), inputs)) return false;
  const auto made = returned(*op.mlir().regions[0].blocks[0]);
  for (size_t i = 0; i < inputs; ++i) {
    Type type = op.in(i);
    type.element = made[i]->type->element;
    type.dims = sizes;
    if (!op.result_is(constraint, i, type)) return false;
  }
  return true;
}

bool reduce(const Constrained& op) {
  if (!folds(op)) return false;
  const Sizes reduced = op.list("dimensions").value_or(Sizes());
  const auto dims = op.in(0).dims;
  Sizes kept;
  for (size_t i = 0; i < dims.size(); ++i)
    if (std::count(reduced.begin(), reduced.end(), static_cast<int64_t>(i)) == 0) kept.push_back(dims[i]);
  for (const int64_t dimension : reduced)
    if (dimension < 0 || dimension >= static_cast<int64_t>(dims.size()) ||
        std::count(reduced.begin(), reduced.end(), dimension) > 1)
      return op.fail("C4", "dimensions [{}] of {}: {} isn't one, or twice there", fmt::join(reduced, ", "),
                     type_text(op.in(0)), dimension);
  return folded_results(op, "C7", kept);
}

bool padding_holds(const Constrained& op, std::string_view constraint, size_t rank) {
  const mlir::Attribute* padding = op.op().find("padding");
  if (!padding || !padding->type || padding->type->kind != mlir::TypeKind::kTensor) return true;
  const auto dims = padding->type->dims;
  if (dims.size() == 2 && dims[0] == static_cast<int64_t>(rank) && dims[1] == 2) return true;
  return op.fail(constraint, "padding is {}, expected tensor<{}x2xi64>", type_text(*padding->type), rank);
}

/// Places between the ends of `size` elements, of which neighbours are `dilation` apart, and their padding;
/// nullopt: more than there are numbers for.
std::optional<int64_t> dilated(int64_t size, int64_t dilation, int64_t low, int64_t high) {
  int64_t places = 0;
  const bool beyond = (size > 0 && (__builtin_mul_overflow(size - 1, dilation, &places) ||
                                    __builtin_add_overflow(places, 1, &places))) ||
                      __builtin_add_overflow(places, low, &places) ||
                      __builtin_add_overflow(places, high, &places) || places < -(int64_t{1} << 62);
  return beyond ? std::nullopt : std::optional(places);
}

bool reduce_window(const Constrained& op) {
  if (!folds(op) || !padding_holds(op, "C12", op.in(0).dims.size())) return false;
  const auto sizes = op.op().need("window_dimensions") ? op.list("window_dimensions") : std::nullopt;
  const auto dims = op.in(0).dims;
  const Sizes ones(dims.size(), 1);
  const Sizes strides = op.list("window_strides").value_or(ones),
              base = op.list("base_dilations").value_or(ones),
              dilations = op.list("window_dilations").value_or(ones);
  const Sizes padding = op.list("padding").value_or(Sizes(2 * dims.size(), 0));
  if (!sizes) return false;
  Sizes made(dims.size(), mlir::kDynamic);
  for (const Sizes* list : {&*sizes, &strides, &base, &dilations})
    if (list->size() != dims.size())
      return op.fail("C4", "a list of the window has {} entries, expected one for each of {} dimensions",
                     list->size(), dims.size());
  for (size_t i = 0; i < dims.size() && padding.size() == 2 * dims.size(); ++i) {
    if ((*sizes)[i] < 1 || strides[i] < 1 || base[i] < 1 || dilations[i] < 1)
      return op.fail("C5", "the window has size {}, stride {} and dilations {} and {}, expected at least 1",
                     (*sizes)[i], strides[i], base[i], dilations[i]);
    if (dims[i] == mlir::kDynamic) continue;
    const auto whole = dilated(dims[i], base[i], padding[2 * i], padding[2 * i + 1]);
    const auto window = dilated((*sizes)[i], dilations[i], 0, 0);
    if (whole && window) made[i] = *window > *whole ? 0 : (*whole - *window) / strides[i] + 1;
  }
  return folded_results(op, "C15", made);
}

bool select_and_scatter(const Constrained& op) {
  if (!op.has(3, 1) || !op.operand_is("I1", 0, kAnyClass) || !op.operand_is("I2", 1, kAnyClass) ||
      !op.same_elements("C3", op.in(0), op.in(1)) || !padding_holds(op, "C8", op.in(0).dims.size()))
    return false;
  const Type* const element[] = {&op.in(1)};
  const Type* const initial[] = {&op.in(2)};
  const mlir::Block* select = block_of(op, 0);
  if (!select) return false;
  const auto arguments = types_of(select->arguments), results = types_of(returned(*select));
  const bool selects =
      arguments.size() == 2 && results.size() == 1 && is_tensor(*results[0]) &&
      class_of(*results[0]) == kPredClass && results[0]->dims.empty() &&
      std::all_of(arguments.begin(), arguments.end(), [&](const Type* type) {
        return is_tensor(*type) && type->dims.empty() && same_element(*type->element, *op.in(0).element);
      });
  if (!selects) return op.fail("C9", "select isn't a function of two elements that returns tensor<i1>");
  return reducer_holds(op, "C10", 1, 1, element, initial) && op.result_is("C11", 0, op.in(0));
}

bool scatter(const Constrained& op) {
  const size_t inputs = op.operands() / 2;
  if (op.operands() < 3 || op.operands() % 2 == 0)
    return op.fail("I1", "has {} operands, expected inputs, indices and as many updates", op.operands());
  const auto types = types_of(op.mlir().operands);
  const std::span<const Type* const> all(types);
  if (!op.operand_is("I2", inputs, kIntClass)) return false;
  for (size_t i = 0; i < inputs; ++i) {
    const size_t update = inputs + 1 + i;
    if (!op.operand_is("I1", i, kAnyClass) || !op.operand_is("I3", update, kAnyClass)) return false;
    if (!op.same_elements("C6", op.in(i), op.in(update))) return false;
    if (!same_sizes(types[0]->dims, types[i]->dims))
      return op.fail("C1", "inputs {} and {} differ in shape", type_text(*types[0]), type_text(*types[i]));
  }
  if (!reducer_holds(op, "C23", 0, inputs, all.last(inputs), {}) || !op.has(op.operands(), inputs))
    return false;
  const auto made = returned(*op.mlir().regions[0].blocks[0]);
  for (size_t i = 0; i < inputs; ++i) {
    if (!made[i]->type->dims.empty() || !promotable(*op.in(i).element, *made[i]->type->element))
      return op.fail("C23", "the reducer makes {} of elements of {}", type_text(*made[i]->type),
                     type_text(op.in(i)));
    Type type = op.in(i);
    type.element = made[i]->type->element;
    if (!op.result_is("C24", i, type)) return false;
  }
  return scatter_batching_holds(op);
}

bool sort(const Constrained& op) {
  if (op.operands() == 0) return op.fail("C1", "has no operand, expected one at least");
  if (!op.has(op.operands(), op.operands())) return false;
  const mlir::Block* block = block_of(op, 0);
  if (!block) return false;
  const auto arguments = types_of(block->arguments), results = types_of(returned(*block));
  if (arguments.size() != 2 * op.operands())
    return op.fail("C5", "the comparator takes {} values, expected {}", arguments.size(), 2 * op.operands());
  for (size_t i = 0; i < op.operands(); ++i) {
    if (!op.operand_is("I1", i, kAnyClass) || !op.result_is("C2", i, op.in(i))) return false;
    if (!same_sizes(op.in(0).dims, op.in(i).dims))
      return op.fail("C3", "operands {} and {} differ in shape", type_text(op.in(0)), type_text(op.in(i)));
    for (const Type* type : {arguments[2 * i], arguments[2 * i + 1]})
      if (!is_tensor(*type) || !type->dims.empty() || !same_element(*type->element, *op.in(i).element))
        return op.fail("C5", "the comparator takes {}, expected an element of {}", type_text(*type),
                       type_text(op.in(i)));
  }
  if (results.size() != 1 || class_of(*results[0]) != kPredClass || !results[0]->dims.empty())
    return op.fail("C5", "the comparator returns {}, expected tensor<i1>",
                   results.size() == 1 ? type_text(*results[0]) : fmt::format("{} values", results.size()));
  return true;
}

bool map(const Constrained& op) {
  if (op.operands() == 0) return op.fail("C1", "has no operand, expected one at least");
  const mlir::Block* block = block_of(op, 0);
  if (!op.has(op.operands(), 1) || !block) return false;
  const auto arguments = types_of(block->arguments), results = types_of(returned(*block));
  if (arguments.size() != op.operands() || results.size() != 1 || !is_tensor(*results[0]) ||
      !results[0]->dims.empty())
    return op.fail("C4", "the function takes {} values and returns {}, expected {} and one scalar",
                   arguments.size(), results.size(), op.operands());
  for (size_t i = 0; i < op.operands(); ++i) {
    if (!op.operand_is("I1", i, kAnyClass)) return false;
    if (!same_sizes(op.in(0).dims, op.in(i).dims))
      return op.fail("C1", "operands {} and {} differ in shape", type_text(op.in(0)), type_text(op.in(i)));
    if (!is_tensor(*arguments[i]) || !arguments[i]->dims.empty() ||
        !same_element(*arguments[i]->element, *op.in(i).element))
      return op.fail("C4", "the function takes {}, expected an element of {}", type_text(*arguments[i]),
                     type_text(op.in(i)));
  }
  const Sizes dimensions = op.list("dimensions").value_or(Sizes());
  for (size_t i = 0; i < std::max(dimensions.size(), op.in(0).dims.size()); ++i)
    if (dimensions.size() != op.in(0).dims.size() || dimensions[i] != static_cast<int64_t>(i))
      return op.fail("C3", "dimensions are [{}], expected 0 to {}", fmt::join(dimensions, ", "),
                     static_cast<int64_t>(op.in(0).dims.size()) - 1);
  Type type = op.in(0);
  type.element = results[0]->element;
  return op.result_is("C4", 0, type);
}

// ── control flow ──────────────────────────────────────────────────────────────────────────────

bool truth_value(const Type& type) { return class_of(type) == kPredClass && type.dims.empty(); }

/// The types of `values` are those of the results.
bool gives_results(const Constrained& op, std::string_view constraint, std::string_view what,
                   std::span<const Value* const> values) {
  if (values.size() != op.results())
    return op.fail(constraint, "{} returns {} values, expected {}", what, values.size(), op.results());
  for (size_t i = 0; i < values.size(); ++i)
    if (!same_types(*values[i]->type, op.out(i)))
      return op.fail(constraint, "{} returns {} as value {}, expected {}", what, type_text(*values[i]->type),
                     i, type_text(op.out(i)));
  return true;
}

bool while_loop(const Constrained& op) {
  if (!op.has(op.operands(), op.operands())) return false;
  for (size_t i = 0; i < op.operands(); ++i)
    if (!op.result_is("C3", i, op.in(i))) return false;
  for (size_t region = 0; region < 2; ++region) {
    const mlir::Block* block = block_of(op, region);
    if (!block) return false;
    const std::string_view what = region == 0 ? "the condition" : "the body",
                           number = region == 0 ? "C1" : "C2";
    if (block->arguments.size() != op.operands())
      return op.fail(number, "{} takes {} values, expected {}", what, block->arguments.size(), op.operands());
    for (size_t i = 0; i < op.operands(); ++i)
      if (!same_types(*block->arguments[i]->type, op.in(i)))
        return op.fail(number, "{} takes {} as value {}, expected {}", what,
                       type_text(*block->arguments[i]->type), i, type_text(op.in(i)));
    const auto results = returned(*block);
    if (region == 1) return gives_results(op, number, what, results);
    if (results.size() != 1 || !truth_value(*results[0]->type))
      return op.fail(
          number, "the condition returns {}, expected tensor<i1>",
          results.size() == 1 ? type_text(*results[0]->type) : fmt::format("{} values", results.size()));
  }
  return true;
}

/// Branches take nothing and return what the operation does.
bool branches(const Constrained& op, size_t count) {
  if (op.mlir().regions.size() != count) {
    op.op().fail("has {} branches, expected {}", op.mlir().regions.size(), count);
    return false;
  }
  for (size_t i = 0; i < count; ++i) {
    const mlir::Block* block = block_of(op, i);
    if (!block) return false;
    const std::string what = fmt::format("branch {}", i);
    if (!block->arguments.empty())
      return op.fail("C1", "{} takes {} values, expected none", what, block->arguments.size());
    if (!gives_results(op, "C3", what, returned(*block))) return false;
  }
  return true;
}

bool if_else(const Constrained& op) {
  if (!op.op().takes(1)) return false;
  if (!truth_value(op.in(0)))
    return op.fail("I1", "operand 0 is {}, expected tensor<i1>", type_text(op.in(0)));
  return branches(op, 2);
}

bool switch_case(const Constrained& op) {
  if (!op.op().takes(1)) return false;
  if (op.mlir().regions.empty()) {
    op.op().fail("has no branch");
    return false;
  }
  if (!is_tensor(op.in(0)) || op.in(0).element->word != "i32" || !op.in(0).dims.empty())
    return op.fail("I1", "operand 0 is {}, expected tensor<i32>", type_text(op.in(0)));
  return branches(op, op.mlir().regions.size());
}

constexpr ConstraintRow kRegionsConstraints[] = {
    {"case", switch_case}, {"if", if_else},
    {"map", map},          {"reduce", reduce},
    {"scatter", scatter},  {"reduce_window", reduce_window},
    {"sort", sort},        {"select_and_scatter", select_and_scatter},
    {"while", while_loop},
};

}  // namespace

std::span<const ConstraintRow> region_constraints() { return kRegionsConstraints; }

}  // namespace hlosim::stablehlo
