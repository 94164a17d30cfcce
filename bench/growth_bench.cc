// How the cost of whole commands grows with their input: each case doubles a size; growth.h explains the
// counters. An `exponent` well above 1.1 on the larger sizes is a loop over everything inside of another one.
//
//   build/release/bench/growth_bench --benchmark_filter=buffers
//
// The inputs are steps of the model examples/models/tiny.yaml with more layers, unrolled or as a loop, and
// modules of which one part is large.
#include <benchmark/benchmark.h>

#include <chrono>
#include <memory>
#include <string>

#include "buffers/buffer_analysis.h"
#include "estimate/estimate.h"
#include "estimate/prepared.h"
#include "growth.h"
#include "hlo/printer.h"
#include "modules.h"
#include "partition/partition.h"
#include "prefetch/prefetch.h"
#include "propagate/propagate.h"
#include "relayout/layout_tuner.h"
#include "report/graph_view.h"
#include "report/html/html.h"
#include "report/report.h"
#include "report/report_text.h"
#include "report/trace/trace.h"
#include "workloads/step.h"

namespace {

using namespace hlosim;
using namespace hlosim::bench;

[[noreturn]] void stop(const Diagnostic& diagnostic) {
  std::cerr << render(diagnostic);
  std::exit(1);
}

Device device(std::string_view name) {
  DiagnosticList problems;
  std::optional<Device> loaded = load_device(std::string(name), {}, DeviceSearch{}, problems);
  if (!loaded) bench::stop(problems);
  return std::move(*loaded);
}

Module module_of(std::string name, std::string text) {
  Module module = read_module(std::make_shared<const SourceFile>(std::move(name), std::move(text)));
  verify_module(module);
  return module;
}

double size_of(const Module& module) { return static_cast<double>(module.instructions.size()); }

/// A training step of that many layers, as a framework would write it: layouts, but no tiles. `pattern`:
/// which of them have a window (workloads/model_config.h).
Module training_step(int64_t layers, bool unrolled, const std::string& mesh = "",
                     const std::string& pattern = "") {
  const Result<SourcePtr> source = read_source(HLOSIM_SOURCE_DIR "/examples/models/tiny.yaml");
  if (!source) stop(source.error());
  Result<ModelConfig> model = read_model_config(*source);
  if (!model) stop(model.error());
  model->layers = layers;
  if (!pattern.empty()) model->attention.pattern = pattern, model->attention.window = 32;
  StepOptions options;
  options.batch = 8;
  options.sequence = 128;
  options.attention = AttentionKernel::kPlain;
  options.manual_attention = false;
  options.scan_layers = !unrolled;
  if (!mesh.empty()) options.mesh = *parse_mesh(mesh);
  const Result<Module> step = make_step(*model, options);
  if (!step) stop(step.error());
  return module_of("step", to_text(*step, op_table()));
}

/// A loop that carries `count` arrays and changes each of them.
Module carrying_loop(int64_t count) {
  std::string shapes, body, results, parameters, inputs;
  for (int64_t i = 0; i < count; ++i) {
    shapes += ", f32[64,128]";
    body += fmt::format("  g{0} = f32[64,128] get-tuple-element(p), index={1}\n", i, i + 1);
    body += fmt::format("  t{0} = f32[64,128] tanh(g{0})\n  n{0} = f32[64,128] multiply(t{0}, g{1})\n", i,
                        i == 0 ? 0 : i - 1);
    results += fmt::format(", n{}", i);
    parameters += fmt::format("  a{0} = f32[64,128] parameter({0})\n", i);
    inputs += fmt::format(", a{}", i);
  }
  return module_of("loop", fmt::format(R"(HloModule loop
body {{
  p = (s32[]{0}) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
{1}  ROOT r = (s32[]{0}) tuple(next{2})
}}
condition {{
  p = (s32[]{0}) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(10)
  ROOT less = pred[] compare(i, n), direction=LT
}}
ENTRY e {{
  zero = s32[] constant(0)
{3}  init = (s32[]{0}) tuple(zero{4})
  ROOT w = (s32[]{0}) while(init), condition=condition, body=body
}}
)",
                                       shapes, body, results, parameters, inputs));
}

// ── report ──

void report(benchmark::State& state, Growth& growth, const Module& module) {
  const Device v5e = device("v5e");
  SimulateOptions options;
  options.keep_timeline = false;
  growth.measure(state, size_of(module), [&] {
    const Result<Estimate> run = estimate(module, op_table(), v5e, {options, Lowering::kPlain});
    if (!run) stop(run.error());
    benchmark::DoNotOptimize(to_text(make_report(module, op_table(), v5e, *run), ReportTextOptions{}));
  });
}

/// With lowering; the argument is layers.
void report_unrolled(benchmark::State& state) {
  static Growth growth;
  report(state, growth, training_step(state.range(0), true));
}
BENCHMARK(report_unrolled)->Arg(16)->Arg(32)->Arg(64)->Unit(benchmark::kMillisecond);

/// With lowering; the argument is arrays that the loop carries.
void report_carried(benchmark::State& state) {
  static Growth growth;
  report(state, growth, carrying_loop(state.range(0)));
}
BENCHMARK(report_carried)->Arg(1000)->Arg(2000)->Arg(4000)->Unit(benchmark::kMillisecond);

/// With lowering: loops in loops that carry many arrays (bench/make_loops.py); the argument is instructions.
void report_nested_loops(benchmark::State& state) {
  static Growth growth;
  Module module = read_module(synthetic_text(state.range(0), "loops"));
  verify_module(module);
  report(state, growth, module);
}
BENCHMARK(report_nested_loops)->Arg(22000)->Arg(44000)->Arg(88000)->Unit(benchmark::kMillisecond);

/// With partitioning and lowering: a loop over all layers at once, since their pattern never repeats. The
/// argument is layers.
void report_of_one_period(benchmark::State& state) {
  static Growth growth;
  std::string pattern(static_cast<size_t>(state.range(0)), 'L');
  pattern.back() = 'G';
  report(state, growth, training_step(state.range(0), false, "fsdp=8", pattern));
}
BENCHMARK(report_of_one_period)->Arg(12)->Arg(24)->Arg(48)->Unit(benchmark::kMillisecond);

// ── buffers ──

void buffers_unrolled(benchmark::State& state) {
  static Growth growth;
  const Module module = training_step(state.range(0), true);
  growth.measure(state, size_of(module),
                 [&] { benchmark::DoNotOptimize(analyse_buffers(module, op_table(), {})); });
}
BENCHMARK(buffers_unrolled)->Arg(32)->Arg(64)->Arg(128)->Unit(benchmark::kMillisecond);

// ── tuners: time over their budget ──

void tune_prefetch_in_time(benchmark::State& state) {
  static Growth growth;
  const Module module = training_step(state.range(0), true);
  const Device v5e = device("v5e");
  PrefetchOptions options;
  options.budget = 2;
  growth.measure(state, size_of(module),
                 [&] { benchmark::DoNotOptimize(tune_prefetch(module, op_table(), v5e, options)); });
  state.counters["of_budget"] = state.counters["cpu_ms"] / (1000 * options.budget);
}
BENCHMARK(tune_prefetch_in_time)->Arg(32)->Arg(64)->Iterations(1)->Unit(benchmark::kMillisecond);

/// Operations one after the other, of which lowering alone takes longer than the budget. The argument is
/// instructions.
void tune_prefetch_of_a_chain(benchmark::State& state) {
  static Growth growth;
  std::string text = "HloModule chain\nENTRY e {\n  x0 = f32[64,128] parameter(0)\n";
  for (int64_t i = 1; i < state.range(0); ++i)
    text += fmt::format("  {}x{} = f32[64,128] {}(x{})\n", i + 1 == state.range(0) ? "ROOT " : "", i,
                        i % 2 == 1 ? "tanh" : "negate", i - 1);
  const Module module = module_of("chain", text + "}\n");
  const Device v5e = device("v5e");
  PrefetchOptions options;
  options.budget = 2;
  growth.measure(state, size_of(module), [&] {
    const auto begin = std::chrono::steady_clock::now();
    EstimateOptions how;
    how.is_late = [&] { return std::chrono::steady_clock::now() - begin > std::chrono::seconds(1); };
    const Result<Prepared> prepared = prepare(module, op_table(), v5e, how);
    if (!prepared) stop(prepared.error());
    options.budget =
        std::max(1e-9, 2 - std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    benchmark::DoNotOptimize(tune_prefetch(*prepared->written, op_table(), v5e, options));
  });
  state.counters["of_budget"] = state.counters["cpu_ms"] / 2000;
}
BENCHMARK(tune_prefetch_of_a_chain)
    ->Arg(75000)
    ->Arg(150000)
    ->Arg(300000)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

/// The lowered step: what a tuner is given.
Module lowered_step(int64_t layers, const Device& device) {
  const Result<Estimate> run = estimate(training_step(layers, true), op_table(), device, {});
  if (!run) stop(run.error());
  return run->module->copy();
}

/// With the defaults of the command.
void tune_layout(benchmark::State& state) {
  static Growth growth;
  const Device v5e = device("v5e");
  const Module module = lowered_step(state.range(0), v5e);
  growth.measure(state, size_of(module),
                 [&] { benchmark::DoNotOptimize(tune_layouts(module, op_table(), v5e, {})); });
}
BENCHMARK(tune_layout)->Arg(16)->Arg(32)->Arg(64)->Iterations(1)->Unit(benchmark::kMillisecond);

/// The argument is seconds of budget, on one module.
void tune_layout_in_time(benchmark::State& state) {
  static Growth growth;
  const Device v5e = device("v5e");
  const Module module = lowered_step(64, v5e);
  LayoutTuneOptions options;
  const auto seconds = std::chrono::seconds(state.range(0));
  growth.measure(state, static_cast<double>(state.range(0)), [&] {
    const auto end = std::chrono::steady_clock::now() + seconds;
    options.search.out_of_time = [end] { return std::chrono::steady_clock::now() >= end; };
    benchmark::DoNotOptimize(tune_layouts(module, op_table(), v5e, options));
  });
  state.counters["of_budget"] = state.counters["cpu_ms"] / (1000 * static_cast<double>(state.range(0)));
}
BENCHMARK(tune_layout_in_time)->Arg(1)->Arg(2)->Iterations(1)->Unit(benchmark::kMillisecond);

// ── graphs and traces ──

void graph_of_everything(benchmark::State& state) {
  static Growth growth;
  const Device v5e = device("v5e");
  const Result<Estimate> run = estimate(training_step(state.range(0), true), op_table(), v5e, {});
  if (!run) stop(run.error());
  size_t bytes = 0;
  const TextSink count = [&](std::string_view part) { bytes += part.size(); };
  growth.measure(state, size_of(*run->module), [&] {
    const GraphData data(op_table(), v5e.config, *run);
    write_model_explorer_json(data, count);
    write_node_data_json(data, GraphColour::kTime, count);
  });
  state.counters["MB"] = static_cast<double>(bytes) / static_cast<double>(state.iterations()) / 1e6;
}
BENCHMARK(graph_of_everything)->Arg(32)->Arg(64)->Arg(128)->Unit(benchmark::kMillisecond);

/// Parts of the trace go to a file as they are made; `MB` of all of them.
void trace_of_everything(benchmark::State& state) {
  static Growth growth;
  const Device v5e = device("v5e");
  const Result<Estimate> run = estimate(training_step(state.range(0), true), op_table(), v5e, {});
  if (!run) stop(run.error());
  const Trace trace = make_trace(op_table(), v5e, *run);
  size_t bytes = 0;
  const TextSink count = [&](std::string_view part) { bytes += part.size(); };
  growth.measure(state, size_of(*run->module), [&] {
    write_gzip([&](const TextSink& text) { write_chrome_json({&trace, 1}, text); }, count);
  });
  state.counters["MB"] = static_cast<double>(bytes) / static_cast<double>(state.iterations()) / 1e6;
}
BENCHMARK(trace_of_everything)->Arg(32)->Arg(64)->Arg(128)->Unit(benchmark::kMillisecond);

/// The page is one string: `peak_MB`.
void page_of_everything(benchmark::State& state) {
  static Growth growth;
  const Device v5e = device("v5e");
  const Result<Estimate> run = estimate(training_step(state.range(0), true), op_table(), v5e, {});
  if (!run) stop(run.error());
  const Report report = make_report(*run->module, op_table(), v5e, *run);
  growth.measure(state, size_of(*run->module), [&] {
    const HtmlModule part = html_module(op_table(), v5e, *run, report, "");
    benchmark::DoNotOptimize(html_page({&part, 1}));
  });
}
BENCHMARK(page_of_everything)->Arg(32)->Arg(64)->Arg(128)->Unit(benchmark::kMillisecond);

// ── many devices ──

/// All-reduces of a few sizes along each axis of a mesh of that many devices, and across it.
Module collectives_of(int64_t devices) {
  constexpr int64_t kCollectives = 300;
  std::string text = fmt::format(
      "HloModule m, is_scheduled=true, num_partitions={}\n"
      "sum {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}}\n"
      "ENTRY e {{\n  x0 = f32[4096,1024]{{1,0:T(8,128)}} parameter(0)\n",
      devices);
  for (int64_t i = 1; i <= kCollectives; ++i) {
    const int64_t members = i % 3 == 0 ? devices : i % 3 == 1 ? 16 : devices / 16;
    const std::string_view order = i % 3 == 2 ? "T(1,0)" : "T(0,1)";
    text += fmt::format(
        "  x{} = f32[4096,1024]{{1,0:T(8,128)}} all-reduce(x{}), channel_id={}, to_apply=sum, "
        "replica_groups=[{},{}]<=[{},{}]{}, use_global_device_ids=true\n",
        i, i - 1, i, devices / members, members, devices / 16, 16, order);
  }
  return module_of(
      "collectives",
      text + fmt::format("  ROOT r = f32[4096,1024]{{1,0:T(8,128)}} negate(x{})\n}}\n", kCollectives));
}

/// The argument, and the size, is devices.
void collectives(benchmark::State& state) {
  static Growth growth;
  const Module module = collectives_of(state.range(0));
  const Device v5p = device("v5p");
  SimulateOptions options;
  options.keep_timeline = false;
  growth.measure(state, static_cast<double>(state.range(0)), [&] {
    const Result<Simulation> run = simulate(module, op_table(), v5p, options);
    if (!run) stop(run.error());
  });
}
BENCHMARK(collectives)->Arg(256)->Arg(1024)->Arg(8192)->Unit(benchmark::kMillisecond);

/// Shardings for a mesh of eight devices; the argument is layers.
void propagate_step(benchmark::State& state) {
  static Growth growth;
  const Module module = training_step(state.range(0), true, "data=2,fsdp=2,tensor=2");
  growth.measure(state, size_of(module),
                 [&] { benchmark::DoNotOptimize(propagate(module, op_table(), {.devices = 8})); });
}
BENCHMARK(propagate_step)->Arg(16)->Arg(32)->Arg(64)->Unit(benchmark::kMillisecond);

/// The program of one of these devices.
void partition_step(benchmark::State& state) {
  static Growth growth;
  const Module module = training_step(state.range(0), true, "data=2,fsdp=2,tensor=2");
  const Result<Propagated> whole = propagate(module, op_table(), {.devices = 8});
  if (!whole) stop(whole.error());
  growth.measure(state, size_of(module),
                 [&] { benchmark::DoNotOptimize(partition(whole->module, op_table(), {.devices = 8})); });
}
BENCHMARK(partition_step)->Arg(16)->Arg(32)->Arg(64)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
