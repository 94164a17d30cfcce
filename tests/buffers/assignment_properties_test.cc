// What holds for every assignment, on random modules, against a slow and obvious oracle.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "buffers/space_use.h"
#include "support/analysed.h"
#include "support/random_dataflow.h"

namespace hlosim {
namespace {

using test::Analysed;

/// Steps at which a value is needed, by walking everything that happens: made, seen, used.
std::set<int32_t> needed_steps(const Analysed& m, ValueIndex value) {
  const BufferAnalysis& b = *m.buffers;
  std::set<int32_t> steps;
  int32_t first = b.schedule.step_of[b.definer(value)], last = first;
  const auto see = [&](int32_t step) { last = std::max(last, step); };
  for (const Place place : b.values.positions(value)) {
    const InstructionId at = b.places.instruction(place);
    see(b.schedule.step_of[at]);
    const auto& operands_of = [&](InstructionId user) { return (*m.module)[user].operands; };
    for (const InstructionId user : b.schedule.steps) {
      const auto operands = operands_of(user);
      if (std::find(operands.begin(), operands.end(), at) == operands.end()) continue;
      const Opcode opcode = (*m.module)[user].opcode;
      // What only looks at the table doesn't read an element; loops and calls hand values on.
      if (opcode == Opcode::kTuple || opcode == Opcode::kWhile || opcode == Opcode::kCall) continue;
      if ((opcode == Opcode::kGetTupleElement || opcode == Opcode::kCopy) && b.places.part(place) != 0)
        continue;
      see(b.schedule.step_of[user]);
    }
  }
  for (int32_t step = first; step <= last; ++step) steps.insert(step);
  return steps;
}

bool is_read_by(const Analysed& m, ValueIndex user, ValueIndex operand) {
  const auto operands = (*m.module)[m.buffers->definer(user)].operands;
  for (const Place place : m.buffers->values.positions(operand))
    if (std::find(operands.begin(), operands.end(), m.buffers->places.instruction(place)) != operands.end())
      return true;
  return false;
}

/// No two values that are needed at one step lie on the same bytes, but where they have to share, or where
/// one ends exactly where it is overwritten by what is made of it.
void expect_no_overlap(const Analysed& m, const std::string& text) {
  const BufferAnalysis& b = *m.buffers;
  std::map<ValueIndex, std::set<int32_t>> needed;
  for (const Allocation& allocation : b.assignment.allocations)
    for (const AssignedValue& at : allocation.values)
      if (b.ranges[static_cast<size_t>(at.value)].known()) needed[at.value] = needed_steps(m, at.value);
  for (const Allocation& allocation : b.assignment.allocations)
    for (size_t i = 0; i < allocation.values.size(); ++i)
      for (size_t k = 0; k < i; ++k) {
        const AssignedValue &x = allocation.values[i], &y = allocation.values[k];
        if (x.offset >= y.offset + y.size || y.offset >= x.offset + x.size) continue;
        if (b.buffers->of(x.value) == b.buffers->of(y.value)) continue;
        std::vector<int32_t> both;
        std::set_intersection(needed[x.value].begin(), needed[x.value].end(), needed[y.value].begin(),
                              needed[y.value].end(), std::back_inserter(both));
        if (both.empty()) continue;
        const bool x_later = *needed[x.value].begin() > *needed[y.value].begin();
        const ValueIndex later = x_later ? x.value : y.value, earlier = x_later ? y.value : x.value;
        EXPECT_TRUE(both.size() == 1 && both[0] == *needed[later].begin() && is_read_by(m, later, earlier))
            << m.buffers->names[b.definer(later)] << " and " << m.buffers->names[b.definer(earlier)] << "\n"
            << text;
      }
}

/// The most bytes of an allocation that are in use at one step, each byte once.
int64_t slow_peak(const Analysed& m, const Allocation& allocation) {
  int64_t peak = 0;
  for (int32_t step = 0; step <= m.buffers->schedule.end(); ++step) {
    std::vector<uint8_t> used(static_cast<size_t>(allocation.size));
    for (const AssignedValue& at : allocation.values) {
      const LiveRange& range = m.buffers->ranges[static_cast<size_t>(at.value)];
      if (range.start <= step && step <= range.end)
        std::fill_n(used.begin() + at.offset, at.size, uint8_t{1});
    }
    peak = std::max<int64_t>(peak, std::count(used.begin(), used.end(), uint8_t{1}));
  }
  return peak;
}

TEST(AssignmentProperties, HoldForRandomModules) {
  std::vector<double> ratios;
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    const std::string text = test::RandomDataflow(seed).text();
    BufferOptions options;
    options.alignment = seed % 2 == 0 ? 1 : 64;
    options.era = seed % 5 == 0 ? Era::k2022 : Era::k2026;
    const Analysed m = test::analysed(text, options);
    ASSERT_TRUE(m.buffers) << text;
    const BufferAnalysis& b = *m.buffers;
    expect_no_overlap(m, text);
    for (const SpaceUse& use : space_use(b)) {
      EXPECT_GE(use.allocated, use.peak) << text;
      EXPECT_EQ(use.at_step.size(), static_cast<size_t>(b.schedule.end()));
      for (const int64_t bytes : use.at_step) EXPECT_GE(bytes, 0);
    }
    for (const Allocation& allocation : b.assignment.allocations) {
      if (allocation.is_temporary() && options.alignment == 1 && allocation.size > 0)
        ratios.push_back(static_cast<double>(allocation.size) /
                         static_cast<double>(slow_peak(m, allocation)));
      if (allocation.parameter < 0 && !allocation.is_output) continue;
      int64_t largest = 0;
      for (const AssignedValue& value : allocation.values) {
        EXPECT_EQ(value.offset, 0) << text;
        largest = std::max(largest, value.size);
      }
      EXPECT_EQ(allocation.size, largest) << text;
    }
    if (HasFailure()) return;
  }
  std::nth_element(ratios.begin(), ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2),
                   ratios.end());
  EXPECT_LE(ratios[ratios.size() / 2], 1.05);
}

TEST(AssignmentProperties, EveryScheduleIsLegal) {
  for (uint32_t seed = 0; seed < 300; ++seed)
    for (const ScheduleSource source :
         {ScheduleSource::kAuto, ScheduleSource::kList, ScheduleSource::kDepth, ScheduleSource::kPostOrder}) {
      BufferOptions options;
      options.schedule = source;
      const Analysed m = test::analysed(test::RandomDataflow(seed).text(), options);
      const FlatSchedule& schedule = m.buffers->schedule;
      std::set<int32_t> seen;
      for (const InstructionId id : schedule.steps) {
        for (const InstructionId operand : (*m.module)[id].operands)
          EXPECT_TRUE(seen.contains(operand.index));
        EXPECT_TRUE(seen.insert(id.index).second);
      }
      for (const InstructionId id : m.module->entry_computation().instructions)
        EXPECT_TRUE(seen.contains(id.index));
    }
}

}  // namespace
}  // namespace hlosim
