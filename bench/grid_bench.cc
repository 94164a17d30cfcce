// Several devices in one process: what meeting costs.
//
//   build/release/bench/grid_bench --benchmark_enable_random_interleaving=true --benchmark_repetitions=7
//
// AllReduce and Read give bytes read per second; their quotient is the share of the memory's bandwidth.
// SmallModule counts steps of devices.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "array/arguments.h"
#include "evaluate/devices/joint.h"
#include "exec/program.h"
#include "modules.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

/// A module's program on `replicas` devices, with random inputs that all share.
class OnGrid {
 public:
  /// `separate`: each device has inputs of its own.
  OnGrid(const std::string& text, int64_t replicas, bool separate = false)
      : module_(bench::read_module(std::make_shared<const SourceFile>("bench.hlo", text))),
        grid_{replicas, 1} {
    DiagnosticList problems;
    ProgramOptions options;
    if (replicas > 1) options.grid = grid_;
    program_ = Program::make(module_, op_table(), pool_, options, problems);
    if (!program_) bench::stop(problems);
    std::vector<Array> first;
    for (const ShapeRef leaf : program_->parameters())
      first.push_back(random_array(leaf, 1, first.size(), pool_));
    inputs_.assign(static_cast<size_t>(replicas), first);
    for (size_t id = 1; separate && id < inputs_.size(); ++id)
      for (size_t i = 0; i < first.size(); ++i) inputs_[id][i] = random_array(first[i].shape, id, i, pool_);
  }

  void run() {
    LockstepRun run(grid_, lone_rank());
    std::vector<DeviceState> devices;
    for (int64_t id = 0; id < grid_.devices(); ++id) {
      devices.emplace_back(pool_).id = id;
      devices.back().replica_id = id;
    }
    const auto outputs = program_->run_jointly(run, devices, inputs_);
    benchmark::DoNotOptimize(outputs);
    if (!outputs) std::abort();
  }

 private:
  MemoryPool pool_;
  Module module_;
  DeviceGrid grid_;
  std::unique_ptr<const Program> program_;
  std::vector<std::vector<Array>> inputs_;
};

constexpr int64_t kElements = 16 << 20;  // 64 MiB of f32
constexpr std::string_view kSum = R"(
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
)";

void AllReduce(benchmark::State& state) {
  OnGrid grid(fmt::format(R"(HloModule all_reduce, replica_count=8
{}
ENTRY main {{
  x = f32[{}] parameter(0)
  ROOT y = f32[{}] all-reduce(x), replica_groups={{}}, to_apply=sum
}})",
                          kSum, kElements, kElements),
              8, true);
  for (auto _ : state) grid.run();
  state.SetBytesProcessed(state.iterations() * 8 * kElements * 4);
}
BENCHMARK(AllReduce)->Unit(benchmark::kMillisecond)->UseRealTime();

void Read(benchmark::State& state) {
  MemoryPool pool;
  std::vector<Buffer> arrays;
  for (int i = 0; i < 8; ++i) {
    arrays.push_back(pool.allocate(kElements * 4));
    std::fill_n(reinterpret_cast<int64_t*>(arrays.back().data()), kElements / 2, i);
  }
  for (auto _ : state)
    for (const Buffer& array : arrays)
      parallel_for(kElements / 2, 1 << 16, [&](int64_t begin, int64_t end) {
        int64_t sum = 0;
        for (int64_t i = begin; i < end; ++i) sum += reinterpret_cast<const int64_t*>(array.data())[i];
        benchmark::DoNotOptimize(sum);
      });
  state.SetBytesProcessed(state.iterations() * 8 * kElements * 4);
}
BENCHMARK(Read)->Unit(benchmark::kMillisecond)->UseRealTime();

std::string layers(int64_t replicas) {
  std::string text =
      fmt::format("HloModule layers, replica_count={}\n{}ENTRY main {{\n  x0 = f32[64,256] parameter(0)\n",
                  replicas, kSum);
  for (int i = 0; i < 8; ++i)
    text += fmt::format(R"(  w{0} = f32[256,256] parameter({1})
  d{0} = f32[64,256] dot(x{0}, w{0}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  t{0} = f32[64,256] tanh(d{0})
  x{1} = f32[64,256] all-reduce(t{0}), replica_groups={{}}, to_apply=sum
)",
                        i, i + 1);
  return text + "  ROOT out = f32[64,256] negate(x8)\n}\n";
}

// Processor time per device; the argument is the number of devices.
void Layers(benchmark::State& state) {
  OnGrid grid(layers(state.range(0)), state.range(0));
  for (auto _ : state) grid.run();
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(Layers)->Arg(1)->Arg(8)->Arg(256)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();

}  // namespace
}  // namespace hlosim

BENCHMARK_MAIN();
