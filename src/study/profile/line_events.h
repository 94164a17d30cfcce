// The events of one line of a device, a profile's or a trace's: how long each took without those inside of
// it, and which run of a program it belongs to.
//
//   for_each_self(events, [&](const LineEvent& event, Picoseconds self) { … });
//   const ProgramRuns runs(modules);
//   runs.at(event.start)                           // index of the program that ran then, or -1
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/units.h"

namespace hlosim {

struct LineEvent {
  int64_t start = 0, duration = 0;  // ps
  uint32_t what = 0;                // the reader's number for what it is
  int64_t end() const { return start > INT64_MAX - duration ? INT64_MAX : start + duration; }
};

/// Calls `each` with every event in the order of time, outer ones first, and its time without what began
/// while it ran. Sorts `events`. What reaches beyond its parent's end counts for the parent up to there.
void for_each_self(std::vector<LineEvent>& events,
                   const std::function<void(const LineEvent&, Picoseconds)>& each);

/// Runs of programs on one device.
class ProgramRuns {
 public:
  explicit ProgramRuns(std::vector<LineEvent> runs);
  /// LineEvent::what of the run that was under way; -1: none.
  int64_t at(int64_t time) const;

 private:
  std::vector<LineEvent> runs_;
};

}  // namespace hlosim
