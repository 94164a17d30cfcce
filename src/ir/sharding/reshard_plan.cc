#include "sharding/reshard_plan.h"

#include <algorithm>

namespace hlosim {
namespace {

size_t common_prefix(const AxisList& a, const AxisList& b) {
  size_t n = 0;
  while (n < a.size() && n < b.size() && a[n] == b[n]) ++n;
  return n;
}

AxisList first(const AxisList& list, size_t count) {
  return {list.begin(), list.begin() + static_cast<std::ptrdiff_t>(count)};
}
AxisList behind(const AxisList& list, size_t count) {
  return {list.begin() + static_cast<std::ptrdiff_t>(count), list.end()};
}
AxisList joined(AxisList list, const AxisList& more) {
  list.insert(list.end(), more.begin(), more.end());
  return list;
}

class Planner {
 public:
  Planner(const DeviceAxes& axes, const Tiling& from, const Tiling& to, std::span<const int64_t> sizes)
      : axes_(axes), now_(from), to_(to), sizes_(sizes) {}

  std::vector<ReshardStep> plan() {
    reduce();
    while (now_.cuts != to_.cuts)
      if (!slice() && !all_to_all() && !permute()) gather();
    return std::move(steps_);
  }

 private:
  int64_t size(size_t d) const { return sizes_[d]; }
  int64_t local_elements(const Tiling& tiling) const {
    int64_t elements = 1;
    for (size_t d = 0; d < sizes_.size(); ++d) elements *= shard_size(axes_, tiling.cuts[d], sizes_[d]);
    return elements;
  }
  bool is_free(const AxisList& list) const { return (set_of(list) & now_.used()) == 0; }

  void add(ReshardKind kind, AxisList along, size_t dimension, Tiling result, int64_t payload,
           size_t target = 0) {
    const int64_t members = axes_.length(along);
    steps_.push_back({kind, std::move(along), static_cast<int64_t>(dimension), static_cast<int64_t>(target),
                      result, members, payload});
    now_ = std::move(result);
  }

  // Summands: those axes that go on to cut a dimension scatter, the others become copies. What each device
  // holds of all is cut first where that is free.
  void reduce() {
    const AxisSet wanted = now_.partial & ~to_.partial;
    if (wanted == 0) return;
    while (slice()) {
    }
    AxisSet left = wanted;
    for (size_t d = 0; d < sizes_.size(); ++d) {
      if (!extends(to_.cuts[d], now_.cuts[d])) continue;
      AxisList along;
      for (size_t i = now_.cuts[d].size(); i < to_.cuts[d].size(); ++i) {
        if ((left >> to_.cuts[d][i] & 1) == 0) break;
        along.push_back(to_.cuts[d][i]);
      }
      if (along.empty() || !refines(axes_, now_.cuts[d], joined(now_.cuts[d], along), size(d))) continue;
      Tiling result = now_;
      result.cuts[d] = joined(result.cuts[d], along);
      result.partial &= ~set_of(along);
      left &= ~set_of(along);
      const int64_t n = axes_.length(along);
      const int64_t payload = n * local_elements(result);
      add(ReshardKind::kReduceScatter, std::move(along), d, std::move(result), payload);
    }
    if (left == 0) return;
    Tiling result = now_;
    result.partial &= ~left;
    add(ReshardKind::kAllReduce, list_of(left), 0, std::move(result), local_elements(now_));
  }

  // A dimension is cut further by axes along which there are copies.
  bool slice() {
    for (size_t d = 0; d < sizes_.size(); ++d) {
      const AxisList &have = now_.cuts[d], &want = to_.cuts[d];
      if (have.size() == want.size() || !extends(want, have)) continue;
      size_t count = have.size();
      while (count < want.size() && is_free({want[count]})) ++count;
      while (count > have.size() && !refines(axes_, have, first(want, count), size(d))) --count;
      // Tiles of sizes between would not be those of the end.
      while (count > have.size() && !refines(axes_, first(want, count), want, size(d))) --count;
      if (count == have.size()) continue;
      AxisList along = behind(first(want, count), have.size());
      Tiling result = now_;
      result.cuts[d] = first(want, count);
      add(ReshardKind::kSlice, std::move(along), d, std::move(result), 0);
      return true;
    }
    return false;
  }

  // The last axes of one dimension's cut are the next that another one's wants.
  bool all_to_all() {
    for (size_t d = 0; d < sizes_.size(); ++d) {
      const AxisList& have = now_.cuts[d];
      const size_t keep = common_prefix(have, to_.cuts[d]);
      for (size_t start = keep; start < have.size(); ++start)
        for (size_t t = 0; t < sizes_.size(); ++t)
          if (t != d && move(d, start, t)) return true;
    }
    return false;
  }

  bool move(size_t d, size_t start, size_t t) {
    const AxisList along = behind(now_.cuts[d], start);
    const AxisList more = joined(now_.cuts[t], along);
    if (!extends(to_.cuts[t], more)) return false;
    const AxisList less = first(now_.cuts[d], start);
    if (!refines(axes_, less, now_.cuts[d], size(d)) || !refines(axes_, now_.cuts[t], more, size(t)) ||
        !refines(axes_, more, to_.cuts[t], size(t)))
      return false;
    Tiling result = now_;
    result.cuts[d] = less;
    result.cuts[t] = more;
    const int64_t payload = local_elements(result);
    add(ReshardKind::kAllToAll, along, d, std::move(result), payload, t);
    return true;
  }

  // Same numbers of tiles; or wanted axes come first in their dimension.
  bool permute() {
    bool same = true;
    for (size_t d = 0; d < sizes_.size(); ++d)
      same = same && axes_.length(now_.cuts[d]) == axes_.length(to_.cuts[d]);
    Tiling result = now_;
    if (same) {
      result.cuts = to_.cuts;
    } else if (!reorder(result)) {
      return false;
    }
    const int64_t elements = local_elements(now_);
    add(ReshardKind::kPermute, {}, 0, std::move(result), elements);
    return true;
  }

  /// Where a dimension's cut has axes that the end wants there, but behind others: these first, so that less
  /// is gathered. False: there is no such dimension.
  bool reorder(Tiling& result) const {
    bool any = false;
    for (size_t d = 0; d < sizes_.size(); ++d) {
      const AxisList &have = now_.cuts[d], &want = to_.cuts[d];
      if (want.empty() || size(d) % axes_.length(have) != 0) continue;
      size_t count = 0;
      while (count < want.size() && std::find(have.begin(), have.end(), want[count]) != have.end()) ++count;
      if (count <= common_prefix(have, want)) continue;
      AxisList order = first(want, count);
      for (const int axis : have)
        if (std::find(order.begin(), order.end(), axis) == order.end()) order.push_back(axis);
      any = any || order != have;
      result.cuts[d] = std::move(order);
    }
    return any;
  }

  // The unwanted axes of one dimension; all of them where tiles are of uneven size.
  void gather() {
    size_t best = sizes_.size();
    int64_t least = 0;
    for (size_t d = 0; d < sizes_.size(); ++d) {
      if (extends(to_.cuts[d], now_.cuts[d]) && is_fine(d)) continue;
      const Tiling result = gathered(d);
      const int64_t n = axes_.length(now_.cuts[d]) / axes_.length(result.cuts[d]);
      const int64_t sent = (n - 1) * local_elements(now_);
      if (best < sizes_.size() && sent >= least) continue;
      best = d;
      least = sent;
    }
    Tiling result = gathered(best);
    AxisList along = behind(now_.cuts[best], result.cuts[best].size());
    add(ReshardKind::kAllGather, std::move(along), best, std::move(result), local_elements(now_));
  }

  /// Can the cut only grow to what is wanted?
  bool is_fine(size_t d) const { return refines(axes_, now_.cuts[d], to_.cuts[d], size(d)); }

  Tiling gathered(size_t d) const {
    Tiling result = now_;
    const AxisList &have = now_.cuts[d], &want = to_.cuts[d];
    AxisList kept = first(have, common_prefix(have, want));
    if (kept.size() == have.size() || !refines(axes_, kept, have, size(d)) ||
        !refines(axes_, kept, want, size(d)))
      kept.clear();
    result.cuts[d] = std::move(kept);
    return result;
  }

  const DeviceAxes& axes_;
  Tiling now_;
  const Tiling& to_;
  std::span<const int64_t> sizes_;
  std::vector<ReshardStep> steps_;
};

}  // namespace

std::string_view to_text(ReshardKind kind) {
  constexpr std::string_view kNames[] = {"slice",   "all-gather", "all-to-all",
                                         "permute", "all-reduce", "reduce-scatter"};
  return kNames[static_cast<size_t>(kind)];
}

std::vector<ReshardStep> reshard_plan(const DeviceAxes& axes, const Tiling& from, const Tiling& to,
                                      std::span<const int64_t> sizes) {
  if (from == to) return {};
  return Planner(axes, from, to, sizes).plan();
}

}  // namespace hlosim
