// Experiments: what they mean, that nothing computed is lost or done twice, and what tables say.
#include "study/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "model/device_overrides.h"
#include "study/sweep_journal.h"
#include "study/sweep_run.h"
#include "study/sweep_table.h"
#include "support/modules.h"
#include "support/thread_ranks.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kModule = R"(HloModule m
ENTRY main {
  x = f32[256,512] parameter(0)
  y = f32[512,${columns}] parameter(1)
  p = f32[256,${columns}] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = f32[256,${columns}] tanh(p)
}
)";

/// A folder of its own with the module in it.
class Sweep : public testing::Test {
 protected:
  Sweep() {
    const testing::TestInfo* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(testing::TempDir()) / fmt::format("hlosim_sweep_{}_{}", info->name(), ::getpid());
    fs::create_directories(folder_);
    std::ofstream(folder_ / "m.hlo") << kModule;
  }
  ~Sweep() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::string problems(const std::string& yaml) {
    DiagnosticList found;
    const auto source = std::make_shared<const SourceFile>(path("e.yaml"), yaml);
    EXPECT_FALSE(read_experiment(source, {}, found));
    std::string text = test::rendered(found);
    for (size_t at; (at = text.find(folder_.string() + "/")) != std::string::npos;)
      text.erase(at, folder_.string().size() + 1);
    return text;
  }
  Experiment experiment(const std::string& yaml) {
    DiagnosticList found;
    const auto source = std::make_shared<const SourceFile>(path("e.yaml"), yaml);
    std::optional<Experiment> read = read_experiment(source, {}, found);
    EXPECT_TRUE(read) << test::rendered(found);
    return read ? std::move(*read) : Experiment();
  }
  SweepRun run(const Experiment& experiment, const std::string& journal = {}, Ranks& ranks = lone_rank()) {
    SweepProgress progress;
    Result<SweepRun> result = run_sweep(experiment, {journal, "test"}, ranks, progress);
    EXPECT_TRUE(result) << (result ? "" : render(result.error()));
    ran_ = progress.done;
    return result ? std::move(*result) : SweepRun();
  }
  static std::string csv(const Experiment& experiment, const SweepRun& run) {
    return sweep_csv({experiment, run.results, pareto_front(experiment, run.results)});
  }

  fs::path folder_;
  int64_t ran_ = 0;  // points of the last run()
};

constexpr const char* kSmall = R"(
modules: m.hlo
devices: [v4, v5e]
text:
  columns: [128, 256, 384]
set:
  memory.hbm.bandwidth: {from: 200GB/s, to: 800GB/s, times: 2}
knobs:
  lower: [true, false]
)";

TEST_F(Sweep, TheLastAxisGoesFastest) {
  const Experiment e = experiment(kSmall);
  ASSERT_EQ(e.size(), 2 * 3 * 3 * 2);
  std::vector<std::string> seen;
  for (int64_t i = 0; i < e.size(); ++i) {
    const SweepPoint point = point_at(e, i);
    seen.push_back(*setting(e, point, "device") + " " + *setting(e, point, "columns") + " " +
                   *setting(e, point, "memory.hbm.bandwidth") + " " + *setting(e, point, "lower"));
  }
  EXPECT_EQ(seen[0], "v4 128 200GB/s true");
  EXPECT_EQ(seen[1], "v4 128 200GB/s false");
  EXPECT_EQ(seen[2], "v4 128 400GB/s true");
  EXPECT_EQ(seen[35], "v5e 384 800GB/s false");
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(std::unique(seen.begin(), seen.end()), seen.end());
}

TEST_F(Sweep, RangesHoldBothEnds) {
  const auto values = [&](const std::string& range) {
    return experiment("modules: m.hlo\ndevices: v5e\ntext: {columns: 128}\nset: {memory.hbm.bandwidth: " +
                      range + "}")
        .axes.back()
        .values;
  };
  using testing::ElementsAre;
  EXPECT_THAT(values("{from: 100GB/s, to: 300GB/s, step: 100GB/s}"),
              ElementsAre("100GB/s", "200GB/s", "300GB/s"));
  EXPECT_THAT(values("{from: 100 GB/s, to: 350 GB/s, step: 100 GB/s}"),
              ElementsAre("100 GB/s", "200 GB/s", "300 GB/s"));
  EXPECT_THAT(values("{from: 100GB/s, to: 100.3GB/s, step: 0.1GB/s}"),
              ElementsAre("100GB/s", "100.1GB/s", "100.2GB/s", "100.3GB/s"));
  EXPECT_THAT(values("{from: 100GB/s, to: 900GB/s, times: 3}"), ElementsAre("100GB/s", "300GB/s", "900GB/s"));
  EXPECT_THAT(values("700GB/s"), ElementsAre("700GB/s"));
}

TEST_F(Sweep, WrongExperimentsAreToldWithTheirPlace) {
  EXPECT_THAT(problems("modules: m.hlo\ndevices: v5\n"), testing::StartsWith("e.yaml:2:10: error:"));
  EXPECT_THAT(problems("modules: m.hlo\ndevices: v5e\nknob: {lower: true}\n"),
              testing::AllOf(testing::StartsWith("e.yaml:3:1: error: unknown key \"knob\" of an experiment"),
                             testing::HasSubstr("did you mean \"knobs\"?")));
  EXPECT_THAT(problems("modules: nothing*.hlo\ndevices: v5e\n"),
              testing::StartsWith("e.yaml:1:10: error: no file matches \"nothing*.hlo\""));
  EXPECT_THAT(problems("modules: m.hlo\ndevices: v5e\ntext: {columns: 1}\nset:\n  mxu.cout: [1, 2]\n"),
              testing::AllOf(testing::StartsWith("e.yaml:5:14: error: mxu.cout of v5e:"),
                             testing::HasSubstr("mxu.count")));
  EXPECT_THAT(problems("modules: m.hlo\ndevices: v5e\ntext: {columns: 1}\nset:\n  mxu.count: [1, many]\n"),
              testing::StartsWith("e.yaml:5:18: error:"));
  EXPECT_THAT(problems("modules: m.hlo\ndevices: v5e\nknobs: {lower: [true, maybe]}\n"),
              testing::StartsWith("e.yaml:3:23: error: lower: expects true or false, but is \"maybe\""));
  EXPECT_THAT(problems("modules: m.hlo\ndevices: v5e\nknobs: {schedule.rerum: 1}\n"),
              testing::HasSubstr("did you mean \"rerun\"?"));
  EXPECT_THAT(problems("modules: m.hlo\ndevices: v5e\ntext: {column: 1}\n"),
              testing::StartsWith("e.yaml:3:16: error: no module holds ${column}"));
  EXPECT_THAT(problems("modules: m.hlo\ndevices: v5e\nset: {mxu.count: {from: 4, to: 1, step: 1}}\n"),
              testing::HasSubstr("a range without values"));
  EXPECT_THAT(problems("modules: m.hlo\ndevices: v5e\nset: {mxu.count: {from: 1, to: 4}}\n"),
              testing::HasSubstr("a range needs from, to, and either step or times"));
  EXPECT_THAT(
      problems(
          "modules: m.hlo\ndevices: v5e\nset: {memory.hbm.bandwidth: {from: 1GB/s, to: 4TB/s, times: 2}}\n"),
      testing::HasSubstr("expects a number in the unit of from"));
  EXPECT_THAT(problems("modules: m.hlo\ndevices: v5e\nobjectives: [tme]\n"),
              testing::AllOf(testing::StartsWith("e.yaml:3:14: error:"),
                             testing::HasSubstr("did you mean \"time\"?")));
  EXPECT_THAT(problems("modules: m.hlo\ndevices: v5e\nplot: {x: nothing}\n"),
              testing::StartsWith("e.yaml:3:11: error:"));
  EXPECT_THAT(problems("devices: v5e\n"), testing::HasSubstr("an experiment needs modules"));
  EXPECT_THAT(problems("- a\n"), testing::StartsWith("e.yaml:1:1: error: expects an experiment"));
  EXPECT_THAT(problems("modules: [m.hlo\n"), testing::HasSubstr("e.yaml:"));
}

TEST_F(Sweep, WhatIsVariedShowsInTheResults) {
  const Experiment e = experiment(kSmall);
  const SweepRun all = run(e);
  const size_t time = static_cast<size_t>(metric_index("time"));
  for (int64_t i = 0; i < e.size(); ++i) {
    const SweepResult& result = all.results[static_cast<size_t>(i)];
    ASSERT_TRUE(result.ok()) << result.error;
    SweepPoint point = point_at(e, i);
    // Not lowered, or with less bandwidth: never faster.
    const double own = result.values[time];
    const auto other = [&](size_t axis, size_t value) {
      SweepPoint changed = point;
      changed.values[axis] = value;
      for (int64_t k = 0; k < e.size(); ++k) {
        const SweepPoint candidate = point_at(e, k);
        if (candidate.device == changed.device && candidate.values == changed.values)
          return all.results[static_cast<size_t>(k)].values[time];
      }
      return -1.0;
    };
    EXPECT_LE(other(2, 0), own);
    EXPECT_LE(other(1, 2), own);
    EXPECT_GE(other(0, 2), own);
  }
}

TEST_F(Sweep, ThreadsAndRanksChangeNothing) {
  const Experiment e = experiment(kSmall);
  set_thread_count(1);
  const std::string expected = csv(e, run(e));
  set_thread_count(4);
  EXPECT_EQ(csv(e, run(e)), expected);
  set_thread_count(0);
  for (const int count : {2, 3, 5}) {
    std::string of_first;
    test::ThreadRanks::run(count, [&](Ranks& ranks) {
      SweepProgress progress;
      const Result<SweepRun> result = run_sweep(e, {"", "test"}, ranks, progress);
      ASSERT_TRUE(result);
      if (ranks.rank() == 0) of_first = csv(e, *result);
      EXPECT_EQ(result->results.empty(), ranks.rank() != 0);
    });
    EXPECT_EQ(of_first, expected);
  }
}

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Whatever is left of a journal, the table is the same and nothing that is in it runs again.
TEST_F(Sweep, GoesOnFromAnyBeginningOfAJournal) {
  const Experiment e = experiment(kSmall);
  const SweepRun whole = run(e, path("whole"));
  EXPECT_EQ(ran_, e.size());
  const std::string expected = csv(e, whole), journal = contents(path("whole"));
  std::mt19937_64 random(7);
  for (int i = 0; i < 40; ++i) {
    const std::string left = journal.substr(0, random() % (journal.size() + 1));
    std::ofstream(path("part"), std::ios::binary) << left;
    const auto lines = std::count(left.begin(), left.end(), '\n');
    const SweepRun again = run(e, path("part"));
    EXPECT_EQ(csv(e, again), expected);
    EXPECT_EQ(again.resumed, lines);
    EXPECT_EQ(ran_, e.size() - lines);
    EXPECT_EQ(again.damaged, left.empty() || left.back() == '\n' ? 0 : 1);
    // The torn line hides none of those behind it.
    EXPECT_EQ(csv(e, run(e, path("part"))), expected);
    EXPECT_EQ(ran_, 0);
  }
}

TEST_F(Sweep, WritesToNoFileThatIsNoJournal) {
  int64_t damaged = 0;
  for (const std::string text :
       {"HloModule m\n\nENTRY e {\n  ROOT p = f32[] parameter(0)\n}\n", "cafe\nshopping: milk\n", "1.5\n2\n",
        "1.5\n2", "1\n2\n", "\nmilk\n", "cafe\n", "0123456789abcdef bread\n",
        "0123456789abcdef 0123456789abcdef\nfeed"}) {
    std::ofstream(path("list"), std::ios::binary) << text;
    const Result<ResultsByKey> read = read_journal(path("list"), damaged);
    ASSERT_FALSE(read) << text;
    EXPECT_THAT(read.error().message, testing::HasSubstr("is not a journal of a sweep"));
    EXPECT_EQ(contents(path("list")), text);
  }
  // What was torn at its beginning, and the line end that was put behind it.
  const std::string line = journal_line(std::string(32, 'a'), {{}, "wrong"});
  for (const std::string& text : {std::string(), std::string("\n"), std::string("cafe"), line.substr(0, 20),
                                  "cafe\n" + line + "\n", line + "\ncafe"}) {
    std::ofstream(path("journal"), std::ios::binary) << text;
    EXPECT_TRUE(read_journal(path("journal"), damaged)) << text;
  }
}

TEST_F(Sweep, DamagedLinesRunAgain) {
  const Experiment e = experiment(kSmall);
  const std::string expected = csv(e, run(e, path("whole"))), journal = contents(path("whole"));
  std::mt19937_64 random(11);
  for (int i = 0; i < 40; ++i) {
    std::string damaged = journal;
    char& byte = damaged[random() % damaged.size()];
    byte = static_cast<char>(byte ^ (1 << (random() % 7)));
    std::ofstream(path("part"), std::ios::binary) << damaged;
    EXPECT_EQ(csv(e, run(e, path("part"))), expected);
    EXPECT_GE(ran_, 1);
    EXPECT_LE(ran_, 2);  // the line end may have gone
  }
}

TEST_F(Sweep, CapitalDigitsAreDamage) {
  const Experiment e = experiment(kSmall);
  run(e, path("whole"));
  std::string journal = contents(path("whole"));
  const size_t lines = static_cast<size_t>(std::ranges::count(journal, '\n'));
  std::ranges::transform(journal, journal.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  std::ofstream(path("part"), std::ios::binary) << journal;
  run(e, path("part"));
  EXPECT_EQ(static_cast<size_t>(ran_), lines);
}

TEST_F(Sweep, JournalsOfRanksAreReadByAnyNumberOfRanks) {
  const Experiment e = experiment(kSmall);
  const std::string expected = csv(e, run(e));
  const auto on = [&](int count) {
    std::string table;
    std::atomic<int64_t> ran{0};
    test::ThreadRanks::run(count, [&](Ranks& ranks) {
      SweepProgress progress;
      const Result<SweepRun> result = run_sweep(e, {path("j"), "test"}, ranks, progress);
      ASSERT_TRUE(result) << render(result.error());
      if (ranks.rank() == 0) table = csv(e, *result);
      ran += progress.done;
    });
    EXPECT_EQ(table, expected);
    return ran.load();
  };
  EXPECT_EQ(on(3), e.size());
  EXPECT_EQ(on(2), 0);
  fs::remove(path("j.2"));
  EXPECT_EQ(on(4), e.size() / 3);
  EXPECT_EQ(on(1), 0);
}

// The key is of what the result depends on.
TEST_F(Sweep, WhatChangedRunsAgain) {
  std::string yaml = "modules: m.hlo\ndevices: v5e\ntext: {columns: [128, 256]}\nset: {mxu.count: [1, 2]}\n";
  run(experiment(yaml), path("j"));
  EXPECT_EQ(ran_, 4);
  run(experiment("modules: m.hlo\ndevices: v5e\nset: {mxu.count: [2, 4]}\ntext: {columns: [256]}\n"),
      path("j"));
  EXPECT_EQ(ran_, 1);  // 256 columns on 2 MXUs is there, whatever the order
  SweepProgress progress;
  ASSERT_TRUE(run_sweep(experiment(yaml), {path("j"), "another version"}, lone_rank(), progress));
  EXPECT_EQ(progress.done, 4);
  std::ofstream(folder_ / "m.hlo", std::ios::app) << "// changed\n";
  run(experiment(yaml), path("j"));
  EXPECT_EQ(ran_, 4);
}

TEST_F(Sweep, PointsThatFailAreTold) {
  const Experiment e = experiment("modules: m.hlo\ndevices: v5e\ntext: {columns: [128, many, 256]}\n");
  const SweepRun all = run(e);
  EXPECT_TRUE(all.results[0].ok());
  EXPECT_FALSE(all.results[1].ok());
  EXPECT_TRUE(all.results[2].ok());
  const SweepTable table{e, all.results, pareto_front(e, all.results)};
  EXPECT_FALSE(table.front[1]);
  EXPECT_THAT(sweep_text(table), testing::HasSubstr("error: "));
  EXPECT_THAT(sweep_json(table), testing::HasSubstr("\"error\": "));
  EXPECT_THAT(sweep_svg(table), testing::StartsWith("<svg"));
}

// The error names the file, and stands in tables, journals and terminals.
TEST_F(Sweep, ErrorsOfPointsHaveNoHiddenCharacters) {
  const std::string hidden = "\xe2\x80\xae";  // turns the direction of text
  fs::copy_file(folder_ / "m.hlo", folder_ / ("m" + hidden + ".hlo"));
  const SweepRun all =
      run(experiment("modules: m" + hidden + ".hlo\ndevices: v5e\ntext: {columns: [128, many, 256]}\n"));
  ASSERT_FALSE(all.results[1].ok());
  EXPECT_THAT(all.results[1].error, testing::HasSubstr("\\u202e.hlo:"));
  EXPECT_THAT(all.results[1].error, testing::Not(testing::HasSubstr(hidden)));
}

TEST_F(Sweep, DynamicDimensionsTakeTheSizesOfTheExperiment) {
  std::ofstream(path("d.mlir")) << "func.func @main(%x: tensor<?x512xf32>) -> tensor<?x512xf32> {\n"
                                   "  %0 = stablehlo.tanh %x : tensor<?x512xf32>\n"
                                   "  return %0 : tensor<?x512xf32>\n}\n";
  const std::string base = "modules: d.mlir\ndevices: v5e\n";
  const auto time_with = [&](const std::string& more) {
    const Experiment e = experiment(base + more);
    const SweepResult result = run(e, path("j")).results[0];
    return result.ok() ? result.values[static_cast<size_t>(metric_index("time"))] : -1.0;
  };
  const double large = time_with("dim: batch=65536\n");
  EXPECT_EQ(ran_, 1);
  EXPECT_GT(large, time_with("dim: [batch=1024]\n"));
  EXPECT_EQ(ran_, 1);  // the journal knows only the other size
  EXPECT_EQ(time_with(""), -1.0);
  EXPECT_THAT(problems(base + "dim: batch=many\n"),
              testing::StartsWith("e.yaml:3:6: error: 'batch=many' is not a size"));
}

TEST_F(Sweep, ModulesThatWereCutOffAreReadWhereTheExperimentSaysSo) {
  std::ofstream(path("cut.hlo")) << "ENTRY main {\n  x = f32[256,512]{1,0} parameter(0)\n"
                                    "  y = f32[256,512]{1,0} tanh(x)\n  z = f32[256,5";
  EXPECT_FALSE(run(experiment("modules: cut.hlo\ndevices: v5e\n")).results[0].ok());
  EXPECT_TRUE(run(experiment("modules: cut.hlo\ndevices: v5e\npartial: true\n")).results[0].ok());
  EXPECT_THAT(problems("modules: cut.hlo\ndevices: v5e\npartial: perhaps\n"),
              testing::StartsWith("e.yaml:3:10: error: \"partial\" is true or false, not \"perhaps\""));
}

TEST_F(Sweep, TheFrontIsWhatNobodyBeats) {
  Experiment e = experiment(
      "modules: m.hlo\ndevices: v5e\ntext: {columns: {from: 1, to: 300, step: 1}}\n"
      "objectives: [time, max hbm_peak, columns]\n");
  std::mt19937_64 random(3);
  for (int round = 0; round < 20; ++round) {
    std::vector<SweepResult> results(300);
    for (SweepResult& result : results) {
      result.values.assign(sweep_metrics().size(), 0);
      for (double& value : result.values) value = static_cast<double>(random() % 20);
    }
    const std::vector<bool> front = pareto_front(e, results);
    const size_t time = static_cast<size_t>(metric_index("time")),
                 peak = static_cast<size_t>(metric_index("hbm_peak"));
    for (size_t i = 0; i < results.size(); ++i) {
      bool beaten = false;
      for (size_t k = 0; k < results.size(); ++k) {
        const auto &a = results[k].values, &b = results[i].values;
        beaten |= a[time] <= b[time] && a[peak] >= b[peak] && k <= i &&
                  (a[time] < b[time] || a[peak] > b[peak] || k < i);
      }
      EXPECT_EQ(front[i], !beaten) << i;
    }
  }
}

// Overrides on a device that was loaded once are those of one that is loaded with them.
TEST_F(Sweep, DevicesWithOverridesAreThoseThatAreLoadedWithThem) {
  DiagnosticList problems;
  const std::optional<Device> base = load_device("v5e", {}, {}, problems);
  ASSERT_TRUE(base);
  const DeviceOverride overrides[] = {{"memory.hbm.bandwidth", "333 GB/s"}, {"mxu.count", "2"}};
  const auto loaded = load_device("v5e", overrides, {}, problems),
             made = with_overrides(*base, overrides, problems);
  ASSERT_TRUE(loaded && made) << test::rendered(problems);
  EXPECT_EQ(made->fingerprint(), loaded->fingerprint());
  EXPECT_NE(made->fingerprint(), base->fingerprint());
  const DeviceOverride wrong[] = {{"mxu.cout", "2"}};
  EXPECT_FALSE(with_overrides(*base, wrong, problems));
}

// What is tuned is never slower; an answer to a what-if is that of `hlosim tune layout`.
TEST_F(Sweep, TunersAreKnobs) {
  std::ofstream(folder_ / "tiled.hlo") << R"(HloModule tiled, is_scheduled=true
ENTRY main {
  x = f32[256,512]{1,0:T(8,128)} parameter(0)
  a = f32[256,512]{1,0:T(8,128)} tanh(x)
  ROOT b = f32[256,512]{1,0:T(8,128)} negate(a)
}
)";
  const Experiment e = experiment(
      "modules: tiled.hlo\ndevices: v5e\n"
      "knobs: {layout: [false, true], schedule: [false, true], what_if: [none, \"a={0,1:T(8,128)}\"]}\n");
  const SweepRun all = run(e);
  for (const SweepResult& result : all.results) EXPECT_TRUE(result.ok()) << result.error;
  const auto time = [&](size_t i) { return all.results[i].values[0]; };
  for (size_t i = 0; i < 8; ++i) {
    if (i < 4) {
      EXPECT_LE(time(i + 4), time(i)) << "layout";
    }
    if (i % 4 < 2) {
      EXPECT_LE(time(i + 2), time(i)) << "schedule";
    }
  }
  EXPECT_NE(time(0), time(1));
}

TEST_F(Sweep, NumbersWithUnits) {
  EXPECT_EQ(number_of("16MiB"), 16.0 * 1048576);
  EXPECT_EQ(number_of("16 MiB"), 16.0 * 1048576);
  EXPECT_EQ(number_of("1.5 GB/s"), 1.5e9);
  EXPECT_EQ(number_of("940MHz"), 940e6);
  EXPECT_EQ(number_of("-3"), -3.0);
  EXPECT_EQ(number_of("1e3"), 1000.0);
  for (const char* word : {"", "x", "2x2", "{1,0}", "4 mice", "xla"})
    EXPECT_EQ(number_of(word), std::nullopt) << word;
}

}  // namespace
}  // namespace hlosim
