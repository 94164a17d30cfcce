#include "profile/line_events.h"

#include <gtest/gtest.h>

#include <map>

namespace hlosim {
namespace {

std::map<uint32_t, int64_t> self_times(std::vector<LineEvent> events) {
  std::map<uint32_t, int64_t> times;
  for_each_self(events, [&](const LineEvent& event, Picoseconds self) { times[event.what] = self.count(); });
  return times;
}

TEST(LineEvents, WhatIsInsideIsTakenOff) {
  // A loop around two bodies, one of them a call.
  EXPECT_EQ(self_times({{10, 20, 1}, {0, 100, 0}, {12, 5, 2}, {40, 50, 3}}),
            (std::map<uint32_t, int64_t>{{0, 30}, {1, 15}, {2, 5}, {3, 50}}));
}

TEST(LineEvents, NeighboursAreNotInsideOfEachOther) {
  EXPECT_EQ(self_times({{0, 10, 0}, {10, 10, 1}, {20, 0, 2}, {20, 5, 3}}),
            (std::map<uint32_t, int64_t>{{0, 10}, {1, 10}, {2, 0}, {3, 5}}));
}

TEST(LineEvents, WhatReachesBeyondItsParentCountsOnce) {
  // The clock's grain: a child may end after its parent.
  EXPECT_EQ(self_times({{0, 100, 0}, {90, 20, 1}, {105, 10, 2}}),
            (std::map<uint32_t, int64_t>{{0, 90}, {1, 20}, {2, 10}}));
}

TEST(ProgramRuns, FindTheRunUnderWay) {
  const ProgramRuns runs({{50, 10, 2}, {0, 40, 1}});
  EXPECT_EQ(runs.at(0), 1);
  EXPECT_EQ(runs.at(39), 1);
  EXPECT_EQ(runs.at(40), -1);
  EXPECT_EQ(runs.at(55), 2);
  EXPECT_EQ(runs.at(60), -1);
  EXPECT_EQ(ProgramRuns({}).at(3), -1);
}

}  // namespace
}  // namespace hlosim
