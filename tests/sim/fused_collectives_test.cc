#include "model/fused_collectives.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "ops/work.h"
#include "support/simulations.h"

namespace hlosim {
namespace {

/// An all-reduce in a fusion, and what is kept of it; rows x 1024 of bf16 on four devices.
std::string all_reduce_fusion(int64_t rows, int64_t kept, std::string_view kind) {
  return fmt::format(R"(HloModule m, is_scheduled=true, num_partitions=4
add {{
  a = bf16[] parameter(0)
  b = bf16[] parameter(1)
  ROOT r = bf16[] add(a, b)
}}
body {{
  p = bf16[{0},1024]{{1,0:T(8,128)(2,1)}} parameter(0)
  sum = bf16[{0},1024]{{1,0:T(8,128)(2,1)}} all-reduce(p), channel_id=1, replica_groups={{{{0,1,2,3}}}}, use_global_device_ids=true, to_apply=add
  zero = u32[] constant(0)
  ROOT mine = bf16[{1},1024]{{1,0:T(8,128)(2,1)}} dynamic-slice(sum, zero, zero), dynamic_slice_sizes={{{1},1024}}
}}
ENTRY e {{
  p = bf16[{0},1024]{{1,0:T(8,128)(2,1)}} parameter(0)
  ROOT f = bf16[{1},1024]{{1,0:T(8,128)(2,1)}} fusion(p), kind={2}, calls=body
}}
)",
                     rows, kept, kind);
}

Picoseconds time_of(const std::string& text, const std::string& device) {
  const Module module = test::module_or_fail(text);
  SimulateOptions options;
  options.slice.topology = Topology{{2, 2, 1}};
  const auto run = simulate(module, op_table(), test::device_or_fail(device), options);
  EXPECT_TRUE(run) << (run ? "" : run.error().message);
  return run ? run->totals.makespan : Picoseconds(0);
}

TEST(FusedCollectives, OnesThatKeepASliceAreReduceScatters) {
  for (const std::string_view kind : {"kCustom", "kOutput", "kLoop"}) {
    const Module module = test::module_or_fail(all_reduce_fusion(4096, 1024, kind));
    const FusedCollectives fused(module, op_table());
    const auto inside = fused.of(module.root(module.entry));
    ASSERT_EQ(inside.size(), 1u) << kind;
    EXPECT_EQ(inside[0].part, FusedPart::kWhole);
    EXPECT_EQ(inside[0].kind, CollectiveKind::kReduceScatter);
  }
  const Module whole = test::module_or_fail(all_reduce_fusion(4096, 4096, "kCustom"));
  EXPECT_EQ(FusedCollectives(whole, op_table()).of(whole.root(whole.entry))[0].kind, std::nullopt);
}

// (n-1)/n of V at one stream's rate, two hops; latencies of HBM and the start of an instruction are the rest.
TEST(FusedCollectives, ClosedFormOfOneStreamOnV5p) {
  for (const int64_t rows : {8192, 65536}) {
    const double bytes = static_cast<double>(rows) * 1024 * 2;
    const double stream = 0.75 * bytes / 100e9 * 1e12 + 2e6;
    const auto time =
        static_cast<double>(time_of(all_reduce_fusion(rows, rows / 4, "kCustom"), "v5p").count());
    EXPECT_GT(time, stream);
    EXPECT_LT(time, stream + 1.5e6);
  }
}

TEST(FusedCollectives, MoreBytesAreNeverFaster) {
  Picoseconds before{};
  for (int64_t rows = 64; rows <= 65536; rows *= 2) {
    const Picoseconds now = time_of(all_reduce_fusion(rows, rows / 4, "kCustom"), "v5p");
    EXPECT_GE(now, before) << rows;
    before = now;
  }
}

/// An all-gather that a fusion starts, a product carries on, and a third ends; or that only the third names.
std::string chain(bool whole) {
  const std::string gathered = "bf16[8192,1024]{1,0:T(8,128)(2,1)}";
  std::string text = "HloModule m, is_scheduled=true, num_partitions=4\n";
  const auto body = [&](std::string_view name, std::string_view target) {
    text += fmt::format(
        "{0} {{\n  p = bf16[2048,1024]{{1,0:T(8,128)(2,1)}} parameter(0)\n  q = {1} parameter(1)\n"
        "  s = u32[]{{:S(2)}} parameter(2)\n  g = {1} all-gather(p), channel_id=1, "
        "replica_groups=[1,4]<=[4], "
        "dimensions={{0}}, use_global_device_ids=true\n  ROOT c = {1} custom-call(p, q, g, s), "
        "custom_call_target=\"{2}\"\n}}\n",
        name, gathered, target);
  };
  body("ends", "AsyncCollectiveDone");
  if (whole)
    text += fmt::format(
        "starts {{\n  p = bf16[2048,1024]{{1,0:T(8,128)(2,1)}} parameter(0)\n  g = {0} all-gather(p), "
        "channel_id=1, "
        "replica_groups=[1,4]<=[4], dimensions={{0}}, use_global_device_ids=true\n  ROOT c = ({0}, "
        "u32[]{{:S(2)}}) "
        "custom-call(p, g), custom_call_target=\"AsyncCollectiveStart\"\n}}\n",
        gathered);
  text += "ENTRY e {\n  p = bf16[2048,1024]{1,0:T(8,128)(2,1)} parameter(0)\n";
  if (whole)
    text += fmt::format(
        "  b = ({0}, u32[]{{:S(2)}}) fusion(p), kind=kCustom, calls=starts\n  q = {0} get-tuple-element(b), "
        "index=0\n"
        "  s = u32[]{{:S(2)}} get-tuple-element(b), index=1\n",
        gathered);
  else
    text += fmt::format("  q = {0} parameter(1)\n  s = u32[]{{:S(2)}} parameter(2)\n", gathered);
  return text + fmt::format("  ROOT d = {0} fusion(p, q, s), kind=kCustom, calls=ends\n}}\n", gathered);
}

TEST(FusedCollectives, TheEndAloneCostsItsFixedTimeAndWaitsWhereTheStartIsThere) {
  EXPECT_EQ(time_of(chain(false), "v5p"), Picoseconds(1'500'000));
  const double stream = 0.75 * 8192 * 1024 * 2 / 100e9 * 1e12;
  EXPECT_GT(static_cast<double>(time_of(chain(true), "v5p").count()), stream);
}

// The first step is each device's own part over one link; the whole takes as long as it did.
TEST(FusedCollectives, AStartHoldsTheCoresForTheFirstStep) {
  Module module = test::module_or_fail(chain(true));
  SimulateOptions options;
  options.slice.topology = Topology{{2, 2, 1}};
  const Simulation run = test::simulate_or_fail(module, test::device_or_fail("v5p"), options);
  const double own = 2048.0 * 1024 * 2 / 100e9 * 1e12, whole = 3 * own;
  const auto start = std::find_if(run.instructions.begin(), run.instructions.end(),
                                  [&](const InstructionRecord& one) { return module[one.id].name == "b"; });
  ASSERT_NE(start, run.instructions.end());
  EXPECT_NEAR(static_cast<double>(start->time.count()), 6e6 + own, 1e6);
  EXPECT_NEAR(static_cast<double>(run.totals.makespan.count()), whole, 10e6);
  EXPECT_EQ(run.cost(*start).category, CostCategory::kCollective);
}

}  // namespace
}  // namespace hlosim
