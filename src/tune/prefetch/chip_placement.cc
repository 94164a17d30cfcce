#include "prefetch/chip_placement.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>

namespace hlosim {

ChipPlacement::ChipPlacement(const PrefetchProblem& problem) : problem_(problem), space_(empty_chip()) {}

TakenSpace ChipPlacement::empty_chip() const {
  TakenSpace space(std::max<int32_t>(static_cast<int32_t>(problem_.steps.size()), 1));
  for (size_t s = 0; s < problem_.taken.size(); ++s) {
    const auto step = static_cast<int32_t>(s);
    if (problem_.taken[s] > 0) space.take({step, step}, {0, problem_.taken[s]});
  }
  return space;
}

/// -1: none is large enough.
int64_t ChipPlacement::best_gap(TakenSpace& space, TimeSpan time, int64_t size) const {
  const TimeSpan times[] = {time};
  const int64_t offset = space.best_gap(times, size);
  return offset + size <= problem_.capacity ? offset : -1;
}

bool ChipPlacement::fits(TimeSpan time, int64_t size) { return best_gap(space_, time, size) >= 0; }

bool ChipPlacement::take(const std::vector<TimeSpan>& times, int64_t size) {
  std::optional<TakenSpace> before;
  if (times.size() > 1) before = space_;
  const size_t count = places_.size();
  for (const TimeSpan time : times) {
    const int64_t offset = best_gap(space_, time, size);
    if (offset < 0) {
      if (before) space_ = std::move(*before);
      places_.resize(count);
      return false;
    }
    space_.take(time, {offset, offset + size});
    places_.push_back({time, size, offset});
  }
  return true;
}

bool ChipPlacement::repack() {
  for (const bool by_size : {true, false}) {
    std::vector<size_t> order(places_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      const Place &x = places_[a], &y = places_[b];
      const int64_t time_x = x.time.last - x.time.first, time_y = y.time.last - y.time.first;
      return by_size ? std::tie(x.size, time_x) > std::tie(y.size, time_y)
                     : std::tie(time_x, x.size) > std::tie(time_y, y.size);
    });
    TakenSpace space = empty_chip();
    std::vector<Place> moved = places_;
    const bool all = std::ranges::all_of(order, [&](size_t i) {
      Place& place = moved[i];
      place.offset = best_gap(space, place.time, place.size);
      if (place.offset >= 0) space.take(place.time, {place.offset, place.offset + place.size});
      return place.offset >= 0;
    });
    if (!all) continue;
    places_ = std::move(moved);
    space_ = std::move(space);
    return true;
  }
  return false;
}

std::vector<int64_t> ChipPlacement::offsets() const {
  std::vector<int64_t> offsets;
  for (const Place& place : places_) offsets.push_back(place.offset);
  return offsets;
}

}  // namespace hlosim
