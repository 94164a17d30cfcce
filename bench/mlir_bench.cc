// Reading speed of MLIR text: bytes per second. The text is that of bench/make_mlir.py.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdlib>
#include <iostream>

#include "mlir/read_text.h"
#include "mlir/write_text.h"

namespace {

using namespace hlosim;

SourcePtr synthetic_text() {
  const Result<SourcePtr> source =
      read_source(fmt::format("{}/transformer_50000.mlir", HLOSIM_BENCH_MODULES));
  if (source) return *source;
  std::cerr << render(source.error());
  std::exit(1);
}

std::vector<mlir::File> read_all(const SourcePtr& source) {
  DiagnosticList findings;
  std::vector<mlir::File> files = mlir::read_text(source, findings);
  for (const Diagnostic& finding : findings.items()) std::cerr << render(finding);
  if (findings.has_errors()) std::exit(1);
  return files;
}

void read(benchmark::State& state, const SourcePtr& source) {
  for (auto _ : state) benchmark::DoNotOptimize(read_all(source));
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(source->text().size()));
}

void read_pretty(benchmark::State& state) { read(state, synthetic_text()); }

void read_generic(benchmark::State& state) {
  std::string text = mlir::write_text(read_all(synthetic_text())[0]);
  read(state, std::make_shared<const SourceFile>("generic.mlir", std::move(text)));
}

void write(benchmark::State& state) {
  const std::vector<mlir::File> files = read_all(synthetic_text());
  size_t bytes = 0;
  for (auto _ : state) bytes += mlir::write_text(files[0]).size();
  state.SetBytesProcessed(static_cast<int64_t>(bytes));
}

}  // namespace

BENCHMARK(read_pretty)->Unit(benchmark::kMillisecond);
BENCHMARK(read_generic)->Unit(benchmark::kMillisecond);
BENCHMARK(write)->Unit(benchmark::kMillisecond);

BENCHMARK_MAIN();
