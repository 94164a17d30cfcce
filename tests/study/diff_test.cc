#include "study/diff.h"

#include <gtest/gtest.h>

#include <regex>
#include <tuple>

#include "report/figures.h"
#include "report/report_json.h"
#include "report/structure.h"
#include "support/estimated.h"
#include "text/read_json.h"

namespace hlosim {
namespace {

using test::Estimated;
using test::estimated;
using test::kManyThings;

Metrics figures_of(const Estimated& run) {
  return make_figures(run.report, *run.module, op_table(), run.estimate);
}

uint64_t structure(const std::string& text) {
  const Module module = test::module_or_fail(text);
  return structure_of(module, op_table()).module;
}

std::string replaced(std::string_view text, const std::string& what, const std::string& by) {
  return std::regex_replace(std::string(text), std::regex(what), by);
}

constexpr std::string_view kPlainModule = R"(HloModule m

ENTRY main {
  a = f32[8,128] parameter(0)
  b = f32[8,128] negate(a)
  c = f32[8,128] exponential(a)
  d = f32[8,128] exponential(a)
  e = f32[8,128] add(b, c)
  ROOT f = (f32[8,128], f32[8,128]) tuple(e, d)
}
)";

TEST(Structure, IsThatOfTheProgramAndNotOfItsText) {
  const uint64_t whole = structure(std::string(kPlainModule));
  EXPECT_EQ(whole, structure(replaced(kPlainModule, "\\bb\\b", "other")));
  EXPECT_EQ(whole, structure(replaced(kPlainModule, "negate\\(a\\)", "negate(a), metadata={op_name=\"x\"}")));
  EXPECT_EQ(whole, structure(replaced(kPlainModule, "(  b = [^\n]*\n)(  c = [^\n]*\n)", "$2// a word\n$1")));
  EXPECT_NE(whole, structure(replaced(kPlainModule, "negate", "tanh")));
  EXPECT_NE(whole, structure(replaced(kPlainModule, "8,128", "8,256")));
  EXPECT_NE(whole, structure(replaced(kPlainModule, "add\\(b, c\\)", "add(c, b)")));
  // One value used twice is another program than two equal ones.
  EXPECT_NE(whole, structure(replaced(kPlainModule, "tuple\\(e, d\\)", "tuple(e, c)")));
}

TEST(Structure, OrderCountsInASchedule) {
  const std::string scheduled = replaced(kPlainModule, "HloModule m", "HloModule m, is_scheduled=true");
  EXPECT_EQ(structure(scheduled), structure(replaced(scheduled, "\\bb\\b", "other")));
  EXPECT_NE(structure(scheduled), structure(replaced(scheduled, "(  b = [^\n]*\n)(  c = [^\n]*\n)", "$2$1")));
}

TEST(Metrics, TotalsAreThoseOfTheReport) {
  const Estimated run = estimated(kManyThings, "v4");
  const Metrics figures = figures_of(run);
  const auto total = [&](std::string_view metric) {
    return figures.totals[static_cast<size_t>(figures.index_of(metric))];
  };
  EXPECT_EQ(total("time"), run.report.totals().makespan.count());
  EXPECT_EQ(total("hbm_bytes"), run.report.hbm_traffic().total().count());
  EXPECT_EQ(total("padding_bytes"), run.report.padding_total.extra.count());
  // The all-reduce is synchronous: nothing hides it.
  for (const InstructionMetrics& row : figures.instructions)
    if (row.name == "r") {
      EXPECT_EQ(total("exposed_collectives"), row.amounts[static_cast<size_t>(figures.index_of("time"))]);
    }
  for (const std::string_view metric :
       {"time", "hbm_bytes", "exposed_copies", "padding_bytes", "peak.hbm", "flops"})
    EXPECT_EQ(figures.rest(static_cast<size_t>(figures.index_of(metric))), 0) << metric;
}

// What a transfer exposes is that of the tables, and its done's: a synchronous collective is without its
// queue, which is its predecessor's, though it is the synchronous one that waits.
TEST(Metrics, ExposedIsThatOfTheTransfers) {
  const Estimated run = estimated(R"(HloModule queue, is_scheduled=true, replica_count=4
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY main {
  p = f32[256,128]{1,0:T(8,128)} parameter(0)
  s = (f32[256,128]{1,0:T(8,128)}, f32[1024,128]{1,0:T(8,128)}) all-gather-start(p), replica_groups={}, dimensions={0}
  r = f32[256,128]{1,0:T(8,128)} all-reduce(p), replica_groups={}, to_apply=add
  d = f32[1024,128]{1,0:T(8,128)} all-gather-done(s)
  ROOT t = (f32[1024,128]{1,0:T(8,128)}, f32[256,128]{1,0:T(8,128)}) tuple(d, r)
})",
                                  "v4");
  DiagnosticList problems;
  const auto source = std::make_shared<const SourceFile>("r.json", to_json(run.report, "0"));
  const std::optional<Metrics> saved = read_report_figures(*parse_json(source, problems), problems);
  ASSERT_TRUE(saved) << test::rendered(problems);
  ASSERT_EQ(run.report.transfers.size(), 2u);
  for (const Metrics& figures : {figures_of(run), *saved}) {
    const auto metric = static_cast<size_t>(figures.index_of("exposed_collectives"));
    for (const ReportTransfer& transfer : run.report.transfers)
      for (const InstructionMetrics& row : figures.instructions)
        if (row.name == transfer.done_name) {
          EXPECT_GT(row.amounts[metric], 0) << row.name;
          EXPECT_EQ(row.amounts[metric], transfer->exposed.count()) << row.name;
          EXPECT_EQ(transfer->queued.count() > 0, row.name == "r");
        }
    EXPECT_EQ(figures.totals[metric], run.report.totals().exposed().count());
    EXPECT_EQ(figures.rest(metric), 0);
  }
}

TEST(Metrics, OfASavedReport) {
  const Estimated run = estimated(kManyThings, "v4");
  const Metrics live = figures_of(run);
  DiagnosticList problems;
  const auto source = std::make_shared<const SourceFile>("r.json", to_json(run.report, "0"));
  const std::optional<Value> document = parse_json(source, problems);
  ASSERT_TRUE(document) << test::rendered(problems);
  const std::optional<Metrics> saved = read_report_figures(*document, problems);
  ASSERT_TRUE(saved) << test::rendered(problems);
  EXPECT_EQ(saved->metrics, live.metrics);
  EXPECT_EQ(saved->totals, live.totals);
  const Diff diff = make_diff(*saved, live);
  for (const InstructionDiff& row : diff.instructions) {
    EXPECT_FALSE(row.renamed);
    if (row.before >= 0 && row.after >= 0) {
      EXPECT_EQ(row.change[0], 0) << name_text(diff, row);
    } else if (row.before < 0) {
      EXPECT_EQ(diff.new_of(row)->executions, 0) << name_text(diff, row);
    }
  }
}

TEST(Metrics, OfAReportSavedWithThemAreTheSame) {
  for (const std::string device : {"v4", "v5e"}) {
    const Estimated run = estimated(kManyThings, device);
    const Metrics live = figures_of(run);
    DiagnosticList problems;
    const auto source = std::make_shared<const SourceFile>("r.json", to_json(run.report, live, "0"));
    const std::optional<Value> document = parse_json(source, problems);
    ASSERT_TRUE(document) << test::rendered(problems);
    const std::optional<Metrics> saved = read_report_figures(*document, problems);
    ASSERT_TRUE(saved) << test::rendered(problems);
    EXPECT_EQ(saved->metrics, live.metrics);
    EXPECT_EQ(saved->totals, live.totals);
    EXPECT_EQ(saved->structure, live.structure);
    EXPECT_EQ(saved->model_version, live.model_version);
    EXPECT_EQ(saved->line, live.line);
    ASSERT_EQ(saved->instructions.size(), live.instructions.size());
    for (size_t i = 0; i < live.instructions.size(); ++i) {
      const InstructionMetrics &a = saved->instructions[i], &b = live.instructions[i];
      EXPECT_EQ(std::tie(a.name, a.opcode, a.computation, a.shape, a.op_name, a.source_file, a.bound_by,
                         a.source_line, a.line, a.executions, a.own, a.deep, a.amounts),
                std::tie(b.name, b.opcode, b.computation, b.shape, b.op_name, b.source_file, b.bound_by,
                         b.source_line, b.line, b.executions, b.own, b.deep, b.amounts))
          << b.name;
    }
  }
}

TEST(Diff, OfARunWithItself) {
  const Estimated run = estimated(kManyThings, "v4");
  const Metrics figures = figures_of(run);
  const Diff diff = make_diff(figures, figures);
  for (const InstructionDiff& row : diff.instructions) {
    EXPECT_EQ(row.before, row.after);
    EXPECT_EQ(kind_text(diff, row), "same");
  }
}

// Names are given anew and one instruction is put in between: all others are found.
TEST(Diff, MatchesWhatWasRenumbered) {
  const std::string old_text = R"(HloModule m, is_scheduled=true
ENTRY main {
  p = f32[256,256]{1,0:T(8,128)} parameter(0)
  op.1 = f32[256,256]{1,0:T(8,128)} negate(p)
  op.2 = f32[256,256]{1,0:T(8,128)} exponential(op.1)
  op.3 = f32[256,256]{1,0:T(8,128)} negate(op.2)
  ROOT op.4 = f32[256,256]{1,0:T(8,128)} exponential(op.3)
}
)";
  const std::string new_text = R"(HloModule m, is_scheduled=true
ENTRY main {
  p = f32[256,256]{1,0:T(8,128)} parameter(0)
  op.1 = f32[256,256]{1,0:T(8,128)} tanh(p)
  op.2 = f32[256,256]{1,0:T(8,128)} negate(p)
  op.3 = f32[256,256]{1,0:T(8,128)} exponential(op.2)
  op.4 = f32[256,256]{1,0:T(8,128)} negate(op.3)
  op.5 = f32[256,256]{1,0:T(8,128)} exponential(op.4)
  ROOT op.6 = f32[256,256]{1,0:T(8,128)} add(op.5, op.1)
}
)";
  const Estimated before = estimated(old_text, "unit"), after = estimated(new_text, "unit");
  const Metrics old_run = figures_of(before), new_run = figures_of(after);
  const Diff diff = make_diff(old_run, new_run);
  std::vector<std::string> lines;
  for (const InstructionDiff& row : diff.instructions)
    lines.push_back(kind_text(diff, row) + " " + name_text(diff, row));
  EXPECT_EQ(lines,
            (std::vector<std::string>{"added op.1", "renamed op.1 → op.2", "renamed op.2 → op.3",
                                      "renamed op.3 → op.4", "renamed op.4 → op.5", "added op.6", "same p"}));
  EXPECT_EQ(diff.metrics[0].rest, 0);
}

}  // namespace
}  // namespace hlosim
