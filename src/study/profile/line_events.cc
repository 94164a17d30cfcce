#include "profile/line_events.h"

#include <algorithm>

namespace hlosim {

void for_each_self(std::vector<LineEvent>& events,
                   const std::function<void(const LineEvent&, Picoseconds)>& each) {
  std::stable_sort(events.begin(), events.end(), [](const LineEvent& a, const LineEvent& b) {
    return a.start != b.start ? a.start < b.start : a.duration > b.duration;
  });
  std::vector<int64_t> self(events.size());
  std::vector<std::pair<size_t, int64_t>> open;  // index, end
  for (size_t i = 0; i < events.size(); ++i) {
    const LineEvent& event = events[i];
    while (!open.empty() && open.back().second <= event.start) open.pop_back();
    self[i] = event.duration;
    if (!open.empty()) {
      const int64_t end = std::min(event.end(), open.back().second);
      self[open.back().first] -= end - event.start;
    }
    // Nothing inside ends later than what it is in: later events would count twice.
    open.emplace_back(i, open.empty() ? event.end() : std::min(event.end(), open.back().second));
  }
  for (size_t i = 0; i < events.size(); ++i) each(events[i], Picoseconds(std::max<int64_t>(self[i], 0)));
}

ProgramRuns::ProgramRuns(std::vector<LineEvent> runs) : runs_(std::move(runs)) {
  std::stable_sort(runs_.begin(), runs_.end(),
                   [](const LineEvent& a, const LineEvent& b) { return a.start < b.start; });
}

int64_t ProgramRuns::at(int64_t time) const {
  auto next = std::upper_bound(runs_.begin(), runs_.end(), time,
                               [](int64_t value, const LineEvent& run) { return value < run.start; });
  if (next == runs_.begin()) return -1;
  --next;
  return time < next->end() || next->duration == 0 ? static_cast<int64_t>(next->what) : -1;
}

}  // namespace hlosim
