#include "model/product_vector.h"

#include <algorithm>

#include "base/rounding.h"
#include "model/compute_cost.h"

namespace hlosim {
namespace {

double pushes(double count, const UnitConfig& unit) {
  return count * as_double(unit.cadence.count()) / as_double(std::max<int64_t>(unit.count, 1));
}

/// Of one core: blocks along a dimension that `split` may share among the cores.
double blocks_of(int64_t whole, int64_t block, bool is_shared, int64_t cores) {
  const int64_t own = is_shared ? ceil_div(whole, cores) : whole;
  return as_double(ceil_div(own, std::max<int64_t>(block, 1)));
}

}  // namespace

double bundle_picoseconds(const DeviceConfig& device, const VectorSlots& slots) {
  const double cycles =
      std::max({slots.alu / as_double(device.vpu.alus), pushes(slots.eup, device.eup), 0.0});
  return cycles * 1e12 / device.clock.count();
}

ProductVector vector_around(const DeviceConfig& device, const ComputeSummary& compute) {
  const MatmulPart& part = compute.matmul;
  // What an emulated type takes is conversions, which were fitted as they are.
  if (part.cycles <= 0 || part.rate.emulated) return {};
  VectorSlots rest = compute.slots;
  for (const VectorSlots& operand : {part.lhs.producers, part.rhs.producers})
    rest.alu -= operand.alu, rest.eup -= operand.eup, rest.xlu -= operand.xlu;
  return {bundle_picoseconds(device, part.lhs.producers), bundle_picoseconds(device, part.rhs.producers),
          bundle_picoseconds(device, rest)};
}

BlockVector vector_of_blocks(const DeviceConfig& device, const ComputeSummary& compute,
                             const PipelineSummary& plan) {
  const ProductVector around = vector_around(device, compute);
  if (plan.steps == 0 || around.lhs + around.rhs + around.results <= 0) return {};
  const MatmulWork& work = compute.matmul.work;
  const auto cores = as_double(device.cores);
  const double columns = blocks_of(work.n, plan.n, plan.split == 'n', device.cores);
  const double rows = blocks_of(work.m, plan.m, plan.split == 'm', device.cores);
  const double lhs = around.lhs / (plan.split == 'b' || plan.split == 'm' ? cores : 1) * columns;
  const double rhs = around.rhs / (plan.split == 'b' || plan.split == 'n' ? cores : 1) * rows;
  const double results = around.results / cores;
  // All steps' share of the arrays is what the whole keeps them busy.
  const MatmulWork block{plan.batch, plan.m, plan.n, plan.k, work.lhs, work.rhs, work.precision, work.ragged};
  const double mxu = core_mxu_cycles(device, block, compute.matmul.rate) * as_double(plan.steps) * 1e12 /
                     device.clock.count();
  const double exposed = device.mxu.vector_exposed * (lhs + rhs + results) + device.mxu.vector_stalls * mxu;
  return {ceil_picoseconds(lhs + rhs), ceil_picoseconds(results), ceil_picoseconds(exposed)};
}

}  // namespace hlosim
