// Constraints of custom calls, and of gather and dimensions that are batched.
#include <algorithm>

#include "stablehlo/constraint_regions.h"
#include "stablehlo/types.h"

namespace hlosim::stablehlo {
namespace {

using mlir::Type;
using Sizes = std::vector<int64_t>;

/// One order of dimensions for each type: of a tensor all of its dimensions, of a token none.
bool layouts_hold(const Constrained& op, std::string_view name, std::span<const Type* const> types) {
  const mlir::Attribute* layouts = op.op().find(name);
  if (!layouts || layouts->kind != mlir::AttributeKind::kArray) return true;
  if (layouts->items.size() != types.size())
    return op.fail(name, "has {} layouts, expected {}", layouts->items.size(), types.size());
  for (size_t i = 0; i < types.size(); ++i) {
    const mlir::Attribute& layout = *layouts->items[i];
    const auto order = integers_of(layout);
    if (!order || (layout.kind == mlir::AttributeKind::kDense && layout.type->dims.size() != 1))
      return op.fail(name, "layout {} is not a list of dimensions", i);
    const bool tensor = is_tensor(*types[i]);
    if (types[i]->kind == mlir::TypeKind::kTuple)
      return op.fail(name, "layout {} is of {}, expected none of tuples", i, type_text(*types[i]));
    Sizes sorted = *order;
    std::sort(sorted.begin(), sorted.end());
    for (size_t d = 0; d < sorted.size(); ++d)
      if (sorted[d] != static_cast<int64_t>(d))
        return op.fail(name, "layout {} is [{}], expected each dimension once", i, fmt::join(*order, ", "));
    if (sorted.size() != (tensor ? types[i]->dims.size() : 0))
      return op.fail(name, "layout {} is [{}], expected one of {}", i, fmt::join(*order, ", "),
                     type_text(*types[i]));
  }
  return true;
}

/// The part of a tuple that `indices` lead to; null: there is none.
const Type* part_of(const Type* type, std::span<const int64_t> indices) {
  for (const int64_t index : indices) {
    if (type->kind != mlir::TypeKind::kTuple || index < 0 ||
        index >= static_cast<int64_t>(type->members.size()))
      return nullptr;
    type = type->members[static_cast<size_t>(index)];
  }
  return type;
}

bool aliases_hold(const Constrained& op) {
  const mlir::Attribute* aliases = op.op().find("output_operand_aliases");
  if (!aliases) return true;
  std::vector<const Type*> results;
  for (const mlir::Value* value : op.mlir().results) results.push_back(value->type);
  Type all;
  all.kind = mlir::TypeKind::kTuple;
  all.members = results;
  for (const mlir::Attribute* alias : aliases->items) {
    const mlir::Attribute* index = alias->find("operand_index");
    const auto indices = [&](std::string_view name) {
      const mlir::Attribute* list = alias->find(name);
      return list ? integers_of(*list).value_or(Sizes()) : Sizes();
    };
    const int64_t operand = index ? index->integer : 0;
    if (operand < 0 || operand >= static_cast<int64_t>(op.operands()))
      return op.fail("output_operand_aliases", "operand_index is {}, expected one of {} operands", operand,
                     op.operands());
    const Type* from = part_of(&op.in(static_cast<size_t>(operand)), indices("operand_tuple_indices"));
    const Type* to = part_of(results.size() == 1 ? results[0] : &all, indices("output_tuple_indices"));
    if (!from || !to)
      return op.fail("output_operand_aliases", "the indices lead to no part of the {}",
                     from ? "result" : "operand");
    if (!same_types(*from, *to))
      return op.fail("output_operand_aliases", "{} is to be in the place of {}", type_text(*to),
                     type_text(*from));
  }
  return true;
}

bool custom_call(const Constrained& op) {
  const bool of_operands = op.op().has("operand_layouts"), of_results = op.op().has("result_layouts");
  if (of_operands != of_results)
    return op.fail("layouts", "has layouts of {} only, expected those of both or none",
                   of_operands ? "operands" : "results");
  std::vector<const Type*> operands, results;
  for (const mlir::Value* value : op.mlir().operands) operands.push_back(value->type);
  for (const mlir::Value* value : op.mlir().results) results.push_back(value->type);
  // A result that is a tuple has a layout for each of its members.
  if (results.size() == 1 && results[0]->kind == mlir::TypeKind::kTuple)
    results = {results[0]->members.begin(), results[0]->members.end()};
  if (!layouts_hold(op, "operand_layouts", operands) || !layouts_hold(op, "result_layouts", results))
    return false;
  const mlir::Attribute* config = op.op().find("backend_config");
  const auto version = op.list("api_version");
  constexpr int64_t kTypedFfi = 4;
  if (config && version && version->size() == 1) {
    const bool typed = (*version)[0] == kTypedFfi;
    const auto expected = typed ? mlir::AttributeKind::kDictionary : mlir::AttributeKind::kString;
    const bool empty = config->kind == mlir::AttributeKind::kString && config->text.empty();
    if (config->kind != expected && !empty)
      return op.fail("backend_config", "is no {}, as api_version {} expects", typed ? "dictionary" : "string",
                     (*version)[0]);
  }
  return aliases_hold(op);
}

// ── gather and scatter ────────────────────────────────────────────────────────────────────────

/// The numbers of a gather or scatter, by what they are called there.
struct Batching {
  const Type &operand, &indices;
  Sizes operand_dims, index_dims, index_map;
};

/// Batching dimensions come in pairs of one size, and no index is for one.
bool batching_holds(const Constrained& op, const Batching& batching) {
  if (batching.operand_dims.size() != batching.index_dims.size())
    return op.fail("batching", "{} dimensions of the operand and {} of the indices, expected as many",
                   batching.operand_dims.size(), batching.index_dims.size());
  const auto operand = batching.operand.dims, indices = batching.indices.dims;
  for (size_t i = 0; i < batching.operand_dims.size(); ++i) {
    const int64_t a = batching.operand_dims[i], b = batching.index_dims[i];
    if (a < 0 || a >= static_cast<int64_t>(operand.size()) || b < 0 ||
        b >= static_cast<int64_t>(indices.size()))
      return op.fail("batching", "dimension {} of {} or {} of {} isn't one", a, type_text(batching.operand),
                     b, type_text(batching.indices));
    if (!fit(operand[static_cast<size_t>(a)], indices[static_cast<size_t>(b)]))
      return op.fail("batching", "dimension {} of {} and {} of {} differ in size", a,
                     type_text(batching.operand), b, type_text(batching.indices));
    const auto& map = batching.index_map;
    if (std::find(map.begin(), map.end(), a) != map.end())
      return op.fail("batching", "dimension {} of {} has an index too", a, type_text(batching.operand));
  }
  return true;
}

bool gather(const Constrained& op) {
  const mlir::Attribute* numbers = op.op().find("dimension_numbers");
  if (op.operands() < 2 || op.results() != 1 || !numbers) return true;
  const auto list = [&](std::string_view name) { return op.op().list_in(*numbers, name); };
  return op.operand_is("I1", 0, kAnyClass) && op.operand_is("I2", 1, kIntClass) &&
         op.same_elements("C23", op.in(0), op.out()) &&
         batching_holds(op, {op.in(0), op.in(1), list("operand_batching_dims"),
                             list("start_indices_batching_dims"), list("start_index_map")});
}

constexpr ConstraintRow kCallsConstraints[] = {
    {"custom_call", custom_call},
    {"dynamic_gather", gather},
    {"gather", gather},
};

}  // namespace

bool scatter_batching_holds(const Constrained& op) {
  const mlir::Attribute* numbers = op.op().find("scatter_dimension_numbers");
  if (!numbers) return true;
  const auto list = [&](std::string_view name) { return op.op().list_in(*numbers, name); };
  return batching_holds(op, {op.in(0), op.in(op.operands() / 2), list("input_batching_dims"),
                             list("scatter_indices_batching_dims"), list("scatter_dims_to_operand_dims")});
}

std::span<const ConstraintRow> call_constraints() { return kCallsConstraints; }

}  // namespace hlosim::stablehlo
