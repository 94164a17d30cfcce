// Speed of the buffer analysis in instructions per second, and of packing alone; both with their growth.
#include <benchmark/benchmark.h>

#include <random>

#include "memory/buffer_analysis.h"
#include "modules.h"

namespace {

using namespace hlosim;
using namespace hlosim::bench;

/// Values, buffers, live ranges, assignment and packing of a module in its own order.
void analyse(benchmark::State& state) {
  const SourcePtr source = synthetic_text(state.range(0));
  Module module = read_module(source);
  verify_module(module);
  BufferOptions options;
  options.schedule = ScheduleSource::kText;
  for (auto _ : state) benchmark::DoNotOptimize(analyse_buffers(module, op_table(), options));
  count(state, source, module.instructions.size());
}

/// The same, and a schedule to begin with.
void schedule_and_analyse(benchmark::State& state) {
  const SourcePtr source = synthetic_text(state.range(0));
  Module module = read_module(source);
  verify_module(module);
  for (auto _ : state) benchmark::DoNotOptimize(analyse_buffers(module, op_table(), BufferOptions{}));
  count(state, source, module.instructions.size());
}

/// Most live shortly, one in a hundred for up to a tenth of the run.
std::vector<PackItem> intervals(int64_t count) {
  std::mt19937_64 random(1);
  std::vector<PackItem> items;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t longest = i % 100 == 0 ? count / 10 : 20;
    PackItem item;
    item.size = static_cast<int64_t>(random() % (1 << 20)) + 1;
    item.start = static_cast<int64_t>(random() % static_cast<uint64_t>(2 * count));
    item.end = item.start + static_cast<int64_t>(random() % static_cast<uint64_t>(longest));
    item.group = static_cast<int32_t>(i);
    item.order = i;
    items.push_back(item);
  }
  return items;
}

void pack_intervals(benchmark::State& state) {
  const std::vector<PackItem> items = intervals(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(pack_best(items, 64));
  state.SetComplexityN(state.range(0));
}

}  // namespace

BENCHMARK(analyse)->Arg(1000)->Arg(50000)->Arg(200000)->Unit(benchmark::kMillisecond);
BENCHMARK(schedule_and_analyse)->Arg(1000)->Arg(50000)->Unit(benchmark::kMillisecond);
BENCHMARK(pack_intervals)
    ->RangeMultiplier(10)
    ->Range(1000, 100000)
    ->Unit(benchmark::kMillisecond)
    ->Complexity();

BENCHMARK_MAIN();
