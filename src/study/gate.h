// Holds what modules cost against what they cost when it was last agreed to.
//
//   Baseline baseline = *read_baseline(source, problems);
//   GateResult result = judge(config, runs, baseline);      // runs: figures of every module on every device
//   write(to_text(result)); return result.failed() ? 1 : 0;
//
// A change of the device, of the options or of the model is no regression: such numbers are not compared.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/paint.h"
#include "report/figures.h"
#include "report/report_advice.h"
#include "study/diff.h"
#include "study/gate_config.h"

namespace hlosim {

/// How keys write the name of a file: in UTF-8 and without ".", whoever wrote it.
std::string key_text(const std::string& file);

/// One module on one device.
struct GateRun {
  std::string file;     // as the configuration finds it: relative to its folder
  std::string path;     // as it was opened
  std::string device;   // as the configuration names it
  std::string options;  // what else the numbers depend on, as text
  int64_t number = 0;   // of the modules with this name in the file, from 0
  bool scheduled = false;
  Metrics figures;
  std::string key() const;    // what a baseline finds it by, though the module changed
  std::string name() const;   // "file:module"
  std::string title() const;  // name(), and "file:module (2)" of a second one of that name
};

struct Baseline {
  std::vector<GateRun> runs;  // without path, line numbers and sources
  const GateRun* find(const std::string& key) const;
};

/// Ends in '\n'; one line per instruction, those that amount to nothing left out.
std::string to_json(const Baseline& baseline, std::string_view tool_version);
/// Nothing when it is no baseline of this schema: the place and what is wrong are in `problems`.
std::optional<Baseline> read_baseline(const SourcePtr& source, DiagnosticList& problems);

enum class Verdict : uint8_t { kPassed, kImproved, kRegressed, kNew, kNotComparable };
/// "passed", "improved", "regressed", "new", "not comparable"
std::string_view to_text(Verdict verdict);

/// An instruction that a regression comes from.
struct Culprit {
  std::string name, kind, change, reason;
  std::string source_file;  // of the model's source; may be empty
  int64_t line = 0, source_line = 0;
};

struct GateRow {
  Metric metric;
  std::optional<int64_t> before;
  int64_t after = 0;
  std::string limit;  // text of what applied
  Verdict verdict = Verdict::kPassed;
  std::string note;               // "above the most that is allowed", "the same program in another order"
  std::vector<Culprit> culprits;  // of a regression, the worst first
};

struct GateModule {
  const GateRun* run = nullptr;
  const GateRun* before = nullptr;     // in the baseline
  Verdict verdict = Verdict::kPassed;  // the worst of its rows
  std::string reason;                  // why it is new or not comparable
  std::vector<GateRow> rows;
  /// Changes that save time, the largest saving first, where they were tried: of a module that got slower.
  std::optional<std::vector<ReportAdvice>> advice;

  bool got_slower() const;  // its time regressed
};

/// What the baseline has and the configuration no longer asks for.
struct GateGone {
  std::string name, device;  // "file:module", as the baseline has them
  std::string file;
  std::string text() const;  // "file:module on v5e"
};

/// A file or module that there are no numbers of; what is wrong was said before.
struct GateError {
  std::string file, device, message;
  int64_t line = 0;  // 0: the whole file
};

struct GateResult {
  std::vector<GateModule> modules;
  std::vector<GateGone> gone;  // in the baseline only
  std::vector<GateError> errors;
  GatePolicy on_new = GatePolicy::kWarn, on_gone = GatePolicy::kFail, on_incomparable = GatePolicy::kFail;
  std::string config;  // name of its file
  std::string root;    // folder of the repository, which annotations count paths from; empty: as they are
  bool has_baseline = true;

  size_t count(Verdict verdict) const;  // rows
  size_t modules_with(Verdict verdict) const;
  /// 2: errors, or numbers that can't be compared and have to be; 1: a regression, or a module that must not
  /// be new or gone; 0: passed.
  int exit_code() const;
};

/// What of the configuration has no part in this result, as warnings: limits that no number is held to,
/// metrics that no module has.
std::vector<Diagnostic> idle_parts(const GateConfig& config, const GateResult& result);

/// `runs` and `baseline` have to outlive the result.
GateResult judge(const GateConfig& config, const std::vector<GateRun>& runs, const Baseline& baseline);

std::string to_text(const GateResult& result, Paint paint = {});
std::string to_markdown(const GateResult& result);
std::string to_json(const GateResult& result, std::string_view tool_version);
/// JUnit XML: a suite per device, a case per module and metric.
std::string to_junit(const GateResult& result);
/// SARIF 2.1.0: a result per regression, and per module that couldn't be judged.
std::string to_sarif(const GateResult& result, std::string_view tool_version);
/// Workflow commands of GitHub, one per line: `::error file=…,line=…,title=…::…`.
std::string to_annotations(const GateResult& result);
/// What github-action-benchmark reads as customSmallerIsBetter.
std::string to_benchmark_json(const GateResult& result);
/// Bencher metric format; time is its latency, in nanoseconds.
std::string to_bencher_json(const GateResult& result);

/// "time 8.47 us → 9.1 us, +630 ns (+7.4 %), limit 0": one row in words.
std::string row_text(const GateRow& row);

/// "to win it back: saves 215 ms (5.1 %): …" of the module's time; empty: another row, or nothing was tried.
std::string advice_text(const GateModule& module, const GateRow& row);

}  // namespace hlosim
