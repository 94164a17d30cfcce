// One question has one answer, whoever is asked: what memory holds, what a program is, what explains a time.
#include <gtest/gtest.h>

#include <map>

#include "buffers/space_use.h"
#include "input/load_modules.h"
#include "input/proto_text.h"
#include "report/explain.h"
#include "support/estimated.h"
#include "support/module_files.h"

namespace hlosim {
namespace {

constexpr const char* kAnswerDevices[] = {"v4", "v5e", "v6e", "v7x"};

/// Calls f(file, module) for modules that are right and no larger than that.
template <class F>
void for_each_small(const test::Sample& sample, size_t characters, F&& f) {
  for (const std::filesystem::path& file : test::right_modules(sample)) {
    const Result<SourcePtr> source = read_source(file.string());
    if (!source || (*source)->text().size() > characters) continue;
    DiagnosticList problems;
    const std::vector<Module> modules = load_modules(*source, op_table(), problems);
    if (problems.has_errors()) continue;
    for (const Module& module : modules) f(file.filename().string(), module);
  }
}

// ── memory ──

TEST(SameAnswer, WhatReportsHoldIsWhatBuffersNeed) {
  size_t compared = 0, less = 0;
  for_each_small(
      {.file_tests = 2, .others = 24}, 100'000, [&](const std::string& name, const Module& module) {
        const Device device = test::device_or_fail(kAnswerDevices[name.size() % std::size(kAnswerDevices)]);
        const Result<Estimate> run = estimate(module, op_table(), device, {});
        if (!run || !run->occupancy.unknown.empty()) return;
        BufferOptions options;
        options.padded = true;
        options.schedule = ScheduleSource::kText;
        const auto analysis = analyse_buffers(*run->module, op_table(), options);
        if (!analysis || (*analysis)->schedule.steps != run->occupancy.steps) return;
        std::map<int64_t, const SpaceUse*> there;
        const std::vector<SpaceUse> uses = space_use(**analysis);
        for (const SpaceUse& use : uses) there[use.space] = &use;
        for (const SpaceOccupancy& space : run->occupancy.spaces) {
          if (!there.contains(space.number)) continue;
          const int64_t needed = there[space.number]->peak;
          // Never more: a module that has its place would be said to run out of memory.
          EXPECT_LE(space.peak.count(), needed)
              << name << " on " << device.config.name << ", S(" << space.number << ")";
          ++compared;
          less += space.peak.count() < needed;
        }
      });
  EXPECT_GT(compared, 40u);
  EXPECT_LT(less, compared);
}

TEST(SameAnswer, ALoopsGapCountsForNeither) {
  const test::Estimated e = test::estimated(
      "HloModule m, is_scheduled=true\n"
      "body {\n  s = (s32[], f32[1024,1024]{1,0:T(8,128)}) parameter(0)\n"
      "  i = s32[] get-tuple-element(s), index=0\n"
      "  x = f32[1024,1024]{1,0:T(8,128)} get-tuple-element(s), index=1\n"
      "  one = s32[] constant(1)\n  j = s32[] add(i, one)\n"
      "  w = f32[4096,1024]{1,0:T(8,128)} concatenate(x, x, x, x), dimensions={0}\n"
      "  v = f32[4096,1024]{0,1:T(8,128)} copy(w)\n"
      "  u = f32[4096,1024]{1,0:T(8,128)} copy(v)\n"
      "  y = f32[1024,1024]{1,0:T(8,128)} slice(u), slice={[0:1024], [0:1024]}\n"
      "  ROOT r = (s32[], f32[1024,1024]{1,0:T(8,128)}) tuple(j, y)\n}\n"
      "more {\n  s = (s32[], f32[1024,1024]{1,0:T(8,128)}) parameter(0)\n"
      "  i = s32[] get-tuple-element(s), index=0\n  n = s32[] constant(4)\n"
      "  ROOT l = pred[] compare(i, n), direction=LT\n}\n"
      "ENTRY e {\n  z = s32[] constant(0)\n  p = f32[1024,1024]{1,0:T(8,128)} parameter(0)\n"
      "  a = f32[1024,1024]{1,0:T(8,128)} negate(p)\n"
      "  t = (s32[], f32[1024,1024]{1,0:T(8,128)}) tuple(z, a)\n"
      "  w = (s32[], f32[1024,1024]{1,0:T(8,128)}) while(t), condition=more, body=body\n"
      "  g = f32[1024,1024]{1,0:T(8,128)} get-tuple-element(w), index=1\n"
      "  ROOT r = f32[1024,1024]{1,0:T(8,128)} negate(g)\n}\n",
      "v5e");
  BufferOptions options;
  options.padded = true;
  options.schedule = ScheduleSource::kText;
  const auto analysis = analyse_buffers(*e.estimate.module, op_table(), options);
  ASSERT_TRUE(analysis);
  ASSERT_EQ((*analysis)->schedule.steps, e.estimate.occupancy.steps);
  const std::vector<SpaceUse> uses = space_use(**analysis);
  ASSERT_EQ(uses.size(), e.estimate.occupancy.spaces.size());
  for (size_t i = 0; i < uses.size(); ++i)
    EXPECT_EQ(e.estimate.occupancy.spaces[i].peak.count(), uses[i].peak) << "S(" << uses[i].space << ")";
}

TEST(SameAnswer, WhatIsWrittenOverIsNoSecondArray) {
  const test::Estimated e = test::estimated(
      "HloModule m, is_scheduled=true\nENTRY e {\n"
      "  p = f32[1536,1024,1024]{2,1,0:T(8,128)} parameter(0)\n"
      "  b = f32[1536,1024,1024]{2,1,0:T(8,128)} negate(p)\n"
      "  c = f32[1536,1024,1024]{2,1,0:T(8,128)} tanh(b)\n"
      "  ROOT d = f32[1536,1024,1024]{2,1,0:T(8,128)} exponential(c)\n}\n",
      "v5e");
  // Two arrays of 6 GiB fit into 16 GiB.
  EXPECT_EQ(e.estimate.occupancy.spaces.at(0).peak, Bytes(int64_t{12} << 30));
  EXPECT_TRUE(e.estimate.occupancy.findings.empty());
}

// ── what a program is ──

TEST(SameAnswer, AProtoIsTheProgramThatItWasMadeOf) {
  // Where the text spells out what is so anyway, or quotes what need not be quoted, its proto says less.
  size_t compared = 0, same = 0, count = 0;
  for_each_small(
      {.file_tests = 2, .others = 16}, 100'000, [&](const std::string& name, const Module& module) {
        const Result<std::string> proto = proto_of(module);
        if (!proto) return;  // it says what a proto can't hold
        const Result<std::string> text = text_of_proto(*proto, name);
        ASSERT_TRUE(text) << name;
        const Module again = test::module_or_fail(*text);
        same += module_fingerprint(again, op_table()) == module_fingerprint(module, op_table());
        const Device device = test::device_or_fail(kAnswerDevices[count++ % std::size(kAnswerDevices)]);
        const auto run = estimate(module, op_table(), device, {}),
                   run_again = estimate(again, op_table(), device, {});
        ASSERT_EQ(run.has_value(), run_again.has_value()) << name;
        if (!run) return;
        EXPECT_EQ(run->simulation->totals.makespan, run_again->simulation->totals.makespan) << name;
        ++compared;
      });
  EXPECT_GT(compared, 40u);
  EXPECT_GT(same, compared * 85 / 100);
}

TEST(SameAnswer, AProtoKeepsWhatItsTextMeans) {
  const char* const texts[] = {
      // The start alone has a configuration.
      "HloModule m, is_scheduled=true\n"
      "wrapped {\n  q = f32[8] parameter(0)\n  ROOT c = f32[8] custom-call(q), custom_call_target=\"k\"\n}\n"
      "ENTRY e {\n  p = f32[8] parameter(0)\n"
      "  s = ((f32[8]), f32[8]) async-start(p), calls=wrapped, backend_config={\"cores\":[\"0\"]}\n"
      "  ROOT d = f32[8] async-done(s)\n}\n",
      // Attributes in another order, twice the same computation further up.
      "HloModule m\n"
      "body {\n  t = (s32[], f32[8,8]) parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n"
      "  x = f32[8,8] get-tuple-element(t), index=1\n"
      "  y = f32[8,8] dot(x, x), rhs_contracting_dims={0}, lhs_contracting_dims={1}\n"
      "  ROOT r = (s32[], f32[8,8]) tuple(i, y)\n}\n"
      "more {\n  t = (s32[], f32[8,8]) parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n"
      "  n = s32[] constant(4)\n  ROOT l = pred[] compare(i, n), direction=LT\n}\n"
      "ENTRY e {\n  z = s32[] constant(0)\n  p = f32[8,8] parameter(0)\n  t = (s32[], f32[8,8]) tuple(z, p)\n"
      "  ROOT w = (s32[], f32[8,8]) while(t), condition=more, body=body\n}\n",
      // Without the word they are the largest.
      "HloModule m\nENTRY e {\n  p = f32[8] parameter(0)\n"
      "  ROOT t = (f32[2], s32[2]) topk(p), k=2, largest=false\n}\n",
  };
  for (const char* text : texts) {
    const Module module = test::module_or_fail(text);
    const Result<std::string> proto = proto_of(module);
    ASSERT_TRUE(proto) << text;
    const Result<std::string> again = text_of_proto(*proto, "m");
    ASSERT_TRUE(again) << text;
    EXPECT_EQ(module_fingerprint(test::module_or_fail(*again), op_table()),
              module_fingerprint(module, op_table()))
        << text << *again;
  }
}

TEST(SameAnswer, AProtoSaysWhatItsTextLeavesOut) {
  const Module module = test::module_or_fail(
      "HloModule m\nENTRY e {\n  p = f32[8] parameter(0)\n  ROOT t = (f32[2], s32[2]) topk(p), k=2\n}\n");
  const Result<std::string> proto = proto_of(module);
  ASSERT_TRUE(proto);
  const Result<std::string> again = text_of_proto(*proto, "m");
  ASSERT_TRUE(again);
  EXPECT_NE(again->find("largest=true"), std::string::npos) << *again;
}

// ── explanations ──

TEST(SameAnswer, OfSeveralOfOneNameTheOneThatRunsIsExplained) {
  const test::Estimated e = test::estimated(
      "HloModule m, is_scheduled=true\n"
      "f {\n  k = f32[1024]{0:T(1024)} parameter(0)\n  ROOT r = f32[1024]{0:T(1024)} tanh(k)\n}\n"
      "ENTRY e {\n  p = f32[1024]{0:T(1024)} parameter(0)\n"
      "  k = f32[1024]{0:T(1024)} fusion(p), kind=kLoop, calls=f\n"
      "  ROOT r = f32[1024]{0:T(1024)} negate(k)\n}\n",
      "v5e");
  const Module& module = *e.estimate.module;
  const auto opcode = [&](std::string_view name, std::string_view computation) {
    return module[find_instruction(module, *e.estimate.simulation, name, computation)].opcode;
  };
  EXPECT_EQ(opcode("k", ""), Opcode::kFusion);
  EXPECT_EQ(opcode("%r", ""), Opcode::kNegate);
  EXPECT_EQ(opcode("r", "%f"), Opcode::kTanh);
  EXPECT_FALSE(find_instruction(module, *e.estimate.simulation, "p", "f").valid());
  const auto inside =
      explain(module, op_table(), e.device, {}, find_instruction(module, *e.estimate.simulation, "r", "f"),
              *e.estimate.simulation);
  ASSERT_TRUE(inside);
  EXPECT_EQ(inside->run_by, std::vector<std::string>{"k"});
}

}  // namespace
}  // namespace hlosim
