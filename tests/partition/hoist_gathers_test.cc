// What loops need of others each turn, brought once.
#include "partition/hoist_gathers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "partition_check/partition_check.h"
#include "support/modules.h"

namespace hlosim {
namespace {

using test::module_or_fail;

/// A loop over x = tanh(x · w) with the rows of w on four devices; `body`: what w becomes before, the product
/// takes v. `bound`: how often it runs.
std::string loop(const std::string& body = " v = f32[32,32] copy(w)\n", std::string_view bound = "3") {
  return "HloModule m\n"
         "body {\n s = (s32[], f32[64,32], f32[32,32]) parameter(0)\n"
         " i = s32[] get-tuple-element(s), index=0\n x = f32[64,32] get-tuple-element(s), index=1\n"
         " w = f32[32,32] get-tuple-element(s), index=2\n one = s32[] constant(1)\n n = s32[] add(i, one)\n" +
         body +
         " y = f32[64,32] dot(x, v), lhs_contracting_dims={1}, rhs_contracting_dims={0},"
         " sharding={devices=[4,1]<=[4]}\n z = f32[64,32] tanh(y)\n"
         " ROOT t = (s32[], f32[64,32], f32[32,32]) tuple(n, z, w)\n}\n"
         "test {\n s = (s32[], f32[64,32], f32[32,32]) parameter(0)\n"
         " i = s32[] get-tuple-element(s), index=0\n c = s32[] constant(" +
         std::string(bound) +
         ")\n ROOT l = pred[] compare(i, c), direction=LT\n}\n"
         "ENTRY e {\n x = f32[64,32] parameter(0), sharding={devices=[4,1]<=[4]}\n"
         " w = f32[32,32] parameter(1), sharding={devices=[4,1]<=[4]}\n z = s32[] constant(0)\n"
         " t = (s32[], f32[64,32], f32[32,32]) tuple(z, x, w)\n"
         " r = (s32[], f32[64,32], f32[32,32]) while(t), condition=test, body=body\n"
         " ROOT y = f32[64,32] get-tuple-element(r), index=1, sharding={devices=[4,1]<=[4]}\n}\n";
}

std::vector<Resharding> reshardings(const std::string& text, int64_t limit) {
  const auto made = partition(module_or_fail(text), op_table(), {.devices = 4, .hoist_bytes = limit});
  EXPECT_TRUE(made) << made.error().message;
  return made ? made->reshardings : std::vector<Resharding>();
}

/// All-gathers of the program, wherever they stand.
size_t gathers(const std::string& text, int64_t limit) {
  const auto made = partition(module_or_fail(text), op_table(), {.devices = 4, .hoist_bytes = limit});
  EXPECT_TRUE(made) << made.error().message;
  if (!made) return 0;
  size_t count = 0;
  for (const Computation& computation : made->module.computations)
    for (const InstructionId id : computation.instructions)
      count += made->module[id].opcode == Opcode::kAllGather;
  return count;
}

void expect_hoisted_agrees(const std::string& text, int64_t limit = int64_t{1} << 30) {
  const auto check =
      check_partition(module_or_fail(text), op_table(), {.devices = 4, .hoist_bytes = limit}, {});
  ASSERT_TRUE(check) << check.error().message << "\n" << text;
  EXPECT_TRUE(check->agrees()) << text;
}

TEST(HoistGathers, WhatALoopHandsOnIsGatheredBeforeIt) {
  const std::vector<Resharding> made = reshardings(loop(), 1 << 20);
  ASSERT_EQ(made.size(), 1u);
  EXPECT_EQ(made[0].kind, ReshardKind::kAllGather);
  EXPECT_TRUE(made[0].hoisted);
  EXPECT_FALSE(made[0].in_loop);
  EXPECT_EQ(made[0].held, 32 * 32 * 4);
  EXPECT_EQ(gathers(loop(), 1 << 20), 1u);  // none stays in the loop
  expect_hoisted_agrees(loop());
}

TEST(HoistGathers, LoopsOfWhichNobodyKnowsHowOftenTheyRun) {
  std::string text = loop();
  const std::string counts = " n = s32[] add(i, one)\n";
  text.replace(text.find(counts), counts.size(), " k = s32[] add(i, one)\n n = s32[] maximum(k, one)\n");
  const std::vector<Resharding> made = reshardings(text, 1 << 20);
  ASSERT_EQ(made.size(), 1u);
  EXPECT_TRUE(made[0].hoisted);
  EXPECT_FALSE(reshardings(text, 4095)[0].hoisted);
  expect_hoisted_agrees(text);
}

TEST(HoistGathers, ALimitKeepsItInside) {
  EXPECT_TRUE(reshardings(loop(), 4096)[0].hoisted);
  const Resharding inside = reshardings(loop(), 4095)[0];
  EXPECT_FALSE(inside.hoisted);
  EXPECT_TRUE(inside.in_loop);
  EXPECT_EQ(inside.held, 4096);
  expect_hoisted_agrees(loop(), 4095);
}

TEST(HoistGathers, WhatIsSmallerBehindTheGatherIsWhatIsHeld) {
  const std::string narrow =
      " b = f32[32,32] copy(w), sharding={replicated}\n h = bf16[32,32] convert(b)\n"
      " v = f32[32,32] convert(h)\n";
  const std::vector<Resharding> made = reshardings(loop(narrow), 1 << 20);
  ASSERT_EQ(made.size(), 1u);
  EXPECT_EQ(made[0].held, 32 * 32 * 2);
  expect_hoisted_agrees(loop(narrow));
}

TEST(HoistGathers, WhatChangesIsGatheredEachTurn) {
  const std::string turned =
      " k = f32[] convert(n)\n f = f32[32,32] broadcast(k), dimensions={}, sharding={devices=[4,1]<=[4]}\n"
      " v = f32[32,32] multiply(w, f), sharding={devices=[4,1]<=[4]}\n";
  const std::vector<Resharding> made = reshardings(loop(turned), 1 << 20);
  ASSERT_EQ(made.size(), 1u);
  EXPECT_FALSE(made[0].hoisted);
  EXPECT_EQ(made[0].held, 0);
}

TEST(HoistGathers, ALoopThatRunsOnceIsLeftAlone) {
  EXPECT_FALSE(reshardings(loop(" v = f32[32,32] copy(w)\n", "1"), 1 << 20)[0].hoisted);
}

TEST(HoistGathers, TwoGathersOneAfterTheOther) {
  // Two ways to the whole: along the rows, then along the columns.
  const std::string twice =
      " a = f32[32,32] copy(w), sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}\n"
      " v = f32[32,32] copy(a), sharding={replicated}\n";
  const std::vector<Resharding> made = reshardings(loop(twice), 1 << 20);
  ASSERT_EQ(made.size(), 2u);
  EXPECT_TRUE(made[0].hoisted && made[1].hoisted);
  EXPECT_EQ(made[0].held + made[1].held, 4096);
  EXPECT_EQ(gathers(loop(twice), 1 << 20), 2u);
  EXPECT_FALSE(reshardings(loop(twice), 100)[0].hoisted);
  expect_hoisted_agrees(loop(twice));
  expect_hoisted_agrees(loop(twice), 100);
}

TEST(HoistGathers, OutOfLoopsInLoops) {
  std::string text = loop();
  const auto replace = [&](const std::string& from, const std::string& to) {
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos);
    text.replace(at, from.size(), to);
  };
  replace("ENTRY e {",
          "outer {\n s = (s32[], f32[64,32], f32[32,32]) parameter(0)\n"
          " i = s32[] get-tuple-element(s), index=0\n one = s32[] constant(1)\n n = s32[] add(i, one)\n"
          " x = f32[64,32] get-tuple-element(s), index=1\n w = f32[32,32] get-tuple-element(s), index=2\n"
          " z = s32[] constant(0)\n t = (s32[], f32[64,32], f32[32,32]) tuple(z, x, w)\n"
          " r = (s32[], f32[64,32], f32[32,32]) while(t), condition=test, body=body\n"
          " y = f32[64,32] get-tuple-element(r), index=1\n"
          " ROOT u = (s32[], f32[64,32], f32[32,32]) tuple(n, y, w)\n}\n"
          "more {\n s = (s32[], f32[64,32], f32[32,32]) parameter(0)\n"
          " i = s32[] get-tuple-element(s), index=0\n c = s32[] constant(2)\n"
          " ROOT l = pred[] compare(i, c), direction=LT\n}\nENTRY e {");
  const size_t entry = text.find("ENTRY");
  text.replace(text.find("condition=test, body=body", entry), 25, "condition=more, body=outer");
  const std::vector<Resharding> made = reshardings(text, 4096);
  ASSERT_EQ(made.size(), 1u);
  EXPECT_TRUE(made[0].hoisted);
  EXPECT_FALSE(made[0].in_loop);
  expect_hoisted_agrees(text);
}

}  // namespace
}  // namespace hlosim
