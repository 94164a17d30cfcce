#include "memory/occupancy.h"

#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory/module_memory.h"
#include "sim/schedule.h"
#include "support/own_modules.h"
#include "support/simulations.h"

namespace hlosim {
namespace {

using testing::ElementsAre;

constexpr int64_t kTile = 4096;  // f32[8,128]

struct Result {
  Module module;
  Occupancy occupancy;

  /// Tiles in HBM, step by step.
  std::vector<int64_t> tiles() const {
    std::vector<int64_t> out;
    for (const SpaceOccupancy& space : occupancy.spaces)
      if (space.number == 0)
        for (const Bytes at : space.at_step) out.push_back(at.count() / kTile);
    return out;
  }
  /// "first..last" of the array that `name` brings into being; "shared" when it lies in another one's memory.
  std::string range(std::string_view name) const {
    for (const LiveBuffer& buffer : occupancy.buffers)
      if (module[buffer.instruction].name == name) return fmt::format("{}..{}", buffer.first, buffer.last);
    return "shared";
  }
};

Result run(std::string text) {
  for (size_t at = 0; (at = text.find("TILE", at)) != std::string::npos;)
    text.replace(at, 4, "f32[8,128]{1,0:T(8,128)}");
  Result result{test::module_or_fail(text), {}};
  const Schedule schedule = make_schedule(result.module, op_table());
  result.occupancy = memory_occupancy(result.module, test::device_or_fail("v5e").config, schedule.order);
  return result;
}

TEST(Occupancy, FromDefinitionToLastUse) {
  const Result result = run(R"(HloModule m, is_scheduled=true
ENTRY e {
  p = TILE parameter(0)
  a = TILE negate(p)
  b = TILE negate(a)
  c = TILE add(a, b)
  ROOT d = TILE negate(c)
})");
  EXPECT_EQ(result.range("p"), "0..4");  // the caller's, for the whole run
  EXPECT_EQ(result.range("a"), "1..3");
  EXPECT_EQ(result.range("b"), "2..3");
  EXPECT_EQ(result.range("d"), "4..4");
  EXPECT_THAT(result.tiles(), ElementsAre(1, 2, 3, 3, 2));  // c is written over a, d over c
}

TEST(Occupancy, MeanOverTime) {
  const Result result = run(R"(HloModule m, is_scheduled=true
ENTRY e {
  p = TILE parameter(0)
  a = TILE negate(p)
  b = TILE negate(a)
  c = TILE add(a, b)
  ROOT d = TILE negate(c)
})");
  const auto mean = [&](std::vector<int64_t> times) {
    std::vector<Picoseconds> steps;
    for (const int64_t time : times) steps.emplace_back(time);
    return mean_over_time(result.occupancy.spaces[0], steps).count();
  };
  // 1, 2, 3, 3 and 2 tiles.
  EXPECT_EQ(mean({1, 1, 1, 1, 0}), kTile * 9 / 4);
  EXPECT_EQ(mean({0, 0, 0, 7, 0}), kTile * 3);
  EXPECT_EQ(mean({0, 3, 0, 1, 0}), kTile * 9 / 4);
  EXPECT_EQ(mean({0, 0, 0, 0, 0}), (kTile * 11 + 2) / 5);  // over the steps, rounded
}

TEST(Occupancy, AMeanIsNeverNegative) {
  const Result result = run(R"(HloModule m, is_scheduled=true
ENTRY e {
  p = s8[4611686018427387904] parameter(0)
  a = s8[4611686018427387904] negate(p)
  ROOT b = s8[4611686018427387904] add(p, a)
})");
  const std::vector<Picoseconds> steps(3, Picoseconds(1));
  EXPECT_GT(mean_over_time(result.occupancy.spaces[0], steps).count(), int64_t{4611686018427387904});
}

TEST(Occupancy, SaysWhyItKnowsNothing) {
  const Result result = run(R"(HloModule m, is_scheduled=true
f {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = f32[] add(x, y)
}
ENTRY e {
  p = f32[8] parameter(0)
  z = f32[] constant(0)
  r = f32[] reduce(p, z), dimensions={0}, to_apply=f
  ROOT c = f32[] call(r, z), to_apply=f
})");
  EXPECT_TRUE(result.occupancy.buffers.empty());
  EXPECT_EQ(result.occupancy.unknown,
            "computation f is run as control flow and once per element: its values can't have one place");
}

TEST(Occupancy, DonorsThatNoOutputTakesStayTheCallers) {
  const Result result = run(R"(HloModule m, is_scheduled=true, buffer_donor={ (0, {}) }
ENTRY e {
  p = TILE parameter(0)
  a = TILE negate(p)
  b = TILE negate(a)
  ROOT c = TILE negate(b)
})");
  EXPECT_EQ(result.range("p"), "0..3");
}

TEST(Occupancy, OutputsMayLieInParameters) {
  const Result result = run(R"(HloModule m, is_scheduled=true, input_output_alias={ {0}: (0, {}, may-alias) }
ENTRY e {
  p = TILE parameter(0)
  a = TILE negate(p)
  b = TILE negate(a)
  ROOT t = (TILE, TILE) tuple(b, a)
})");
  EXPECT_EQ(result.range("b"), "shared");
  EXPECT_EQ(result.range("p"), "0..3");
  EXPECT_EQ(result.range("a"), "1..3");
}

TEST(Occupancy, TuplesAndBitcastsHoldNothingOfTheirOwn) {
  const Result result = run(R"(HloModule m, is_scheduled=true
ENTRY e {
  p = (TILE, TILE) parameter(0)
  x = TILE get-tuple-element(p), index=1
  y = f32[1,8,128]{2,1,0:T(8,128)} bitcast(x)
  a = f32[1,8,128]{2,1,0:T(8,128)} negate(y)
  t = (f32[1,8,128]{2,1,0:T(8,128)}) tuple(a)
  b = TILE negate(x)
  ROOT c = f32[1,8,128]{2,1,0:T(8,128)} get-tuple-element(t), index=0
})");
  EXPECT_EQ(result.occupancy.buffers.size(), 4u);
  EXPECT_EQ(result.range("a"), "3..6");
  EXPECT_EQ(result.range("b"), "5..5");  // not needed
}

TEST(Occupancy, WhatALoopCarriesStaysInPlace) {
  const Result result = run(R"(HloModule m, is_scheduled=true
body {
  s = (s32[], TILE) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = TILE get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  w = TILE negate(x)
  y = TILE add(x, w)
  ROOT r = (s32[], TILE) tuple(j, y)
}
condition {
  s = (s32[], TILE) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(5)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY e {
  p = TILE parameter(0)
  a = TILE negate(p)
  z = s32[] constant(0)
  t = (s32[], TILE) tuple(z, a)
  l = (s32[], TILE) while(t), condition=condition, body=body
  ROOT r = TILE get-tuple-element(l), index=1
})");
  // 4 steps of the entry, 4 of the condition, 8 of the body, the loop, the end.
  EXPECT_EQ(result.occupancy.steps.size(), 18u);
  EXPECT_EQ(result.range("a"), "1..17");
  EXPECT_EQ(result.range("y"), "shared");
  EXPECT_EQ(result.range("w"), "13..14");
}

TEST(Occupancy, BetweenLastReadAndNextWriteALoopNeedsNoMemoryForWhatItCarries) {
  const Result result = run(R"(HloModule m, is_scheduled=true
body {
  s = (s32[], TILE) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = TILE get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  w = TILE exponential(x)
  v = f32[32,128]{1,0:T(8,128)} concatenate(w, w, w, w), dimensions={0}
  u = f32[24,128]{1,0:T(8,128)} slice(v), slice={[0:24], [0:128]}
  y = TILE slice(u), slice={[0:8], [0:128]}
  ROOT r = (s32[], TILE) tuple(j, y)
}
condition {
  s = (s32[], TILE) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(5)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY e {
  p = TILE parameter(0)
  a = TILE negate(p)
  z = s32[] constant(0)
  t = (s32[], TILE) tuple(z, a)
  l = (s32[], TILE) while(t), condition=condition, body=body
  ROOT r = TILE get-tuple-element(l), index=1
})");
  const LiveBuffer* carried = nullptr;
  for (const LiveBuffer& buffer : result.occupancy.buffers)
    if (result.module[buffer.instruction].name == "a") carried = &buffer;
  ASSERT_NE(carried, nullptr);
  const auto step = [&](std::string_view name) {
    for (size_t i = 0; i < result.occupancy.steps.size(); ++i)
      if (result.module[result.occupancy.steps[i]].name == name) return static_cast<int32_t>(i);
    return -1;
  };
  // w lies where x was; v and u are made in the gap.
  ASSERT_EQ(carried->gaps.size(), 1u);
  EXPECT_EQ(carried->gaps[0].first, step("w") + 1);
  EXPECT_EQ(carried->gaps[0].last, step("y") - 1);
  EXPECT_TRUE(carried->counts_at(step("w")));
  EXPECT_FALSE(carried->counts_at(step("v")));
  EXPECT_TRUE(carried->counts_at(step("y")));
  const std::vector<int64_t> tiles = result.tiles();
  EXPECT_EQ(tiles.at(static_cast<size_t>(step("v"))), 1 + 1 + 4);  // p, w, v
  EXPECT_EQ(tiles.at(static_cast<size_t>(step("u"))), 1 + 4 + 3);  // p, v, u
  EXPECT_EQ(tiles.at(static_cast<size_t>(step("y"))), 1 + 3 + 1);  // p, u, y
}

TEST(Occupancy, UpdatesInPlaceNeedNoSecondArray) {
  const char* text = R"(HloModule m, is_scheduled=true
f {
  a = f32[64,128]{1,0:T(8,128)} parameter(0)
  u = TILE parameter(1)
  z = s32[] constant(0)
  ROOT d = f32[64,128]{1,0:T(8,128)} dynamic-update-slice(a, u, z, z)
}
ENTRY e {
  p = f32[64,128]{1,0:T(8,128)} parameter(0)
  u = TILE parameter(1)
  z = s32[] constant(0)
  a = f32[64,128]{1,0:T(8,128)} negate(p)
  b = f32[64,128]{1,0:T(8,128)} dynamic-update-slice(a, u, z, z)
  c = f32[64,128]{1,0:T(8,128)} fusion(b, u), kind=kLoop, calls=f
  ROOT d = f32[64,128]{1,0:T(8,128)} negate(c)
})";
  const Result result = run(text);
  EXPECT_EQ(result.range("a"), "3..6");
  EXPECT_EQ(result.range("b"), "shared");
  EXPECT_EQ(result.range("c"), "shared");
}

TEST(Occupancy, CallsBranchesAndAsyncPairs) {
  const Result result = run(R"(HloModule m, is_scheduled=true
callee {
  q = TILE parameter(0)
  k = TILE negate(q)
  ROOT m = TILE negate(k)
}
left {
  q = TILE parameter(0)
  ROOT m = TILE negate(q)
}
right {
  q = TILE parameter(0)
  ROOT m = TILE add(q, q)
}
ENTRY e {
  p = TILE parameter(0)
  c = pred[] parameter(1)
  a = TILE call(p), to_apply=callee
  b = TILE conditional(c, a, a), true_computation=left, false_computation=right
  s = (TILE, f32[16,128]{1,0:T(8,128)}) all-gather-start(b), replica_groups={}, dimensions={0}
  x = TILE negate(p)
  g = f32[16,128]{1,0:T(8,128)} all-gather-done(s)
  ROOT r = f32[16,128]{1,0:T(8,128)} negate(g)
})");
  EXPECT_EQ(result.range("a"), "shared");  // the callee's root
  EXPECT_EQ(result.range("b"), "shared");
  // p, c, the callee's three, a, two of each branch, b, s, x, g, r
  EXPECT_EQ(result.occupancy.steps.size(), 15u);
  int64_t gathered = 0;
  for (const LiveBuffer& buffer : result.occupancy.buffers)
    if (buffer.size == Bytes(2 * kTile) && result.module[buffer.instruction].name == "s") {
      ++gathered;
      EXPECT_EQ(buffer.first, 11);
      EXPECT_EQ(buffer.last, 14);
    }
  EXPECT_EQ(gathered, 1);
}

/// All that is known of a module's memory.
std::string text_of(const Occupancy& occupancy) {
  std::string text = occupancy.unknown;
  for (const InstructionId step : occupancy.steps) text += fmt::format(" {}", step.index);
  for (const SpaceOccupancy& space : occupancy.spaces) {
    text += fmt::format("\nS({}): {} at {}:", space.number, space.peak.count(), space.peak_step);
    for (const Bytes at : space.at_step) text += fmt::format(" {}", at.count());
  }
  for (const LiveBuffer& one : occupancy.buffers)
    text += fmt::format("\n{} {} S({}) {} B {}..{} {} {} {}", one.instruction.index,
                        fmt::join(one.index, ","), one.space, one.size.count(), one.first, one.last,
                        one.is_parameter, one.is_output, one.is_constant);
  for (const Diagnostic& finding : occupancy.findings) text += "\n" + finding.message;
  return text;
}

// Values inside of fusions are left out of the graph: that saves time and changes nothing.
TEST(Occupancy, IsThatOfTheGraphOfAllComputations) {
  const DeviceConfig device = test::device_or_fail("v5e").config;
  size_t with_fusions = 0;
  test::for_each_module(20, [&](const std::string& name, Module& module) {
    const Schedule schedule = make_schedule(module, op_table());
    const Occupancy all = memory_occupancy(module, device, schedule.order, GraphReach::kAll);
    EXPECT_EQ(text_of(memory_occupancy(module, device, schedule.order)), text_of(all)) << name;
    with_fusions +=
        !all.buffers.empty() && std::ranges::any_of(module.instructions, [](const Instruction& instruction) {
          return op_table()[instruction.opcode].has(kFusion);
        });
  });
  EXPECT_GT(with_fusions, 5u);
}

TEST(Occupancy, WhatIsTheSameInAllOrdersIsFoundOnce) {
  Module module = test::module_or_fail(R"(HloModule m, is_scheduled=true
body {
  s = (s32[], f32[8,128]{1,0:T(8,128)}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[8,128]{1,0:T(8,128)} get-tuple-element(s), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  y = f32[8,128]{1,0:T(8,128)} negate(x)
  ROOT t = (s32[], f32[8,128]{1,0:T(8,128)}) tuple(next, y)
}
condition {
  s = (s32[], f32[8,128]{1,0:T(8,128)}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(5)
  ROOT less = pred[] compare(i, n), direction=LT
}
ENTRY e {
  p = f32[8,128]{1,0:T(8,128)} parameter(0)
  a = f32[8,128]{1,0:T(8,128)} negate(p)
  b = f32[8,128]{1,0:T(8,128)} tanh(p)
  c = f32[8,128]{1,0:T(8,128)} add(a, p)
  zero = s32[] constant(0)
  state = (s32[], f32[8,128]{1,0:T(8,128)}) tuple(zero, c)
  w = (s32[], f32[8,128]{1,0:T(8,128)}) while(state), condition=condition, body=body
  z = f32[8,128]{1,0:T(8,128)} get-tuple-element(w), index=1
  ROOT d = f32[8,128]{1,0:T(8,128)} add(b, z)
})");
  const Device device = test::device_or_fail("v5e");
  const ModuleMemory memory(module);
  SameInAllOrders same;
  std::vector<Bytes> peaks;
  for (const bool late : {false, true}) {
    std::vector<InstructionId>& list = module.computations[module.entry].instructions;
    if (late) std::rotate(list.begin() + 2, list.begin() + 3, list.end() - 1);  // b behind the loop
    const InstructionOrder order = make_schedule(module, op_table()).order;
    const Occupancy known = memory_occupancy(memory, device.config, order, &same);
    const Occupancy anew = memory_occupancy(module, device.config, order);
    ASSERT_EQ(known.spaces.size(), anew.spaces.size());
    for (size_t i = 0; i < anew.spaces.size(); ++i)
      EXPECT_EQ(known.spaces[i].at_step, anew.spaces[i].at_step);
    ASSERT_EQ(known.buffers.size(), anew.buffers.size());
    for (size_t i = 0; i < anew.buffers.size(); ++i) {
      EXPECT_EQ(known.buffers[i].instruction, anew.buffers[i].instruction);
      EXPECT_EQ(known.buffers[i].last, anew.buffers[i].last);
    }
    peaks.push_back(anew.spaces[0].peak);
  }
  EXPECT_NE(peaks[0], peaks[1]);  // the orders differ in what they need
}

}  // namespace
}  // namespace hlosim
