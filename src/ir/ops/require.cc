#include "ops/require.h"

#include <algorithm>

namespace hlosim {

// ── operands ────────────────────────────────────────────────────

bool require_array(OpContext& op, int constraint, int64_t operand) {
  const ShapeRef shape = op.operand_shape(operand);
  if (shape->is_array()) [[likely]]
    return true;
  op.error(constraint, "operand {} has shape {}, expected an array", operand, text_of(shape));
  return false;
}

bool require_arrays(OpContext& op, int constraint, int64_t begin, int64_t end) {
  if (end < 0) end = op.operand_count();
  for (int64_t i = begin; i < end; ++i)
    if (!require_array(op, constraint, i)) return false;
  return true;
}

bool require_scalar(OpContext& op, int constraint, int64_t operand) {
  if (op.operand_shape(operand)->is_scalar()) return true;
  op.error(constraint, "operand {} has shape {}, expected a scalar", operand,
           text_of(op.operand_shape(operand)));
  return false;
}

bool require_integral(OpContext& op, int constraint, int64_t operand) {
  if (is_integer(op.operand_shape(operand)->element_type)) return true;
  op.error(constraint, "operand {} has shape {}, expected an integer type", operand,
           text_of(op.operand_shape(operand)));
  return false;
}

bool require_operands(OpContext& op, int constraint) {
  if (op.operand_count() > 0) return true;
  op.error(constraint, "no operands, expected at least one");
  return false;
}

// ── numbers that name dimensions ────────────────────────────────

bool require_dimension(OpContext& op, int constraint, std::string_view what, int64_t value, int64_t rank) {
  if (value >= 0 && value < rank) return true;
  op.error(constraint, "{} is {}, expected one of {} dimensions, counted from 0", what, value, rank);
  return false;
}

bool require_in_range(OpContext& op, int constraint, std::string_view what, Dimensions list, int64_t rank) {
  for (const int64_t dimension : list) {
    if (dimension >= 0 && dimension < rank) continue;
    op.error(constraint, "{} holds {}, expected values in [0, {})", what, dimension, rank);
    return false;
  }
  return true;
}

bool require_unique(OpContext& op, int constraint, std::string_view what, Dimensions list, int64_t rank) {
  if (!require_in_range(op, constraint, what, list, rank)) return false;
  DimensionSet seen(rank);
  for (const int64_t dimension : list) {
    if (seen.insert(dimension)) continue;
    op.error(constraint, "{} holds {} more than once, expected each dimension at most once", what, dimension);
    return false;
  }
  return true;
}

bool require_sorted(OpContext& op, int constraint, std::string_view what, Dimensions list) {
  for (size_t i = 1; i < list.size(); ++i) {
    if (list[i - 1] < list[i]) continue;
    op.error(constraint, "{} holds {} after {}, expected ascending values, each once", what, list[i],
             list[i - 1]);
    return false;
  }
  return true;
}

bool require_count(OpContext& op, int constraint, std::string_view what, size_t actual, int64_t expected) {
  if (static_cast<int64_t>(actual) == expected) return true;
  op.error(constraint, "{} has {} entries, expected {}", what, actual, expected);
  return false;
}

bool same_dimensions(ShapeRef a, ShapeRef b) {
  return a->logical == b->logical || std::ranges::equal(a->dimensions, b->dimensions);
}

ShapeRef merged(ShapePool& pool, ElementType type, ShapeRef base, ShapeRef other) {
  const bool same_flags = other->dynamic.empty() || std::ranges::equal(base->dynamic, other->dynamic);
  if (base->element_type == type && same_flags) return base;
  DimensionList result;
  for (int64_t i = 0; i < base->rank(); ++i)
    result.add(base->dim(i), base->is_dynamic(i) || other->is_dynamic(i));
  return result.array(pool, type);
}

// ── called computations ─────────────────────────────────────────

bool require_reducer(OpContext& op, int constraint, ComputationId reducer,
                     std::span<const ElementType> accumulators, std::span<const ElementType> values) {
  const auto count = static_cast<int64_t>(accumulators.size());
  const std::string_view name = op.computation(reducer).name;
  if (parameter_count(op, reducer) != 2 * count) {
    op.error(constraint, "computation {} has {} parameters, expected {}: {} accumulators, as many values",
             name, parameter_count(op, reducer), 2 * count, count);
    return false;
  }
  const ShapeRef result = result_of(op, reducer);
  const std::span<const ShapeRef> results = result->is_tuple() ? result->elements : std::span(&result, 1);
  if (static_cast<int64_t>(results.size()) != count) {
    op.error(constraint, "computation {} returns {}, expected {} values", name, text_of(result), count);
    return false;
  }
  for (int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(i);
    if (!results[at]->is_scalar()) {
      op.error(constraint, "computation {} returns {}, expected scalars", name, text_of(result));
      return false;
    }
    if (!same_up_to_float_precision(results[at]->element_type, accumulators[at])) {
      op.error(constraint, "computation {} returns {} as value {}, expected {}[]", name, text_of(results[at]),
               i, to_text(accumulators[at]));
      return false;
    }
    const ShapeRef accumulator = parameter_shape(op, reducer, i);
    const ShapeRef value = parameter_shape(op, reducer, count + i);
    if (!compatible(accumulator, results[at])) {
      op.error(constraint, "parameter {} of computation {} is {}, expected its result's {}", i, name,
               text_of(accumulator), text_of(results[at]));
      return false;
    }
    if (!value->is_scalar() || !same_up_to_float_precision(value->element_type, values[at])) {
      op.error(constraint, "parameter {} of computation {} is {}, expected {}[]", count + i, name,
               text_of(value), to_text(values[at]));
      return false;
    }
    if (!same_up_to_float_precision(accumulators[at], values[at])) {
      op.error(constraint, "computation {} accumulates {} values into {}, expected one type", name,
               to_text(values[at]), to_text(accumulators[at]));
      return false;
    }
  }
  return true;
}

}  // namespace hlosim
