// The synthetic modules that benchmarks read, and the counters they share.
#pragma once

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdlib>
#include <iostream>
#include <string_view>
#include <utility>
#include <vector>

#include "base/source.h"
#include "hlo/module.h"
#include "hlo/reader.h"
#include "hlo/verifier.h"
#include "ops/op_table.h"

namespace hlosim::bench {

[[noreturn]] inline void stop(const DiagnosticList& diagnostics) {
  for (const Diagnostic& diagnostic : diagnostics.items()) std::cerr << render(diagnostic);
  std::exit(1);
}

/// The text of bench/make_module.py for that many instructions, or that of bench/make_loops.py, as the build
/// made it.
inline SourcePtr synthetic_text(int64_t instructions, std::string_view kind = "transformer") {
  const Result<SourcePtr> source =
      read_source(fmt::format("{}/{}_{}.hlo", HLOSIM_BENCH_MODULES, kind, instructions));
  if (source) return *source;
  std::cerr << render(source.error());
  std::exit(1);
}

/// The one module of a text without errors.
inline Module read_module(const SourcePtr& source) {
  DiagnosticList diagnostics;
  std::vector<Module> modules = read_modules(source, op_table(), diagnostics);
  if (diagnostics.has_errors() || modules.size() != 1) stop(diagnostics);
  return std::move(modules.front());
}

inline void verify_module(Module& module) {
  DiagnosticList diagnostics;
  if (!verify(module, op_table(), diagnostics)) stop(diagnostics);
}

/// Reports bytes of text and instructions per second.
inline void count(benchmark::State& state, const SourcePtr& source, size_t instructions) {
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(source->text().size()));
  state.counters["instructions"] =
      benchmark::Counter(static_cast<double>(instructions), benchmark::Counter::kIsIterationInvariantRate);
}

}  // namespace hlosim::bench
