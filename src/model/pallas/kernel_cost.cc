#include "model/pallas/kernel_cost.h"

#include <fmt/format.h>

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
  KernelAmounts amounts{.mxu = mxu, .slots = slots, .multiply_adds = multiply_adds, .exponentials = scores};
  amounts.slots += slots_apart;
  amounts.read = read, amounts.written = written;
  KernelCost cost = kernel_cost_of(core_, to_kernel(), amounts);
  cost.steps = count_of(steps * as_double(cores_));
  return cost;
}

KernelCost kernel_cost_of(const Core& core, Kernel kernel, const KernelAmounts& amounts) {
  const DeviceConfig& device = core.device();
  KernelCost cost;
  const double cores = kernel.cores;
  cost.cores = count_of(cores);
  const auto time = [&](double cycles) { return core.time(cycles); };
  IssueSlots all = amounts.slots;
  cost.busy[index_of(Unit::kMxu)] = time(amounts.mxu);
  cost.busy[index_of(Unit::kVpu)] = time(core.alu_cycles(all.alu));
  cost.busy[index_of(Unit::kEup)] = time(core.eup_cycles(all.eup));
  cost.busy[index_of(Unit::kXlu)] = time(core.xlu_cycles(all.xlu));
  const double moved = core.hbm_bus(cores).time(amounts.read * cores, amounts.written * cores);
  for (size_t i = 0; i < device.memory.size(); ++i)
    if (&device.memory[i] == &device.hbm()) cost.busy[index_of(memory_unit(i))] = ceil_picoseconds(moved);
  cost.planned.time = time_of(kernel, core);
  double apart = 0, begin = 0, together = 0;
  for (const StepClass& step : kernel.steps) {
    const UnitWork& work = kernel.works[step.work];
    const double units = units_time(work, kernel.units, core);
    apart += step.count * work.apart / work.steps;
    begin += step.count * work.begin / work.steps;
    together += step.count * (units - (work.apart + work.begin + work.waits) / work.steps);
  }
  cost.apart = ceil_picoseconds(apart);
  cost.step_overhead = ceil_picoseconds(begin);
  cost.together = ceil_picoseconds(together);
  cost.kernel = ceil_picoseconds(cost.planned.time.time);
  const Picoseconds units = cost.together + cost.apart + cost.step_overhead;
  cost.waits = std::max(cost.kernel - units, Picoseconds(0));
  cost.time = cost.kernel;
  cost.vmem = bytes_of(std::ceil(kernel.vmem())), cost.vmem_limit = core.vmem_budget();

  all.alu *= cores, all.eup *= cores, all.xlu *= cores;
  cost.slots = all;
  cost.mxu_cycles = amounts.mxu * cores;
  cost.steps = count_of(kernel.grid_steps * cores);
  cost.flops = Flops(count_of(2 * amounts.multiply_adds * cores));
  cost.vector_operations = count_of(all.alu * core.register_elements());
  cost.transcendentals = count_of(amounts.exponentials * cores);
  cost.read = bytes_of(amounts.read * cores), cost.written = bytes_of(amounts.written * cores);
  cost.planned.kernel = std::move(kernel);
  return cost;
}

Result<MatmulRate> kernel_rate(const DeviceConfig& device, std::string_view kernel, ElementType lhs,
                               ElementType rhs, MatmulPrecision precision) {
  if (const std::optional<MatmulRate> rate = Core(device).matmul_rate(lhs, rhs, precision)) return *rate;
  const std::string other = lhs == rhs ? std::string() : fmt::format(" and {}", to_text(rhs));
  return failure(fmt::format("{}: {} has no products of {}{}", kernel, device.name, to_text(lhs), other));
}

Result<void> check_kernel_sizes(std::string_view kernel,
                                std::initializer_list<std::pair<std::string_view, int64_t>> sizes,
                                int64_t most) {
  for (const auto& [name, size] : sizes)
    if (size < 1 || size > most)
      return failure(fmt::format("{}: {} {}, expected 1 to {}", kernel, name, size, most));
  return {};
}

KernelSteps::KernelSteps(const DeviceConfig& device, int64_t cores) : device_(device), core_(device) {
  kernel_.cores = as_double(cores);
  kernel_.grid_steps = 0;
}

void KernelSteps::add(double count, const Step& step) {
  if (!(count > 0)) return;
  UnitWork work;
  work.mxu = core_.picoseconds(step.mxu);
  work.vpu = core_.picoseconds(core_.alu_cycles(step.slots.alu));
  work.eup = core_.picoseconds(core_.eup_cycles(step.slots.eup));
  work.xlu = core_.picoseconds(core_.xlu_cycles(step.slots.xlu));
  work.scalar = core_.picoseconds(core_.scalar_cycles(step.slots.scalar));
  work.copies = step.copies;
  work.apart = core_.picoseconds(step.apart + core_.vector_cycles(step.slots_apart));
  work.begin = step.loops * as_double(device_.overhead.grid_step.count()) + core_.picoseconds(step.latency);
  const auto same = std::find(kernel_.works.begin(), kernel_.works.end(), work);
  const auto index = static_cast<uint32_t>(same - kernel_.works.begin());
  if (same == kernel_.works.end()) kernel_.works.push_back(work);
  BlockTraffic traffic;
  traffic.in[0] = step.read, traffic.out[0] = step.written;
  kernel_.steps.push_back({count, index, traffic});
  kernel_.grid_steps += count * step.loops;
  amounts_.mxu += count * step.mxu;
  IssueSlots slots = step.slots;
  slots += step.slots_apart;
  slots.alu *= count, slots.eup *= count, slots.xlu *= count, slots.scalar *= count;
  amounts_.slots += slots;
  amounts_.multiply_adds += count * step.multiply_adds;
  amounts_.exponentials += count * step.exponentials;
  amounts_.read += count * step.read, amounts_.written += count * step.written;
}

KernelCost KernelSteps::finish() && { return kernel_cost_of(core_, std::move(kernel_), amounts_); }

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
