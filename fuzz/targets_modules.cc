// Targets that take a module through functions of the libraries, with devices that were loaded once:
// thousands of small modules a second.
#include <fmt/format.h>

#include "base/check.h"
#include "estimate/estimate.h"
#include "hlo/printer.h"
#include "hlo/reader.h"
#include "hlo/verifier.h"
#include "input/proto_text.h"
#include "layout/sizes.h"
#include "lower/lower.h"
#include "model/native_layouts.h"
#include "ops/op_table.h"
#include "prefetch/prefetch.h"
#include "read_input.h"
#include "relayout/layout_tuner.h"
#include "report/figures.h"
#include "report/html/html.h"
#include "report/prefetch_report.h"
#include "report/relayout_report.h"
#include "report/report_json.h"
#include "report/report_text.h"
#include "report/schedule_report.h"
#include "report/trace/trace.h"
#include "schedule/latency_schedule.h"
#include "study/diff.h"
#include "targets.h"

namespace hlosim::fuzz {
namespace {

EstimateOptions estimate_options(Random& choice) {
  EstimateOptions options;
  if (choice.one_in(4)) options.lowering = Lowering::kNever;
  if (choice.one_in(4)) options.simulate.unknown_trip_count = static_cast<int64_t>(choice.below(4));
  options.simulate.keep_timeline = choice.one_in(4);
  return options;
}

/// Every form of a report that `choice` asks for.
void write_report(const Device& device, const Module& module, const Estimate& estimate, Random& choice) {
  const Report report = make_report(module, op_table(), device, estimate);
  HLOSIM_CHECK(!to_text(report, {.top = choice.below(3)}).empty());
  const bool has_timeline = !estimate.simulation->timeline.spans().empty();
  switch (choice.below(4)) {
    case 0:
      to_csv({&report, 1});
      break;
    case 1:
      to_json(report, make_figures(report, module, op_table(), estimate), "1");
      break;
    case 2:
      if (has_timeline) html_module(op_table(), device, estimate, report, "1", {.max_slices = 100});
      break;
    default:
      if (!has_timeline) break;
      const Trace trace = make_trace(op_table(), device, estimate, {.max_events = 1000});
      chrome_json({&trace, 1});
      timeline_text(trace);
  }
}

bool report_on(const Device& device, const std::string& input, Random& choice) {
  const auto modules = read_right(input);
  if (!modules) return false;
  const EstimateOptions options = estimate_options(choice);
  bool ok = true;
  for (const Module& module : *modules) {
    const Result<Estimate> estimate = hlosim::estimate(module, op_table(), device, options);
    ok = ok && estimate;
    if (estimate)
      write_report(device, module, *estimate, choice);
    else
      told(estimate.error());
  }
  return ok;
}

/// Reads, prepares as the tune commands do, and gives each module to `tune`.
template <class F>
bool tune_each(const Bench& bench, const std::string& input, Random& choice, const F& tune) {
  const auto modules = read_right(input);
  if (!modules) return false;
  const Device& device = choice.pick(bench.devices);
  const EstimateOptions options = estimate_options(choice);
  bool ok = true;
  for (const Module& module : *modules) {
    const Result<Prepared> prepared = prepare(module, op_table(), device, options);
    const Result<std::string> text = prepared ? tune(module, *prepared, device, options.simulate)
                                              : Result<std::string>(tl::unexpected(prepared.error()));
    ok = ok && text;
    if (text)
      require_right(*text, "tuning");
    else
      told(text.error());
  }
  return ok;
}

std::string printed(const std::vector<Module>& modules) {
  std::string text;
  for (const Module& module : modules) text += to_text(module, op_table());
  return text;
}

}  // namespace

bool check_module(const Bench&, const std::string& input, Random& choice) {
  DiagnosticList findings;
  std::vector<Module> modules = read_modules(source_of(input), op_table(), findings);
  const std::string text = printed(modules);
  bool right = !modules.empty() && !findings.has_errors();
  for (Module& module : modules) {
    right = verify(module, op_table(), findings) && right;
    to_text(module, op_table(), {choice.one_in(2), choice.one_in(2), choice.one_in(2), choice.one_in(2)});
  }
  told(findings);
  if (right) right = read_right(input).has_value();
  if (modules.empty()) return right;
  DiagnosticList again;
  const std::vector<Module> read = read_modules(source_of(text), op_table(), again);
  // Inferred shapes may be beyond the limits where nothing was verified.
  if (again.has_errors() && !right) return false;
  HLOSIM_CHECK(!again.has_errors(), "what was printed doesn't read: {}\n{}", again.items().front().message,
               render(again.items().front()));
  HLOSIM_CHECK(printed(read) == text, "printing isn't a fixed point\n{}\n{}", text, printed(read));
  return right;
}

bool report_on_v4(const Bench& bench, const std::string& input, Random& choice) {
  return report_on(bench.device("v4"), input, choice);
}
bool report_on_v5e(const Bench& bench, const std::string& input, Random& choice) {
  return report_on(bench.device("v5e"), input, choice);
}
bool report_on_v6e(const Bench& bench, const std::string& input, Random& choice) {
  return report_on(bench.device("v6e"), input, choice);
}
bool report_on_v7x(const Bench& bench, const std::string& input, Random& choice) {
  return report_on(bench.device("v7x"), input, choice);
}

bool lower_module(const Bench& bench, const std::string& input, Random& choice) {
  const auto modules = read_right(input);
  if (!modules) return false;
  const Device& device = choice.pick(bench.devices);
  for (const Module& module : *modules) {
    if (!check_native_sizes(module, device)) continue;  // as every command that lowers does first
    if (choice.one_in(3)) {
      const Pass& pass = all_passes()[choice.below(all_passes().size())];
      const std::vector<const Pass*> passes = {&pass};
      require_right(to_text(run_passes(module, passes, {op_table(), device}, {}), op_table()),
                    std::string(pass.name).c_str());
    } else if (is_plain(module)) {
      require_right(to_text(lower(module, op_table(), device), op_table()), "lowering");
    }
  }
  return true;
}

bool tune_layouts_of(const Bench& bench, const std::string& input, Random& choice) {
  LayoutTuneOptions options;
  options.arrays.free_entry = choice.one_in(2);
  options.search.moves = 300;
  options.search.steps = 300;
  if (choice.one_in(4)) options.objective = LayoutObjective::kBytes;
  if (choice.one_in(4)) options.objective = LayoutObjective::kMemory;
  return tune_each(bench, input, choice,
                   [&](const Module& given, const Prepared& prepared, const Device& device,
                       const SimulateOptions& simulate) -> Result<std::string> {
                     options.simulate = simulate;
                     const Result<LayoutTuning> tuned =
                         tune_layouts(*prepared.module, op_table(), device, options);
                     if (!tuned) return tl::unexpected(tuned.error());
                     to_text(*tuned, {given.name, device.config.name, options.objective, false, 3});
                     return to_text(*tuned->module, op_table());
                   });
}

bool tune_prefetches_of(const Bench& bench, const std::string& input, Random& choice) {
  constexpr PrefetchAlgorithm kAlgorithms[] = {PrefetchAlgorithm::kStrip, PrefetchAlgorithm::kXla,
                                               PrefetchAlgorithm::kGreedy, PrefetchAlgorithm::kStrong};
  PrefetchOptions options;
  options.algorithm = choice.pick(kAlgorithms);
  options.moves = 100;
  options.most_exact_sites = 4;
  options.keep_order = choice.one_in(2);
  return tune_each(bench, input, choice,
                   [&](const Module&, const Prepared& prepared, const Device& device,
                       const SimulateOptions& simulate) -> Result<std::string> {
                     options.simulate = simulate;
                     const Result<PrefetchResult> tuned =
                         tune_prefetch(*prepared.written, op_table(), device, options);
                     if (!tuned) return tl::unexpected(tuned.error());
                     prefetch_report_text(*tuned, device.config, 3);
                     return to_text(tuned->module, op_table());
                   });
}

bool tune_schedule_of(const Bench& bench, const std::string& input, Random& choice) {
  LatencyScheduleOptions options;
  options.split = !choice.one_in(4);
  options.keep_faster = choice.one_in(2);
  return tune_each(bench, input, choice,
                   [&](const Module&, const Prepared& prepared, const Device& device,
                       const SimulateOptions& simulate) -> Result<std::string> {
                     options.simulate = simulate;
                     const Result<LatencySchedule> tuned =
                         tune_schedule(*prepared.written, op_table(), device, options);
                     if (!tuned) return tl::unexpected(tuned.error());
                     schedule_report_text(*tuned, device.config, 3);
                     return to_text(tuned->module, op_table());
                   });
}

bool diff_modules(const Bench& bench, const std::string& input, Random& choice) {
  const auto modules = read_right(input);
  if (!modules) return false;
  const Device& device = choice.pick(bench.devices);
  const EstimateOptions options = estimate_options(choice);
  std::vector<Metrics> figures;
  for (const Module& module : *modules) {
    const Result<Estimate> estimate = hlosim::estimate(module, op_table(), device, options);
    if (!estimate) return told(estimate.error()), false;
    const Report report = make_report(module, op_table(), device, *estimate);
    figures.push_back(make_figures(report, module, op_table(), *estimate));
  }
  const Diff diff = make_diff(figures.front(), figures.back());
  to_text(diff, {.top = choice.below(4)});
  to_markdown(diff, {});
  to_json(diff, "1");
  for (size_t metric = 0; metric < diff.metrics.size(); ++metric) {
    int64_t sum = diff.metrics[metric].rest;
    for (const InstructionDiff& row : diff.instructions) sum += row.change[metric];
    HLOSIM_CHECK(sum == diff.metrics[metric].change(), "changes of {} don't add up",
                 diff.metrics[metric].metric.name);
  }
  return true;
}

namespace {

/// A proto has every element of a constant, which a text may say with one number.
bool has_large_constants(const Module& module) {
  constexpr Bytes kLarge{64 << 20};
  Bytes all{};
  for (const Instruction& instruction : module.instructions)
    if (instruction.literal && instruction.shape->is_array()) all += dense_bytes(instruction.shape);
  return all > kLarge;
}

}  // namespace

bool proto_of_module(const Bench&, const std::string& input, Random&) {
  const auto modules = read_right(input);
  if (!modules) return false;
  for (const Module& module : *modules) {
    if (has_large_constants(module)) return false;
    const Result<std::string> proto = proto_of(module);
    if (!proto) return told(proto.error()), false;
    const Result<std::string> text = text_of_proto(*proto, "input.pb");
    HLOSIM_CHECK(text, "a proto of ours isn't read: {}", text.error().message);
    require_right(*text, "print --format=pb");
  }
  return true;
}

}  // namespace hlosim::fuzz
