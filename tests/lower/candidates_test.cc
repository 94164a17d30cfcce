// What lowering needn't try: candidates that come to the same, or take longer by their single operations
// alone.
#include <gtest/gtest.h>

#include "lower/lower.h"
#include "lower/same_schedule.h"
#include "model/cost_details.h"
#include "model/native_layouts.h"
#include "support/own_modules.h"
#include "support/simulations.h"

namespace hlosim {
namespace {

constexpr const char* kDevices[] = {"unit", "v4", "v6e"};

std::optional<Picoseconds> time_of(const Module& module, const Device& device) {
  const Result<Simulation> simulation = simulate(module, op_table(), device);
  if (!simulation) return std::nullopt;
  return simulation->totals.makespan;
}

TEST(Candidates, SingleOperationsNeverTakeLongerThanTheRun) {
  size_t all = 0, near = 0;
  for (const char* name : kDevices) {
    const Device device = test::device_or_fail(name);
    test::for_each_module(40, [&](const std::string& file, Module& given) {
      const Module module = lay_out(given, device).module;
      const std::optional<Picoseconds> time = time_of(module, device);
      if (!time || time->count() == 0 || *time >= kForever) return;
      EXPECT_FALSE(cost_unchanged(module, op_table(), device, {}, *time + Picoseconds(1)))
          << file << " on " << name;
      near += cost_unchanged(module, op_table(), device, {}, *time - *time / 10);
      ++all;
    });
  }
  EXPECT_GT(all, 100u);
  EXPECT_GT(near, all / 10);  // where nothing is called, sent or copied it is all there is
}

TEST(Candidates, TheBoundOfAChainIsItsTime) {
  const Device device = test::device_or_fail("unit");
  Module module = test::module_or_fail(R"(HloModule m
ENTRY e {
  p = f32[16,256]{1,0:T(8,128)} parameter(0)
  a = f32[16,256]{1,0:T(8,128)} tanh(p)
  ROOT b = f32[16,256]{1,0:T(8,128)} add(a, p)
}
)");
  const std::optional<Picoseconds> time = time_of(module, device);
  ASSERT_TRUE(time);
  EXPECT_TRUE(cost_unchanged(module, op_table(), device, {}, *time));
  EXPECT_FALSE(cost_unchanged(module, op_table(), device, {}, *time + Picoseconds(1)));
}

TEST(Candidates, WhatRunsAlikeTakesTheSameTime) {
  const std::vector<const Pass*> all = default_passes();
  ASSERT_EQ(all[all.size() - 2]->name, "prefetch");
  const auto before = std::span(all).first(all.size() - 2), rest = std::span(all).last(2);
  size_t alike = 0, different = 0;
  for (const char* name : kDevices) {
    const Device device = test::device_or_fail(name);
    test::for_each_module(40, [&](const std::string& file, Module& module) {
      if (!is_plain(module)) return;
      const Module without = run_passes(module, before, {op_table(), device});
      const Module with = run_passes(without, rest, {op_table(), device});
      EXPECT_EQ(test::difference(with, run_passes(module, all, {op_table(), device})), "")
          << file << " on " << name;
      const bool is_alike = same_schedule(with, without);
      is_alike ? ++alike : ++different;
      if (!is_alike) return;
      EXPECT_EQ(time_of(with, device), time_of(without, device)) << file << " on " << name;
    });
  }
  EXPECT_GT(alike, 20u);
  EXPECT_GT(different, 5u);
}

// Names that passes make up are the same, too: an editor goes on where the one that it was copied from stood.
TEST(Candidates, BranchesAreWhatTheirPassesMakeAlone) {
  const std::vector<const Pass*> all = default_passes();
  std::vector<const Pass*> sliced = all;
  const auto place = std::ranges::find_if(sliced, [](const Pass* pass) { return pass->name == "place"; });
  ASSERT_NE(place, sliced.end());
  const auto part = static_cast<size_t>(place - sliced.begin());
  *place = parse_passes("place-sliced")->front();
  size_t compared = 0;
  for (const char* name : kDevices) {
    const Device device = test::device_or_fail(name);
    const PassContext context{op_table(), device};
    test::for_each_module(40, [&](const std::string& file, Module& module) {
      if (!is_plain(module)) return;
      PassRun run(module, context);
      run.go_on(std::span(all).first(part));
      PassRun other = run.branch();
      other.go_on(std::span(sliced).subspan(part));
      run.go_on(std::span(all).subspan(part));
      EXPECT_EQ(test::difference(std::move(run).finish(), run_passes(module, all, context)), "") << file;
      EXPECT_EQ(test::difference(std::move(other).finish(), run_passes(module, sliced, context)), "") << file;
      ++compared;
    });
  }
  EXPECT_GT(compared, 25u);
}

TEST(Candidates, WhoIsLateGetsTheFirstOne) {
  const Device device = test::device_or_fail("unit");
  const Module module = test::module_or_fail(R"(HloModule m
ENTRY e {
  p = f32[16,256] parameter(0)
  a = f32[16,256] tanh(p)
  ROOT b = f32[16,256] add(a, p)
}
)");
  const Lowered whole = lower_as(module, op_table(), device);
  EXPECT_FALSE(whole.cut);
  int asked = 0;
  const Lowered late = lower_as(module, op_table(), device, {}, {}, {}, [&] { return ++asked > 0; });
  EXPECT_TRUE(late.cut);
  EXPECT_EQ(late.how, kLoweredByDefault);
  EXPECT_GT(asked, 0);
  const Lowered early = lower_as(module, op_table(), device, {}, {}, {}, [] { return false; });
  EXPECT_FALSE(early.cut);
  EXPECT_EQ(test::difference(early.module, whole.module), "");
}

TEST(Candidates, ALargeModuleThatIsLateStaysAsItStands) {
  std::string text = "HloModule m\nENTRY e {\n  t0 = f32[8,128] parameter(0)\n";
  for (int k = 1; k < 30'000; ++k)
    text += fmt::format("  t{} = f32[8,128] {}(t{})\n", k, k % 2 ? "tanh" : "negate", k - 1);
  const Module module = test::module_or_fail(text + "  ROOT r = f32[8,128] negate(t29999)\n}\n");
  const Device device = test::device_or_fail("v5e");
  int asked = 0;
  const Lowered late = lower_as(module, op_table(), device, {}, {}, {}, [&] { return ++asked > 3; });
  EXPECT_TRUE(late.cut);
  EXPECT_EQ(late.how, "unchanged");
  EXPECT_EQ(late.module.instructions.size(), module.instructions.size());
  EXPECT_FALSE(late.simulation);  // there is no time for it
  const Lowered in_time = lower_as(module, op_table(), device, {}, {}, {}, [] { return false; });
  EXPECT_FALSE(in_time.cut);
  EXPECT_EQ(in_time.how, kLoweredByDefault);
}

TEST(Candidates, OtherOperandsShapesAndOrdersAreNotAlike) {
  const std::string text = R"(HloModule m
ENTRY e {
  p = f32[8,128]{1,0} parameter(0)
  q = f32[8,128]{1,0} parameter(1)
  a = f32[8,128]{1,0} negate(p)
  b = f32[8,128]{1,0} negate(q)
  ROOT c = f32[8,128]{1,0} subtract(a, b)
}
)";
  const Module module = test::module_or_fail(text);
  EXPECT_TRUE(same_schedule(module, module.copy()));
  const InstructionId root = module.entry_computation().root, a = module[root].operands[0];
  Module operands = module.copy();
  ModuleEditor(operands).set_operand(root, 1, a);
  EXPECT_FALSE(same_schedule(module, operands));
  Module shape = module.copy();
  shape.instructions[a].shape = shape.shapes().with_memory_space(module[a].shape, 1);
  EXPECT_FALSE(same_schedule(module, shape));
  Module opcode = module.copy();
  opcode.instructions[a].opcode = Opcode::kTanh;
  EXPECT_FALSE(same_schedule(module, opcode));
  Module order = module.copy();
  std::vector<InstructionId>& list = order.computations[order.entry].instructions;
  std::swap(list[2], list[3]);
  EXPECT_FALSE(same_schedule(module, order));
  Module attribute = module.copy();
  ModuleEditor(attribute).add_control_predecessor(root, a);
  EXPECT_FALSE(same_schedule(module, attribute));
  Module header = module.copy();
  const Attr partitions[] = {Attr::make_int(AttrKey::kNumPartitions, 2)};
  header.attrs = header.arena().copy(std::span<const Attr>(partitions));
  EXPECT_FALSE(same_schedule(module, header));
  Module scheduled = module.copy();
  mark_scheduled(scheduled);
  EXPECT_TRUE(same_schedule(module, scheduled));  // in the order that it has anyway
}

TEST(Candidates, TheSimulationThatComesWithAModuleIsItsOwn) {
  size_t count = 0;
  const Device device = test::device_or_fail("v5e");
  test::for_each_module(60, [&](const std::string& file, Module& module) {
    if (!is_plain(module)) return;
    const Lowered lowered = lower_as(module, op_table(), device);
    if (!lowered.simulation) return;
    const std::optional<Picoseconds> time = time_of(lowered.module, device);
    ASSERT_TRUE(time) << file;
    EXPECT_EQ(lowered.simulation->totals.makespan, *time) << file;
    ++count;
  });
  EXPECT_GT(count, 20u);
}

TEST(Candidates, AChainOfAnyLengthEndsInAnUpdateInPlace) {
  std::string text =
      "HloModule m\nENTRY e {\n  p = f32[64,128] parameter(0)\n  i = s32[] parameter(1)\n"
      "  z = s32[] constant(0)\n  v = f32[8,128] dynamic-slice(p, i, z), dynamic_slice_sizes={8,128}\n";
  std::string last = "v";
  for (int k = 0; k < 100'000; ++k) {
    text += fmt::format("  t{} = f32[8,128] {}({})\n", k, k % 2 ? "tanh" : "negate", last);
    last = fmt::format("t{}", k);
  }
  text += fmt::format("  ROOT u = f32[64,128] dynamic-update-slice(p, {}, i, z)\n}}\n", last);
  const Module module = test::module_or_fail(text);
  const Module lowered = lower(module, op_table(), test::device_or_fail("v5e"));
  EXPECT_EQ(lowered.root(lowered.entry).opcode, Opcode::kFusion);
}

}  // namespace
}  // namespace hlosim
