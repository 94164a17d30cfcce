#include "model/pallas/kernel_cost.h"

#include <algorithm>
#include <cmath>

#include "base/rounding.h"

namespace hlosim {
namespace {

double ceil_div(int64_t a, int64_t b) { return std::ceil(as_double(a) / as_double(b)); }
Bytes bytes_of(double count) { return Bytes(static_cast<int64_t>(std::min(count, 2e18))); }
int64_t count_of(double count) { return static_cast<int64_t>(std::min(count, 9e18)); }

double unit_cycles(double operations, const UnitConfig& unit) {
  return operations * as_double(unit.cadence.count()) / as_double(std::max<int64_t>(unit.count, 1));
}

/// Picoseconds that `cores` cores take to read and write so many bytes of HBM; the bus turns round between
/// the two (model/memory_system.h).
double hbm_time(const DeviceConfig& device, int64_t cores, double read, double written) {
  const SpaceRates rates = device_rates(device, device.hbm());
  const double all = rates.total.count();
  const double turning = std::min(all, device.dma.bandwidth.count() * as_double(cores));
  const double share = as_double(cores) / as_double(device.cores);
  const double alone = device.hbm().read ? std::min(all, rates.read.count()) * share : turning;
  const double both = std::min(read, written);
  return (2 * both / turning + (std::max(read, written) - both) / alone) * 1e12;
}

}  // namespace

double streamed_product_cycles(const DeviceConfig& device, const MatmulRate& rate, int64_t m, int64_t k,
                               int64_t n) {
  const double tiles = ceil_div(k, device.mxu.rows) * ceil_div(n, device.mxu.columns);
  const double stream = ceil_div(m, rate.rows) * as_double(rate.cadence.count());
  const double latch =
      ceil_div(std::min(k, device.mxu.rows), rate.latch_rows) * as_double(rate.latch_cadence.count());
  return tiles * std::max(stream, latch) / as_double(device.mxu.count) * as_double(rate.passes);
}

double KernelTally::vector_cycles(const VectorSlots& work) const {
  return std::max({work.alu / as_double(device_.vpu.alus), unit_cycles(work.eup, device_.eup),
                   unit_cycles(work.xlu, device_.xlu)});
}

KernelCost KernelTally::finish() const {
  KernelCost cost;
  cost.cores = cores_;
  const double cycle = 1e12 / device_.clock.count();
  const auto time = [&](double cycles) { return ceil_picoseconds(cycles * cycle); };
  VectorSlots all = slots;
  all += slots_apart;
  cost.busy[index_of(Unit::kMxu)] = time(mxu);
  cost.busy[index_of(Unit::kVpu)] = time(all.alu / as_double(device_.vpu.alus));
  cost.busy[index_of(Unit::kEup)] = time(unit_cycles(all.eup, device_.eup));
  cost.busy[index_of(Unit::kXlu)] = time(unit_cycles(all.xlu, device_.xlu));
  const double moved = hbm_time(device_, cores_, read * as_double(cores_), written * as_double(cores_));
  for (size_t i = 0; i < device_.memory.size(); ++i)
    if (&device_.memory[i] == &device_.hbm()) cost.busy[index_of(memory_unit(i))] = ceil_picoseconds(moved);

  cost.together = time(side_by_side(mxu, vector_cycles(slots), device_.kernel.overlap));
  cost.apart = time(apart + vector_cycles(slots_apart));
  cost.step_overhead =
      ceil_picoseconds(steps * (as_double(device_.overhead.grid_step.count()) + step_latency * cycle));
  const double hidden_by = as_double((cost.together + cost.apart + cost.step_overhead).count()) + exposed;
  const double ends = (read > 0 ? as_double(device_.dma.read_latency.count()) : 0) +
                      (written > 0 ? as_double(device_.dma.write_latency.count()) : 0);
  cost.waits = ceil_picoseconds(exposed + std::max(moved - hidden_by, 0.0) + ends);
  cost.kernel = cost.together + cost.apart + cost.step_overhead + cost.waits;
  cost.time = cost.kernel;

  const double cores = as_double(cores_);
  all.alu *= cores, all.eup *= cores, all.xlu *= cores;
  cost.slots = all;
  cost.mxu_cycles = mxu * cores;
  cost.steps = count_of(steps * cores);
  cost.flops = Flops(count_of(2 * multiply_adds * cores));
  cost.vector_operations = count_of(all.alu * as_double(device_.vpu.lanes * device_.vpu.sublanes));
  cost.transcendentals = count_of(scores * cores);
  cost.read = bytes_of(read * cores), cost.written = bytes_of(written * cores);
  return cost;
}

Bytes kernel_vmem_limit(const DeviceConfig& device) {
  return std::max(device.vmem.scoped_limit - device.vmem.internal_scratch, Bytes(0));
}

KernelPass kernel_pass(const DeviceConfig& device, std::string_view name, double read, double written) {
  const double time = hbm_time(device, device.cores, read, written);
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
