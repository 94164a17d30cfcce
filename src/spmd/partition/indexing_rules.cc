// Gather and scatter: along what is passed through each device works alone; where the indexed dimensions are
// cut, on the indices that fall into its part.
#include <algorithm>

#include "base/contains.h"
#include "partition/rule_call.h"

namespace hlosim {
namespace {

/// Indices as s32 counted from the first element of each device's part; `inside`, of the indices without
/// their vector dimension: do all that are counted along cut dimensions fall into the part? Invalid: they do.
struct LocalIndices {
  InstructionId indices, inside;
};

/// A component of an index.
struct Component {
  int64_t dimension = -1;    // of the array, that it goes along; -1: it counts from the array's first element
  bool is_parallel = false;  // what each device has of the indices speaks of what it has of the array
};

bool is_cut(const Component& component, const Tiling& array) {
  return component.dimension >= 0 && !array.cut(component.dimension).empty();
}

/// `clamps`: what is out of range counts as the nearest one.
LocalIndices local_indices(Rules& rules, const RuleCall& call, InstructionId indices, const SpmdValue& array,
                           std::span<const Component> components, bool clamps) {
  Emitter& emit = rules.emit;
  const int64_t vector = call.op.integer(AttrKey::kIndexVectorDim);
  InstructionId x = emit.convert(indices, ElementType::kS32);
  const bool has_vector = vector < emit.shape(x)->rank();
  std::vector<InstructionId> counted;
  InstructionId all_inside;
  for (size_t c = 0; c < components.size(); ++c) {
    InstructionId component = has_vector ? emit.slice(x, vector, static_cast<int64_t>(c), 1) : x;
    if (is_cut(components[c], array.tiling)) {
      const AxisList& cut = array.tiling.cut(components[c].dimension);
      const int64_t size = array.shape->dim(components[c].dimension),
                    part = shard_size(rules.axes, cut, size);
      const ShapeRef shape = emit.shape(component);
      if (clamps) component = emit.clamp(0, component, size - 1);
      const InstructionId start = emit.times(emit.index(cut), -part);
      component = emit.plus(component, emit.broadcast(start, shape));
      if (!components[c].is_parallel) {
        const InstructionId below = emit.compare(component, emit.number(part), "LT");
        const InstructionId inside = emit.both(emit.compare(component, emit.number(0), "GE"), below);
        all_inside = all_inside.valid() ? emit.both(all_inside, inside) : inside;
      }
    }
    counted.push_back(component);
  }
  const InstructionId made = has_vector ? emit.concatenate(counted, vector) : counted[0];
  if (all_inside.valid() && has_vector) {
    std::vector<int64_t> sizes;
    for (int64_t i = 0; i < emit.shape(all_inside)->rank(); ++i)
      if (i != vector) sizes.push_back(emit.shape(all_inside)->dim(i));
    all_inside = emit.reshape(all_inside, sizes);
  }
  return {made, all_inside};
}

bool small(const RuleCall& call, size_t indices) {
  const ElementType type = call.operands[indices].shape->element_type;
  if (!is_signed_integer(type) || bit_width(type) > 32) return false;
  return std::all_of(call.operands[0].shape->dimensions.begin(), call.operands[0].shape->dimensions.end(),
                     [](int64_t size) { return size < (int64_t{1} << 30); });
}

/// Is the factor among the dimensions of one of these arrays?
bool is_in(const Factors& along, size_t factor, size_t first, size_t last) {
  for (size_t array = first; array < last; ++array)
    for (const auto& parts : along.arrays[array])
      if (std::find(parts.begin(), parts.end(), static_cast<int32_t>(factor)) != parts.end()) return true;
  return false;
}

/// Factors of the array alone are dimensions of which single elements are picked: cut only where an index
/// goes along them.
bool is_indexed(const Factors& along, size_t factor, const ArrayFactors& array,
                std::span<const int64_t> map) {
  for (size_t i = 0; i < array.size(); ++i)
    if (std::find(array[i].begin(), array[i].end(), static_cast<int32_t>(factor)) != array[i].end())
      return contains(map, static_cast<int64_t>(i)) && along.list[factor].kind == FactorKind::kAlong;
  return false;
}

/// Components of which single elements are picked, or that the indices are walked through with; the others
/// pick parts that are all there.
std::vector<Component> picked(const Factors& along, std::span<const int64_t> map, size_t indices,
                              size_t parts) {
  std::vector<Component> components;
  for (const int64_t i : map) {
    Component component{i, false};
    for (const int32_t f : along.arrays[0][static_cast<size_t>(i)]) {
      component.is_parallel =
          component.is_parallel || is_in(along, static_cast<size_t>(f), indices, indices + 1);
      if (!component.is_parallel && is_in(along, static_cast<size_t>(f), parts, parts + 1))
        component.dimension = -1;
    }
    components.push_back(component);
  }
  return components;
}

bool any_cut(std::span<const Component> components, const Tiling& array) {
  return std::any_of(components.begin(), components.end(),
                     [&](const Component& component) { return is_cut(component, array); });
}

/// Factors of the array and the indices that single elements are picked along, where no index can be counted
/// from a part's first element.
bool is_parallel(const Factors& along, size_t factor, size_t indices, std::span<const int64_t> map) {
  return is_in(along, factor, indices, indices + 1) && is_indexed(along, factor, along.arrays[0], map);
}

Attr local_slice_sizes(Rules& rules, const RuleCall& call, const Tiling& result) {
  const OpContext& op = call.op;
  const auto sizes = op.ints(AttrKey::kSliceSizes), offsets = op.ints(AttrKey::kOffsetDims);
  std::vector<int64_t> local(sizes.begin(), sizes.end());
  size_t window = 0;
  for (size_t i = 0; i < local.size(); ++i) {
    const auto dimension = static_cast<int64_t>(i);
    if (contains(op.ints(AttrKey::kCollapsedSliceDims), dimension) ||
        contains(op.ints(AttrKey::kOperandBatchingDims), dimension))
      continue;
    local[i] = shard_size(rules.axes, result.cut(offsets[window++]), local[i]);
  }
  return rules.emit.ints(AttrKey::kSliceSizes, local);
}

}  // namespace

std::optional<SpmdValues> gather_rule(Rules& rules, const RuleCall& call) {
  const Factors along = factors(call.op);
  const auto map = call.op.ints(AttrKey::kStartIndexMap);
  std::vector<FactorUse> uses = plain_uses(along);
  const bool may_index = small(call, 1);
  for (size_t f = 0; f < uses.size(); ++f) {
    if (!may_index && is_parallel(along, f, 1, map)) uses[f] = FactorUse::kWhole;
    if (!is_in(along, f, 2, 3))
      uses[f] =
          may_index && is_indexed(along, f, along.arrays[0], map) ? FactorUse::kPartial : FactorUse::kWhole;
  }
  const FactorAxes axes = choose_axes(rules, call, along, uses);
  SpmdValues values = resharded(rules, call, axes);
  const Tiling& made = axes.results[0];
  std::vector<InstructionId> leaves = {values[0].id, values[1].id};
  const Attr attrs[] = {local_slice_sizes(rules, call, made)};
  const std::vector<Component> components = picked(along, map, 1, 2);
  LocalIndices local;
  if (any_cut(components, values[0].tiling)) {
    local = local_indices(rules, call, values[1].id, values[0], components, true);
    leaves[1] = local.indices;
  }
  SpmdValues results = emit_local(rules, call, leaves, std::span(&made, 1), attrs);
  if (!local.inside.valid()) return results;
  const ShapeRef shape = rules.emit.shape(results[0].id);
  std::vector<int64_t> batch;
  for (int64_t i = 0; i < shape->rank(); ++i)
    if (!contains(call.op.ints(AttrKey::kOffsetDims), i)) batch.push_back(i);
  const InstructionId mask = rules.emit.broadcast(local.inside, shape, batch);
  results[0].id = rules.emit.select(mask, results[0].id, rules.emit.number(0, shape->element_type));
  return results;
}

// Updates along a cut of the indices make summands, the first of which starts from what was there before;
// those that fall beside a device's part are dropped as those beside the array are.
std::optional<SpmdValues> scatter_rule(Rules& rules, const RuleCall& call) {
  const Factors along = factors(call.op);
  const size_t count = call.operands.size() / 2;
  const auto map = call.op.ints(AttrKey::kScatterDimsToOperandDims);
  const auto known = partial_kind_of(call.op, call.op.called());
  const bool combines = count == 1 && known.has_value();
  const PartialKind kind = known.value_or(PartialKind::kSum);
  const bool may_index = small(call, count);
  std::vector<FactorUse> uses = plain_uses(along);
  for (size_t f = 0; f < uses.size(); ++f) {
    if (uses[f] != FactorUse::kLocal) continue;
    if (!may_index && is_parallel(along, f, count, map)) uses[f] = FactorUse::kWhole;
    const bool of_array = is_in(along, f, 0, count), of_updates = is_in(along, f, count + 1, 2 * count + 1);
    if (of_array && of_updates) continue;
    if (of_array)
      uses[f] =
          may_index && is_indexed(along, f, along.arrays[0], map) ? FactorUse::kLocal : FactorUse::kWhole;
    else
      uses[f] = combines ? FactorUse::kPartial : FactorUse::kWhole;
  }
  const FactorAxes axes = choose_axes(rules, call, along, uses, kind);
  SpmdValues values = resharded(rules, call, axes);
  const AxisSet partial = axes.results[0].partial;
  const std::vector<Component> components = picked(along, map, count, count + 1);
  AxisSet parallel = 0;
  for (const Component& component : components)
    if (component.is_parallel) parallel |= set_of(values[0].tiling.cut(component.dimension));
  // Indices that fill up the last tile have to point nowhere.
  InstructionId indices = values[count].id;
  for (int64_t i = 0; i < values[count].shape->rank(); ++i) {
    if (!is_padded(rules.axes, values[count].tiling.cut(i), values[count].shape->dim(i))) continue;
    const bool counts = (set_of(values[count].tiling.cut(i)) & (partial | parallel)) != 0;
    SpmdValue now = values[count];
    now.id = indices;
    const ElementType type = now.shape->element_type;
    if (counts) indices = rules.reshard.masked(now, i, rules.emit.neutral(PartialKind::kMin, type));
  }
  std::vector<InstructionId> leaves;
  for (const SpmdValue& value : values) leaves.push_back(value.id);
  leaves[count] = indices;
  if (any_cut(components, values[0].tiling))
    leaves[count] = local_indices(rules, call, indices, values[0], components, false).indices;
  if (partial != 0) {
    const InstructionId zero = rules.emit.number(0);
    const InstructionId first = rules.emit.compare(rules.emit.index(list_of(partial)), zero, "EQ");
    leaves[0] = rules.emit.select(first, leaves[0], rules.emit.neutral(kind, values[0].shape->element_type));
  }
  return emit_local(rules, call, leaves, axes.results);
}

}  // namespace hlosim
