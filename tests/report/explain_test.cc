#include "report/explain.h"

#include <gtest/gtest.h>

#include "estimate/estimate.h"
#include "input/load_modules.h"
#include "model/native_layouts.h"
#include "ops/op_table.h"
#include "support/module_files.h"
#include "support/simulations.h"

namespace hlosim {
namespace {

constexpr const char* kModule =
    "HloModule m, is_scheduled=true\n"
    "f {\n  a = bf16[512,512] parameter(0)\n  b = bf16[512,512] parameter(1)\n"
    "  c = bf16[512,512] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "  ROOT d = bf16[512,512] tanh(c)\n}\n"
    "ENTRY e {\n  p = bf16[512,512] parameter(0)\n  q = bf16[512,512] parameter(1)\n  i = s32[] "
    "parameter(2)\n"
    "  r = bf16[512,512] fusion(p, q), kind=kOutput, calls=f\n"
    "  s = bf16[512,512] add(r, q)\n"
    "  t = bf16[512,512] transpose(s), dimensions={1,0}\n"
    "  z = s32[] constant(0)\n"
    "  u = bf16[8,512] dynamic-slice(t, i, z), dynamic_slice_sizes={8,512}\n"
    "  ROOT v = bf16[8,512] copy(u)\n}\n";

TEST(Explain, EndsWithTheTimeOfTheInstruction) {
  const Module module = test::module_or_fail(kModule);
  for (const char* name : {"v4", "v5e", "v7x", "unit"}) {
    const Device device = test::device_or_fail(name);
    const Result<Estimate> estimate = hlosim::estimate(module, op_table(), device, {{}, Lowering::kNever});
    ASSERT_TRUE(estimate);
    size_t seen = 0;
    for (const InstructionRecord& record : estimate->simulation->instructions) {
      const auto explanation =
          explain(*estimate->module, op_table(), device, {}, record.id, *estimate->simulation);
      ASSERT_TRUE(explanation);
      ASSERT_FALSE(explanation->terms.empty());
      const Picoseconds time = estimate->simulation->cost(record).time();
      EXPECT_EQ(explanation->terms.back().value, time) << name << " " << module[record.id].name;
      EXPECT_EQ(explanation->executions, record.executions);
      for (const Term& term : explanation->terms) {
        EXPECT_LE(term.value, time + device.config.overhead.instruction) << name << " " << term.name;
        for (const TermInput& input : term.inputs)
          EXPECT_FALSE(input.source.empty()) << term.name << ": " << input.name;
      }
      ++seen;
    }
    EXPECT_GE(seen, 5u);
  }
}

// ── transfers ──

/// Two collectives that follow each other on the links, one of them in a computation of a computation, and
/// one of a scalar that can only wait.
constexpr const char* kQueue = R"(HloModule queue, is_scheduled=true, replica_count=4
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
inner {
  p = f32[1024,1024]{1,0:T(8,128)} parameter(0)
  ROOT g = f32[4096,1024]{1,0:T(8,128)} all-gather(p), replica_groups={{0,1,2,3}}, dimensions={0}
}
wrapped {
  p = f32[1024,1024]{1,0:T(8,128)} parameter(0)
  ROOT call = f32[4096,1024]{1,0:T(8,128)} call(p), to_apply=inner
}
ENTRY main {
  x = f32[1024,1024]{1,0:T(8,128)} parameter(0)
  s = f32[] parameter(1)
  first = ((f32[1024,1024]{1,0:T(8,128)}), f32[4096,1024]{1,0:T(8,128)}, u32[]) async-start(x), calls=wrapped
  second = f32[1024,1024]{1,0:T(8,128)} all-reduce-start(x), replica_groups={{0,1},{2,3}}, to_apply=sum
  scalar = f32[] all-reduce(s), replica_groups={{0,1,2,3}}, to_apply=sum
  done = f32[4096,1024]{1,0:T(8,128)} async-done(first)
  ROOT done.2 = f32[1024,1024]{1,0:T(8,128)} all-reduce-done(second)
}
)";

Explanation explained(const Module& given, const char* device_name, std::string_view name) {
  const Device device = test::device_or_fail(device_name);
  const Result<Estimate> estimate = hlosim::estimate(given, op_table(), device, {{}, Lowering::kNever});
  EXPECT_TRUE(estimate);
  for (size_t i = 0; i < estimate->module->instructions.size(); ++i) {
    const InstructionId id{static_cast<int32_t>(i)};
    if ((*estimate->module)[id].name != name) continue;
    auto result = explain(*estimate->module, op_table(), device, {}, id, *estimate->simulation);
    EXPECT_TRUE(result);
    return *result;
  }
  ADD_FAILURE() << "no " << name;
  return {};
}

TEST(Explain, CollectivesInsideOfWrappersHaveMembersAndAnAlgorithm) {
  const Module module = test::module_or_fail(kQueue);
  for (const char* name : {"first", "done", "g"}) {
    const Explanation e = explained(module, "v4", name);
    ASSERT_EQ(e.transfers.size(), 1u) << name;
    ASSERT_EQ(e.transfers[0].collectives.size(), 1u) << name;
    const CollectiveTerms& one = e.transfers[0].collectives[0];
    EXPECT_EQ(one.instruction, "g");
    EXPECT_EQ(one.groups.groups, (std::vector<std::vector<int64_t>>{{0, 1, 2, 3}}));
    EXPECT_EQ(groups_text(one.groups), "{0,1,2,3}");
    EXPECT_FALSE(one.cost.algorithm.empty());
    EXPECT_FALSE(one.cost.equation.empty());
    ASSERT_TRUE(e.transfers[0].record.collective) << "the report says unknown";
    EXPECT_EQ(one.cost.time(), e.transfers[0].record.collective->time());
  }
}

TEST(Explain, WhoHasToQueueSaysForWhat) {
  const Module module = test::module_or_fail(kQueue);
  const Explanation second = explained(module, "v4", "second");
  ASSERT_EQ(second.transfers.size(), 1u);
  EXPECT_EQ(second.transfers[0].behind, std::vector<std::string>{"first"});
  EXPECT_GT(second.transfers[0].record.queued, Picoseconds(0));
  const Explanation scalar = explained(module, "v4", "scalar");
  ASSERT_EQ(scalar.transfers.size(), 1u);
  EXPECT_EQ(scalar.transfers[0].behind, (std::vector<std::string>{"first", "second"}));
  EXPECT_EQ(scalar.waited_for, "second");
  EXPECT_EQ(scalar.waited, scalar.transfers[0].record.queued);
  // On its own it is a matter of hops and the launch; all the rest of its time is waiting.
  EXPECT_EQ(scalar.cost.time() + scalar.waited, scalar.in_run);
  EXPECT_NE(to_text(scalar).find("waiting for second"), std::string::npos);
  EXPECT_NE(to_text(scalar).find("behind first, second"), std::string::npos);
}

TEST(Explain, ManyMembersAreCutInTextAlone) {
  CollectiveGroups groups;
  for (int64_t g = 0; g < 6; ++g) {
    groups.groups.emplace_back();
    for (int64_t i = 0; i < 20; ++i) groups.groups.back().push_back(g * 20 + i);
  }
  const std::string text = groups_text(groups);
  EXPECT_TRUE(text.starts_with("{0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,… 20 in all} {20,")) << text;
  EXPECT_TRUE(text.ends_with(" and 2 more")) << text;
  groups.groups.clear();
  groups.pairs = {{0, 1}, {1, 0}};
  EXPECT_EQ(groups_text(groups), "0→1 1→0");
}

// All modules: the parts of a transfer's time add up, and whoever is explained has its parts.
TEST(Explain, EveryTransferAddsUp) {
  const Device device = test::device_or_fail("v6e");
  size_t transfers = 0, queued = 0, collectives = 0;
  for (const std::filesystem::path& file : test::right_modules({.file_tests = 4, .others = 16})) {
    const Result<SourcePtr> source = read_source(file.string());
    if (!source || (*source)->text().size() > 200'000) continue;
    DiagnosticList problems;
    for (const Module& module : load_modules(*source, op_table(), problems)) {
      if (problems.has_errors()) break;
      const Result<Estimate> estimate = hlosim::estimate(module, op_table(), device, {{}, Lowering::kNever});
      if (!estimate) continue;
      const Simulation& run = *estimate->simulation;
      for (size_t i = 0; i < run.transfers.size() && i < 40; ++i) {
        const TransferRecord& record = run.transfers[i];
        const auto e = explain(*estimate->module, op_table(), device, {}, record.start_instruction, run);
        ASSERT_TRUE(e);
        ASSERT_FALSE(e->transfers.empty()) << file;
        ++transfers;
        for (const TransferTerms& one : e->transfers) {
          EXPECT_EQ(one.record.queued + one.record.latency + one.record.alone + one.sharing(),
                    one.record.duration)
              << file << " " << one.start;
          EXPECT_EQ(one.record.queued.count() > 0, !one.behind.empty()) << file << " " << one.start;
          for (const CollectiveTerms& inside : one.collectives) {
            ++collectives;
            EXPECT_EQ(inside.cost.by_bytes + inside.cost.by_hops, inside.cost.network) << file;
            EXPECT_TRUE(inside.cost.network.count() == 0 || !inside.cost.equation.empty()) << file;
          }
        }
        if (record.queued.count() == 0) continue;
        ++queued;
        ASSERT_GE(record.ahead, 0) << file;
        const TransferRecord& ahead = run.transfers[static_cast<size_t>(record.ahead)];
        EXPECT_EQ(ahead.lane, record.lane);
        EXPECT_EQ(ahead.end, record.begin);
      }
    }
  }
  EXPECT_GT(transfers, 30u);
  EXPECT_GT(collectives, 10u);
  EXPECT_GT(queued, 5u);
}

}  // namespace
}  // namespace hlosim
