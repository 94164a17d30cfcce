// Reading speed: bytes of text per second, instructions per second. The texts are those of bench/make_module.py.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdlib>
#include <iostream>
#include <vector>

#include "base/source.h"
#include "hlo/printer.h"
#include "hlo/reader.h"
#include "hlo/verifier.h"
#include "ops/op_table.h"

namespace {

using namespace hlosim;

SourcePtr synthetic(int64_t instructions) {
  const Result<SourcePtr> source = read_source(fmt::format("{}/transformer_{}.hlo", HLOSIM_BENCH_MODULES, instructions));
  if (!source) {
    std::cerr << render(source.error());
    std::exit(1);
  }
  return *source;
}

std::vector<Module> read_or_exit(const SourcePtr& source) {
  DiagnosticList diagnostics;
  std::vector<Module> modules = read_modules(source, op_table(), diagnostics);
  for (const Diagnostic& diagnostic : diagnostics.items()) std::cerr << render(diagnostic);
  if (diagnostics.has_errors() || modules.size() != 1) std::exit(1);
  return modules;
}

void count(benchmark::State& state, const SourcePtr& source, size_t instructions) {
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(source->text().size()));
  state.counters["instructions"] =
      benchmark::Counter(static_cast<double>(instructions), benchmark::Counter::kIsIterationInvariantRate);
}

void read(benchmark::State& state) {
  const SourcePtr source = synthetic(state.range(0));
  size_t instructions = 0;
  for (auto _ : state) instructions = read_or_exit(source).front().instructions.size();
  count(state, source, instructions);
}

void verify_only(benchmark::State& state) {
  const SourcePtr source = synthetic(state.range(0));
  Module module = std::move(read_or_exit(source).front());
  for (auto _ : state) {
    DiagnosticList diagnostics;
    if (!verify(module, op_table(), diagnostics)) {
      std::cerr << render(diagnostics.items().front());
      std::exit(1);
    }
  }
  count(state, source, module.instructions.size());
}

void read_and_verify(benchmark::State& state) {
  const SourcePtr source = synthetic(state.range(0));
  size_t instructions = 0;
  for (auto _ : state) {
    Module module = std::move(read_or_exit(source).front());
    DiagnosticList diagnostics;
    benchmark::DoNotOptimize(verify(module, op_table(), diagnostics));
    instructions = module.instructions.size();
  }
  count(state, source, instructions);
}

void print(benchmark::State& state) {
  const SourcePtr source = synthetic(state.range(0));
  const Module module = std::move(read_or_exit(source).front());
  for (auto _ : state) benchmark::DoNotOptimize(to_text(module, op_table()));
  count(state, source, module.instructions.size());
}

}  // namespace

BENCHMARK(read)->Arg(1000)->Arg(50000)->Arg(200000)->Unit(benchmark::kMillisecond);
BENCHMARK(verify_only)->Arg(1000)->Arg(50000)->Unit(benchmark::kMillisecond);
BENCHMARK(read_and_verify)->Arg(1000)->Arg(50000)->Arg(200000)->Unit(benchmark::kMillisecond);
BENCHMARK(print)->Arg(1000)->Arg(50000)->Unit(benchmark::kMillisecond);

BENCHMARK_MAIN();
