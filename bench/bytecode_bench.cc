// Reading speed of MLIR bytecode: bytes per second of a function of many small operations, and of one large
// constant. Memory is kept from one reading to the next, as hlosim's own main() keeps it; `fresh` gives it
// back.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <iostream>
#include <string_view>

#include "../tests/support/artifact_writer.h"
#include "base/malloc_tuning.h"
#include "mlir_bytecode/read_bytecode.h"

namespace {

using namespace hlosim;
using namespace hlosim::test;

void read(benchmark::State& state, std::string bytes) {
  const auto source = std::make_shared<const SourceFile>("bench.mlir.bc", std::move(bytes));
  for (auto _ : state) {
    const Result<mlir::File> file = mlir::read_bytecode(source);
    if (!file) {
      std::cerr << render(file.error());
      std::exit(1);
    }
    benchmark::DoNotOptimize(file->top);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(source->text().size()));
}

void read_operations(benchmark::State& state) {
  read(state, artifact_of(
                  6,
                  [](ArtifactWriter&) {
                    return ArtifactOperation{"add_v1", {}};
                  },
                  "bench", static_cast<uint64_t>(state.range(0))));
}

void read_constant(benchmark::State& state) {
  const int64_t count = state.range(0);
  read(state, artifact_of(6, [&](ArtifactWriter& out) {
         const uint64_t f32 = out.type("vhlo", number(4));
         const uint64_t tensor = out.type("vhlo", numbers({20, 1}) + signed_number(count) + number(f32));
         const std::string bytes(static_cast<size_t>(count) * 4, 'x');
         return ArtifactOperation{"constant_v1",
                                  {{"value", out.attribute("vhlo", numbers({15, tensor}) + blob(bytes))}}};
       }));
}

}  // namespace

BENCHMARK(read_operations)->Arg(1000)->Arg(100000)->Unit(benchmark::kMillisecond);
BENCHMARK(read_constant)->Arg(16 << 20)->Unit(benchmark::kMillisecond);

int main(int argc, char** argv) {
  const bool is_fresh = argc > 1 && std::string_view(argv[1]) == "fresh";
  if (!is_fresh) hlosim::keep_freed_memory();
  argv[is_fresh ? 1 : 0] = argv[0];
  argc -= is_fresh;
  benchmark::Initialize(&argc, argv + is_fresh);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
