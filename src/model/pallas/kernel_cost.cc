#include "model/pallas/kernel_cost.h"

#include <algorithm>
#include <cmath>

#include "base/rounding.h"

namespace hlosim {
namespace {

Bytes bytes_of(double count) { return Bytes(static_cast<int64_t>(std::min(count, 2e18))); }
int64_t count_of(double count) { return static_cast<int64_t>(std::min(count, 9e18)); }

}  // namespace

KernelCost KernelTally::finish() const {
  const DeviceConfig& device = core_.device();
  KernelCost cost;
  cost.cores = cores_;
  const auto cores = as_double(cores_);
  const auto time = [&](double cycles) { return core_.time(cycles); };
  VectorSlots all = slots;
  all += slots_apart;
  cost.busy[index_of(Unit::kMxu)] = time(mxu);
  cost.busy[index_of(Unit::kVpu)] = time(core_.alu_cycles(all.alu));
  cost.busy[index_of(Unit::kEup)] = time(core_.eup_cycles(all.eup));
  cost.busy[index_of(Unit::kXlu)] = time(core_.xlu_cycles(all.xlu));
  const double moved = core_.hbm_bus(cores).time(read * cores, written * cores);
  for (size_t i = 0; i < device.memory.size(); ++i)
    if (&device.memory[i] == &device.hbm()) cost.busy[index_of(memory_unit(i))] = ceil_picoseconds(moved);

  cost.together = time(side_by_side(mxu, core_.vector_cycles(slots), device.kernel.overlap));
  cost.apart = time(apart + core_.vector_cycles(slots_apart));
  cost.step_overhead = ceil_picoseconds(
      steps * (as_double(device.overhead.grid_step.count()) + core_.picoseconds(step_latency)));
  const double hidden_by = as_double((cost.together + cost.apart + cost.step_overhead).count()) + exposed;
  const double ends = as_double(core_.dma_latency(read > 0, written > 0).count());
  cost.waits = ceil_picoseconds(exposed + std::max(moved - hidden_by, 0.0) + ends);
  cost.kernel = cost.together + cost.apart + cost.step_overhead + cost.waits;
  cost.time = cost.kernel;

  all.alu *= cores, all.eup *= cores, all.xlu *= cores;
  cost.slots = all;
  cost.mxu_cycles = mxu * cores;
  cost.steps = count_of(steps * cores);
  cost.flops = Flops(count_of(2 * multiply_adds * cores));
  cost.vector_operations = count_of(all.alu * core_.register_elements());
  cost.transcendentals = count_of(scores * cores);
  cost.read = bytes_of(read * cores), cost.written = bytes_of(written * cores);
  return cost;
}

KernelPass kernel_pass(const DeviceConfig& device, std::string_view name, double read, double written) {
  const double time = Core(device).hbm_bus().time(read, written);
  return {std::string(name), bytes_of(read), bytes_of(written), ceil_picoseconds(time)};
}

void add_passes(KernelCost& cost, std::vector<KernelPass> passes) {
  for (KernelPass& pass : passes) {
    cost.around += pass.time;
    cost.time += pass.time;
    cost.passes.push_back(std::move(pass));
  }
}

}  // namespace hlosim
