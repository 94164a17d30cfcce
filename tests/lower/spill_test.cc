// Values that on-chip memory has no room for go back to HBM: which, how many, and that nothing else changes.
#include "lower/spill.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "array/arguments.h"
#include "lower/lower.h"
#include "lower/on_chip.h"
#include "lower/pass.h"
#include "memory/occupancy.h"
#include "modules/compact.h"
#include "sim/schedule.h"
#include "support/execution.h"
#include "support/own_modules.h"
#include "support/simulations.h"

namespace hlosim {
namespace {

/// v5e with VMEM for so many bytes of values.
Device with_room(int64_t bytes) {
  const Device device = test::device_or_fail("v5e");
  const int64_t all = bytes + device.config.vmem.scoped_limit.count();
  return test::device_or_fail("v5e", {{"memory.vmem.capacity", fmt::format("{} B", all)}});
}

int64_t peak(const Module& module, const Device& device, int64_t number) {
  const Occupancy occupancy =
      memory_occupancy(module, device.config, make_schedule(module, op_table()).order);
  EXPECT_EQ(occupancy.unknown, "");
  for (const SpaceOccupancy& space : occupancy.spaces)
    if (space.number == number) return space.peak.count();
  return 0;
}

/// In the room of `bytes`; the text.
std::string spilled(const std::string& text, int64_t bytes, int64_t values) {
  const Device device = with_room(bytes);
  Module module = test::module_or_fail(text);
  EXPECT_EQ(spill_overflow(module, op_table(), device.config), values);
  module = compacted(std::move(module), op_table());
  DiagnosticList problems;
  EXPECT_TRUE(verify(module, op_table(), problems)) << test::rendered(problems);
  EXPECT_LE(peak(module, device, kVmemSpace), bytes);
  return to_text(module, op_table());
}

size_t times_in(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++count;
  return count;
}

constexpr int64_t kArray = 1 << 20;  // f32[512,512]

// Three values at once; of those the one with the fewest users goes.
const std::string kThree = R"(HloModule m, is_scheduled=true
fused {
  p = f32[512,512]{1,0:T(8,128)S(1)} parameter(0)
  ROOT n = f32[512,512]{1,0:T(8,128)S(1)} exponential(p)
}
ENTRY e {
  p = f32[512,512]{1,0:T(8,128)} parameter(0)
  a = f32[512,512]{1,0:T(8,128)S(1)} negate(p)
  b = f32[512,512]{1,0:T(8,128)S(1)} tanh(a)
  c = f32[512,512]{1,0:T(8,128)S(1)} fusion(a), kind=kLoop, calls=fused
  d = f32[512,512]{1,0:T(8,128)S(1)} add(a, c)
  ROOT r = f32[512,512]{1,0:T(8,128)} multiply(b, d)
}
)";

TEST(Spill, LeavesWhatFits) {
  const Device device = with_room(3 * kArray);
  EXPECT_EQ(peak(test::module_or_fail(kThree), device, kVmemSpace), 3 * kArray);
  EXPECT_EQ(times_in(spilled(kThree, 3 * kArray, 0), "S(1)"), 7u);
}

TEST(Spill, MovesTheLeastUsefulFirst) {
  const std::string two = spilled(kThree, 2 * kArray, 1);
  EXPECT_THAT(two, testing::HasSubstr("%b = f32[512,512]{1,0:T(8,128)} tanh(%a)"));
  EXPECT_THAT(two, testing::HasSubstr("%a = f32[512,512]{1,0:T(8,128)S(1)} negate"));
  const std::string one = spilled(kThree, kArray, 2);
  EXPECT_THAT(one, testing::HasSubstr("%a = f32[512,512]{1,0:T(8,128)S(1)} negate"));
  // The fusion's body knows.
  EXPECT_THAT(one, testing::HasSubstr("ROOT %n = f32[512,512]{1,0:T(8,128)} exponential"));
  EXPECT_EQ(times_in(spilled(kThree, 0, 4), "S(1)"), 0u);
}

TEST(Spill, ArgumentsAndResultsStay) {
  std::string text = kThree;
  const std::string_view plain = "T(8,128)} multiply";
  text.replace(text.find(plain), plain.size(), "T(8,128)S(1)} multiply");
  EXPECT_THAT(to_text(
                  [&] {
                    Module module = test::module_or_fail(text);
                    EXPECT_EQ(spill_overflow(module, op_table(), with_room(0).config), 4);
                    return compacted(std::move(module), op_table());
                  }(),
                  op_table()),
              testing::HasSubstr("ROOT %r = f32[512,512]{1,0:T(8,128)S(1)} multiply"));
}

// `last`: what the kernel behind the copy is done to; the copy's source is changed in place before it.
std::string copied(bool changed, bool asynchronous) {
  const std::string copy =
      asynchronous
          ? "  s = (f32[512,512]{1,0:T(8,128)S(1)}, f32[512,512]{1,0:T(8,128)}, u32[]{:S(2)}) copy-start(q)\n"
            "  c = f32[512,512]{1,0:T(8,128)S(1)} copy-done(s)\n"
          : "  c = f32[512,512]{1,0:T(8,128)S(1)} copy(q)\n";
  const std::string other = changed ? "dynamic-update-slice(q, v, z, z)" : "negate(p)";
  return "HloModule m, is_scheduled=true\nENTRY e {\n  p = f32[512,512]{1,0:T(8,128)} parameter(0)\n"
         "  v = f32[8,128]{1,0:T(8,128)} parameter(1)\n  z = s32[] constant(0)\n"
         "  q = f32[512,512]{1,0:T(8,128)} exponential(p)\n" +
         copy + "  u = f32[512,512]{1,0:T(8,128)} " + other +
         "\n  d = f32[512,512]{1,0:T(8,128)} tanh(c)\n"
         "  ROOT r = f32[512,512]{1,0:T(8,128)} add(d, u)\n}\n";
}

TEST(Spill, DropsCopiesThatChangeNothingAnyMore) {
  for (const bool asynchronous : {false, true}) {
    EXPECT_EQ(times_in(spilled(copied(false, asynchronous), 0, 1), "copy"), 0u);
    // What is changed in place meanwhile has to be copied.
    EXPECT_GT(times_in(spilled(copied(true, asynchronous), 0, 1), "copy"), 0u);
    EXPECT_GT(times_in(spilled(copied(false, asynchronous), kArray, 0), "copy"), 0u);
  }
}

TEST(Spill, FollowsWhatALoopCarries) {
  const std::string text = R"(HloModule m, is_scheduled=true
body {
  p = (s32[], f32[512,512]{1,0:T(8,128)S(1)}) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[512,512]{1,0:T(8,128)S(1)} get-tuple-element(p), index=1
  one = s32[] constant(1)
  n = s32[] add(i, one)
  y = f32[512,512]{1,0:T(8,128)S(1)} tanh(x)
  ROOT t = (s32[], f32[512,512]{1,0:T(8,128)S(1)}) tuple(n, y)
}
more {
  p = (s32[], f32[512,512]{1,0:T(8,128)S(1)}) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(5)
  ROOT l = pred[] compare(i, n), direction=LT
}
ENTRY e {
  a = f32[512,512]{1,0:T(8,128)} parameter(0)
  z = s32[] constant(0)
  x = f32[512,512]{1,0:T(8,128)S(1)} copy(a)
  init = (s32[], f32[512,512]{1,0:T(8,128)S(1)}) tuple(z, x)
  loop = (s32[], f32[512,512]{1,0:T(8,128)S(1)}) while(init), condition=more, body=body
  y = f32[512,512]{1,0:T(8,128)S(1)} get-tuple-element(loop), index=1
  ROOT r = f32[512,512]{1,0:T(8,128)} negate(y)
}
)";
  EXPECT_EQ(times_in(spilled(text, 0, 1), "S(1)"), 0u);
}

/// The outputs with made-up arguments; none where it is too large or can't be run.
std::vector<std::string> results(const Module& module) {
  constexpr int64_t kMostBytes = 16 << 20;
  const std::string text = to_text(module, op_table());
  test::Execution execution(text);
  if (!execution.program() || execution.program()->peak_bytes() > kMostBytes) return {};
  std::vector<Array> inputs;
  for (const ShapeRef shape : execution.program()->parameters()) {
    if (!shape->is_array()) return {};
    inputs.push_back(random_array(shape, 1, inputs.size(), execution.pool));
  }
  return execution.texts(std::move(inputs));
}

TEST(Spill, ThePassIsWhatLoweringDoes) {
  const Device roomy = test::device_or_fail("v5e");
  const std::vector<const Pass*> all = default_passes();
  ASSERT_EQ(all.back()->name, "spill");
  const std::span<const Pass* const> but_last = std::span(all).first(all.size() - 1);
  size_t moved = 0;
  test::for_each_module(40, [&](const std::string& file, Module& given) {
    if (!is_plain(given)) return;
    Module placed = run_passes(given, but_last, {op_table(), roomy});
    const Device small = with_room(peak(placed, roomy, kVmemSpace) / 2);
    const Module passed = run_passes(placed, std::span(all).last(1), {op_table(), small});
    if (spill_overflow(placed, op_table(), small.config) > 0) ++moved;
    EXPECT_EQ(test::difference(passed, compacted(std::move(placed), op_table())), "") << file;
  });
  EXPECT_GT(moved, 10u);
}

TEST(Spill, WhateverWasPlacedFitsLessMemoryAndComputesTheSame) {
  size_t moved = 0, same = 0;
  const Device device = test::device_or_fail("v5e");
  for (const std::string_view last : {"place,prefetch", "place-sliced,prefetch"}) {
    const std::vector<const Pass*> placing = *parse_passes(last);
    test::for_each_module(40, [&](const std::string& file, Module& given) {
      if (!is_plain(given)) return;
      std::vector<const Pass*> passes = default_passes();
      passes.resize(passes.size() - 3);  // without place, prefetch and spill
      passes.insert(passes.end(), placing.begin(), placing.end());
      const Module placed = run_passes(given, passes, {op_table(), device});
      const int64_t before = peak(placed, device, kVmemSpace);
      if (before == 0) return;
      for (const int64_t part : {0, 1, 2}) {
        const Device small = with_room(before * part / 3);
        Module module = placed.copy();
        if (spill_overflow(module, op_table(), small.config) == 0) continue;
        ++moved;
        module = compacted(std::move(module), op_table());
        EXPECT_LE(peak(module, small, kVmemSpace), before * part / 3) << file;
        EXPECT_EQ(test::difference(module, test::read_again(module)), "") << file;
        if (part == 1) {
          EXPECT_EQ(results(module), results(placed)) << file;
          same += !results(placed).empty();
        }
      }
    });
  }
  EXPECT_GT(moved, 100u);
  EXPECT_GT(same, 20u);
}

}  // namespace
}  // namespace hlosim
