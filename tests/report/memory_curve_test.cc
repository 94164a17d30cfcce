// Memory over time: against every execution painted one by one, and against the report's mean and peak
// wherever curves are written.
#include "sim/memory_curve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/saturating.h"
#include "input/load_modules.h"
#include "report/html/html_data.h"
#include "report/trace/trace.h"
#include "support/estimated.h"
#include "support/module_files.h"

namespace hlosim {
namespace {

using ParsedJson = nlohmann::json;

/// A body of `trips` iterations in a body of `outer` iterations; most of VMEM's use is in the inner one.
std::string nested(int64_t outer, int64_t trips) {
  constexpr const char* kText = R"(HloModule nested, is_scheduled=true
inner_body {
  s = (s32[], f32[64,128]{1,0:T(8,128)}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[64,128]{1,0:T(8,128)} get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  c = (f32[64,128]{1,0:T(8,128)S(1)}, f32[64,128]{1,0:T(8,128)}, u32[]{:S(2)}) copy-start(x)
  y = f32[64,128]{1,0:T(8,128)} negate(x)
  d = f32[64,128]{1,0:T(8,128)S(1)} copy-done(c)
  z = f32[64,128]{1,0:T(8,128)} add(y, d)
  ROOT r = (s32[], f32[64,128]{1,0:T(8,128)}) tuple(j, z)
}
inner_condition {
  s = (s32[], f32[64,128]{1,0:T(8,128)}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(INNER)
  ROOT less = pred[] compare(i, n), direction=LT
}
outer_body {
  s = (s32[], f32[64,128]{1,0:T(8,128)}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[64,128]{1,0:T(8,128)} get-tuple-element(s), index=1
  one = s32[] constant(1)
  zero = s32[] constant(0)
  j = s32[] add(i, one)
  wide = f32[64,128]{1,0:T(8,128)S(1)} exponential(x)
  narrow = f32[64,128]{1,0:T(8,128)} negate(wide)
  t = (s32[], f32[64,128]{1,0:T(8,128)}) tuple(zero, narrow)
  l = (s32[], f32[64,128]{1,0:T(8,128)}) while(t), condition=inner_condition, body=inner_body
  y = f32[64,128]{1,0:T(8,128)} get-tuple-element(l), index=1
  ROOT r = (s32[], f32[64,128]{1,0:T(8,128)}) tuple(j, y)
}
outer_condition {
  s = (s32[], f32[64,128]{1,0:T(8,128)}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(OUTER)
  ROOT less = pred[] compare(i, n), direction=LT
}
ENTRY e {
  p = f32[64,128]{1,0:T(8,128)} parameter(0)
  z = s32[] constant(0)
  first = f32[64,128]{1,0:T(8,128)S(1)} negate(p)
  q = f32[64,128]{1,0:T(8,128)} tanh(first)
  t = (s32[], f32[64,128]{1,0:T(8,128)}) tuple(z, q)
  l = (s32[], f32[64,128]{1,0:T(8,128)}) while(t), condition=outer_condition, body=outer_body
  g = f32[64,128]{1,0:T(8,128)} get-tuple-element(l), index=1
  ROOT r = f32[64,128]{1,0:T(8,128)} tanh(g)
}
)";
  std::string text = kText;
  text.replace(text.find("INNER"), 5, std::to_string(trips));
  text.replace(text.find("OUTER"), 5, std::to_string(outer));
  return text;
}

constexpr const char* kBranches = R"(HloModule branches, is_scheduled=true
small {
  ROOT a = f32[8,128]{1,0:T(8,128)} parameter(0)
}
large {
  b = f32[8,128]{1,0:T(8,128)} parameter(0)
  c = f32[8,128]{1,0:T(8,128)S(1)} exponential(b)
  ROOT d = f32[8,128]{1,0:T(8,128)} negate(c)
}
ENTRY e {
  p = f32[8,128]{1,0:T(8,128)} parameter(0)
  k = pred[] parameter(1)
  q = f32[8,128]{1,0:T(8,128)S(1)} tanh(p)
  r = f32[8,128]{1,0:T(8,128)} conditional(k, p, p), true_computation=small, false_computation=large
  ROOT s = f32[8,128]{1,0:T(8,128)} add(q, r)
}
)";

// A transfer that no done of its computation waits for: each iteration ends with waiting for it.
constexpr const char* kNoDone = R"(HloModule no_done, is_scheduled=true
body {
  s = (s32[], f32[64,1024]{1,0:T(8,128)}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[64,1024]{1,0:T(8,128)} get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  c = (f32[64,1024]{1,0:T(8,128)S(1)}, f32[64,1024]{1,0:T(8,128)}, u32[]{:S(2)}) copy-start(x)
  ROOT r = (s32[], f32[64,1024]{1,0:T(8,128)}) tuple(j, x)
}
condition {
  s = (s32[], f32[64,1024]{1,0:T(8,128)}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(7)
  ROOT less = pred[] compare(i, n), direction=LT
}
ENTRY e {
  p = f32[64,1024]{1,0:T(8,128)} parameter(0)
  z = s32[] constant(0)
  t = (s32[], f32[64,1024]{1,0:T(8,128)}) tuple(z, p)
  l = (s32[], f32[64,1024]{1,0:T(8,128)}) while(t), condition=condition, body=body
  g = f32[64,1024]{1,0:T(8,128)} get-tuple-element(l), index=1
  h = f32[64,1024]{1,0:T(8,128)} negate(g)
  c = (f32[64,1024]{1,0:T(8,128)S(1)}, f32[64,1024]{1,0:T(8,128)}, u32[]{:S(2)}) copy-start(h)
  ROOT o = (f32[64,1024]{1,0:T(8,128)}) tuple(h)
}
)";

std::vector<std::string> own_texts() {
  return {nested(3, 5),
          nested(1, 1),
          nested(4, 0),
          nested(0, 4),
          kBranches,
          kNoDone,
          std::string(test::kManyThings),
          test::own_module("pipeline_loop")};
}

// ── the oracle: levels painted over the run, execution by execution ──

class Painting {
 public:
  Painting(const Module& module, const Estimate& estimate, const SpaceOccupancy& space)
      : simulation_(*estimate.simulation), steps_(estimate.occupancy.steps), space_(space) {
    paint(module.entry, Picoseconds(0));
  }

  /// Where the level changes, what takes no time left out.
  std::vector<std::pair<int64_t, int64_t>> changes() const {
    std::vector<std::pair<int64_t, int64_t>> out;
    for (const auto& [time, level] : from_)
      if (time < simulation_.totals.makespan.count() && (out.empty() || out.back().second != level))
        out.emplace_back(time, level);
    return out;
  }

 private:
  int64_t level_of(InstructionId id) const {
    const auto step = std::find(steps_.begin(), steps_.end(), id) - steps_.begin();
    return space_.at_step[static_cast<size_t>(step)].count();
  }

  void set(Picoseconds begin, Picoseconds end, int64_t level) {
    if (begin == end) return;
    const auto after = from_.upper_bound(end.count());
    const int64_t rest = after == from_.begin() ? 0 : std::prev(after)->second;
    from_.erase(from_.lower_bound(begin.count()), after);
    from_[begin.count()] = level;
    from_[end.count()] = rest;
  }

  void paint(ComputationId id, Picoseconds offset) {
    const ComputationTimeline& timeline = simulation_.computations[id];
    for (const Span& span : timeline.spans) {
      if (span.lane != Lane::kTensorCore) continue;
      set(offset + span.start, offset + span.end, level_of(span.instruction));
      for (const CalledRun& call : timeline.calls)
        for (int64_t i = 0; call.caller == span.instruction && i < call.times; ++i)
          if (simulation_.computations[call.callee].executions > 0)
            paint(call.callee, offset + span.start + call.offset + call.period * i);
    }
  }

  const Simulation& simulation_;
  const std::vector<InstructionId>& steps_;
  const SpaceOccupancy& space_;
  std::map<int64_t, int64_t> from_;
};

std::vector<std::pair<int64_t, int64_t>> changes_of(const MemoryCurve& curve, Picoseconds end) {
  std::vector<std::pair<int64_t, int64_t>> out;
  for (size_t i = 0; i < curve.size(); ++i)
    if (curve[i].time < (i + 1 < curve.size() ? curve[i + 1].time : end) &&
        (out.empty() || out.back().second != curve[i].value.count()))
      out.emplace_back(curve[i].time.count(), curve[i].value.count());
  return out;
}

TEST(MemoryCurve, HasTheLevelsOfEveryExecution) {
  for (const std::string& text : own_texts())
    for (const char* device : {"unit", "v4", "v5e"}) {
      const test::Estimated e = test::estimated(text, device);
      const Picoseconds end = e.estimate.simulation->totals.makespan;
      const auto curves =
          memory_curves(*e.estimate.module, *e.estimate.simulation, e.estimate.occupancy, 1'000'000);
      ASSERT_EQ(curves.size(), e.estimate.occupancy.spaces.size());
      for (size_t i = 0; i < curves.size(); ++i)
        EXPECT_EQ(changes_of(curves[i], end),
                  Painting(*e.estimate.module, e.estimate, e.estimate.occupancy.spaces[i]).changes())
            << e.estimate.module->name << " on " << device << ", space " << i;
    }
}

TEST(MemoryCurve, LastInstructionsWaitForWhatNoDoneWaitsFor) {
  const test::Estimated e = test::estimated(kNoDone, "v5e");
  size_t waiting = 0;
  Picoseconds together{};
  for (const InstructionRecord& record : e.estimate.simulation->instructions) {
    waiting += record.exposed.count() > 0;
    together += record.self_time;
  }
  EXPECT_EQ(waiting, 2u);
  EXPECT_EQ(together, e.estimate.simulation->totals.makespan);
  EXPECT_EQ(e.estimate.simulation->timeline.makespan(), together);
}

// ── mean and peak ──

const ReportSpace& reported(const Report& report, int64_t number) {
  for (const ReportSpace& space : report.spaces)
    if (space.is_used && space.number == number) return space;
  ADD_FAILURE() << "no S(" << number << ")";
  return report.spaces.front();
}

/// Points are in order, as few as asked for, and have the report's mean and peak.
void expect_mean_and_peak(const Estimate& estimate, const Report& report, int64_t most) {
  const Picoseconds end = estimate.simulation->totals.makespan;
  const auto curves = memory_curves(*estimate.module, *estimate.simulation, estimate.occupancy, most);
  for (size_t i = 0; i < curves.size(); ++i) {
    const MemoryCurve& curve = curves[i];
    const ReportSpace& space = reported(report, estimate.occupancy.spaces[i].number);
    SCOPED_TRACE(space.name + " of " + report.module_name + ", at most " + std::to_string(most));
    EXPECT_EQ(peak_of(curve), space.peak);
    if (end.count() > 0) {
      const auto expected = static_cast<double>(space.mean.count());
      EXPECT_NEAR(static_cast<double>(mean_of(curve, end).count()), expected, 1 + expected * 1e-12);
    }
    EXPECT_LE(curve.size(), static_cast<size_t>(std::max<int64_t>(most, 8)));
    ASSERT_FALSE(curve.empty());
    EXPECT_EQ(curve.front().time, Picoseconds(0));
    EXPECT_LE(curve.back().time, end);
    for (size_t k = 1; k < curve.size(); ++k) {
      EXPECT_LE(curve[k - 1].time, curve[k].time);
      EXPECT_NE(curve[k - 1].value, curve[k].value);
      if (k > 1) {
        EXPECT_LT(curve[k - 2].time, curve[k].time);
      }
    }
  }
}

TEST(MemoryCurve, MeanAndPeakAreTheReportsHoweverFewPointsThereAre) {
  for (const std::string& text : own_texts()) {
    const test::Estimated e = test::estimated(text, "v5e");
    for (const int64_t most : {1, 8, 40, 1000, 1'000'000}) expect_mean_and_peak(e.estimate, e.report, most);
  }
}

TEST(MemoryCurve, HugeTripCountsAreNoLongerCurves) {
  for (const int64_t trips : {int64_t{1'000'000'000}, int64_t{2'000'000'000}}) {
    const test::Estimated e = test::estimated(nested(1000, trips), "v5e");
    for (const int64_t most : {8, 10'000}) expect_mean_and_peak(e.estimate, e.report, most);
    // Beyond the longest time there is.
    const test::Estimated forever = test::estimated(nested(trips, trips), "v5e");
    ASSERT_EQ(forever.estimate.simulation->totals.makespan, kForever);
    for (const MemoryCurve& curve : memory_curves(*forever.estimate.module, *forever.estimate.simulation,
                                                  forever.estimate.occupancy, 10'000))
      EXPECT_LE(curve.size(), 10'000u);
  }
}

TEST(MemoryCurve, MeanAndPeakAreTheReportsOfEveryModule) {
  size_t modules = 0, loops = 0;
  constexpr const char* kDevices[] = {"v4", "v5e", "v7x", "unit"};
  for (const std::filesystem::path& file : test::right_modules({.file_tests = 2, .others = 24})) {
    const Result<SourcePtr> source = read_source(file.string());
    if (!source || (*source)->text().size() > 300'000) continue;
    DiagnosticList problems;
    for (const Module& module : load_modules(*source, op_table(), problems)) {
      if (problems.has_errors()) break;
      const Device device = test::device_or_fail(kDevices[modules % std::size(kDevices)]);
      const Result<Estimate> run = estimate(module, op_table(), device, {});
      if (!run || run->simulation->totals.makespan > kForever / 4) continue;
      ++modules;
      loops += !run->simulation->loops.empty();
      SCOPED_TRACE(file.string());
      const Report report = make_report(module, op_table(), device, *run);
      for (const int64_t most : {20, 10'000'000}) expect_mean_and_peak(*run, report, most);
    }
  }
  EXPECT_GT(modules, 100u);
  EXPECT_GT(loops, 5u);
}

// ── what is written ──

struct Written {
  test::Estimated estimated;
  Trace trace;
};

Written written(const std::string& text, int64_t most_points) {
  Written out{test::estimated(text, "v5e"), {}};
  out.trace =
      make_trace(op_table(), out.estimated.device, out.estimated.estimate, {.max_points = most_points});
  return out;
}

std::vector<Written> all_written() {
  std::vector<Written> out;
  for (const int64_t most : {1, 1'000'000})
    for (const std::string& text : own_texts()) out.push_back(written(text, most));
  return out;
}

TEST(MemoryCurve, ChromesCountersHaveTheReportsMeans) {
  for (const Written& one : all_written()) {
    std::map<std::string, MemoryCurve> curves;
    const ParsedJson document = ParsedJson::parse(chrome_json({&one.trace, 1}));
    for (const ParsedJson& event : document.at("traceEvents")) {
      if (event.at("ph") != "C") continue;
      const auto time = static_cast<int64_t>(std::llround(event.at("ts").get<double>() * 1e6));
      curves[event.at("name")].push_back(
          {Picoseconds(time), Bytes(event.at("args").at("bytes").get<int64_t>())});
    }
    ASSERT_EQ(curves.size(), one.trace.counters.size());
    for (const TraceCounter& counter : one.trace.counters)
      EXPECT_EQ(mean_of(curves[counter.name], one.trace.makespan),
                reported(one.estimated.report, counter.space).mean);
  }
}

std::vector<int64_t> whole_numbers(const ParsedJson& column, size_t rows) {
  if (column.contains("c")) return std::vector<int64_t>(rows, column["c"].get<int64_t>());
  std::vector<int64_t> out;
  for (const ParsedJson& change : column["d"])
    out.push_back((out.empty() ? 0 : out.back()) + change.get<int64_t>());
  return out;
}

TEST(MemoryCurve, ThePagesCurvesHaveTheReportsMeans) {
  for (const Written& one : all_written()) {
    const ParsedJson data = ParsedJson::parse(timeline_data(one.trace));
    ASSERT_EQ(data["counters"].size(), one.estimated.estimate.occupancy.spaces.size());
    for (const ParsedJson& counter : data["counters"]) {
      const auto rows = counter["points"]["rows"].get<size_t>();
      const auto times = whole_numbers(counter["points"]["columns"]["time_ps"], rows),
                 bytes = whole_numbers(counter["points"]["columns"]["bytes"], rows);
      MemoryCurve curve;
      for (size_t i = 0; i < rows; ++i) curve.push_back({Picoseconds(times[i]), Bytes(bytes[i])});
      EXPECT_EQ(mean_of(curve, Picoseconds(data["total_ps"].get<int64_t>())),
                reported(one.estimated.report, counter["space"].get<int64_t>()).mean);
    }
  }
}

TEST(MemoryCurve, TheTextTimelineNamesTheReportsMeans) {
  for (const Written& one : all_written()) {
    const std::string text = timeline_text(one.trace);
    for (const TraceCounter& counter : one.trace.counters) {
      const ReportSpace& space = reported(one.estimated.report, counter.space);
      EXPECT_THAT(text, testing::HasSubstr("| tenths of " + to_text(space.peak) + ", mean " +
                                           to_text(space.mean) + "\n"));
    }
  }
}

}  // namespace
}  // namespace hlosim
