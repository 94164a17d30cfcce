#include "prefetch/copy_slots.h"

#include <algorithm>

namespace hlosim {

bool CopySlots::add(int32_t first, int32_t end, double time) {
  const auto at = std::upper_bound(copies_.begin(), copies_.end(), first,
                                   [](int32_t start, const Copy& copy) { return start < copy.first; });
  const auto number = static_cast<size_t>(at - copies_.begin());
  copies_.insert(at, {first, end, time, -1, 0});
  if (assign_from(number)) return true;
  copies_.erase(copies_.begin() + static_cast<std::ptrdiff_t>(number));
  assign_from(number);
  return false;
}

void CopySlots::remove(int32_t first, int32_t end, double time) {
  for (size_t i = 0; i < copies_.size(); ++i) {
    if (copies_[i].first != first || copies_[i].end != end || copies_[i].time != time) continue;
    copies_.erase(copies_.begin() + static_cast<std::ptrdiff_t>(i));
    assign_from(i);
    return;
  }
}

bool CopySlots::assign_from(size_t from) {
  // Sums of times: less than a millionth of a picosecond is rounding.
  constexpr double kNothing = 1e-6;
  int32_t step = from > 0 ? copies_[from - 1].done_step : 0;
  double left = from > 0 ? copies_[from - 1].done_left : (offered_.empty() ? 0 : offered_[0]);
  bool all_done = true;
  for (size_t i = from; i < copies_.size(); ++i) {
    Copy& copy = copies_[i];
    if (copy.first > step) step = copy.first, left = offered_[static_cast<size_t>(step)];
    double needed = copy.time;
    while (needed > kNothing && step < copy.end) {
      const double taken = std::min(left, needed);
      needed -= taken, left -= taken;
      if (left > 0) break;
      ++step;
      left = static_cast<size_t>(step) < offered_.size() ? offered_[static_cast<size_t>(step)] : 0;
    }
    all_done &= needed <= kNothing;
    const bool same = copy.done_step == step && copy.done_left == left;
    copy.done_step = step, copy.done_left = left;
    if (!all_done) return false;
    if (same && i > from) break;
  }
  return all_done;
}

int32_t CopySlots::under_way(int32_t first, int32_t end) const {
  std::vector<std::pair<int32_t, int32_t>> changes;
  for (const Copy& copy : copies_) {
    if (copy.end <= first || copy.first >= end) continue;
    changes.emplace_back(std::max(copy.first, first), 1);
    changes.emplace_back(copy.end, -1);
  }
  std::sort(changes.begin(), changes.end());
  int32_t most = 0, now = 0;
  for (const auto& [gap, change] : changes) most = std::max(most, now += change);
  return most;
}

bool CopySlots::in_order(int32_t first, int32_t end) const {
  return std::ranges::none_of(copies_, [&](const Copy& copy) {
    return (copy.first < first && copy.end > end) || (copy.first > first && copy.end < end);
  });
}

}  // namespace hlosim
