#include "buffers/taken_space.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace hlosim {
namespace {

constexpr int64_t kNoEnd = std::numeric_limits<int64_t>::max();
constexpr int32_t kBucket = 32;  // moments; 16 to 64 make no difference
constexpr size_t kManySingles = 4 * kBucket;

/// The first range that ends behind `place`: near `at` as a rule.
const SpaceRange* first_behind(const SpaceRange* at, const SpaceRange* end, int64_t place) {
  const auto ends_before = [place](const SpaceRange& range) { return range.end <= place; };
  for (const SpaceRange* near = end - at > 4 ? at + 4 : end; at != near; ++at)
    if (!ends_before(*at)) return at;
  for (std::ptrdiff_t step = 4;; step *= 2) {
    if (end - at <= step) return std::partition_point(at, end, ends_before);
    if (!ends_before(at[step])) return std::partition_point(at, at + step, ends_before);
    at += step;
  }
}

void add(SpaceSet& set, SpaceRange range) {
  const auto first =
      set.begin() + (first_behind(set.data(), set.data() + set.size(), range.begin - 1) - set.data());
  if (first == set.end() || range.end < first->begin) {
    set.insert(first, range);
    return;
  }
  auto last = first + 1;
  while (last != set.end() && last->begin <= range.end) ++last;
  first->begin = std::min(first->begin, range.begin);
  first->end = std::max((last - 1)->end, range.end);
  set.erase(first + 1, last);
}

bool covers(TimeSpan a, TimeSpan b) { return a.first <= b.first && b.last <= a.last; }
bool overlap(TimeSpan a, TimeSpan b) { return a.first <= b.last && b.first <= a.last; }

/// Where the part of `time` within the bucket from `begin` on lies in it.
TimeSpan within_bucket(TimeSpan time, int32_t begin) {
  return {std::max(time.first - begin, 0), std::min(time.last - begin, kBucket - 1)};
}

}  // namespace

TakenSpace::TakenSpace(int32_t moments) {
  const uint32_t leaves = std::bit_ceil(static_cast<uint32_t>(std::max(moments, 1) + kBucket - 1) / kBucket);
  whole_ = {0, static_cast<int32_t>(leaves) * kBucket - 1};
  nodes_.resize(2 * leaves - 1);
  buckets_.resize(leaves);
}

void TakenSpace::take(size_t node, TimeSpan at, TimeSpan time, SpaceRange range) {
  add(nodes_[node].some, range);
  if (covers(time, at)) {
    add(nodes_[node].all, range);
  } else if (at.last - at.first < kBucket) {
    take(buckets_[static_cast<size_t>(at.first / kBucket)], at.first, {time, range});
  } else {
    const int32_t middle = at.first + (at.last - at.first) / 2;
    if (time.first <= middle) take(2 * node + 1, {at.first, middle}, time, range);
    if (time.last > middle) take(2 * node + 2, {middle + 1, at.last}, time, range);
  }
}

void TakenSpace::take(Bucket& bucket, int32_t begin, Single single) {
  bucket.singles.push_back(single);
  if (bucket.by_moment.empty() && bucket.singles.size() <= kManySingles) return;
  bucket.by_moment.resize(kBucket);
  for (const Single& one : bucket.singles) {
    const TimeSpan moments = within_bucket(one.time, begin);
    for (int32_t moment = moments.first; moment <= moments.last; ++moment)
      add(bucket.by_moment[static_cast<size_t>(moment)], one.range);
  }
  bucket.singles.clear();
}

void TakenSpace::collect(const Bucket& bucket, int32_t begin, TimeSpan time) {
  for (const Single& single : bucket.singles)
    if (overlap(single.time, time)) singles_.push_back(single.range);
  if (bucket.by_moment.empty()) return;
  const TimeSpan moments = within_bucket(time, begin);
  for (int32_t moment = moments.first; moment <= moments.last; ++moment)
    if (const SpaceSet& taken = bucket.by_moment[static_cast<size_t>(moment)]; !taken.empty())
      found_.push_back({0, &taken});
}

void TakenSpace::collect(size_t node, TimeSpan at, TimeSpan time) {
  if (nodes_[node].some.empty()) return;
  if (covers(time, at)) {
    found_.push_back({at.first - at.last, &nodes_[node].some});
    return;
  }
  if (!nodes_[node].all.empty()) found_.push_back({1, &nodes_[node].all});
  if (at.last - at.first < kBucket) {
    collect(buckets_[static_cast<size_t>(at.first / kBucket)], at.first, time);
    return;
  }
  const int32_t middle = at.first + (at.last - at.first) / 2;
  if (time.first <= middle) collect(2 * node + 1, {at.first, middle}, time);
  if (time.last > middle) collect(2 * node + 2, {middle + 1, at.last}, time);
}

/// Makes a set of them.
void TakenSpace::collect_singles() {
  if (singles_.empty()) return;
  std::sort(singles_.begin(), singles_.end(),
            [](const SpaceRange& a, const SpaceRange& b) { return a.begin < b.begin; });
  size_t last = 0;
  for (size_t i = 1; i < singles_.size(); ++i)
    if (singles_[i].begin <= singles_[last].end)
      singles_[last].end = std::max(singles_[last].end, singles_[i].end);
    else
      singles_[++last] = singles_[i];
  singles_.resize(last + 1);
  found_.push_back({0, &singles_});
}

int64_t TakenSpace::best_gap(std::span<const TimeSpan> times, int64_t size) {
  found_.clear();
  singles_.clear();
  for (const TimeSpan time : times) collect(0, whole_, time);
  collect_singles();
  // What is taken over the longest time leaves least to look at in the others.
  std::sort(found_.begin(), found_.end());
  found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
  free_.assign(1, {0, kNoEnd});
  for (const Found& found : found_) leave_free(*found.taken, size);
  SpaceRange best = free_.back();
  for (const SpaceRange& gap : free_)
    if (gap.end - gap.begin < best.end - best.begin) best = gap;
  return best.begin;
}

/// What `taken` leaves of the free ranges, without those that have become too small. Few of the free ranges
/// are met as a rule: those between them are found by steps that double, and copied together.
void TakenSpace::leave_free(const SpaceSet& taken, int64_t size) {
  next_free_.clear();
  const SpaceRange *range = taken.data(), *const end = range + taken.size();
  const SpaceRange *gap = free_.data(), *const last_gap = gap + free_.size() - 1, *unmet = gap;
  while (true) {
    range = first_behind(range, end, gap->begin);
    if (range == end) break;
    gap = first_behind(gap, last_gap, range->begin);
    if (gap->begin >= range->end) continue;
    next_free_.insert(next_free_.end(), unmet, gap);
    int64_t begin = gap->begin;
    do {
      if (range->begin - begin >= size) next_free_.push_back({begin, range->begin});
      begin = range->end;
    } while (++range != end && range->begin < gap->end);
    if (gap->end - begin >= size) next_free_.push_back({begin, gap->end});
    unmet = gap + 1;
    if (gap == last_gap) break;
    ++gap, --range;  // it may reach into the next one
  }
  if (unmet == free_.data()) return;
  next_free_.insert(next_free_.end(), unmet, last_gap + 1);
  free_.swap(next_free_);
}

}  // namespace hlosim
