#include "partition/emitter.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "hlo/number.h"

namespace hlosim {

Emitter::Emitter(Module& module, const OpTable& table, const DeviceAxes& axes)
    : module_(module), table_(table), axes_(axes), editor_(module) {
  for (const Instruction& instruction : module.instructions)
    if (const Attr* channel = instruction.find(AttrKey::kChannelId))
      next_channel_ = std::max(next_channel_, channel->integer() + 1);
}

// ── computations ────────────────────────────────────────────────

ComputationId Emitter::open(std::string_view name) {
  scopes_.emplace_back();
  return scope().id = editor_.add_computation(name);
}

std::vector<InstructionId> Emitter::reopen(ComputationId id) {
  scopes_.emplace_back();
  scope().id = id;
  return std::exchange(module_.computations[id].instructions, {});
}

void Emitter::keep(InstructionId id) { module_.computations[scope().id].instructions.push_back(id); }

void Emitter::close(InstructionId root) {
  Computation& computation = module_.computations[scope().id];
  computation.root = root;
  const std::vector<InstructionId>& list = computation.instructions;
  const int32_t first = list.empty() ? 0 : std::min_element(list.begin(), list.end())->index;
  const int32_t last = list.empty() ? 0 : std::max_element(list.begin(), list.end())->index;
  std::vector<bool> needed(static_cast<size_t>(last - first) + 1, false);
  const auto mark = [&](InstructionId id) { needed[static_cast<size_t>(id.index - first)] = true; };
  mark(root);
  for (const InstructionId parameter : computation.parameters) mark(parameter);
  for (size_t i = list.size(); i-- > 0;) {
    const Instruction& instruction = module_[list[i]];
    const OpDef& def = table_[instruction.opcode];
    if (def.has(kSideEffect) || def.has(kHostTransfer)) mark(list[i]);
    if (!needed[static_cast<size_t>(list[i].index - first)]) continue;
    for (const InstructionId operand : instruction.operands) mark(operand);
    if (const Attr* before = instruction.find(AttrKey::kControlPredecessors))
      for (const InstructionId id : before->instructions()) mark(id);
  }
  std::erase_if(computation.instructions,
                [&](InstructionId id) { return !needed[static_cast<size_t>(id.index - first)]; });
  scopes_.pop_back();
}

void Emitter::stands_for(const Instruction& original) { original_ = &original; }

// ── any instruction ─────────────────────────────────────────────

InstructionId Emitter::add(Opcode opcode, ShapeRef shape, std::span<const InstructionId> operands,
                           std::span<const Attr> attrs, std::string_view name) {
  std::vector<Attr> all(attrs.begin(), attrs.end());
  const Attr* metadata = original_ ? original_->find(AttrKey::kMetadata) : nullptr;
  const bool has =
      std::any_of(all.begin(), all.end(), [](const Attr& attr) { return attr.key == AttrKey::kMetadata; });
  if (metadata && !has) all.push_back(*metadata);
  const InstructionId id =
      editor_.add(scope().id, opcode, name.empty() ? to_text(opcode) : name, shape, operands, all);
  if (original_) editor_.place_like(id, *original_);
  module_.computations[scope().id].instructions.push_back(id);
  return id;
}

InstructionId Emitter::like(const Instruction& original, ShapeRef shape,
                            std::span<const InstructionId> operands, std::span<const Attr> changed) {
  std::vector<Attr> attrs(changed.begin(), changed.end());
  for (const Attr& attr : original.attrs) {
    const bool dropped = attr.key == AttrKey::kSharding || attr.key == AttrKey::kControlPredecessors ||
                         attr.key == AttrKey::kInferredDimension;
    const bool replaced =
        std::any_of(changed.begin(), changed.end(), [&](const Attr& other) { return other.key == attr.key; });
    if (!dropped && !replaced) attrs.push_back(attr);
  }
  const InstructionId id = add(original.opcode, shape, operands, attrs, original.name);
  module_.instructions[id].literal = original.literal;
  originals_.emplace_back(id, original.name);
  return id;
}

InstructionId Emitter::parameter(std::string_view name, ShapeRef shape) {
  const InstructionId id = editor_.add_parameter(scope().id, name, shape);
  originals_.emplace_back(id, name);
  return id;
}

void Emitter::keep_attributes(InstructionId id, const Instruction& original, bool sharding) {
  for (const Attr& attr : original.attrs)
    if (attr.key != AttrKey::kControlPredecessors && (sharding || attr.key != AttrKey::kSharding))
      editor_.set_attr(id, attr);
  editor_.place_like(id, original);
}

void Emitter::set_sharding(InstructionId id, std::string_view text) {
  editor_.set_attr(id,
                   Attr::make_text(AttrKey::kSharding, AttrSyntax::kSharding, module_.arena().copy(text)));
}

InstructionId Emitter::element(InstructionId tuple, int64_t index) {
  if (module_[tuple].opcode == Opcode::kTuple) return module_[tuple].operands[static_cast<size_t>(index)];
  return add(Opcode::kGetTupleElement, shape(tuple)->elements[static_cast<size_t>(index)], {tuple},
             {Attr::make_int(AttrKey::kIndex, index)});
}

InstructionId Emitter::tuple(std::span<const InstructionId> elements) {
  std::vector<ShapeRef> shapes;
  for (const InstructionId id : elements) shapes.push_back(shape(id));
  return add(Opcode::kTuple, module_.shapes().tuple(shapes), elements);
}

// ── attributes ──────────────────────────────────────────────────

Attr Emitter::window(std::span<const WindowDimension> dimensions) {
  Window made;
  made.dimensions = module_.arena().copy(dimensions);
  return Attr::make_struct(AttrKey::kWindow, AttrSyntax::kWindow, module_.arena().make<Window>(made));
}

// ── shapes and scalars ──────────────────────────────────────────

ShapeRef Emitter::resized(ShapeRef shape, std::span<const int64_t> sizes) {
  const bool same_rank = sizes.size() == shape->dimensions.size();
  return module_.shapes().array(shape->element_type, sizes, same_rank ? shape->layout : nullptr);
}

ShapeRef Emitter::resized(ShapeRef shape, int64_t dimension, int64_t size) {
  std::vector<int64_t> sizes(shape->dimensions.begin(), shape->dimensions.end());
  sizes[static_cast<size_t>(dimension)] = size;
  return resized(shape, sizes);
}

InstructionId Emitter::constant(const Literal* literal) {
  const InstructionId id = add(Opcode::kConstant, literal->shape, {});
  module_.instructions[id].literal = literal;
  return id;
}

InstructionId Emitter::number(int64_t value, ElementType type) {
  InstructionId& known = scope().numbers[{value, type}];
  if (known.valid()) return known;
  const bool is_whole = !is_float(type) && !is_complex(type);  // doubles don't hold all of these
  return known = constant(is_whole ? integer_literal(module_, module_.shapes().scalar(type), {&value, 1})
                                   : scalar_literal(module_, type, static_cast<double>(value)));
}

InstructionId Emitter::list(std::span<const int64_t> values) {
  const int64_t sizes[] = {static_cast<int64_t>(values.size())};
  return constant(integer_literal(module_, module_.shapes().array(ElementType::kS32, sizes), values));
}

InstructionId Emitter::plus(InstructionId a, InstructionId b) { return add(Opcode::kAdd, shape(a), {a, b}); }

InstructionId Emitter::plus(InstructionId a, int64_t b) {
  return b == 0 ? a : plus(a, number(b, shape(a)->element_type));
}

InstructionId Emitter::times(InstructionId a, int64_t b) {
  return b == 1 ? a : add(Opcode::kMultiply, shape(a), {a, number(b, shape(a)->element_type)});
}

InstructionId Emitter::remainder(InstructionId a, int64_t b) {
  return add(Opcode::kRemainder, shape(a), {a, number(b, shape(a)->element_type)});
}

InstructionId Emitter::clamp(int64_t low, InstructionId x, int64_t high) {
  const ElementType type = shape(x)->element_type;
  return add(Opcode::kClamp, shape(x), {number(low, type), x, number(high, type)});
}

InstructionId Emitter::place() {
  if (scope().place.valid()) return scope().place;
  const ShapeRef u32 = module_.shapes().scalar(ElementType::kU32);
  InstructionId id = convert(add(Opcode::kPartitionId, u32, {}), ElementType::kS32);
  if (!axes_.in_order()) {
    std::vector<int64_t> places;
    for (int64_t device = 0; device < axes_.devices(); ++device) places.push_back(axes_.place_of(device));
    id = reshape(dynamic_slice(list(places), 0, id, 1), {});
  }
  return scope().place = id;
}

// Axes that stand side by side count as one.
InstructionId Emitter::index(const AxisList& list) {
  if (list.empty()) return number(0);
  InstructionId& known = scope().indices[list];
  if (known.valid()) return known;
  InstructionId sum;
  int64_t weight = 1;
  for (size_t end = list.size(); end > 0;) {
    size_t begin = end - 1;
    while (begin > 0 && list[begin - 1] + 1 == list[begin]) --begin;
    const int64_t stride = axes_.stride(list[end - 1]);
    const int64_t length = axes_.length(AxisList(list.begin() + static_cast<std::ptrdiff_t>(begin),
                                                 list.begin() + static_cast<std::ptrdiff_t>(end)));
    InstructionId digit = place();
    const ShapeRef s32 = shape(digit);
    if (stride > 1) digit = add(Opcode::kDivide, s32, {digit, number(stride)});
    if (stride * length < axes_.devices()) digit = remainder(digit, length);
    digit = times(digit, weight);
    sum = sum.valid() ? plus(sum, digit) : digit;
    weight *= length;
    end = begin;
  }
  return scope().indices[list] = sum;
}

InstructionId Emitter::choose(const AxisList& axes, std::span<const int64_t> values) {
  const int64_t step = values.size() > 1 ? values[1] - values[0] : 0;
  bool even = true;
  for (size_t i = 0; i < values.size(); ++i)
    even = even && values[i] == values[0] + step * static_cast<int64_t>(i);
  if (even && step == 0) return number(values[0]);
  if (even) return plus(times(index(axes), step), values[0]);
  const InstructionId at = index(axes);
  return reshape(dynamic_slice(list(values), 0, at, 1), {});
}

namespace {

/// The largest (or smallest) value of an integer type, as bits.
int64_t integer_limit(ElementType type, bool largest) {
  const int bits = bit_width(type);
  if (is_pred(type)) return largest ? 1 : 0;
  if (is_unsigned_integer(type)) return !largest ? 0 : bits >= 64 ? -1 : (int64_t{1} << bits) - 1;
  const int64_t top = bits >= 64 ? std::numeric_limits<int64_t>::max() : (int64_t{1} << (bits - 1)) - 1;
  return largest ? top : -top - 1;
}

/// Infinity, or the largest number of a small type that has none, as bits.
uint64_t float_limit(ElementType type, bool largest) {
  const double infinity = std::numeric_limits<double>::infinity();
  uint64_t best = encode_number(type, largest ? infinity : -infinity);
  if (bit_width(type) > 8) return best;
  for (uint64_t bits = 0; bits < uint64_t{1} << bit_width(type); ++bits) {
    const double value = decode_float(type, bits), most = decode_float(type, best);
    if (value == value && (most != most || (largest ? value > most : value < most))) best = bits;
  }
  return best;
}

}  // namespace

InstructionId Emitter::neutral(PartialKind kind, ElementType type) {
  switch (kind) {
    case PartialKind::kSum:
    case PartialKind::kOr:
      return number(0, type);
    case PartialKind::kProduct:
      return number(1, type);
    case PartialKind::kAnd:
      return number(is_pred(type) ? 1 : -1, type);
    case PartialKind::kMax:
    case PartialKind::kMin:
      break;
  }
  const bool max = kind == PartialKind::kMax;
  if (!is_float(type)) return number(integer_limit(type, !max), type);
  const uint64_t bits = float_limit(type, !max);
  const auto width = static_cast<size_t>(byte_width(type));
  return constant(
      array_literal(module_, module_.shapes().scalar(type), std::as_bytes(std::span(&bits, 1)).first(width)));
}

// ── arrays ──────────────────────────────────────────────────────

InstructionId Emitter::broadcast(InstructionId scalar, ShapeRef like) { return broadcast(scalar, like, {}); }

InstructionId Emitter::broadcast(InstructionId x, ShapeRef like, std::span<const int64_t> to) {
  const ShapeRef made = module_.shapes().array(shape(x)->element_type, like->dimensions);
  return add(Opcode::kBroadcast, made, {x}, {ints(AttrKey::kDimensions, to)});
}

InstructionId Emitter::stretched(InstructionId x, int64_t dimension, int64_t size) {
  if (size == 1) return x;
  std::vector<int64_t> sizes, to;
  for (int64_t i = 0; i < shape(x)->rank(); ++i) {
    if (i == dimension) continue;
    sizes.push_back(shape(x)->dim(i));
    to.push_back(i);
  }
  return broadcast(reshape(x, sizes), resized(shape(x), dimension, size), to);
}

InstructionId Emitter::reshape(InstructionId x, std::span<const int64_t> sizes) {
  if (std::ranges::equal(shape(x)->dimensions, sizes)) return x;
  return add(Opcode::kReshape, module_.shapes().array(shape(x)->element_type, sizes), {x});
}

InstructionId Emitter::transpose(InstructionId x, std::span<const int64_t> order) {
  if (std::ranges::is_sorted(order)) return x;
  std::vector<int64_t> sizes;
  for (const int64_t i : order) sizes.push_back(shape(x)->dim(i));
  return add(Opcode::kTranspose, module_.shapes().array(shape(x)->element_type, sizes), {x},
             {ints(AttrKey::kDimensions, order)});
}

InstructionId Emitter::slice(InstructionId x, int64_t dimension, int64_t start, int64_t size, int64_t step) {
  const ShapeRef from = shape(x);
  if (start == 0 && size == from->dim(dimension)) return x;
  const int64_t limit = size > 0 ? start + (size - 1) * step + 1 : start;
  std::vector<std::vector<int64_t>> bounds;
  for (int64_t i = 0; i < from->rank(); ++i)
    bounds.push_back(i == dimension ? std::vector<int64_t>{start, limit, step}
                                    : std::vector<int64_t>{0, from->dim(i), 1});
  return add(Opcode::kSlice, resized(from, dimension, size), {x},
             {lists(AttrKey::kSlice, AttrSyntax::kSlices, bounds)});
}

InstructionId Emitter::dynamic_slice(InstructionId x, int64_t dimension, InstructionId start, int64_t size) {
  const ShapeRef from = shape(x);
  if (size == from->dim(dimension)) return x;
  std::vector<InstructionId> operands = {x};
  for (int64_t i = 0; i < from->rank(); ++i)
    operands.push_back(i == dimension ? start : number(0, shape(start)->element_type));
  const ShapeRef made = resized(from, dimension, size);
  const Attr attrs[] = {ints(AttrKey::kDynamicSliceSizes, made->dimensions)};
  return add(Opcode::kDynamicSlice, made, operands, attrs);
}

InstructionId Emitter::dynamic_update_slice(InstructionId x, InstructionId part, int64_t dimension,
                                            InstructionId start) {
  std::vector<InstructionId> operands = {x, part};
  for (int64_t i = 0; i < shape(x)->rank(); ++i)
    operands.push_back(i == dimension ? start : number(0, shape(start)->element_type));
  return add(Opcode::kDynamicUpdateSlice, shape(x), operands);
}

InstructionId Emitter::pad(InstructionId x, int64_t dimension, int64_t low, int64_t high,
                           InstructionId value) {
  if (low == 0 && high == 0) return x;
  std::vector<std::vector<int64_t>> padding(static_cast<size_t>(shape(x)->rank()), {0, 0, 0});
  padding[static_cast<size_t>(dimension)] = {low, high, 0};
  return pad(x, padding, value.valid() ? value : number(0, shape(x)->element_type));
}

InstructionId Emitter::pad(InstructionId x, const std::vector<std::vector<int64_t>>& padding,
                           InstructionId value) {
  std::vector<int64_t> sizes(shape(x)->dimensions.begin(), shape(x)->dimensions.end());
  for (size_t i = 0; i < sizes.size(); ++i) {
    const std::vector<int64_t>& one = padding[i];
    sizes[i] += one[0] + one[1] + std::max<int64_t>(0, sizes[i] - 1) * one[2];
  }
  return add(Opcode::kPad, resized(shape(x), sizes), {x, value},
             {lists(AttrKey::kPadding, AttrSyntax::kPadding, padding)});
}

InstructionId Emitter::concatenate(std::span<const InstructionId> parts, int64_t dimension) {
  if (parts.size() == 1) return parts[0];
  int64_t size = 0;
  for (const InstructionId part : parts) size += shape(part)->dim(dimension);
  const int64_t along[] = {dimension};
  const Attr attrs[] = {ints(AttrKey::kDimensions, along, AttrSyntax::kInts1)};
  return add(Opcode::kConcatenate, resized(shape(parts[0]), dimension, size), parts, attrs);
}

InstructionId Emitter::select(InstructionId condition, InstructionId x, InstructionId otherwise) {
  if (shape(condition)->is_scalar() && !shape(x)->is_scalar()) condition = broadcast(condition, shape(x));
  if (shape(otherwise)->is_scalar() && !shape(x)->is_scalar()) otherwise = broadcast(otherwise, shape(x));
  return add(Opcode::kSelect, shape(x), {condition, x, otherwise});
}

InstructionId Emitter::compare(InstructionId a, InstructionId b, std::string_view direction) {
  if (shape(b)->is_scalar() && !shape(a)->is_scalar()) b = broadcast(b, shape(a));
  const ShapeRef made = module_.shapes().array(ElementType::kPred, shape(a)->dimensions);
  return add(Opcode::kCompare, made, {a, b},
             {Attr::make_text(AttrKey::kDirection, AttrSyntax::kWord, direction)});
}

InstructionId Emitter::both(InstructionId a, InstructionId b) { return add(Opcode::kAnd, shape(a), {a, b}); }

InstructionId Emitter::iota(ShapeRef like, int64_t dimension) {
  return add(Opcode::kIota, module_.shapes().array(ElementType::kS32, like->dimensions), {},
             {Attr::make_int(AttrKey::kIotaDimension, dimension)});
}

InstructionId Emitter::laid_out(InstructionId x, ShapeRef like) {
  if (shape(x)->layout == like->layout || !shape(x)->is_array()) return x;
  const ShapeRef made = module_.shapes().array(shape(x)->element_type, shape(x)->dimensions, like->layout);
  return add(Opcode::kCopy, made, {x});
}

InstructionId Emitter::apart(InstructionId x) { return add(Opcode::kOptimizationBarrier, shape(x), {x}); }

InstructionId Emitter::convert(InstructionId x, ElementType type) {
  if (shape(x)->element_type == type) return x;
  return add(Opcode::kConvert, module_.shapes().array(type, shape(x)->dimensions), {x});
}

namespace {

Opcode opcode_of(PartialKind kind) {
  constexpr Opcode kOpcodes[] = {Opcode::kAdd,      Opcode::kMaximum, Opcode::kMinimum,
                                 Opcode::kMultiply, Opcode::kAnd,     Opcode::kOr};
  return kOpcodes[static_cast<size_t>(kind)];
}

}  // namespace

InstructionId Emitter::combine(PartialKind kind, InstructionId a, InstructionId b) {
  return add(opcode_of(kind), shape(a), {a, b});
}

// ── collectives ─────────────────────────────────────────────────

ComputationId Emitter::reducer(PartialKind kind, ElementType type) {
  ComputationId& known = reducers_[{kind, type}];
  if (known.valid()) return known;
  const ShapeRef scalar = module_.shapes().scalar(type);
  const ComputationId made = open(to_text(opcode_of(kind)));
  const InstructionId a = parameter("a", scalar), b = parameter("b", scalar);
  close(combine(kind, a, b));
  return reducers_[{kind, type}] = made;
}

const ReplicaGroups* Emitter::partition_groups(const AxisList& along) {
  const ReplicaGroups*& groups = groups_[along];
  if (!groups) {
    const DeviceGroups found = device_groups(axes_, along);
    ReplicaGroups made;
    if (found.lists.empty()) {
      made.form = ReplicaGroups::Form::kIota;
      const std::vector<int64_t> sizes = {found.groups, found.members};
      made.iota_dimensions = module_.arena().copy(sizes);
      made.iota_reshape = module_.arena().copy(found.reshape);
      if (found.order.size() > 1) made.iota_transpose = module_.arena().copy(found.order);
    } else {
      made.groups = stored_lists(module_, found.lists);
    }
    groups = module_.arena().make<ReplicaGroups>(made);
  }
  return groups;
}

/// The same among the partitions of every replica, device replica · partitions + partition.
const ReplicaGroups* Emitter::global_groups(const AxisList& along) {
  const ReplicaGroups* of_one = partition_groups(along);
  const int64_t replicas = module_.replica_count();
  if (replicas == 1) return of_one;
  const ReplicaGroups*& groups = global_groups_[along];
  if (groups) return groups;
  ReplicaGroups made;
  std::vector<std::vector<int64_t>> all;
  for (int64_t replica = 0; replica < replicas; ++replica)
    for (std::vector<int64_t> one : expand_replica_groups(*of_one, axes_.devices())) {
      for (int64_t& id : one) id += replica * axes_.devices();
      all.push_back(std::move(one));
    }
  made.groups = stored_lists(module_, all);
  return groups = module_.arena().make<ReplicaGroups>(made);
}

std::vector<Attr> Emitter::collective_attributes(const ReplicaGroups* groups) {
  return {Attr::make_struct(AttrKey::kReplicaGroups, AttrSyntax::kReplicaGroups, groups),
          Attr::make_int(AttrKey::kChannelId, next_channel_++)};
}

InstructionId Emitter::all_gather(InstructionId x, const AxisList& along, int64_t dimension) {
  std::vector<Attr> attrs = collective_attributes(global_groups(along));
  const int64_t dimensions[] = {dimension};
  attrs.push_back(Attr::make_bool(AttrKey::kUseGlobalDeviceIds, true));
  attrs.push_back(ints(AttrKey::kDimensions, dimensions, AttrSyntax::kInts1));
  const InstructionId operands[] = {x};
  const int64_t size = shape(x)->dim(dimension) * axes_.length(along);
  return add(Opcode::kAllGather, resized(shape(x), dimension, size), operands, attrs);
}

InstructionId Emitter::all_reduce(InstructionId x, const AxisList& along, PartialKind kind) {
  std::vector<Attr> attrs = collective_attributes(global_groups(along));
  attrs.push_back(Attr::make_bool(AttrKey::kUseGlobalDeviceIds, true));
  attrs.push_back(calls(AttrKey::kToApply, reducer(kind, shape(x)->element_type)));
  const InstructionId operands[] = {x};
  return add(Opcode::kAllReduce, shape(x), operands, attrs);
}

InstructionId Emitter::reduce_scatter(InstructionId x, const AxisList& along, int64_t dimension,
                                      PartialKind kind) {
  std::vector<Attr> attrs = collective_attributes(global_groups(along));
  const int64_t dimensions[] = {dimension};
  attrs.push_back(Attr::make_bool(AttrKey::kUseGlobalDeviceIds, true));
  attrs.push_back(calls(AttrKey::kToApply, reducer(kind, shape(x)->element_type)));
  attrs.push_back(ints(AttrKey::kDimensions, dimensions, AttrSyntax::kInts1));
  const InstructionId operands[] = {x};
  const int64_t size = shape(x)->dim(dimension) / axes_.length(along);
  return add(Opcode::kReduceScatter, resized(shape(x), dimension, size), operands, attrs);
}

InstructionId Emitter::all_to_all(InstructionId x, const AxisList& along, int64_t dimension) {
  std::vector<Attr> attrs = collective_attributes(partition_groups(along));
  const int64_t dimensions[] = {dimension};
  attrs.push_back(ints(AttrKey::kDimensions, dimensions, AttrSyntax::kInts1));
  const InstructionId operands[] = {x};
  return add(Opcode::kAllToAll, shape(x), operands, attrs);
}

InstructionId Emitter::permute(InstructionId x, const std::vector<std::vector<int64_t>>& pairs) {
  return add(Opcode::kCollectivePermute, shape(x), {x},
             {lists(AttrKey::kSourceTargetPairs, AttrSyntax::kPairs, pairs),
              Attr::make_int(AttrKey::kChannelId, next_channel_++)});
}

}  // namespace hlosim
