// What is found out about a module on a device depends on nothing else: not on what was done with the module
// before, not on the order, not on what other threads do with it at the same time.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <thread>

#include "estimate/estimate.h"
#include "hlo/printer.h"
#include "prefetch/prefetch.h"
#include "relayout/layout_tuner.h"
#include "report/explain.h"
#include "report/figures.h"
#include "report/graph_view.h"
#include "report/prefetch_report.h"
#include "report/relayout_report.h"
#include "report/report.h"
#include "report/report_json.h"
#include "report/schedule_report.h"
#include "report/trace/trace.h"
#include "schedule/latency_schedule.h"
#include "study/accuracy.h"
#include "study/diff.h"
#include "study/sweep_run.h"
#include "support/module_files.h"
#include "support/simulations.h"
#include "support/written_text.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

constexpr std::string_view kPlain = R"(HloModule plain, num_partitions=4
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY e {
  x = bf16[512,1024] parameter(0)
  w = bf16[1024,1024] parameter(1)
  v = bf16[1024,1024] parameter(2)
  h = bf16[512,1024] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = bf16[512,1024] tanh(h)
  y = bf16[512,1024] dot(t, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  f = f32[512,1024] convert(y)
  r = f32[512,1024] all-reduce(f), channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true,
      to_apply=sum
  g = bf16[512,1024] transpose(x), dimensions={0,1}
  ROOT o = (f32[512,1024], bf16[512,1024]) tuple(r, g)
}
)";

constexpr std::string_view kScheduled = R"(HloModule scheduled, is_scheduled=true
ENTRY e {
  a = f32[256,512]{1,0:T(8,128)} parameter(0)
  b = f32[512,256]{1,0:T(8,128)} parameter(1)
  n = f32[256,512]{1,0:T(8,128)} negate(a)
  c = f32[512,256]{0,1:T(8,128)} copy(b)
  d = f32[256,256]{1,0:T(8,128)} dot(n, c), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = f32[256,256]{1,0:T(8,128)} tanh(d)
}
)";

std::vector<std::string> three_modules() {
  return {test::own_module("bitcasts_by_device"), std::string(kPlain), std::string(kScheduled)};
}

std::vector<Module> the_modules() {
  std::vector<Module> modules;
  for (const std::string& text : three_modules()) modules.push_back(test::module_or_fail(text));
  return modules;
}

std::vector<Device> the_devices() {
  std::vector<Device> devices;
  for (const char* name : {"v2", "v5e", "v7x"}) devices.push_back(test::device_or_fail(name));
  return devices;
}

using Verb = std::function<std::string(const Module&, const Device&)>;

std::string report_of(const Module& module, const Device& device, Lowering lowering) {
  const EstimateOptions options{{}, lowering};
  const Result<Estimate> run = estimate(module, op_table(), device, options);
  if (!run) return render(run.error());
  Report report = make_report(module, op_table(), device, *run);
  report.unused_keys = keys_without_effect(module, op_table(), device, options, *run);
  const Metrics figures = make_figures(report, module, op_table(), *run);
  std::string text = to_json(report, figures, "1");
  const Trace trace = make_trace(op_table(), device, *run);
  text += chrome_json({&trace, 1});
  text += test::written([&](const TextSink& out) {
    write_model_explorer_json(GraphData(op_table(), device.config, *run), out);
  });
  text += to_json(make_diff(figures, figures), "1");
  for (const InstructionRecord& record : run->simulation->instructions)
    if (const auto why = explain(*run->module, op_table(), device, {}, record.id, *run->simulation); why)
      text += to_text(*why);
  return text;
}

template <class F>
std::string tuned(const Module& module, const Device& device, F&& tune) {
  return tune(*prepare(module, op_table(), device, {}));
}

const std::vector<std::pair<std::string, Verb>>& verbs() {
  static const std::vector<std::pair<std::string, Verb>> all = {
      {"report", [](const Module& m, const Device& d) { return report_of(m, d, Lowering::kPlain); }},
      {"report --no-lower",
       [](const Module& m, const Device& d) { return report_of(m, d, Lowering::kNever); }},
      {"tune schedule",
       [](const Module& m, const Device& d) {
         const auto tune = [&](const Module& module) {
           const Result<LatencySchedule> result = tune_schedule(module, op_table(), d, {});
           return result ? schedule_report_json(*result, d.config) + to_text(result->module, op_table())
                         : render(result.error());
         };
         return tune(m) + tuned(m, d, [&](const Prepared& prepared) { return tune(*prepared.written); });
       }},
      {"tune layout",
       [](const Module& m, const Device& d) {
         return tuned(m, d, [&](const Prepared& prepared) {
           LayoutTuneOptions options;
           options.search.moves = options.search.steps = 50;
           const Result<LayoutTuning> result = tune_layouts(*prepared.module, op_table(), d, options);
           return result ? to_json(*result, {m.name, d.config.name}) + to_text(*result->module, op_table())
                         : render(result.error());
         });
       }},
      {"tune prefetch",
       [](const Module& m, const Device& d) {
         const auto tune = [&](const Module& module) {
           PrefetchOptions options;
           options.moves = 50;
           options.budget = 1e6;
           const Result<PrefetchResult> result = tune_prefetch(module, op_table(), d, options);
           return result ? prefetch_report_json(*result, d.config) + to_text(result->module, op_table())
                         : render(result.error());
         };
         return tune(m) + tuned(m, d, [&](const Prepared& prepared) { return tune(*prepared.written); });
       }},
  };
  return all;
}

struct Case {
  size_t module = 0, device = 0, verb = 0;
};

std::vector<Case> all_runs() {
  std::vector<Case> runs;
  for (size_t m = 0; m < the_modules().size(); ++m)
    for (size_t d = 0; d < the_devices().size(); ++d)
      for (size_t v = 0; v < verbs().size(); ++v) runs.push_back({m, d, v});
  return runs;
}

class AnyOrder : public testing::Test {
 protected:
  AnyOrder() {
    for (const Case& run : runs_)
      expected_.push_back(result(the_modules()[run.module], run));  // each from its text
  }
  std::string result(const Module& module, const Case& run) const {
    return verbs()[run.verb].second(module, devices_[run.device]);
  }
  void expect_same(const std::string& found, size_t i) const {
    EXPECT_EQ(found, expected_[i]) << verbs()[runs_[i].verb].first << " of " << modules_[runs_[i].module].name
                                   << " on " << devices_[runs_[i].device].config.name;
  }
  const std::vector<Device> devices_ = the_devices();
  const std::vector<Module> modules_ = the_modules();
  const std::vector<Case> runs_ = all_runs();
  std::vector<std::string> expected_;
};

TEST_F(AnyOrder, VerbsGiveTheSameAfterOthers) {
  std::vector<size_t> order(runs_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::vector<std::string> texts;
  for (const Module& module : modules_) texts.push_back(to_text(module, op_table()));
  for (uint64_t seed = 0; seed < 3; ++seed) {
    for (const size_t i : order) expect_same(result(modules_[runs_[i].module], runs_[i]), i);
    std::shuffle(order.begin(), order.end(), std::mt19937_64(seed));
  }
  for (size_t i = 0; i < modules_.size(); ++i) EXPECT_EQ(to_text(modules_[i], op_table()), texts[i]);
}

TEST_F(AnyOrder, VerbsGiveTheSameBesideOthers) {
  constexpr size_t kThreads = 4;
  std::vector<std::vector<std::string>> found(kThreads, std::vector<std::string>(runs_.size()));
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (size_t k = 0; k < runs_.size(); ++k) {
        const size_t i = (k + t * runs_.size() / kThreads) % runs_.size();
        found[t][i] = result(modules_[runs_[i].module], runs_[i]);
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<std::string>& results : found)
    for (size_t i = 0; i < results.size(); ++i) expect_same(results[i], i);
}

// ── many runs at once: sweeps and measured cases ────────────────

/// By module and device, of an experiment over some of them.
std::map<std::pair<std::string, std::string>, std::vector<double>> swept(
    const std::vector<std::string>& devices, const std::string& lower, int threads) {
  Experiment experiment;
  experiment.name = "order";
  for (const std::string& text : three_modules())
    experiment.modules.push_back(
        {fmt::format("module_{}", experiment.modules.size()), test::source_of(text)});
  for (const std::string& device : devices) {
    DiagnosticList problems;
    experiment.devices.push_back({device, load_device(device, {}, {}, problems).value()});
  }
  experiment.axes.push_back({SweepAxis::Kind::kKnob, "lower", {lower}});
  experiment.axes.push_back({SweepAxis::Kind::kKnob, "schedule", {"false", "true"}});
  set_thread_count(threads);
  SweepProgress progress;
  const Result<SweepRun> run = run_sweep(experiment, {}, lone_rank(), progress);
  set_thread_count(0);
  std::map<std::pair<std::string, std::string>, std::vector<double>> values;
  EXPECT_TRUE(run) << (run ? "" : render(run.error()));
  for (size_t i = 0; run && i < run->results.size(); ++i) {
    const SweepPoint point = point_at(experiment, static_cast<int64_t>(i));
    EXPECT_TRUE(run->results[i].ok()) << run->results[i].error;
    std::vector<double>& all =
        values[{experiment.modules[point.module].name, experiment.devices[point.device].name}];
    all.insert(all.end(), run->results[i].values.begin(), run->results[i].values.end());
  }
  return values;
}

TEST(AnyOrderOfPoints, SweepsGiveTheSame) {
  for (const std::string lower : {"true", "false"}) {
    std::map<std::pair<std::string, std::string>, std::vector<double>> alone;
    for (const char* device : {"v2", "v5e", "v7x"}) alone.merge(swept({device}, lower, 1));
    EXPECT_EQ(swept({"v2", "v5e", "v7x"}, lower, 1), alone);
    EXPECT_EQ(swept({"v7x", "v5e", "v2"}, lower, 4), alone);
  }
}

TEST(AnyOrderOfPoints, MeasuredCasesGiveTheSame) {
  std::vector<MeasuredCase> cases;
  for (const char* device : {"v2", "v5e", "v7x"})
    for (const std::string& text : three_modules()) {
      MeasuredCase one;
      one.id = fmt::format("{}-{}", device, cases.size());
      one.device = device;
      one.hlo = text;
      one.time_us = 1;
      cases.push_back(one);
    }
  std::vector<std::optional<double>> alone;
  for (const MeasuredCase& one : cases) alone.push_back(predict(std::span(&one, 1), "f", {})[0].us);
  for (const int threads : {1, 4}) {
    set_thread_count(threads);
    const std::vector<Prediction> together = predict(cases, "f", {});
    for (size_t i = 0; i < cases.size(); ++i) EXPECT_EQ(together[i].us, alone[i]) << cases[i].id;
  }
  set_thread_count(0);
}

}  // namespace
}  // namespace hlosim
