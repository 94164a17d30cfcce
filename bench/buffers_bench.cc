// Speed of the buffer analysis in instructions per second, and of packing alone; counters as growth.h
// explains.
#include <benchmark/benchmark.h>

#include <random>

#include "buffers/buffer_analysis.h"
#include "growth.h"
#include "modules.h"

namespace {

using namespace hlosim;
using namespace hlosim::bench;

void analyse_module(benchmark::State& state, Growth& growth, const SourcePtr& source,
                    ScheduleSource schedule) {
  Module module = read_module(source);
  verify_module(module);
  BufferOptions options;
  options.schedule = schedule;
  growth.measure(state, static_cast<double>(state.range(0)),
                 [&] { benchmark::DoNotOptimize(analyse_buffers(module, op_table(), options)); });
  count(state, source, module.instructions.size());
}

/// Values, buffers, live ranges, assignment and packing of a module in its own order.
void analyse(benchmark::State& state) {
  static Growth growth;
  analyse_module(state, growth, synthetic_text(state.range(0)), ScheduleSource::kText);
}

/// The same, and a schedule to begin with.
void schedule_and_analyse(benchmark::State& state) {
  static Growth growth;
  analyse_module(state, growth, synthetic_text(state.range(0)), ScheduleSource::kAuto);
}

/// One computation of that many instructions of random sizes. Operands are from the last `reach` ones;
/// `donated` parameters are updated at the end.
SourcePtr flat_text(int64_t instructions, int64_t reach, int64_t donated) {
  std::mt19937_64 random(1);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
  std::vector<int64_t> rows;
  std::string parameters, body, aliases, outputs, shapes;
  const auto shape = [](int64_t size) { return fmt::format("f32[{},128]{{1,0}}", size); };
  const auto append = [](std::string& list, const std::string& one) {
    list += (list.empty() ? "" : ", ") + one;
  };
  for (int64_t i = 0; i < donated; ++i) {
    rows.push_back(8 * (1 + below(64)));
    body += fmt::format("  v{} = {} parameter({})\n", i, shape(rows.back()), i);
    append(aliases, fmt::format("{{{}}}: ({}, {{}}, may-alias)", i, i));
  }
  const int64_t last = instructions - donated - 1;
  for (int64_t i = donated; i < last; ++i) {
    const int64_t from = std::max<int64_t>(0, i - 1 - below(reach));
    const bool same = below(2) == 0;
    rows.push_back(same ? rows[static_cast<size_t>(from)] : 8 * (1 + below(64)));
    body += fmt::format("  v{} = {} {}(v{}){}\n", i, shape(rows.back()), same ? "negate" : "custom-call",
                        from, same ? "" : ", custom_call_target=\"f\"");
  }
  for (int64_t i = 0; i < donated; ++i) {
    const std::string of = shape(rows[static_cast<size_t>(i)]);
    body += fmt::format("  new{} = {} custom-call(v{}, v{}), custom_call_target=\"f\"\n", i, of, i,
                        last - 1 - below(last / 2));
    append(outputs, fmt::format("new{}", i));
    append(shapes, of);
  }
  return std::make_shared<const SourceFile>(
      "flat", fmt::format("HloModule flat, is_scheduled=true, input_output_alias={{ {} }}\nENTRY e {{\n{}"
                          "  ROOT r = ({}) tuple({})\n}}\n",
                          aliases, body, shapes, outputs));
}

/// Few values at a time.
void analyse_flat_short(benchmark::State& state) {
  static Growth growth;
  analyse_module(state, growth, flat_text(state.range(0), 20, 8), ScheduleSource::kAuto);
}
/// Half of all values at a time.
void analyse_flat_long(benchmark::State& state) {
  static Growth growth;
  analyse_module(state, growth, flat_text(state.range(0), state.range(0), 8), ScheduleSource::kAuto);
}
/// A training step: a thousand parameters that outputs take over.
void analyse_flat_donated(benchmark::State& state) {
  static Growth growth;
  analyse_module(state, growth, flat_text(state.range(0), 1000, 1000), ScheduleSource::kAuto);
}

/// Live for up to `longest(i)` moments, `count` of them in twice as many moments.
template <class F>
std::vector<PackItem> intervals(int64_t count, F&& longest) {
  std::mt19937_64 random(1);
  std::vector<PackItem> items;
  for (int64_t i = 0; i < count; ++i) {
    PackItem item;
    item.size = static_cast<int64_t>(random() % (1 << 20)) + 1;
    item.start = static_cast<int64_t>(random() % static_cast<uint64_t>(2 * count));
    item.end = item.start + static_cast<int64_t>(random() % static_cast<uint64_t>(longest(i)));
    item.group = static_cast<int32_t>(i);
    item.order = i;
    items.push_back(item);
  }
  return items;
}

void pack_items(benchmark::State& state, Growth& growth, const std::vector<PackItem>& items) {
  growth.measure(state, static_cast<double>(state.range(0)),
                 [&] { benchmark::DoNotOptimize(pack_best(items, 64)); });
}

/// Ten at a time.
void pack_short(benchmark::State& state) {
  static Growth growth;
  pack_items(state, growth, intervals(state.range(0), [](int64_t) { return 40; }));
}
/// The same, and one in a hundred for up to a tenth of the time.
void pack_some_long(benchmark::State& state) {
  static Growth growth;
  const int64_t tenth = state.range(0) / 10;
  pack_items(state, growth, intervals(state.range(0), [&](int64_t i) { return i % 100 == 0 ? tenth : 20; }));
}
/// All for up to a fortieth of the time: pairs that overlap grow with the square of the number.
void pack_long(benchmark::State& state) {
  static Growth growth;
  const int64_t part = state.range(0) / 20;
  pack_items(state, growth, intervals(state.range(0), [&](int64_t) { return part; }));
}

}  // namespace

BENCHMARK(analyse)->Arg(1000)->Arg(50000)->Arg(200000)->Unit(benchmark::kMillisecond);
BENCHMARK(schedule_and_analyse)->Arg(1000)->Arg(50000)->Unit(benchmark::kMillisecond);
BENCHMARK(analyse_flat_short)->Arg(5000)->Arg(50000)->Unit(benchmark::kMillisecond);
BENCHMARK(analyse_flat_donated)->Arg(5000)->Arg(50000)->Unit(benchmark::kMillisecond);
BENCHMARK(analyse_flat_long)->Arg(5000)->Arg(50000)->Unit(benchmark::kMillisecond);
BENCHMARK(pack_short)->RangeMultiplier(10)->Range(1000, 100000)->Unit(benchmark::kMillisecond);
BENCHMARK(pack_some_long)->RangeMultiplier(10)->Range(1000, 100000)->Unit(benchmark::kMillisecond);
BENCHMARK(pack_long)->RangeMultiplier(10)->Range(1000, 100000)->Unit(benchmark::kMillisecond);

BENCHMARK_MAIN();
