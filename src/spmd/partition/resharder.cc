#include "partition/resharder.h"

#include <algorithm>

#include "base/check.h"
#include "layout/packed_bytes.h"
#include "ops/collective_groups.h"

namespace hlosim {
namespace {

CollectiveKind kind_of(ReshardKind kind) {
  switch (kind) {
    case ReshardKind::kAllGather:
      return CollectiveKind::kAllGather;
    case ReshardKind::kAllToAll:
      return CollectiveKind::kAllToAll;
    case ReshardKind::kAllReduce:
      return CollectiveKind::kAllReduce;
    case ReshardKind::kReduceScatter:
      return CollectiveKind::kReduceScatter;
    case ReshardKind::kSlice:
    case ReshardKind::kPermute:
      break;
  }
  return CollectiveKind::kPermute;
}

/// What one device sends in a step, as the interconnect's model has it. Elements of four bits are packed in
/// the array that each member gives.
int64_t bytes_of(ShapeRef shape, const ReshardStep& step) {
  const Bytes payload(packed_bytes(step.payload, shape->element_type));
  return sent_per_member(kind_of(step.kind), step.members, payload).count();
}

}  // namespace

int64_t moved_to(const DeviceAxes& axes, int64_t place, const AxisList& list, int64_t index) {
  for (size_t i = list.size(); i-- > 0;) {
    const int axis = list[i];
    place += (index % axes.size(axis) - axes.coordinate(place, axis)) * axes.stride(axis);
    index /= axes.size(axis);
  }
  return place;
}

// ── from tiling to tiling ───────────────────────────────────────

int64_t Resharder::bytes(const SpmdValue& value, const Tiling& tiling) const {
  if (!value.shape->is_array() || value.tiling == tiling) return 0;
  Tiling goal = tiling;
  goal.partial = value.tiling.partial & tiling.partial;
  int64_t sum = 0;
  for (const ReshardStep& step : reshard_plan(axes_, value.tiling, goal, value.shape->dimensions))
    sum += bytes_of(value.shape, step);
  return sum;
}

SpmdValue Resharder::to(const SpmdValue& value, const Tiling& tiling) {
  if (!value.shape->is_array() || value.tiling == tiling) return value;
  if (value.shape->element_count() == 0) {  // nothing to send
    const ShapeRef part = shard_shape(axes_, tiling, value.shape, emit_.module().shapes());
    return {emit_.broadcast(emit_.number(0, part->element_type), part), tiling, value.shape};
  }
  HLOSIM_CHECK(value.tiling.manual == tiling.manual, "manual axes {} and {}", value.tiling.manual,
               tiling.manual);
  auto& known = known_[value.id.index];
  for (const auto& [other, id] : known)
    if (other == tiling) return {id, tiling, value.shape};
  if ((tiling.partial & ~value.tiling.partial) != 0 ||
      (value.tiling.partial != 0 && tiling.partial != 0 && value.tiling.partial_kind != tiling.partial_kind))
    return as_summands(value, tiling);
  SpmdValue now = value;
  for (const ReshardStep& next : reshard_plan(axes_, value.tiling, tiling, value.shape->dimensions)) {
    now = {step(now, next), next.result, value.shape};
    known_[value.id.index].emplace_back(next.result, now.id);
  }
  return now;
}

/// Copies become summands: one of them stays, the others are neutral.
SpmdValue Resharder::as_summands(const SpmdValue& value, const Tiling& tiling) {
  Tiling without = tiling;
  without.partial =
      value.tiling.partial_kind == tiling.partial_kind ? value.tiling.partial & tiling.partial : 0;
  const AxisSet added = tiling.partial & ~without.partial;
  SpmdValue now = to(value, without);
  const InstructionId zero = emit_.number(0);
  const InstructionId first = emit_.compare(emit_.index(list_of(added)), zero, "EQ");
  const InstructionId neutral = emit_.neutral(tiling.partial_kind, value.shape->element_type);
  return {emit_.select(first, now.id, neutral), tiling, value.shape};
}

SpmdValue Resharder::recut(const SpmdValue& value, int64_t dimension, const AxisList& cut) {
  Tiling tiling = value.tiling;
  tiling.partial = 0;
  for (AxisList& other : tiling.cuts)
    for (const int axis : cut) std::erase(other, axis);
  tiling.cut(dimension) = cut;
  return to(value, tiling);
}

InstructionId Resharder::step(const SpmdValue& value, const ReshardStep& step) {
  const int64_t bytes = bytes_of(value.shape, step);
  const AxisList& cut = step.result.cuts.empty() ? step.along : step.result.cut(step.dimension);
  InstructionId made;
  switch (step.kind) {
    case ReshardKind::kSlice:
      return sliced(value, step);
    case ReshardKind::kAllGather:
      made = emit_.all_gather(value.id, step.along, step.dimension);
      break;
    case ReshardKind::kAllToAll:
      return exchanged(value, step);
    case ReshardKind::kPermute:
      return permuted(value, step.result);
    case ReshardKind::kAllReduce:
      made = emit_.all_reduce(value.id, step.along, value.tiling.partial_kind);
      break;
    case ReshardKind::kReduceScatter:
      made = emit_.reduce_scatter(filled_up(value, step.dimension, cut), step.along, step.dimension,
                                  value.tiling.partial_kind);
      break;
  }
  record(step.kind, made, value, step.result, bytes);
  made_.reshardings.back().along = step.along;
  made_.reshardings.back().dimension = step.dimension;
  return step.kind == ReshardKind::kAllGather ? trimmed(made, value, step.dimension, cut) : made;
}

/// Where nothing was cut before, the tiles of `cut` may reach beyond the array.
InstructionId Resharder::filled_up(const SpmdValue& value, int64_t dimension, const AxisList& cut) {
  if (!value.tiling.cut(dimension).empty()) return value.id;
  const int64_t size = value.shape->dim(dimension);
  return emit_.pad(value.id, dimension, 0, axes_.length(cut) * shard_size(axes_, cut, size) - size);
}

/// Where nothing is cut any more, what reached beyond the array goes.
InstructionId Resharder::trimmed(InstructionId x, const SpmdValue& value, int64_t dimension,
                                 const AxisList& cut) {
  return cut.empty() ? emit_.slice(x, dimension, 0, value.shape->dim(dimension)) : x;
}

InstructionId Resharder::sliced(const SpmdValue& value, const ReshardStep& step) {
  const AxisList& cut = step.result.cut(step.dimension);
  const int64_t size = shard_size(axes_, cut, value.shape->dim(step.dimension));
  const InstructionId whole = filled_up(value, step.dimension, cut);
  return emit_.dynamic_slice(whole, step.dimension, emit_.times(emit_.index(step.along), size), size);
}

InstructionId Resharder::exchanged(const SpmdValue& value, const ReshardStep& step) {
  const int64_t d = step.dimension, t = step.target, n = axes_.length(step.along);
  const InstructionId whole = filled_up(value, t, step.result.cut(t));
  const ShapeRef local = emit_.shape(whole);
  std::vector<int64_t> split(local->dimensions.begin(), local->dimensions.end());
  split[static_cast<size_t>(t)] /= n;
  split.insert(split.begin() + t, n);
  const InstructionId moved = emit_.all_to_all(emit_.reshape(whole, split), step.along, t);
  record(step.kind, moved, value, step.result, bytes_of(value.shape, step));
  std::vector<int64_t> order, sizes;
  for (int64_t i = 0; i < static_cast<int64_t>(split.size()); ++i) {
    if (i == t) continue;
    if (i == (d < t ? d : d + 1)) order.push_back(t);
    order.push_back(i);
  }
  for (int64_t i = 0; i < local->rank(); ++i)
    sizes.push_back(i == t ? local->dim(i) / n : i == d ? local->dim(i) * n : local->dim(i));
  return trimmed(emit_.reshape(emit_.transpose(moved, order), sizes), value, d, step.result.cut(d));
}

// Places with the same tiles, summands and own ways send to each other; among those that hold copies, the
// k-th to the k-th, and to themselves where they can.
InstructionId Resharder::permuted(const SpmdValue& value, const Tiling& to) {
  const Tiling& from = value.tiling;
  const auto key_lists = [&](const Tiling& tiling) {
    std::vector<AxisList> lists = tiling.cuts;
    const AxisSet neither = axes_.all() & ~from.used() & ~to.used();
    lists.push_back(list_of(tiling.partial | tiling.manual | neither));
    lists.push_back(list_of(axes_.all() & ~tiling.used() & ~neither));
    return lists;
  };
  const std::vector<AxisList> theirs = key_lists(from), ours = key_lists(to);
  const auto key = [&](const std::vector<AxisList>& lists, int64_t place) {
    int64_t index = 0;
    for (const AxisList& list : lists) index = index * axes_.length(list) + axes_.index(place, list);
    return index;
  };
  std::vector<int64_t> source(static_cast<size_t>(axes_.devices()));
  for (int64_t place = 0; place < axes_.devices(); ++place)
    source[static_cast<size_t>(key(theirs, place))] = place;
  std::vector<std::vector<int64_t>> pairs;
  for (int64_t place = 0; place < axes_.devices(); ++place)
    pairs.push_back({axes_.device_at(source[static_cast<size_t>(key(ours, place))]), axes_.device_at(place)});
  std::sort(pairs.begin(), pairs.end());
  const InstructionId made = emit_.permute(value.id, pairs);
  record(ReshardKind::kPermute, made, value, to, packed_bytes(*emit_.shape(made)));
  return made;
}

// ── devices in another order ────────────────────────────────────

InstructionId Resharder::shift(const SpmdValue& value, const std::vector<int64_t>& holder, bool forth) {
  std::vector<std::vector<int64_t>> pairs;
  for (int64_t place = 0; place < axes_.devices(); ++place) {
    const int64_t there = holder[static_cast<size_t>(place)], here = axes_.device_at(place);
    pairs.push_back(forth ? std::vector<int64_t>{there, here} : std::vector<int64_t>{here, there});
  }
  std::sort(pairs.begin(), pairs.end());
  const InstructionId made = emit_.permute(value.id, pairs);
  record(ReshardKind::kPermute, made, value, value.tiling, packed_bytes(*emit_.shape(made)));
  return made;
}

SpmdValue Resharder::placed(const SpmdValue& value, const std::vector<int64_t>& holder) {
  return {shift(value, holder, true), value.tiling, value.shape};
}

SpmdValue Resharder::unplaced(const SpmdValue& value, const std::vector<int64_t>& holder) {
  return {shift(value, holder, false), value.tiling, value.shape};
}

// ── what lies beyond the array ──────────────────────────────────

InstructionId Resharder::masked(InstructionId x, int64_t dimension, InstructionId start, int64_t size,
                                InstructionId neutral) {
  const InstructionId iota = emit_.iota(emit_.shape(x), dimension);
  const InstructionId at = emit_.plus(iota, emit_.broadcast(start, emit_.shape(x)));
  const InstructionId below = emit_.compare(at, emit_.number(size), "LT");
  const InstructionId inside = emit_.both(emit_.compare(at, emit_.number(0), "GE"), below);
  return emit_.select(inside, x, neutral);
}

InstructionId Resharder::masked(const SpmdValue& value, int64_t dimension, InstructionId neutral) {
  const AxisList& cut = value.tiling.cut(dimension);
  const int64_t size = value.shape->dim(dimension);
  if (!is_padded(axes_, cut, size)) return value.id;
  const ShapeRef local = emit_.shape(value.id);
  const InstructionId start = emit_.times(emit_.index(cut), shard_size(axes_, cut, size));
  const InstructionId begin = emit_.broadcast(start, local);
  const InstructionId at = emit_.plus(emit_.iota(local, dimension), begin);
  return emit_.select(emit_.compare(at, emit_.number(size), "LT"), value.id, neutral);
}

InstructionId Resharder::masked(const SpmdValue& value, InstructionId neutral) {
  SpmdValue now = value;
  for (int64_t i = 0; i < value.shape->rank(); ++i) now.id = masked(now, i, neutral);
  return now.id;
}

// ── neighbours ──────────────────────────────────────────────────

InstructionId Resharder::window(const SpmdValue& value, int64_t dimension, const AxisList& cut,
                                std::vector<int64_t> starts, int64_t size) {
  const int64_t whole = value.shape->dim(dimension);
  const AxisList& have = value.tiling.cut(dimension);
  // Nothing of the array is wanted: anything will do.
  int64_t some = 0;
  for (const int64_t start : starts)
    if (start < whole && start + size > 0) some = start;
  for (int64_t& start : starts)
    if (start >= whole || start + size <= 0) start = some;
  if (have.empty()) return cut_out(value.id, dimension, cut, starts, size);
  HLOSIM_CHECK(have == cut, "a window along another cut");
  const int64_t tiles = axes_.length(cut), shard = shard_size(axes_, cut, whole);
  int64_t first = 0, last = 0;  // the nearest and farthest neighbours
  bool any = false;
  for (int64_t t = 0; t < tiles; ++t) {
    const int64_t start = starts[static_cast<size_t>(t)];
    const int64_t low = std::max<int64_t>(start, 0), high = std::min(start + size, whole);
    if (low >= high) continue;
    const int64_t nearest = low / shard - t, farthest = (high - 1) / shard - t;
    first = any ? std::min(first, nearest) : nearest;
    last = any ? std::max(last, farthest) : farthest;
    any = true;
  }
  const int64_t hops = last - first + 1 - (first <= 0 && last >= 0);
  if (hops < tiles - 1 || tiles == 2) return from_neighbours(value, dimension, starts, size, first, last);
  const InstructionId all = emit_.all_gather(value.id, cut, dimension);
  Tiling gathered = value.tiling;
  gathered.cut(dimension).clear();
  record(ReshardKind::kAllGather, all, value, gathered, (tiles - 1) * packed_bytes(*emit_.shape(value.id)));
  return cut_out(all, dimension, cut, starts, size);
}

/// Parts of the tiles from distance `first` to `last`, side by side.
InstructionId Resharder::from_neighbours(const SpmdValue& value, int64_t dimension,
                                         const std::vector<int64_t>& starts, int64_t size, int64_t first,
                                         int64_t last) {
  const AxisList& cut = value.tiling.cut(dimension);
  const int64_t whole = value.shape->dim(dimension), shard = shard_size(axes_, cut, whole);
  int64_t front = shard, back = shard;  // rows of the first and the last tile that nobody needs
  for (size_t t = 0; t < starts.size(); ++t) {
    const int64_t low = std::max<int64_t>(starts[t], 0), high = std::min(starts[t] + size, whole);
    if (low >= high) continue;
    const int64_t tile = static_cast<int64_t>(t);
    front = std::min(front, std::max<int64_t>(0, low - (tile + first) * shard));
    back = std::min(back, std::max<int64_t>(0, (tile + last + 1) * shard - high));
  }
  std::vector<InstructionId> parts;
  int64_t width = 0;
  for (int64_t distance = first; distance <= last; ++distance) {
    const int64_t begin = distance == first ? front : 0;
    const int64_t end = distance == last ? shard - back : shard;
    if (begin >= end) continue;
    const InstructionId part = emit_.slice(value.id, dimension, begin, end - begin);
    parts.push_back(distance == 0 ? part : from_neighbour(value, part, dimension, distance));
    width += end - begin;
  }
  if (parts.empty()) parts.push_back(value.id), width = shard, front = 0;
  std::vector<int64_t> offsets;
  for (size_t t = 0; t < starts.size(); ++t)
    offsets.push_back(starts[t] - (static_cast<int64_t>(t) + first) * shard - front);
  return cut_out(emit_.concatenate(parts, dimension), dimension, cut, offsets, size);
}

InstructionId Resharder::from_neighbour(const SpmdValue& value, InstructionId part, int64_t dimension,
                                        int64_t distance) {
  const AxisList& cut = value.tiling.cut(dimension);
  const int64_t tiles = axes_.length(cut);
  std::vector<std::vector<int64_t>> pairs;
  for (int64_t place = 0; place < axes_.devices(); ++place) {
    const int64_t from = axes_.index(place, cut) + distance;
    if (from < 0 || from >= tiles) continue;
    pairs.push_back({axes_.device_at(moved_to(axes_, place, cut, from)), axes_.device_at(place)});
  }
  std::sort(pairs.begin(), pairs.end());
  const InstructionId made = emit_.permute(part, pairs);
  record(ReshardKind::kPermute, made, value, value.tiling, packed_bytes(*emit_.shape(made)));
  return made;
}

/// `size` elements from offsets[tile] on; beyond what there is, zeros.
InstructionId Resharder::cut_out(InstructionId x, int64_t dimension, const AxisList& cut,
                                 std::vector<int64_t> offsets, int64_t size) {
  const int64_t width = emit_.shape(x)->dim(dimension);
  const auto [least, most] = std::minmax_element(offsets.begin(), offsets.end());
  const int64_t low = std::max<int64_t>(0, -*least), high = std::max<int64_t>(0, *most + size - width);
  const InstructionId padded = emit_.pad(x, dimension, low, high);
  for (int64_t& offset : offsets) offset += low;
  if (*least == *most) return emit_.slice(padded, dimension, offsets[0], size);
  return emit_.dynamic_slice(padded, dimension, emit_.choose(cut, offsets), size);
}

InstructionId Resharder::mirrored(const SpmdValue& value, InstructionId x, int64_t dimension) {
  const AxisList& cut = value.tiling.cut(dimension);
  if (cut.empty()) return x;
  std::vector<std::vector<int64_t>> pairs;
  for (int64_t place = 0; place < axes_.devices(); ++place) {
    const int64_t from = axes_.length(cut) - 1 - axes_.index(place, cut);
    pairs.push_back({axes_.device_at(moved_to(axes_, place, cut, from)), axes_.device_at(place)});
  }
  std::sort(pairs.begin(), pairs.end());
  const InstructionId made = emit_.permute(x, pairs);
  record(ReshardKind::kPermute, made, value, value.tiling, packed_bytes(*emit_.shape(made)));
  return made;
}

void Resharder::record(ReshardKind kind, InstructionId collective, const SpmdValue& value, const Tiling& to,
                       int64_t bytes) {
  Resharding one;
  one.kind = kind;
  one.collective = collective;
  one.moved = value.id;
  one.from = to_text(axes_, value.tiling);
  one.to = to_text(axes_, to);
  one.bytes = bytes;
  one.in_loop = in_loop_;
  if (asker_) {
    one.asked_by = asker_->name;
    one.offset = asker_->offset;
  }
  made_.reshardings.push_back(std::move(one));
}

}  // namespace hlosim
