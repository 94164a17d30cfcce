// A collective of a large slice: the whole path of one instruction.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include "estimate/estimate.h"
#include "model/device.h"
#include "model/native_layouts.h"
#include "modules.h"

namespace {

using namespace hlosim;
using namespace hlosim::bench;

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// An all-reduce of all 8,960 chips of a v5p pod, three axes at once.
void all_reduce_estimate(benchmark::State& state) {
  const std::string text =
      "HloModule m, is_scheduled=true, num_partitions=8960\n"
      "sum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n"
      "ENTRY e {\n  p = f32[4096,4096]{1,0:T(8,128)} parameter(0)\n  ROOT r = f32[4096,4096]{1,0:T(8,128)} "
      "all-reduce(p), channel_id=1, replica_groups=[1,8960]<=[8960], use_global_device_ids=true, "
      "to_apply=sum\n}\n";
  Module module = read_module(std::make_shared<const SourceFile>("all_reduce", text));
  verify_module(module);
  DiagnosticList problems;
  const std::optional<Device> device = load_device("v5p", {}, DeviceSearch{}, problems);
  if (!device) stop(problems);
  SimulateOptions options;
  options.slice.topology = Topology{{16, 20, 28}};
  const Module laid_out = lay_out(module, *device).module;
  for (auto _ : state) benchmark::DoNotOptimize(simulate(laid_out, op_table(), *device, options));
  state.counters["peak_MiB"] = peak_megabytes();
}

}  // namespace

BENCHMARK(all_reduce_estimate)->Unit(benchmark::kMillisecond);

BENCHMARK_MAIN();
