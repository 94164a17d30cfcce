// Smaller modules of the same form.
#include "shrink/shrink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <algorithm>

#include "modules/trip_count.h"
#include "support/execution.h"
#include "support/own_modules.h"

namespace hlosim {
namespace {

using test::module_or_fail;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Shrunk shrunk(const Module& module, const ShrinkOptions& options) {
  Result<Shrunk> small = shrink(module, op_table(), options);
  EXPECT_TRUE(small.has_value());
  return std::move(*small);
}
std::string text_of(const Module& module) { return to_text(module, op_table()); }
std::string shrunk_text(std::string_view text, const ShrinkOptions& options) {
  const Module module = module_or_fail(text);
  return text_of(shrunk(module, options).module);
}
std::string entry(const std::string& body) { return "HloModule m\nENTRY e {\n" + body + "}\n"; }

/// The first instruction that isn't the same but for its sizes.
std::string other_form(const Module& a, const Module& b) {
  if (a.instructions.size() != b.instructions.size()) return "number of instructions";
  for (size_t i = 0; i < a.instructions.size(); ++i) {
    const InstructionId id{static_cast<int32_t>(i)};
    const Instruction &x = a[id], &y = b[id];
    const auto same_key = [](const Attr& p, const Attr& q) { return p.key == q.key && p.syntax == q.syntax; };
    if (x.opcode != y.opcode || x.name != y.name || x.parent != y.parent ||
        !std::ranges::equal(x.operands, y.operands) ||
        !std::equal(x.attrs.begin(), x.attrs.end(), y.attrs.begin(), y.attrs.end(), same_key) ||
        leaf_count(x.shape) != leaf_count(y.shape))
      return std::string(x.name);
  }
  return {};
}

constexpr std::string_view kLayers = R"(HloModule m
turn {
  state = (s32[], f32[64], f32[6,64,64], f32[6,64]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  x = f32[64] get-tuple-element(state), index=1
  weights = f32[6,64,64] get-tuple-element(state), index=2
  kept = f32[6,64] get-tuple-element(state), index=3
  zero = s32[] constant(0)
  five = s32[] constant(5)
  back = s32[] subtract(five, i)
  layer = f32[1,64,64] dynamic-slice(weights, back, zero, zero), dynamic_slice_sizes={1,64,64}
  matrix = f32[64,64] reshape(layer)
  y = f32[64] dot(x, matrix), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  row = f32[1,64] reshape(y)
  keep = f32[6,64] dynamic-update-slice(kept, row, i, zero)
  one = s32[] constant(1)
  next = s32[] add(i, one)
  ROOT after = (s32[], f32[64], f32[6,64,64], f32[6,64]) tuple(next, y, weights, keep)
}
on {
  state = (s32[], f32[64], f32[6,64,64], f32[6,64]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  six = s32[] constant(6)
  ROOT less = pred[] compare(i, six), direction=LT
}
ENTRY e {
  x = f32[64] parameter(0)
  weights = f32[6,64,64] parameter(1)
  kept = f32[6,64] parameter(2)
  zero = s32[] constant(0)
  state = (s32[], f32[64], f32[6,64,64], f32[6,64]) tuple(zero, x, weights, kept)
  ROOT loop = (s32[], f32[64], f32[6,64,64], f32[6,64]) while(state), condition=on, body=turn, backend_config={"known_trip_count":{"n":"6"}}
}
)";

TEST(Shrink, LayersGoWithTheTurnsOfTheirLoop) {
  const Module module = module_or_fail(kLayers);
  const Shrunk small = shrunk(module, {.scale = 4, .layers = 2});
  EXPECT_THAT(small.warnings, IsEmpty());
  const std::string text = text_of(small.module);
  EXPECT_THAT(text, AllOf(HasSubstr("%weights = f32[2,16,16]"), HasSubstr("%six = s32[] constant(2)"),
                          HasSubstr("%five = s32[] constant(1)"), HasSubstr("\"n\":\"2\""),
                          HasSubstr("dynamic_slice_sizes={1,16,16}")))
      << text;
  const TripCount trips = trip_count(small.module, small.module.root(small.module.entry));
  EXPECT_EQ(trips.count, 2);
}

TEST(Shrink, LayersStayWhereNoneAreAskedFor) {
  const std::string text = shrunk_text(kLayers, {.scale = 6, .min_size = 1});
  EXPECT_THAT(text, AllOf(HasSubstr("f32[6,32,32]"), HasSubstr("%six = s32[] constant(6)")));
}

TEST(Shrink, LoopsWhoseNumbersServeOthersKeepTheirTurns) {
  std::string text(kLayers);
  text.replace(text.find("back = s32[] subtract(five, i)"), 30,
               "twice = s32[] multiply(five, five)\n  back = s32[] subtract(five, i)");
  const Module module = module_or_fail(text);
  const Shrunk small = shrunk(module, {.layers = 2});
  EXPECT_THAT(small.warnings, ElementsAre(AllOf(HasSubstr("loop keeps its 6 turns"), HasSubstr("five"))));
  EXPECT_EQ(text_of(small.module), text_of(module));
  EXPECT_THAT(shrunk(module_or_fail(kLayers), {.layers = 4}).warnings,
              ElementsAre(HasSubstr("not a multiple of 4")));
}

TEST(Shrink, AttributesGoWithTheSizes) {
  EXPECT_THAT(shrunk_text(entry("  x = f32[64,128] parameter(0)\n"
                                "  ROOT s = f32[64,64] slice(x), slice={[0:64],[64:128]}\n"),
                          {.scale = 4}),
              HasSubstr("f32[16,16]{1,0} slice(%x), slice={[0:16], [16:32]}"));
  EXPECT_THAT(shrunk_text(entry("  x = f32[64] parameter(0)\n  z = f32[] constant(0)\n"
                                "  ROOT s = f32[128] pad(x, z), padding=0_64\n"),
                          {.scale = 4}),
              HasSubstr("f32[32]{0} pad(%x, %z), padding=0_16"));
  EXPECT_THAT(
      shrunk_text(entry("  x = f32[1000,64] parameter(0)\n  i = s32[32,1] parameter(1)\n"
                        "  ROOT g = f32[32,64] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, "
                        "start_index_map={0}, index_vector_dim=1, slice_sizes={1,64}\n"),
                  {.scale = 4}),
      AllOf(HasSubstr("%x = f32[250,16]"), HasSubstr("%i = s32[8,1]"), HasSubstr("slice_sizes={1,16}")));
  EXPECT_THAT(shrunk_text(entry("  x = f32[4,64,32] parameter(0)\n  k = f32[4,32,64] parameter(1)\n"
                                "  ROOT c = f32[64,64,1] convolution(x, k), window={size=4}, "
                                "dim_labels=0bf_0io->bf0\n"),
                          {.scale = 2, .min_size = 1}),
              AllOf(HasSubstr("f32[32,32,1]"), HasSubstr("window={size=2}")));
}

TEST(Shrink, AmountsThatDoNotDivideKeepTheirDimension) {
  EXPECT_THAT(shrunk_text(entry("  x = f32[64,128] parameter(0)\n"
                                "  ROOT s = f32[64,64] slice(x), slice={[0:64],[3:67]}\n"),
                          {.scale = 4}),
              HasSubstr("f32[16,64]{1,0} slice(%x), slice={[0:16], [3:67]}"));
}

TEST(Shrink, GroupsKeepTheirMembers) {
  EXPECT_THAT(shrunk_text("HloModule m, num_partitions=8\nENTRY e {\n  x = f32[32,64] parameter(0)\n"
                          "  ROOT g = f32[256,64] all-gather(x), channel_id=1, replica_groups=[1,8]<=[8], "
                          "dimensions={0}, use_global_device_ids=true\n}\n",
                          {.scale = 4}),
              AllOf(HasSubstr("f32[64,16]{1,0} all-gather"), HasSubstr("replica_groups=[1,8]<=[8]")));
}

TEST(Shrink, ConstantsKeepEverySoManiethElement) {
  EXPECT_THAT(shrunk_text(entry("  ROOT c = s32[2,4] constant({{0,1,2,3},{4,5,6,7}})\n"),
                          {.scale = 2, .min_size = 1}),
              HasSubstr("s32[1,2]{1,0} constant({ {0, 2} })"));
}

TEST(Shrink, BitcastsThatMoveNothingStillMoveNothing) {
  const std::string text = shrunk_text(entry("  x = f32[8,4096]{1,0:T(8,128)} parameter(0)\n"
                                             "  ROOT b = f32[8,32,128]{2,0,1:T(8,128)} bitcast(x)\n"),
                                       {.scale = 64});
  EXPECT_THAT(text, HasSubstr("f32[8,8,128]{2,0,1:T(8,128)} bitcast(%x)"));
}

TEST(Shrink, WhatIsNotKnownStaysAndIsNamed) {
  const Module module =
      module_or_fail(entry("  x = f32[16,64] parameter(0)\n  n = s32[] constant(8)\n"
                           "  ROOT d = f32[<=16,64] set-dimension-size(x, n), dimensions={0}\n"));
  const Shrunk small = shrunk(module, {.scale = 4});
  EXPECT_EQ(text_of(small.module), text_of(module));
  EXPECT_THAT(small.notes, ElementsAre(HasSubstr("set-dimension-size, 1 of them")));
}

TEST(Shrink, BlocksThatACompilerChoseAreNotStatedAnyMore) {
  const std::string text = shrunk_text(
      entry("  x = f32[64] parameter(0)\n  ROOT n = f32[64] negate(x), "
            "backend_config={\"flag_configs\":[],\"window_config\":{\"a\":{\"b\":[1]}},\"x\":1}\n"),
      {.scale = 4});
  EXPECT_THAT(text, HasSubstr("backend_config={\"flag_configs\":[],\"x\":1}"));
}

TEST(Shrink, RefusesWhatIsNoNumberOfThat) {
  const Module module = module_or_fail(kLayers);
  EXPECT_FALSE(shrink(module, op_table(), {.scale = 0}));
  EXPECT_FALSE(shrink(module, op_table(), {.min_size = 0}));
  EXPECT_FALSE(shrink(module, op_table(), {.layers = -1}));
}

// ── whatever the module ─────────────────────────────────────────

TEST(Shrink, KeepsTheFormOfEveryModule) {
  int64_t smaller = 0;
  test::for_each_module(10, [&](const std::string& file, Module& module) {
    EXPECT_EQ(text_of(shrunk(module, {}).module), text_of(module)) << file;
    for (const ShrinkOptions& options : {ShrinkOptions{.scale = 64, .min_size = 1, .layers = 1},
                                         ShrinkOptions{.scale = 6, .min_size = 2, .layers = 2}}) {
      const Shrunk small = shrunk(module, options);
      EXPECT_EQ(other_form(module, small.module), "") << file;
      const std::string text = text_of(small.module);
      EXPECT_EQ(text_of(module_or_fail(text)), text) << file;
      smaller += text != text_of(module);
    }
  });
  EXPECT_GT(smaller, 100);
}

TEST(Shrink, WhatRunsStillRuns) {
  int64_t ran = 0;
  test::for_each_module(60, [&](const std::string& file, Module& module) {
    test::Execution before(text_of(module));
    if (!before.program()) return;
    const Shrunk small = shrunk(module, {.scale = 64, .min_size = 1, .layers = 1});
    // What a call's configuration says of sizes is still about the large ones; a note says so.
    const auto is_config = [](const std::string& note) { return note.find("backend_config") != note.npos; };
    if (std::ranges::any_of(small.notes, is_config)) return;
    test::Execution after(text_of(small.module));
    EXPECT_TRUE(after.program()) << file << after.problems();
    ++ran;
  });
  EXPECT_GT(ran, 20);
}

}  // namespace
}  // namespace hlosim
