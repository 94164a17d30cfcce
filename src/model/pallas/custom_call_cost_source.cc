#include "model/pallas/custom_call_cost_source.h"

#include <fmt/format.h>

#include <algorithm>

namespace hlosim {
namespace {

Bytes scaled(Bytes bytes, double factor) {
  return Bytes(static_cast<int64_t>(std::min(static_cast<double>(bytes.count()) * factor, 2e18)));
}

/// The part of what is read, or written, that HBM has; the rest lies in VMEM already.
double hbm_share(const InstructionCost& cost, size_t hbm, Bytes Traffic::*direction) {
  double all = 0;
  for (const Traffic& traffic : cost.traffic) all += static_cast<double>((traffic.*direction).count());
  return all > 0 ? static_cast<double>((cost.traffic[hbm].*direction).count()) / all : 1;
}

void apply_kernel(const KernelCost& kernel, const MemorySystem& memory, InstructionCost& cost) {
  Traffic& hbm = cost.traffic[memory.hbm()];
  // Blocks come in as often as the grid asks for them.
  hbm = {scaled(kernel.read, hbm_share(cost, memory.hbm(), &Traffic::read)),
         scaled(kernel.written, hbm_share(cost, memory.hbm(), &Traffic::written))};
  for (size_t i = 0; i < kUnitCount; ++i) cost.busy[i] = std::max(cost.busy[i], kernel.busy[i]);
  cost.flops = kernel.flops;
  cost.vector_operations = kernel.vector_operations;
  cost.transcendentals = kernel.transcendentals;
}

void apply_estimate(const CostEstimate& estimate, const DeviceConfig& device, const MemorySystem& memory,
                    InstructionCost& cost) {
  const Core core(device);
  const double peak = peak_flops(device, ElementType::kBF16).count() * device.mxu.kernel_share;
  if (estimate.flops > 0 && peak > 0)
    cost.busy[index_of(Unit::kMxu)] = ceil_picoseconds(estimate.flops * 1e12 / peak);
  const double pushes = estimate.transcendentals / core.register_elements();
  cost.busy[index_of(Unit::kEup)] = core.time(core.eup_cycles(pushes) / core.cores());
  cost.flops = Flops(static_cast<int64_t>(std::min(estimate.flops, 9e18)));
  cost.transcendentals = cost.vector_operations =
      static_cast<int64_t>(std::min(estimate.transcendentals, 9e18));
  Traffic& hbm = cost.traffic[memory.hbm()];
  const auto known = static_cast<double>(hbm.total().count());
  if (known > 0 && estimate.bytes > known)
    hbm = {scaled(hbm.read, estimate.bytes / known), scaled(hbm.written, estimate.bytes / known)};
}

}  // namespace

std::string CustomCallCostSource::text(const DeviceConfig& device) const {
  if (kernel) {
    std::string blocks;
    for (const auto& [name, size] : kernel->cost.blocks)
      blocks += fmt::format("{}{}={}", blocks.empty() ? "" : ", ", name, size);
    return fmt::format("blocks: {}, {}{}", kernel->what, blocks,
                       kernel->blocks_given ? "" : " (none are stated, these are the best that fit)");
  }
  return fmt::format("cost_estimate, FLOPs at {:.0f} % of the peak", device.mxu.kernel_share * 100);
}

void CustomCallCostSource::apply(const DeviceConfig& device, const MemorySystem& memory,
                                 InstructionCost& cost) const {
  cost.category = CostCategory::kCustomCall;
  cost.provenance = Provenance::kCalibrated;
  if (kernel)
    apply_kernel(kernel->cost, memory, cost);
  else
    apply_estimate(*estimate, device, memory, cost);
  find_longest_unit(cost);
  if (kernel) cost.fixed = std::max(kernel->cost.kernel - cost.stream, Picoseconds(0));
}

CustomCallCostSource custom_call_cost_source(const Module& module, const Instruction& instruction,
                                             const DeviceConfig& device, const CustomCallCosts* given) {
  CustomCallCostSource known;
  known.kernel = find_kernel_call(module, instruction, device, given);
  if (!known.kernel) known.estimate = cost_estimate_of(instruction);
  return known;
}

}  // namespace hlosim
