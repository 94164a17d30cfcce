// Operations in which several devices take part: their shapes and work. Who takes part is the
// business of collective_groups.h.
#include <algorithm>
#include <memory>

#include "base/rounding.h"
#include "base/saturating.h"
#include "hlo/op_def.h"
#include "hlo/replica_groups.h"
#include "ops/collective_checks.h"
#include "ops/collective_groups.h"
#include "ops/leaf_forwarding.h"
#include "ops/op_table.h"
#include "ops/require.h"
#include "ops/work.h"
#include "ops/xla_cost_rules.h"

namespace hlosim {
namespace {

/// The operands' shapes: the one operand's, or a tuple of all.
ShapeRef operands_shape(OpContext& op) {
  if (op.operand_count() == 1) return op.operand_shape(0);
  std::vector<ShapeRef> shapes;
  for (int64_t i = 0; i < op.operand_count(); ++i) shapes.push_back(op.operand_shape(i)->logical);
  return op.shapes().tuple(shapes);
}

/// Result `i` of a collective with one result an operand; null when the declared shape has none.
ShapeRef result_part(const OpContext& op, ShapeRef results, int64_t i) {
  if (op.operand_count() == 1) return results;
  const bool there =
      results && results->is_tuple() && static_cast<int64_t>(results->elements.size()) == op.operand_count();
  return there ? results->elements[static_cast<size_t>(i)] : nullptr;
}

void add_payload(const OpContext& op, Work& work, CollectiveKind kind, int64_t operands = -1) {
  CollectiveWork& collective = work.collective.emplace();
  collective.kind = kind;
  if (operands < 0) operands = op.operand_count();
  for (int64_t i = 0; i < operands; ++i) collective.payload.push_back(op.operand_shape(i));
}

/// A start whose tuple holds (operands, results, …) writes the results only.
void write_second_element(const OpContext& op, Work& work) {
  if (op.shape()->is_tuple() && op.shape()->elements.size() > 1)
    work.result_written = op.shape()->elements[1];
}

// ── all-gather, reduce-scatter ──────────────────────────────────

int64_t ceil_of_ratio(int64_t a, int64_t b) { return b == 0 ? 1 : ceil_div(a, b); }

/// How many shards the declared shapes speak of; 0 after a report. C1: the operands are arrays that
/// have the dimension, and there is a result for each; C2: the shards are as many as the members of a
/// group, where the header says so.
int64_t shard_count(OpContext& op, ShapeRef results, bool gathers) {
  if (!require_groups(op, GroupSizes::kUniform) || !require_operands(op, 1) || !require_arrays(op, 1))
    return 0;
  const int64_t dimension = op.ints(AttrKey::kDimensions)[0];
  for (int64_t i = 0; i < op.operand_count(); ++i) {
    if (!require_dimension(op, 1, "dimensions", dimension, op.operand_shape(i)->rank())) return 0;
    const ShapeRef result = result_part(op, results, i);
    if (result && result->is_array() && dimension < result->rank()) continue;
    op.error(1, "the result {} has no array with dimension {} for operand {}", text_of(op.shape()), dimension,
             i);
    return 0;
  }
  const int64_t of_operand = op.operand_shape(0)->dim(dimension);
  const int64_t of_result = result_part(op, results, 0)->dim(dimension);
  if (of_operand == Shape::kUnbounded || of_result == Shape::kUnbounded) return 1;
  const int64_t shards = std::max<int64_t>(
      gathers ? ceil_of_ratio(of_result, of_operand) : ceil_of_ratio(of_operand, of_result), 1);
  const int64_t members = declared_group_size(op);
  if (members == 1 || members == shards) return shards;
  op.error(2, "sizes {} and {} of dimension {} speak of {} shards, a group has {} members", of_operand,
           of_result, dimension, shards, members);
  return 0;
}

// C1 operands are arrays that have the dimension, with an array in the result for each
// C2 the result has as many shards as a group has members
ShapeRef infer_gathered(OpContext& op, ShapeRef results) {
  const int64_t shards = shard_count(op, results, true);
  if (shards == 0) return nullptr;
  const auto dimension = static_cast<size_t>(op.ints(AttrKey::kDimensions)[0]);
  std::vector<ShapeRef> gathered;
  for (int64_t i = 0; i < op.operand_count(); ++i) {
    DimensionList sizes;
    sizes.add_all(op.operand_shape(i));
    if (sizes[dimension] != Shape::kUnbounded)
      sizes[dimension] = saturating_multiply(sizes[dimension], shards);
    gathered.push_back(sizes.array(op.shapes(), op.operand_shape(i)->element_type));
  }
  return gathered.size() == 1 ? gathered[0] : op.shapes().tuple(gathered);
}

ShapeRef infer_all_gather(OpContext& op) { return infer_gathered(op, op.shape()); }

// C1 and C2 as for all-gather, of the second element of (operands, results)
ShapeRef infer_all_gather_start(OpContext& op) {
  const ShapeRef declared = op.shape();
  if (!declared->is_tuple() || declared->elements.size() != 2)
    return op.error(1, "has shape {}, expected a tuple (operands, results)", text_of(declared));
  const ShapeRef gathered = infer_gathered(op, declared->elements[1]);
  if (!gathered) return nullptr;
  const ShapeRef both[] = {operands_shape(op)->logical, gathered};
  return op.shapes().tuple(both);
}

// C1 and C2 as for all-gather, the operands being the larger ones
// C3 the dimension of each operand is a multiple of the number of shards
ShapeRef infer_reduce_scatter(OpContext& op) {
  const int64_t shards = shard_count(op, op.shape(), false);
  if (shards == 0) return nullptr;
  const auto dimension = static_cast<size_t>(op.ints(AttrKey::kDimensions)[0]);
  std::vector<ShapeRef> scattered;
  for (int64_t i = 0; i < op.operand_count(); ++i) {
    DimensionList sizes;
    sizes.add_all(op.operand_shape(i));
    int64_t& size = sizes[dimension];
    if (size != Shape::kUnbounded && size % shards != 0)
      return op.error(3, "size {} of dimension {} of operand {} is not a multiple of {} shards", size,
                      dimension, i, shards);
    if (size != Shape::kUnbounded) size /= shards;
    scattered.push_back(sizes.array(op.shapes(), op.operand_shape(i)->element_type));
  }
  return scattered.size() == 1 ? scattered[0] : op.shapes().tuple(scattered);
}

void all_gather_work(const OpContext& op, Work& work) { add_payload(op, work, CollectiveKind::kAllGather); }
void all_gather_start_work(const OpContext& op, Work& work) {
  all_gather_work(op, work);
  write_second_element(op, work);
}
void reduce_scatter_work(const OpContext& op, Work& work) {
  add_payload(op, work, CollectiveKind::kReduceScatter);
}

// ── all-reduce ──────────────────────────────────────────────────

// C1 the operands are arrays
ShapeRef infer_all_reduce(OpContext& op) {
  return require_groups(op, GroupSizes::kAny) && require_arrays(op, 1) ? operands_shape(op) : nullptr;
}

void all_reduce_work(const OpContext& op, Work& work) { add_payload(op, work, CollectiveKind::kAllReduce); }

// The done passes on what its start holds.
ShapeRef infer_all_reduce_done(OpContext& op) { return op.operand_shape(0); }

/// Done of a start that holds (operands, results, …).
// C1 the operand is a tuple of at least two elements
ShapeRef infer_second_element(OpContext& op) {
  const ShapeRef pair = op.operand_shape(0);
  if (!pair->is_tuple() || pair->elements.size() < 2)
    return op.error(1, "operand 0 has shape {}, expected a tuple (operands, results)", text_of(pair));
  return pair->elements[1];
}

// ── all-to-all ──────────────────────────────────────────────────

/// Same element type, sizes and order in memory; the memory space may differ.
bool same_but_for_space(const OpContext& op, ShapeRef a, ShapeRef b) {
  ShapePool& shapes = op.shapes();
  return a == b || shapes.with_memory_space(shapes.with_default_layouts(a), kDefaultMemorySpace) ==
                       shapes.with_memory_space(shapes.with_default_layouts(b), kDefaultMemorySpace);
}

// C1 the operands are arrays
// C2 with `dimensions` there is one operand, of a size in that dimension that the members can share
// C3 without there is one operand per member of a group
// C4 and all have the same shape, layouts included
ShapeRef infer_all_to_all(OpContext& op) {
  if (!require_groups(op, GroupSizes::kUniform)) return nullptr;
  if (!require_operands(op, 1) || !require_arrays(op, 1)) return nullptr;
  const int64_t members = declared_group_size(op);
  const ShapeRef first = op.operand_shape(0);
  if (op.has(AttrKey::kDimensions)) {
    const int64_t dimension = op.ints(AttrKey::kDimensions)[0];
    if (op.operand_count() != 1)
      return op.error(2, "has {} operands, expected one with dimensions=", op.operand_count());
    if (!require_dimension(op, 2, "dimensions", dimension, first->rank())) return nullptr;
    if (!first->is_static() && !first->is_unbounded())
      return op.error(2, "operand 0 is {}, expected no dimension of dynamic size", text_of(first));
    const int64_t size = first->dim(dimension);
    if (size != Shape::kUnbounded && size % members != 0)
      return op.error(2, "size {} of dimension {} is not a multiple of the {} members of a group", size,
                      dimension, members);
    return first;
  }
  if (op.operand_count() != members)
    return op.error(3, "has {} operands, expected one for each of the {} members of a group",
                    op.operand_count(), members);
  for (int64_t i = 1; i < op.operand_count(); ++i)
    if (!same_but_for_space(op, first, op.operand_shape(i)))
      return op.error(4, "operands with different shapes: operand 0 is {}, operand {} is {}", to_text(first),
                      i, to_text(op.operand_shape(i)));
  std::vector<ShapeRef> results(static_cast<size_t>(op.operand_count()), first->logical);
  return op.shapes().tuple(results);
}

void all_to_all_work(const OpContext& op, Work& work) { add_payload(op, work, CollectiveKind::kAllToAll); }

// ── ragged-all-to-all ───────────────────────────────────────────

// C1 the output operand is an array
// C2 offsets and sizes have one or two dimensions
// C3 and all have the same shape
ShapeRef infer_ragged_all_to_all(OpContext& op) {
  if (!require_groups(op, GroupSizes::kUniform)) return nullptr;
  if (!require_array(op, 1, 1) || !require_arrays(op, 2, 2)) return nullptr;
  for (int64_t i = 2; i < 6; ++i) {
    const ShapeRef offsets = op.operand_shape(i);
    if (offsets->rank() != 1 && offsets->rank() != 2)
      return op.error(2, "operand {} is {}, expected rank 1 or 2", i, text_of(offsets));
    if (!compatible(offsets, op.operand_shape(2)))
      return op.error(3, "operand {} is {}, expected the shape of operand 2, {}", i, text_of(offsets),
                      text_of(op.operand_shape(2)));
  }
  return op.operand_shape(1);
}

/// Its sizes are data: at most as many rows are sent as the input has, and no more arrive than the output has
/// room for. Both are the same in the mean, so the smaller of the two arrays is taken as what is sent.
void ragged_all_to_all_work(const OpContext& op, Work& work) {
  const ShapeRef input = op.operand_shape(0), output = op.operand_shape(1);
  const bool has_room = output->element_count() > input->element_count();
  const bool is_room = output->element_count() < input->element_count();
  work.collective.emplace().kind = CollectiveKind::kRaggedAllToAll;
  work.collective->payload.push_back(is_room ? output : input);
  if (is_room) work.operand_read[0] = output;
  work.operand_read[1] = nullptr;  // the output buffer is written, not read
  if (has_room) work.result_written = input;
}

// ── collective-broadcast ────────────────────────────────────────

/// Operands that are sent: with has_dynamic_root the last one says who sends.
int64_t broadcast_values(const OpContext& op) {
  return op.flag(AttrKey::kHasDynamicRoot) ? op.operand_count() - 1 : 1;
}

// C1 the operands are arrays, at least one that is sent
ShapeRef infer_broadcast(OpContext& op) {
  if (!require_operands(op, 1)) return nullptr;
  const int64_t values = broadcast_values(op);
  if (values < 1) return op.error(1, "no operand before the root that has_dynamic_root=true speaks of");
  if (!require_arrays(op, 1, 0, op.flag(AttrKey::kHasDynamicRoot) ? op.operand_count() : 1)) return nullptr;
  if (values == 1) return op.operand_shape(0);
  std::vector<ShapeRef> results;
  for (int64_t i = 0; i < values; ++i) results.push_back(op.operand_shape(i)->logical);
  return op.shapes().tuple(results);
}

void broadcast_work(const OpContext& op, Work& work) {
  add_payload(op, work, CollectiveKind::kBroadcast, broadcast_values(op));
}

// ── collective-permute ──────────────────────────────────────────
// In place: (input, output, input offsets, output offsets) with slice_sizes; slices of the input land in
// the output of the target.

bool is_in_place(const OpContext& op) { return op.has(AttrKey::kSliceSizes); }

// C1 operands are arrays, at least one; in place there are four
ShapeRef infer_permute(OpContext& op) {
  if (!require_operands(op, 1)) return nullptr;
  if (!is_in_place(op)) return require_arrays(op, 1) ? operands_shape(op) : nullptr;
  if (op.operand_count() != 4)
    return op.error(1, "has {} operands, expected 4 with slice_sizes", op.operand_count());
  return op.operand_shape(1);
}

// C1 as for collective-permute
// C2 the declared shape is (operands, results) and whatever context follows
ShapeRef infer_permute_start(OpContext& op) {
  const bool several = !is_in_place(op) && op.operand_count() > 1;  // then XLA takes any operands
  const ShapeRef results = several ? operands_shape(op) : infer_permute(op), declared = op.shape();
  if (!results) return nullptr;
  const ShapeRef sent = is_in_place(op) ? op.operand_shape(0) : operands_shape(op);
  std::vector<ShapeRef> parts{sent->logical, results->logical};
  if (declared->is_tuple())
    for (size_t i = 2; i < declared->elements.size(); ++i) parts.push_back(declared->elements[i]->logical);
  return op.shapes().tuple(parts);
}

/// The slices that go out: entry i of slice_sizes belongs to buffer i · buffers / entries.
void permute_work(const OpContext& op, Work& work) {
  if (!is_in_place(op)) return add_payload(op, work, CollectiveKind::kPermute);
  add_payload(op, work, CollectiveKind::kPermute, 0);
  const ShapeRef input = op.operand_shape(0);
  const std::span<const ShapeRef> buffers = input->is_tuple() ? input->elements : std::span(&input, 1);
  const auto slices = op.int_lists(AttrKey::kSliceSizes);
  for (size_t i = 0; i < slices.size() && !buffers.empty(); ++i) {
    const ShapeRef buffer = buffers[i * buffers.size() / slices.size()];
    const bool valid = buffer->is_array() &&
                       std::all_of(slices[i].begin(), slices[i].end(), [](int64_t n) { return n >= 0; });
    if (valid) work.collective->payload.push_back(op.shapes().array(buffer->element_type, slices[i]));
  }
  const ShapeRef moved = op.shapes().tuple(work.collective->payload);
  work.operand_read = {moved, nullptr, op.operand_shape(2), op.operand_shape(3)};
  work.result_written = moved;
}
void permute_start_work(const OpContext& op, Work& work) {
  permute_work(op, work);
  if (!is_in_place(op)) write_second_element(op, work);
}

}  // namespace

constexpr AttrSpec kAllGatherAttrs[] = {
    {AttrKey::kReplicaGroups, AttrSyntax::kReplicaGroups}, {AttrKey::kChannelId, AttrSyntax::kInt},
    {AttrKey::kConstrainLayout, AttrSyntax::kBool},        {AttrKey::kUseGlobalDeviceIds, AttrSyntax::kBool},
    {AttrKey::kDimensions, AttrSyntax::kInts1, true},
};
const OpDef kAllGatherOp = {
    .name = "all-gather",
    .arity = at_least(0),
    .traits = kCollective | kNeedsShape | kNoAsyncSugar,
    .attrs = kAllGatherAttrs,
    .infer_shape = infer_all_gather,
    .work = all_gather_work,
    .evaluation = EvaluationKind::kCollective,
    .rules = {FusionRule::kNever, LayoutRole::kLike, ValueRule::kMakesAll, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kAllGather, AsyncPart::kSplits,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kAllGather}};

const OpDef kAllGatherDoneOp = {
    .name = "all-gather-done",
    .arity = exactly(1),
    .traits = kAsyncDone | kCollective | kFree | kNeedsShape,
    .infer_shape = infer_second_element,
    .forward = forward_second_element,
    .evaluation = EvaluationKind::kNone,
    .rules = {FusionRule::kNever, LayoutRole::kKeep, ValueRule::kAllGatherDone, UseRule::kAll,
              CallRule::kNone, InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kAllGather,
              AsyncPart::kDone, BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone,
              DimensionRule::kForwards}};

constexpr AttrSpec kAllGatherStartAttrs[] = {
    {AttrKey::kReplicaGroups, AttrSyntax::kReplicaGroups}, {AttrKey::kChannelId, AttrSyntax::kInt},
    {AttrKey::kConstrainLayout, AttrSyntax::kBool},        {AttrKey::kUseGlobalDeviceIds, AttrSyntax::kBool},
    {AttrKey::kDimensions, AttrSyntax::kInts1, true},
};
const OpDef kAllGatherStartOp = {
    .name = "all-gather-start",
    .arity = at_least(0),
    .traits = kAsyncStart | kCollective | kNeedsShape,
    .attrs = kAllGatherStartAttrs,
    .infer_shape = infer_all_gather_start,
    .work = all_gather_start_work,
    .evaluation = EvaluationKind::kAllGatherStart,
    .rules = {FusionRule::kNever, LayoutRole::kKeep, ValueRule::kAllGatherStart, UseRule::kAll,
              CallRule::kNone, InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kAllGather,
              AsyncPart::kStart, BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone,
              DimensionRule::kAllGather}};

constexpr AttrSpec kAllReduceAttrs[] = {
    {AttrKey::kReplicaGroups, AttrSyntax::kReplicaGroups}, {AttrKey::kChannelId, AttrSyntax::kInt},
    {AttrKey::kConstrainLayout, AttrSyntax::kBool},        {AttrKey::kUseGlobalDeviceIds, AttrSyntax::kBool},
    {AttrKey::kToApply, AttrSyntax::kComputation, true},   {AttrKey::kMode, AttrSyntax::kWord},
};
const OpDef kAllReduceOp = {
    .name = "all-reduce",
    .arity = at_least(0),
    .traits = kCollective | kNeedsShape | kNoAsyncSugar,
    .attrs = kAllReduceAttrs,
    .check_syntax = check_all_reduce_syntax,
    .infer_shape = infer_all_reduce,
    .check = check_channel,
    .xla_cost = xla_cost_all_reduce,
    .work = all_reduce_work,
    .evaluation = EvaluationKind::kCollective,
    .rules = {FusionRule::kNever, LayoutRole::kLike, ValueRule::kMakesAll, UseRule::kAll, CallRule::kEmbedded,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kAllReduce, AsyncPart::kSplits,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kEach}};

const OpDef kAllReduceDoneOp = {
    .name = "all-reduce-done",
    .arity = exactly(1),
    .traits = kAsyncDone | kCollective | kFree | kNeedsShape,
    .infer_shape = infer_all_reduce_done,
    .forward = forward_in_order,
    .evaluation = EvaluationKind::kNone,
    .rules = {FusionRule::kNever, LayoutRole::kHandsOn, ValueRule::kForwards, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kAllReduce, AsyncPart::kDone,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kForwards}};

constexpr AttrSpec kAllReduceStartAttrs[] = {
    {AttrKey::kReplicaGroups, AttrSyntax::kReplicaGroups}, {AttrKey::kChannelId, AttrSyntax::kInt},
    {AttrKey::kConstrainLayout, AttrSyntax::kBool},        {AttrKey::kUseGlobalDeviceIds, AttrSyntax::kBool},
    {AttrKey::kToApply, AttrSyntax::kComputation, true},   {AttrKey::kMode, AttrSyntax::kWord},
};
const OpDef kAllReduceStartOp = {
    .name = "all-reduce-start",
    .arity = at_least(0),
    .traits = kAsyncStart | kCollective | kNeedsShape,
    .attrs = kAllReduceStartAttrs,
    .infer_shape = infer_all_reduce,
    .xla_cost = xla_cost_all_reduce,
    .work = all_reduce_work,
    .evaluation = EvaluationKind::kCollective,
    .rules = {FusionRule::kNever, LayoutRole::kKeep, ValueRule::kMakesAll, UseRule::kAll, CallRule::kEmbedded,
              InPlaceRule::kEach, OverwriteRule::kNever, AsyncKind::kAllReduce, AsyncPart::kStart,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kEach}};

constexpr AttrSpec kAllToAllAttrs[] = {
    {AttrKey::kReplicaGroups, AttrSyntax::kReplicaGroups},
    {AttrKey::kChannelId, AttrSyntax::kInt},
    {AttrKey::kDimensions, AttrSyntax::kInts1},
    {AttrKey::kConstrainLayout, AttrSyntax::kBool},
};
const OpDef kAllToAllOp = {
    .name = "all-to-all",
    .arity = at_least(0),
    .traits = kCollective | kNeedsShape,
    .attrs = kAllToAllAttrs,
    .infer_shape = infer_all_to_all,
    .work = all_to_all_work,
    .evaluation = EvaluationKind::kCollective,
    .rules = {FusionRule::kNever, LayoutRole::kLike, ValueRule::kMakesAll, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kAllToAll, AsyncPart::kWrapped,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kAllToAll}};

constexpr AttrSpec kCollectiveBroadcastAttrs[] = {
    {AttrKey::kReplicaGroups, AttrSyntax::kReplicaGroups},
    {AttrKey::kChannelId, AttrSyntax::kInt},
    {AttrKey::kHasDynamicRoot, AttrSyntax::kBool},
};
const OpDef kCollectiveBroadcastOp = {
    .name = "collective-broadcast",
    .arity = at_least(0),
    .traits = kCollective | kNeedsShape,
    .attrs = kCollectiveBroadcastAttrs,
    .infer_shape = infer_broadcast,
    .work = broadcast_work,
    .evaluation = EvaluationKind::kCollective,
    .rules = {FusionRule::kNever, LayoutRole::kLike, ValueRule::kMakesAll, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kBroadcast, AsyncPart::kWrapped,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kEach}};

constexpr AttrSpec kCollectivePermuteAttrs[] = {
    {AttrKey::kSourceTargetPairs, AttrSyntax::kPairs, true},
    {AttrKey::kChannelId, AttrSyntax::kInt},
    {AttrKey::kSliceSizes, AttrSyntax::kIntLists},
};
const OpDef kCollectivePermuteOp = {
    .name = "collective-permute",
    .arity = at_least(0),
    .traits = kCollective | kNeedsShape | kNoAsyncSugar,
    .attrs = kCollectivePermuteAttrs,
    .check_syntax = check_permute_syntax,
    .infer_shape = infer_permute,
    .check = check_permute,
    .work = permute_work,
    .evaluation = EvaluationKind::kCollectivePermute,
    .rules = {FusionRule::kNever, LayoutRole::kLike, ValueRule::kMakesAll, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kPermute, OverwriteRule::kNever, AsyncKind::kPermute, AsyncPart::kSplits,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kPermute}};

const OpDef kCollectivePermuteDoneOp = {
    .name = "collective-permute-done",
    .arity = exactly(1),
    .traits = kAsyncDone | kCollective | kFree | kNeedsShape,
    .infer_shape = infer_second_element,
    .forward = forward_second_element,
    .evaluation = EvaluationKind::kNone,
    .rules = {FusionRule::kNever, LayoutRole::kKeep, ValueRule::kPermuteDone, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kPermute, AsyncPart::kDone,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kForwards}};

constexpr AttrSpec kCollectivePermuteStartAttrs[] = {
    {AttrKey::kSourceTargetPairs, AttrSyntax::kPairs, true},
    {AttrKey::kChannelId, AttrSyntax::kInt},
    {AttrKey::kSliceSizes, AttrSyntax::kIntLists},
};
const OpDef kCollectivePermuteStartOp = {
    .name = "collective-permute-start",
    .arity = at_least(0),
    .traits = kAsyncStart | kCollective | kNeedsShape,
    .attrs = kCollectivePermuteStartAttrs,
    .check_syntax = check_permute_syntax,
    .infer_shape = infer_permute_start,
    .check = check_permute,
    .work = permute_start_work,
    .evaluation = EvaluationKind::kCollectivePermuteStart,
    .rules = {FusionRule::kNever, LayoutRole::kKeep, ValueRule::kPermuteStart, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kPermuteStart, OverwriteRule::kNever, AsyncKind::kPermute, AsyncPart::kStart,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kPermute}};

constexpr AttrSpec kRaggedAllToAllAttrs[] = {
    {AttrKey::kReplicaGroups, AttrSyntax::kReplicaGroups},
    {AttrKey::kChannelId, AttrSyntax::kInt},
    {AttrKey::kDimensions, AttrSyntax::kInts1},
};
const OpDef kRaggedAllToAllOp = {
    .name = "ragged-all-to-all",
    .arity = exactly(6),
    .traits = kCollective | kNeedsShape,
    .attrs = kRaggedAllToAllAttrs,
    .infer_shape = infer_ragged_all_to_all,
    .work = ragged_all_to_all_work,
    .evaluation = EvaluationKind::kRaggedAllToAll,
    .rules = {FusionRule::kNever, LayoutRole::kKeep, ValueRule::kMakesAll, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kSecond, OverwriteRule::kNever, AsyncKind::kRaggedAllToAll, AsyncPart::kWrapped,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kFixed}};

constexpr AttrSpec kReduceScatterAttrs[] = {
    {AttrKey::kReplicaGroups, AttrSyntax::kReplicaGroups}, {AttrKey::kChannelId, AttrSyntax::kInt},
    {AttrKey::kConstrainLayout, AttrSyntax::kBool},        {AttrKey::kUseGlobalDeviceIds, AttrSyntax::kBool},
    {AttrKey::kToApply, AttrSyntax::kComputation, true},   {AttrKey::kMode, AttrSyntax::kWord},
    {AttrKey::kDimensions, AttrSyntax::kInts1, true},
};
const OpDef kReduceScatterOp = {
    .name = "reduce-scatter",
    .arity = at_least(0),
    .traits = kCollective | kNeedsShape,
    .attrs = kReduceScatterAttrs,
    .infer_shape = infer_reduce_scatter,
    .work = reduce_scatter_work,
    .evaluation = EvaluationKind::kCollective,
    .rules = {FusionRule::kNever, LayoutRole::kLike, ValueRule::kMakesAll, UseRule::kAll, CallRule::kEmbedded,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kReduceScatter, AsyncPart::kWrapped,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kReduceScatter}};

}  // namespace hlosim
