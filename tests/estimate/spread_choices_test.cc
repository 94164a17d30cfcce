// What is decided by the device when a program is spread: gathers out of loops, products as rings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimate/estimate.h"
#include "support/estimated.h"

namespace hlosim {
namespace {

using testing::HasSubstr;

/// tanh(x · w) over and over, on `mesh`.
std::string loop(int64_t rows, int64_t width) {
  const std::string x = fmt::format("f32[{},{}]", rows, width), w = fmt::format("f32[{0},{0}]", width),
                    state = fmt::format("(s32[], {}, {})", x, w);
  return "HloModule m\nbody {\n s = " + state +
         " parameter(0)\n i = s32[] get-tuple-element(s), index=0\n x = " + x +
         " get-tuple-element(s), index=1\n w = " + w +
         " get-tuple-element(s), index=2\n one = s32[] constant(1)\n n = s32[] add(i, one)\n y = " + x +
         " dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n z = " + x +
         " tanh(y)\n ROOT t = " + state + " tuple(n, z, w)\n}\ntest {\n s = " + state +
         " parameter(0)\n i = s32[] get-tuple-element(s), index=0\n c = s32[] constant(3)\n"
         " ROOT l = pred[] compare(i, c), direction=LT\n}\nENTRY e {\n x = " +
         x + " parameter(0)\n w = " + w + " parameter(1)\n z = s32[] constant(0)\n t = " + state +
         " tuple(z, x, w)\n r = " + state + " while(t), condition=test, body=body\n ROOT y = " + x +
         " get-tuple-element(r), index=1\n}\n";
}

PartitionedProgram spread(const std::string& text, const std::string& mesh,
                          const std::vector<DeviceOverride>& overrides = {}) {
  const Module given = test::module_or_fail(text);
  const Result<MeshRequest> request = parse_mesh_request(mesh);
  EXPECT_TRUE(request) << render(request.error());
  Result<PartitionedProgram> made =
      partition_over_mesh(given, op_table(), test::device_or_fail("v5e", overrides), {}, *request);
  EXPECT_TRUE(made) << render(made.error());
  return made ? std::move(*made) : PartitionedProgram();
}

std::string assumptions(const AssumptionList& list) {
  std::string text;
  for (const Assumption& one : list.items()) text += one.text + "\n";
  return text;
}

constexpr std::string_view kMesh = "fsdp=4; x=[fsdp,_]; w=[fsdp,_]";

TEST(SpreadChoices, WhatLoopsHandOnIsGatheredBeforeThemWhereItFits) {
  const std::string text = loop(512, 256);
  const PartitionedProgram wide = spread(text, std::string(kMesh));
  EXPECT_THAT(assumptions(wide.assumptions), HasSubstr("1 hoisted out of loops, which takes 256.00 KiB"));
  const PartitionedProgram narrow = spread(text, std::string(kMesh), {{"memory.hbm.capacity", "700 KiB"}});
  EXPECT_THAT(assumptions(narrow.assumptions), HasSubstr("0 hoisted out of loops"));
  EXPECT_THAT(assumptions(narrow.assumptions), HasSubstr("1 in every iteration"));
}

Picoseconds time_of(const std::string& text, const std::string& mesh, std::string& said) {
  const Module given = test::module_or_fail(text);
  EstimateOptions options;
  options.mesh = *parse_mesh_request(mesh);
  const Result<Estimate> run = estimate(given, op_table(), test::device_or_fail("v5e"), options);
  EXPECT_TRUE(run) << render(run.error());
  if (!run) return {};
  said = assumptions(run->simulation->assumptions);
  return run->simulation->totals.makespan;
}

TEST(SpreadChoices, AutoTakesTheFasterOfRingsAndGathers) {
  for (const int64_t width : {256, 4096}) {
    const std::string text = fmt::format(
        "HloModule m\nENTRY e {{\n x = bf16[8192,{0}] parameter(0)\n w = bf16[{0},{0}] parameter(1)\n"
        " ROOT y = bf16[8192,{0}] dot(x, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n}}\n",
        width);
    std::string said;
    const Picoseconds never = time_of(text, std::string(kMesh), said);
    EXPECT_THAT(said, testing::Not(HasSubstr("as rings")));
    const Picoseconds always = time_of(text, std::string(kMesh) + "; windowed=always", said);
    const Picoseconds best = time_of(text, std::string(kMesh) + "; windowed=auto", said);
    EXPECT_NE(never, always);
    EXPECT_EQ(best, std::min(never, always)) << width;
    EXPECT_THAT(said, HasSubstr("as rings the program takes " + to_text(always)));
  }
}

TEST(SpreadChoices, RequestsSayWhatTheyWant) {
  const Result<MeshRequest> request = parse_mesh_request("data=4; w=[data,_]; windowed=auto");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->windowed, WindowedProducts::kAuto);
  EXPECT_EQ(request->text(), "data=4; w=[data,_]; windowed=auto");
  EXPECT_THAT(parse_mesh_request("data=4; windowed=often").error().message,
              HasSubstr("'often': expected never, always, auto or threshold"));
}

TEST(SpreadChoices, TheThresholdIsTheFlags) {
  CompilerChoices compiler;
  MeshRequest request;
  EXPECT_EQ(by_flags(request, compiler).windowed, WindowedProducts::kUnset);
  compiler.windowed_einsum_mib = 1;
  EXPECT_EQ(by_flags(request, compiler).windowed, WindowedProducts::kThreshold);
  request.windowed = WindowedProducts::kNever;  // the option outranks the flag
  EXPECT_EQ(by_flags(request, compiler).windowed, WindowedProducts::kNever);
  request.windowed = WindowedProducts::kThreshold;
  EXPECT_EQ(by_flags(request, compiler).windowed_mib, 1);
  EXPECT_FALSE(by_flags(request, {}).windowed_mib);
}

}  // namespace
}  // namespace hlosim
