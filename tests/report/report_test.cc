#include "report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/report_json.h"
#include "report/report_text.h"
#include "support/estimated.h"

namespace hlosim {
namespace {

using test::Estimated;
using test::estimated;
using testing::HasSubstr;
using testing::Not;

TEST(OomSize, ReadsAsXlaWritesIt) {
  EXPECT_EQ(oom_size(Bytes(0)), "0B");
  EXPECT_EQ(oom_size(Bytes(1023)), "1023B");
  EXPECT_EQ(oom_size(Bytes(1024)), "1.00K");
  EXPECT_EQ(oom_size(Bytes(90'177'536)), "86.00M");
  EXPECT_EQ(oom_size(Bytes(int64_t{31} << 30)), "31.00G");
}

TEST(Report, TimesAddUp) {
  const Estimated e = estimated(test::kManyThings, "v5e");
  const Report& report = e.report;
  Picoseconds self{}, bound{}, provenance{}, category = report.totals().idle;
  for (const ReportInstruction& row : report.instructions) self += row->self_time;
  for (const Picoseconds time : report.bound_time) bound += time;
  for (const Picoseconds time : report.totals().by_provenance) provenance += time;
  for (const Picoseconds time : report.totals().by_category) category += time;
  EXPECT_GT(report.totals().makespan.count(), 0);
  EXPECT_EQ(self, report.totals().makespan);
  EXPECT_EQ(bound, report.totals().makespan);
  EXPECT_EQ(provenance, report.totals().makespan);
  EXPECT_EQ(category, report.totals().makespan);
}

TEST(Report, AmountsAreThoseOfAllExecutions) {
  const Estimated e = estimated(test::kManyThings, "v5e");
  bool found = false;
  for (const ReportInstruction& row : e.report.instructions) {
    if (row.name != "e") continue;
    found = true;
    EXPECT_EQ(row->executions, 5);
    const InstructionWork work = e.report.work(row);
    EXPECT_EQ(work.transcendentals, 5 * 256 * 128);
    EXPECT_EQ(work.traffic[e.report.hbm].read, Bytes(5 * 256 * 128 * 4));
    EXPECT_EQ(row.line, 15);
    EXPECT_EQ(row.computation_name, "body");
  }
  EXPECT_TRUE(found);
}

TEST(Report, WhatNobodyKnowsIsNotZero) {
  const Estimated e = estimated(test::kManyThings, "v5e");
  EXPECT_EQ(e.report.unknown_work, 1);
  for (const ReportInstruction& row : e.report.instructions)
    if (row.name == "nobody_knows") {
      EXPECT_FALSE(e.report.work(row).flops);
      EXPECT_FALSE(e.report.work(row).transcendentals);
    }
  EXPECT_THAT(to_text(e.report, {.top = 0, .full = true}), HasSubstr("FLOP/s            at least "));
}

TEST(Report, PaddingIsBilledPerArray) {
  const Estimated e = estimated(test::kManyThings, "v5e");
  ASSERT_GE(e.report.padding.size(), 2u);
  const ReportPadding& dearest = e.report.padding[0];
  EXPECT_EQ(dearest.name, "m");  // f32[256,10] takes 256 x 128
  EXPECT_EQ(dearest.padding.extra, Bytes(256 * 118 * 4));
  EXPECT_EQ(dearest.allocation, "output");
  EXPECT_EQ(dearest.space, "hbm");
  EXPECT_EQ(e.report.padding[1].name, "w");
  EXPECT_EQ(e.report.padding[1].allocation, "parameter");
  EXPECT_THAT(to_text(e.report, {.full = true}),
              HasSubstr("Extra memory due to padding: 118.00K (12.8x expansion)\n"));
}

TEST(Report, OverflowIsTheFirstFinding) {
  // 256 x 128 floats are in VMEM while `start` runs: 128 KiB.
  const Estimated fits = estimated(test::kManyThings, "unit",
                                   {{"memory.vmem.capacity", "128 KiB"}, {"vmem.scoped_limit", "1 KiB"}});
  EXPECT_TRUE(fits.report.overflows().empty());
  EXPECT_THAT(to_text(fits.report, {}), Not(HasSubstr("Ran out of memory")));
  const Estimated e = estimated(test::kManyThings, "unit",
                                {{"memory.vmem.capacity", "127 KiB"}, {"vmem.scoped_limit", "1 KiB"}});
  ASSERT_EQ(e.report.overflows().size(), 1u);
  EXPECT_EQ(overflow_message(*e.report.overflows()[0]),
            "Ran out of memory in memory space vmem. Used 128.00K of 127.00K vmem. Exceeded vmem capacity by "
            "1.00K.");
  const std::string text = to_text(e.report, {.full = true});
  EXPECT_LT(text.find("Ran out of memory"), text.find("Memory spaces\n"));
  const std::string brief = to_text(e.report, {});
  EXPECT_LT(brief.find("Ran out of memory"), brief.find("Longest operations\n"));
}

TEST(Report, LinesStayNarrow) {
  std::string text(test::kManyThings);
  for (size_t at = text.find("nobody_knows"); at != std::string::npos;
       at = text.find("nobody_knows", at + 300))
    text.replace(at, 12, std::string(300, 'k'));
  const Estimated e = estimated(text, "v4");
  const std::string printed =
      to_text(e.report, {.top = 0, .full = true}) + to_text(e.report, {.top = 0, .full = false});
  for (size_t begin = 0; begin < printed.size();) {
    const size_t end = printed.find('\n', begin);
    EXPECT_LE(end - begin, 125u) << printed.substr(begin, end - begin);
    begin = end + 1;
  }
}

TEST(Report, IsTheSameEachTime) {
  const Estimated first = estimated(test::kManyThings, "v5p"), second = estimated(test::kManyThings, "v5p");
  EXPECT_EQ(to_text(first.report, {}), to_text(second.report, {}));
  EXPECT_EQ(to_json(first.report, "1"), to_json(second.report, "1"));
  EXPECT_EQ(to_csv({&first.report, 1}), to_csv({&second.report, 1}));
}

TEST(ModuleFingerprint, SeesTheProgramNotItsSpelling) {
  const Module plain =
      test::module_or_fail("HloModule m\nENTRY e { a = f32[4] parameter(0) ROOT b = f32[4] negate(a) }");
  const Module spelt = test::module_or_fail(
      "// a comment\nHloModule m\n\nENTRY %e {\n  %a = f32[4] parameter(0)\n"
      "  ROOT %b = f32[4] negate(f32[4] %a), metadata={op_name=\"x\"}\n}");
  const Module other =
      test::module_or_fail("HloModule m\nENTRY e { a = f32[4] parameter(0) ROOT b = f32[4] abs(a) }");
  EXPECT_EQ(module_fingerprint(plain, op_table()), module_fingerprint(spelt, op_table()));
  EXPECT_NE(module_fingerprint(plain, op_table()), module_fingerprint(other, op_table()));
}

// ── keys without effect ──

std::vector<std::string> unused(const Estimated& e) {
  std::vector<std::string> paths;
  for (const UnusedKey& key : e.report.unused_keys.keys) paths.push_back(key.path);
  return paths;
}

constexpr std::string_view kVectorOnly = R"(HloModule m, is_scheduled=true
ENTRY e {
  a = f32[2048,2048]{1,0:T(8,128)} parameter(0)
  ROOT b = f32[2048,2048]{1,0:T(8,128)} negate(a)
})";

TEST(KeysWithoutEffect, AreThoseThatNothingDependsOn) {
  EXPECT_THAT(unused(estimated(kVectorOnly, "v5e",
                               {{"ici.bandwidth", "1 GB/s"}, {"memory.hbm.bandwidth", "100 GB/s"}})),
              testing::ElementsAre("ici.bandwidth"));
}

// The DMA engines are set as well, to what they had: more bandwidth behind them is of no use.
TEST(KeysWithoutEffect, AreBandwidthsBehindASlowerRate) {
  const Estimated e =
      estimated(kVectorOnly, "v5e", {{"memory.hbm.bandwidth", "1638 GB/s"}, {"dma.bandwidth", "737 GB/s"}});
  EXPECT_THAT(unused(e), testing::ElementsAre("memory.hbm.bandwidth"));
  EXPECT_EQ(e.report.limiting_key, "dma.bandwidth");
  EXPECT_EQ(e.report.limiting_rate, "737 GB/s");
}

TEST(KeysWithoutEffect, CountAsUsedWhenOnlyOneInstructionChanges) {
  // The module is bound by HBM; the launch of a collective shows in the all-reduce alone.
  EXPECT_THAT(unused(estimated(test::kManyThings, "v5e", {{"ici.launch", "9 us"}, {"vpu.vregs", "32"}})),
              testing::ElementsAre("vpu.vregs"));
}

TEST(KeysWithoutEffect, ForgetNamesAndKnowTheValueBefore) {
  const Estimated e = estimated(kVectorOnly, "v5e", {{"name", "mine"}, {"host.chips", "2"}});
  ASSERT_THAT(unused(e), testing::ElementsAre("host.chips"));
  EXPECT_TRUE(e.report.unused_keys.keys[0].from_set);
  EXPECT_EQ(e.report.unused_keys.keys[0].text, "2");
  EXPECT_TRUE(e.report.unused_keys.keys[0].previous);
}

TEST(KeysWithoutEffect, LayoutsAreTriedAnew) {
  // No tiles in the text: the device's tiling decides the traffic.
  const std::string_view text =
      "HloModule m\nENTRY e { a = f32[3,512]{1,0} parameter(0) ROOT b = f32[3,512]{1,0} negate(a) }";
  EXPECT_THAT(unused(estimated(text, "v5e", {{"tiling.compact_second_minor", "off"}})), testing::IsEmpty());
  EXPECT_THAT(unused(estimated(kVectorOnly, "v5e", {{"tiling.compact_second_minor", "off"}})),
              testing::SizeIs(1));
}

}  // namespace
}  // namespace hlosim
