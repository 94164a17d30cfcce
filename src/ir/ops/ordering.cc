// Sort and top-k.
#include <algorithm>
#include <vector>

#include "hlo/op_def.h"
#include "ops/op_table.h"
#include "ops/reducer.h"
#include "ops/require.h"
#include "ops/work.h"
#include "ops/xla_cost_rules.h"

namespace hlosim {
namespace {

// C1: at least one operand, all are arrays.
// C2: of the same dimensions.
// C3: the dimension is one of theirs.
ShapeRef infer_sort(OpContext& op) {
  if (!require_operands(op, 1) || !require_arrays(op, 1)) return nullptr;
  const ShapeRef keys = op.operand_shape(0);
  for (int64_t i = 1; i < op.operand_count(); ++i)
    if (!same_dimensions(keys, op.operand_shape(i)))
      return op.error(2, "operands 0 and {}, {} and {}, differ in dimensions", i, text_of(keys),
                      text_of(op.operand_shape(i)));
  if (!require_dimension(op, 3, "dimension to sort along", op.ints(AttrKey::kDimensions)[0], keys->rank()))
    return nullptr;
  if (op.operand_count() == 1) return keys;
  std::vector<ShapeRef> results;
  for (int64_t i = 0; i < op.operand_count(); ++i) results.push_back(op.operand_shape(i));
  return op.shapes().tuple(results);
}

// C4: the comparison returns pred[].
// C5: it takes two scalars of each operand, up to the precision of floats.
void check_sort(OpContext& op) {
  const ComputationId comparison = op.called();
  const std::string_view name = op.computation(comparison).name;
  const ShapeRef result = result_of(op, comparison);
  if (!result->is_scalar() || !is_pred(result->element_type)) {
    op.error(4, "comparison {} returns {}, expected pred[]", name, text_of(result));
    return;
  }
  if (parameter_count(op, comparison) != 2 * op.operand_count()) {
    op.error(5, "comparison {} has {} parameters, expected two for each of the {} operands", name,
             parameter_count(op, comparison), op.operand_count());
    return;
  }
  for (int64_t i = 0; i < 2 * op.operand_count(); ++i) {
    const ShapeRef parameter = parameter_shape(op, comparison, i);
    const ElementType type = op.operand_shape(i / 2)->element_type;
    if (parameter->is_scalar() && same_up_to_float_precision(parameter->element_type, type)) continue;
    op.error(5, "parameter {} of comparison {} is {}, expected {}[]", i, name, text_of(parameter),
             to_text(type));
    return;
  }
}

// C1: the operand is an array of at least one dimension.
// C2: 0 <= k <= size of the last dimension.
ShapeRef infer_topk(OpContext& op) {
  if (!require_array(op, 1, 0)) return nullptr;
  const ShapeRef operand = op.operand_shape(0);
  if (operand->rank() == 0) return op.error(1, "operand is a scalar, expected at least one dimension");
  const int64_t k = op.integer(AttrKey::kK), last = operand->rank() - 1;
  if (k < 0 || (k > operand->dim(last) && operand->dim(last) != Shape::kUnbounded))
    return op.error(2, "k is {}, expected 0 to {}, the last dimension of {}", k,
                    size_text(operand->dim(last)), text_of(operand));
  DimensionList dimensions;
  for (int64_t i = 0; i < last; ++i) dimensions.add(operand->dim(i), operand->is_dynamic(i));
  dimensions.add(k);
  const ShapeRef results[] = {dimensions.array(op.shapes(), operand->element_type),
                              dimensions.array(op.shapes(), ElementType::kS32)};
  return op.shapes().tuple(results);
}

// ── work ────────────────────────────────────────────────────────

int64_t bits_of(int64_t size) {
  int64_t bits = 0;
  while (bits < 62 && (int64_t{1} << bits) < size) ++bits;
  return bits;
}

/// A bitonic network: every stage moves each array by a power of two and selects twice; its
/// comparison comes on top.
void add_stages(Work& work, ShapeRef array, double stages) {
  work.vectors.push_back({VectorOp::kCrossLane, array, stages});
  work.vectors.push_back({VectorOp::kSimple, array, 2 * stages});
}

void sort_work(const OpContext& op, Work& work) {
  const int64_t length = op.operand_shape(0)->dim(op.ints(AttrKey::kDimensions)[0]);
  const auto levels = static_cast<double>(bits_of(length));
  const double stages = levels * (levels + 1) / 2;
  for (int64_t i = 0; i < op.operand_count(); ++i) add_stages(work, op.operand_shape(i), stages);
  add_applications(op, op.called(), op.operand_shape(0), stages, work);
}

/// Sorts runs of k, then merges pairs of runs and keeps one half: the array halves each time.
void topk_work(const OpContext& op, Work& work) {
  const ShapeRef operand = op.operand_shape(0);
  const auto levels = static_cast<double>(bits_of(op.integer(AttrKey::kK)));
  const double stages = levels * (levels + 1) / 2 + levels + 1;
  add_stages(work, operand, 2 * stages);  // values and indices move together
  work.vectors.push_back({VectorOp::kSimple, operand, stages});
}

constexpr AttrSpec kSortAttrs[] = {
    {AttrKey::kDimensions, AttrSyntax::kInts1, true},
    {AttrKey::kIsStable, AttrSyntax::kBool},
    {AttrKey::kToApply, AttrSyntax::kComputation, true},
};
constexpr AttrSpec kTopKAttrs[] = {
    {AttrKey::kK, AttrSyntax::kInt, true},
    {AttrKey::kLargest, AttrSyntax::kBool},
    {AttrKey::kIsStable, AttrSyntax::kBool},
};

}  // namespace

constexpr OpDef kSortOp = {
    .name = "sort",
    .arity = at_least(0),
    .attrs = kSortAttrs,
    .infer_shape = infer_sort,
    .check = check_sort,
    .xla_cost = xla_cost_sort,
    .work = sort_work,
    .evaluation = EvaluationKind::kSort,
    .rules = {FusionRule::kEndsAll, LayoutRole::kLike, ValueRule::kMakesAll, UseRule::kAll,
              CallRule::kEmbedded, InPlaceRule::kNone, OverwriteRule::kSorted, AsyncKind::kCompute,
              AsyncPart::kNone, BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone,
              DimensionRule::kSort}};
constexpr OpDef kTopKOp = {
    .name = "topk",
    .arity = exactly(1),
    .attrs = kTopKAttrs,
    .infer_shape = infer_topk,
    .work = topk_work,
    .evaluation = EvaluationKind::kTopk,
    .rules = {FusionRule::kNever, LayoutRole::kKeep, ValueRule::kMakesAll, UseRule::kAll, CallRule::kEmbedded,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kCompute, AsyncPart::kNone,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kTopK}};

}  // namespace hlosim
