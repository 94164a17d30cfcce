// Operations that apply a computation over dimensions or windows.
#include <algorithm>
#include <bit>
#include <cmath>

#include "hlo/op_def.h"
#include "ops/op_table.h"
#include "ops/reducer.h"
#include "ops/require.h"
#include "ops/reshape.h"
#include "ops/window.h"
#include "ops/work.h"
#include "ops/xla_cost_rules.h"

namespace hlosim {
namespace {

/// The element types of operands [begin, begin + count), on the stack for up to eight of them.
class OperandTypes {
 public:
  OperandTypes(const OpContext& op, int64_t begin, int64_t count) : count_(static_cast<size_t>(count)) {
    if (count_ > inline_.size()) more_.resize(count_);
    for (size_t i = 0; i < count_; ++i)
      data()[i] = op.operand_shape(begin + static_cast<int64_t>(i))->element_type;
  }
  std::span<const ElementType> types() { return {data(), count_}; }

 private:
  ElementType* data() { return count_ > inline_.size() ? more_.data() : inline_.data(); }
  size_t count_;
  std::array<ElementType, 8> inline_{};
  std::vector<ElementType> more_;
};

/// C1: inputs are arrays of the same sizes, initial values are scalars; C2: the computation reduces them.
bool require_reduction(OpContext& op) {
  const int64_t count = op.operand_count() / 2;
  if (!require_arrays(op, 1)) return false;
  for (int64_t i = 0; i < count; ++i) {
    const ShapeRef input = op.operand_shape(i), first = op.operand_shape(0);
    bool same = input->rank() == first->rank();
    for (int64_t d = 0; same && d < input->rank(); ++d) same = sizes_agree(input->dim(d), first->dim(d));
    if (!same) {
      op.error(1, "input {} is {}, expected the dimensions of input 0, {}", i, text_of(input),
               text_of(first));
      return false;
    }
    if (!require_scalar(op, 1, count + i)) return false;
  }
  OperandTypes inputs(op, 0, count), inits(op, count, count);
  return require_reducer(op, 2, op.called(), inits.types(), inputs.types());
}

void check_pairs(OpContext& op) {
  if (op.operand_count() % 2 != 0)
    op.error(0, "expects an even number of operands, inputs and as many initial values, but has {}",
             op.operand_count());
}

/// One array of `dimensions` for each result of the reducer, with the element type type_of(i).
template <class TypeOf>
ShapeRef reduction_result(OpContext& op, const DimensionList& dimensions, TypeOf&& type_of) {
  const ShapeRef reduced = result_of(op, op.called());
  if (!reduced->is_tuple()) return dimensions.array(op, type_of(0));
  std::vector<ShapeRef> arrays;
  for (size_t i = 0; i < reduced->elements.size(); ++i)
    arrays.push_back(dimensions.array(op.shapes(), type_of(i)));
  return op.shapes().tuple(arrays);
}

// ── reduce ──────────────────────────────────────────────────────

// C1 inputs are arrays of the same sizes, initial values scalars, as many as inputs
// C2 to_apply takes accumulators and values and returns accumulators, all scalars of those types
// C3 dimensions names dimensions of the inputs, none twice
ShapeRef infer_reduce(OpContext& op) {
  if (op.operand_count() < 2 || op.operand_count() % 2 != 0)
    return op.error(1, "has {} operands, expected inputs and as many initial values", op.operand_count());
  if (!require_reduction(op)) return nullptr;
  const ShapeRef input = op.operand_shape(0);
  DimensionSet reduced(input->rank());
  for (const int64_t i : op.ints(AttrKey::kDimensions)) {
    if (!reduced.in_range(i))
      return op.error(3, "dimensions holds {}, {} has no such dimension", i, text_of(input));
    if (!reduced.insert(i)) return op.error(3, "dimensions holds {} more than once", i);
  }
  DimensionList kept;
  for (int64_t i = 0; i < input->rank(); ++i)
    if (!reduced.contains(i)) kept.add(input->dim(i), input->is_dynamic(i));
  const ShapeRef result = result_of(op, op.called());
  return reduction_result(
      op, kept, [&](size_t i) { return (result->is_tuple() ? result->elements[i] : result)->element_type; });
}

/// The last window of a long dimension reaches beyond the array: what lies there is masked.
bool has_ragged_windows(int64_t size, const VectorShape& vector) {
  return size > vector.reduction_window && size % (vector.lanes * vector.sublanes) != 0;
}

/// The computation once an input element; then, for a reduced dimension along lanes or sublanes, a step
/// across those of the array in which reduced dimensions have shrunk to 1. Where each of these has one
/// element anyway, elements only change places.
void reduce_work(const OpContext& op, Work& work) {
  const ShapeRef input = op.operand_shape(0);
  add_applications(op, op.called(), input, 1, work);
  const Dimensions reduced = op.ints(AttrKey::kDimensions);
  if (op.shape()->is_array() && op.shape()->element_count() == input->element_count())
    return add_reshape(input, op.shape(), work);
  std::vector<int64_t> sizes(input->dimensions.begin(), input->dimensions.end());
  for (const int64_t i : reduced) sizes[static_cast<size_t>(i)] = 1;
  const auto results = static_cast<double>(op.operand_count() / 2);
  // Along lanes a register gives one result a row; a second step brings those of many rows to lie along
  // lanes.
  const double to_store = std::ranges::any_of(sizes, [](int64_t size) { return size != 1; }) ? 2 : 1;
  const std::pair<VectorOp, double> across[] = {{VectorOp::kCrossLane, to_store},
                                                {VectorOp::kCrossSublane, 1}};
  for (int64_t minor = 0; minor < 2; ++minor) {
    const int64_t dimension = minor_dimension(input, minor);
    const auto& [unit, steps] = across[minor];
    if (dimension >= 0 && holds(reduced, dimension) && input->dim(dimension) > 1)
      work.vectors.push_back({unit, resized(op, input, sizes), results * steps});
  }
  const int64_t along_lanes = minor_dimension(input, 0);
  if (along_lanes < 0 || !holds(reduced, along_lanes)) return;
  if (!has_ragged_windows(input->dim(along_lanes), work.vector)) return;
  // Positions of elements are 32-bit numbers.
  work.vectors.push_back(
      {VectorOp::kSimple, op.shapes().with_element_type(input, ElementType::kS32), work.vector.mask_slots});
}

// ── reduce-window ───────────────────────────────────────────────

// C1 inputs are arrays of the same sizes, initial values scalars, as many as inputs
// C2 to_apply takes accumulators and values and returns accumulators, all scalars of those types
// C3 the window has one dimension per input dimension and positive numbers
ShapeRef infer_reduce_window(OpContext& op) {
  if (op.operand_count() < 2 || op.operand_count() % 2 != 0)
    return op.error(1, "has {} operands, expected inputs and as many initial values", op.operand_count());
  if (!require_reduction(op)) return nullptr;
  const ShapeRef input = op.operand_shape(0);
  const auto window = op.window();
  if (!require_window(op, 3, window, input->rank())) return nullptr;
  DimensionList places;
  for (int64_t i = 0; i < input->rank(); ++i)
    places.add(window_places(input->dim(i), window[static_cast<size_t>(i)]), input->is_dynamic(i));
  const int64_t count = op.operand_count() / 2;
  return reduction_result(
      op, places, [&](size_t i) { return op.operand_shape(count + static_cast<int64_t>(i))->element_type; });
}

/// Applications that combine `depth` neighbours at every place: one after the other, or by doubling
/// (partial results of 2, 4, 8 … neighbours, then those that make up `depth`).
double combining_steps(int64_t depth) {
  if (depth <= 1) return 0;
  const auto bits = static_cast<uint64_t>(depth);
  return std::min(static_cast<double>(depth - 1),
                  static_cast<double>(std::bit_width(bits) - 1 + std::popcount(bits) - 1));
}

/// One dimension after the other, window positions that see only padding left out. Steps along lanes or
/// sublanes also move the partial results there; windows that step by more than one lane first have to bring
/// the lanes together.
void reduce_window_work(const OpContext& op, Work& work) {
  const ShapeRef input = op.operand_shape(0);
  const ShapeRef result = op.shape()->is_tuple() ? op.shape()->elements[0] : op.shape();
  const auto window = op.window();
  double steps = 0;
  for (int64_t i = 0; i < input->rank(); ++i) {
    const WindowReach reach =
        window_reach(std::max<int64_t>(input->dim(i), 0), window[static_cast<size_t>(i)]);
    const double along = combining_steps(reach.depth());
    steps += along;
    if (i == minor_dimension(input, 0) && window[static_cast<size_t>(i)].stride > 1)
      work.vectors.push_back({VectorOp::kLaneStride, input, static_cast<double>(reach.depth())});
    if (along == 0) continue;
    if (i == minor_dimension(input, 0)) work.vectors.push_back({VectorOp::kCrossLane, result, along});
    if (i == minor_dimension(input, 1)) work.vectors.push_back({VectorOp::kCrossSublane, result, along});
  }
  add_applications(op, op.called(), result, std::max(steps, 1.0), work);
}

// ── select-and-scatter ──────────────────────────────────────────

// C1 the operand and the source are arrays, the initial value a scalar
// C2 select takes two scalars of the operand's type and returns pred[]
// C3 scatter takes and returns scalars of the types of the initial value and the source
// C4 the window has one dimension per operand dimension and positive numbers
// C5 the source has one element per place of the window
ShapeRef infer_select_and_scatter(OpContext& op) {
  if (!require_arrays(op, 1) || !require_scalar(op, 1, 2)) return nullptr;
  const ShapeRef operand = op.operand_shape(0), source = op.operand_shape(1);
  const ComputationId select = op.called(AttrKey::kSelect);
  const ShapeRef chosen = result_of(op, select);
  if (parameter_count(op, select) != 2 || !chosen->is_scalar() || chosen->element_type != ElementType::kPred)
    return op.error(2, "select={} has {} parameters and returns {}, expected 2 and pred[]",
                    op.computation(select).name, parameter_count(op, select), text_of(chosen));
  for (int64_t i = 0; i < 2; ++i) {
    const ShapeRef parameter = parameter_shape(op, select, i);
    if (!parameter->is_scalar() ||
        !same_up_to_float_precision(parameter->element_type, operand->element_type))
      return op.error(2, "parameter {} of select={} is {}, expected {}[]", i, op.computation(select).name,
                      text_of(parameter), to_text(operand->element_type));
  }
  OperandTypes init(op, 2, 1), added(op, 1, 1);
  if (!require_reducer(op, 3, op.called(AttrKey::kScatter), init.types(), added.types())) return nullptr;
  const auto window = op.window();
  if (!require_window(op, 4, window, operand->rank())) return nullptr;
  DimensionList places;
  for (int64_t i = 0; i < operand->rank(); ++i)
    places.add(window_places(operand->dim(i), window[static_cast<size_t>(i)]));
  const ShapeRef expected = places.array(op.shapes(), source->element_type);
  if (!same_up_to_float_precision(source->element_type, operand->element_type) ||
      !compatible(source, expected))
    return op.error(5, "the source is {}, expected {}: one element per place of the window", text_of(source),
                    text_of(op.shapes().with_element_type(expected, operand->element_type)));
  return operand;
}

/// select for all but one element of each window, scatter once a source element.
void select_and_scatter_work(const OpContext& op, Work& work) {
  const ShapeRef operand = op.operand_shape(0), source = op.operand_shape(1);
  double elements = 1;
  const auto window = op.window();
  for (int64_t i = 0; i < operand->rank(); ++i) {
    const int64_t size = std::max<int64_t>(operand->dim(i), 0);
    elements *= static_cast<double>(window_reach(size, window[static_cast<size_t>(i)]).depth());
  }
  add_applications(op, op.called(AttrKey::kSelect), source, std::max(elements - 1, 1.0), work);
  add_applications(op, op.called(AttrKey::kScatter), source, 1, work);
  work.vectors.push_back({VectorOp::kSimple, op.shape(), 1});  // the chosen elements go to their places
}

// ── map ─────────────────────────────────────────────────────────

// C1 at least one operand, all arrays of the same sizes; scalars go with arrays of their type
// C2 to_apply takes as many scalars of the operands' types and returns a scalar
// C3 dimensions are those of the operands in order (asked only where the text omits the shape)
ShapeRef infer_map(OpContext& op) {
  if (!require_operands(op, 1) || !require_arrays(op, 1)) return nullptr;
  ShapeRef shape = op.operand_shape(0);
  for (int64_t i = 1; i < op.operand_count(); ++i) {
    const ShapeRef operand = op.operand_shape(i);
    if (same_dimensions(operand, shape)) continue;
    const bool mixes = same_up_to_float_precision(operand->element_type, shape->element_type);
    if (!mixes || (!operand->is_scalar() && !shape->is_scalar()))
      return op.error(1, "operand {} is {}, expected the dimensions of {}", i, text_of(operand),
                      text_of(shape));
    if (shape->is_scalar()) shape = operand;
  }
  const ComputationId function = op.called();
  const ShapeRef value = result_of(op, function);
  if (parameter_count(op, function) != op.operand_count() || !value->is_scalar())
    return op.error(2, "computation {} has {} parameters and returns {}, expected {} and a scalar",
                    op.computation(function).name, parameter_count(op, function), text_of(value),
                    op.operand_count());
  for (int64_t i = 0; i < op.operand_count(); ++i) {
    const ShapeRef parameter = parameter_shape(op, function, i);
    if (!parameter->is_scalar() ||
        !same_up_to_float_precision(parameter->element_type, op.operand_shape(i)->element_type))
      return op.error(2, "parameter {} of computation {} is {}, expected {}[]", i,
                      op.computation(function).name, text_of(parameter),
                      to_text(op.operand_shape(i)->element_type));
  }
  const Dimensions dimensions = op.ints(AttrKey::kDimensions);
  for (size_t i = 0; !op.shape() && i < dimensions.size(); ++i)
    if (dimensions[i] != static_cast<int64_t>(i) || static_cast<int64_t>(dimensions.size()) != shape->rank())
      return op.error(3, "dimensions={}, expected all {} dimensions in order", list_text(dimensions),
                      shape->rank());
  DimensionList result;
  result.add_all(shape);
  return result.array(op, value->element_type);
}

void map_work(const OpContext& op, Work& work) { add_applications(op, op.called(), op.shape(), 1, work); }

// ── scan ────────────────────────────────────────────────────────
// scan(inputs…, inits…): f(slices of the inputs along a dimension…, carries…) → (outputs…, carries…) one
// slice after the other; the outputs are stacked, the final carries follow. A single result is no tuple.

void check_scan_syntax(OpContext& op) {
  if (op.operand_count() == 0 || !op.operand_shape(0) || !op.operand_shape(0)->is_array()) return;
  const int64_t rank = op.operand_shape(0)->rank(), dimension = op.ints(AttrKey::kDimensions)[0];
  if (dimension < 0 || dimension >= std::max<int64_t>(rank, 1))
    op.error(0, "dimensions={{{}}}, operand 0 has {} dimensions", dimension, rank);
}

/// C4: parameter i of the body takes `expected`.
bool require_scan_parameter(OpContext& op, int64_t i, ShapeRef expected) {
  const ShapeRef parameter = parameter_shape(op, op.called(), i);
  if (compatible_up_to_float_precision(parameter, expected)) return true;
  op.error(4, "parameter {} of computation {} is {}, expected {}", i, op.computation(op.called()).name,
           text_of(parameter), text_of(expected));
  return false;
}

/// `array` without dimension `dimension`, or with one of size `size` put in there.
ShapeRef without_dimension(OpContext& op, ShapeRef array, int64_t dimension) {
  DimensionList list;
  for (int64_t i = 0; i < array->rank(); ++i)
    if (i != dimension) list.add(array->dim(i), array->is_dynamic(i));
  return list.array(op.shapes(), array->element_type);
}
ShapeRef with_dimension(OpContext& op, ShapeRef array, int64_t dimension, int64_t size, bool dynamic) {
  DimensionList list;
  for (int64_t i = 0; i <= array->rank(); ++i) {
    if (i == dimension) list.add(size, dynamic);
    if (i < array->rank()) list.add(array->dim(i), array->is_dynamic(i));
  }
  return list.array(op.shapes(), array->element_type);
}

// C1 num_carries of the operands are carries, the others inputs, at least one
// C2 inputs are arrays that have the scanned dimension, of one size
// C3 to_apply takes a slice of each input and each carry
// C4 each of its parameters has the shape of that slice or carry
// C5 it returns outputs that have room for the scanned dimension, then the carries
ShapeRef infer_scan(OpContext& op) {
  const int64_t carries = op.integer(AttrKey::kNumCarries);
  if (carries < 0 || carries >= op.operand_count())
    return op.error(1, "num_carries={} of {} operands, expected at least one input besides", carries,
                    op.operand_count());
  const int64_t inputs = op.operand_count() - carries;
  const int64_t dimension = op.ints(AttrKey::kDimensions)[0];
  const ShapeRef first = op.operand_shape(0);
  if (!require_arrays(op, 2, 0, inputs)) return nullptr;
  for (int64_t i = 0; i < inputs; ++i) {
    const ShapeRef input = op.operand_shape(i);
    if (!require_dimension(op, 2, "dimensions", dimension, input->rank())) return nullptr;
    if (!sizes_agree(input->dim(dimension), first->dim(dimension)))
      return op.error(2, "input {} is {}, expected size {} in dimension {}", i, text_of(input),
                      size_text(first->dim(dimension)), dimension);
  }
  const ComputationId body = op.called();
  if (parameter_count(op, body) != op.operand_count())
    return op.error(3, "computation {} has {} parameters, expected {}", op.computation(body).name,
                    parameter_count(op, body), op.operand_count());
  for (int64_t i = 0; i < op.operand_count(); ++i) {
    const ShapeRef operand = op.operand_shape(i);
    if (!require_scan_parameter(op, i, i < inputs ? without_dimension(op, operand, dimension) : operand))
      return nullptr;
  }
  const ShapeRef returned = result_of(op, body);
  const std::span<const ShapeRef> values =
      returned->is_tuple() ? returned->elements : std::span(&returned, 1);
  const int64_t outputs = static_cast<int64_t>(values.size()) - carries;
  if (outputs < 0)
    return op.error(5, "computation {} returns {}, expected outputs and {} carries",
                    op.computation(body).name, text_of(returned), carries);
  std::vector<ShapeRef> results;
  for (int64_t i = 0; i < static_cast<int64_t>(values.size()); ++i) {
    const ShapeRef value = values[static_cast<size_t>(i)];
    if (i >= outputs) {
      const ShapeRef init = op.operand_shape(inputs + i - outputs);
      if (!compatible_up_to_float_precision(value, init))
        return op.error(5, "computation {} returns {} as carry {}, expected {}", op.computation(body).name,
                        text_of(value), i - outputs, text_of(init));
      results.push_back(init);
      continue;
    }
    if (!value->is_array() || dimension > value->rank())
      return op.error(5, "output {} of computation {} is {}, which has no room for dimension {}", i,
                      op.computation(body).name, text_of(value), dimension);
    results.push_back(
        with_dimension(op, value, dimension, first->dim(dimension), first->is_dynamic(dimension)));
  }
  return results.size() == 1 ? results[0] : op.shapes().tuple(results);
}

/// The body once for every element of the first input; along lanes or sublanes each slice has to move.
void scan_work(const OpContext& op, Work& work) {
  const ShapeRef input = op.operand_shape(0);
  add_applications(op, op.called(), input, 1, work);
  const int64_t dimension = op.ints(AttrKey::kDimensions)[0];
  if (dimension == minor_dimension(input, 0)) work.vectors.push_back({VectorOp::kCrossLane, input, 1});
  if (dimension == minor_dimension(input, 1)) work.vectors.push_back({VectorOp::kCrossSublane, input, 1});
}

}  // namespace

constexpr AttrSpec kMapAttrs[] = {
    {AttrKey::kToApply, AttrSyntax::kComputation, true},
    {AttrKey::kDimensions, AttrSyntax::kInts},
};
const OpDef kMapOp = {
    .name = "map",
    .arity = at_least(0),
    .attrs = kMapAttrs,
    .infer_shape = infer_map,
    .xla_cost = xla_cost_map,
    .work = map_work,
    .evaluation = EvaluationKind::kMap,
    .rules = {FusionRule::kNever, LayoutRole::kKeep, ValueRule::kMakesAll, UseRule::kAll, CallRule::kEmbedded,
              InPlaceRule::kNone, OverwriteRule::kByElement, AsyncKind::kCompute, AsyncPart::kNone,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kElement}};

constexpr AttrSpec kReduceAttrs[] = {
    {AttrKey::kToApply, AttrSyntax::kComputation, true},
    {AttrKey::kDimensions, AttrSyntax::kInts, true},
};
const OpDef kReduceOp = {
    .name = "reduce",
    .arity = at_least(1),
    .attrs = kReduceAttrs,
    .check_syntax = check_pairs,
    .infer_shape = infer_reduce,
    .xla_cost = xla_cost_reduce,
    .work = reduce_work,
    .evaluation = EvaluationKind::kReduce,
    .rules = {FusionRule::kReduce, LayoutRole::kReduce, ValueRule::kMakesAll, UseRule::kAll,
              CallRule::kEmbedded, InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kCompute,
              AsyncPart::kNone, BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone,
              DimensionRule::kReduce}};

constexpr AttrSpec kReduceWindowAttrs[] = {
    {AttrKey::kWindow, AttrSyntax::kWindow},
    {AttrKey::kToApply, AttrSyntax::kComputation, true},
};
const OpDef kReduceWindowOp = {
    .name = "reduce-window",
    .arity = at_least(1),
    .attrs = kReduceWindowAttrs,
    .check_syntax = check_pairs,
    .infer_shape = infer_reduce_window,
    .xla_cost = xla_cost_reduce_window,
    .work = reduce_window_work,
    .evaluation = EvaluationKind::kReduceWindow,
    .rules = {FusionRule::kNever, LayoutRole::kLike, ValueRule::kMakesAll, UseRule::kAll, CallRule::kEmbedded,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kCompute, AsyncPart::kNone,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kWindow}};

constexpr AttrSpec kScanAttrs[] = {
    {AttrKey::kToApply, AttrSyntax::kComputation, true}, {AttrKey::kDimensions, AttrSyntax::kInts1, true},
    {AttrKey::kNumCarries, AttrSyntax::kInt, true},      {AttrKey::kIsReverse, AttrSyntax::kBool},
    {AttrKey::kIsAssociative, AttrSyntax::kBool},
};
const OpDef kScanOp = {
    .name = "scan",
    .arity = at_least(0),
    .attrs = kScanAttrs,
    .check_syntax = check_scan_syntax,
    .infer_shape = infer_scan,
    .xla_cost = xla_cost_scan,
    .work = scan_work,
    .evaluation = EvaluationKind::kScan,
    .rules = {FusionRule::kNever, LayoutRole::kKeep, ValueRule::kMakesAll, UseRule::kAll, CallRule::kEmbedded,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kCompute, AsyncPart::kNone,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kSort}};

constexpr AttrSpec kSelectAndScatterAttrs[] = {
    {AttrKey::kSelect, AttrSyntax::kComputation, true},
    {AttrKey::kScatter, AttrSyntax::kComputation, true},
    {AttrKey::kWindow, AttrSyntax::kWindow},
};
const OpDef kSelectAndScatterOp = {
    .name = "select-and-scatter",
    .arity = exactly(3),
    .attrs = kSelectAndScatterAttrs,
    .infer_shape = infer_select_and_scatter,
    .xla_cost = xla_cost_select_and_scatter,
    .work = select_and_scatter_work,
    .evaluation = EvaluationKind::kSelectAndScatter,
    .rules = {FusionRule::kNever, LayoutRole::kLike, ValueRule::kMakesAll, UseRule::kAll, CallRule::kEmbedded,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kCompute, AsyncPart::kNone,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone,
              DimensionRule::kSelectAndScatter}};

}  // namespace hlosim
