#include "model/pallas/kernel_cost.h"

#include <algorithm>
#include <cmath>

#include "base/rounding.h"

namespace hlosim {
namespace {

Bytes bytes_of(double count) { return Bytes(static_cast<int64_t>(std::min(count, 2e18))); }
int64_t count_of(double count) { return static_cast<int64_t>(std::min(count, 9e18)); }

}  // namespace

Kernel KernelTally::to_kernel() const {
  Kernel kernel;
  kernel.cores = as_double(cores_);
  kernel.units = OverlapRule::kBundles;
  kernel.grid_steps = steps;
  kernel.scratch = vmem;
  UnitWork work;
  work.mxu = core_.picoseconds(mxu);
  work.vpu = core_.picoseconds(core_.alu_cycles(slots.alu));
  work.eup = core_.picoseconds(core_.eup_cycles(slots.eup));
  work.xlu = core_.picoseconds(core_.xlu_cycles(slots.xlu));
  work.apart = core_.picoseconds(apart + core_.vector_cycles(slots_apart));
  work.begin =
      steps * (as_double(core_.device().overhead.grid_step.count()) + core_.picoseconds(step_latency));
  work.waits = exposed;
  kernel.works.push_back(work);
  BlockTraffic all;
  all.in[0] = read, all.out[0] = written;
  kernel.steps.push_back({1, 0, all});
  // The bytes of the first and the last block are among all of them.
  kernel.waits = as_double(core_.dma_latency(read > 0, written > 0).count());
  return kernel;
}

KernelCost KernelTally::finish() const {
  const DeviceConfig& device = core_.device();
  KernelCost cost;
  cost.cores = cores_;
  const auto cores = as_double(cores_);
  const auto time = [&](double cycles) { return core_.time(cycles); };
  IssueSlots all = slots;
  all += slots_apart;
  cost.busy[index_of(Unit::kMxu)] = time(mxu);
  cost.busy[index_of(Unit::kVpu)] = time(core_.alu_cycles(all.alu));
  cost.busy[index_of(Unit::kEup)] = time(core_.eup_cycles(all.eup));
  cost.busy[index_of(Unit::kXlu)] = time(core_.xlu_cycles(all.xlu));
  const double moved = core_.hbm_bus(cores).time(read * cores, written * cores);
  for (size_t i = 0; i < device.memory.size(); ++i)
    if (&device.memory[i] == &device.hbm()) cost.busy[index_of(memory_unit(i))] = ceil_picoseconds(moved);
  cost.planned.kernel = to_kernel();
  cost.planned.time = time_of(cost.planned.kernel, core_);
  const Kernel& kernel = cost.planned.kernel;
  const UnitWork& work = kernel.works.front();
  cost.apart = ceil_picoseconds(work.apart);
  cost.step_overhead = ceil_picoseconds(work.begin);
  cost.together =
      ceil_picoseconds(units_time(work, kernel.units, core_) - work.apart - work.begin - work.waits);
  cost.kernel = ceil_picoseconds(cost.planned.time.time);
  const Picoseconds units = cost.together + cost.apart + cost.step_overhead;
  cost.waits = std::max(cost.kernel - units, Picoseconds(0));
  cost.time = cost.kernel;
  cost.vmem = bytes_of(std::ceil(kernel.vmem())), cost.vmem_limit = core_.vmem_budget();

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
