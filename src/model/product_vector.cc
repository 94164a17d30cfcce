#include "model/product_vector.h"

#include <algorithm>

#include "base/rounding.h"

namespace hlosim {
namespace {

/// Of one core: blocks along a dimension that `split` may share among the cores.
double blocks_of(int64_t whole, int64_t block, bool is_shared, int64_t cores) {
  const int64_t own = is_shared ? ceil_div(whole, cores) : whole;
  return as_double(ceil_div(own, std::max<int64_t>(block, 1)));
}

}  // namespace

ProductVector vector_around(const Core& core, const ComputeSummary& compute) {
  const MatmulPart& part = compute.matmul;
  // What an emulated type takes is conversions, which were fitted as they are.
  if (part.cycles <= 0 || part.rate.emulated) return {};
  VectorSlots rest = compute.slots;
  for (const VectorSlots& operand : {part.lhs.producers, part.rhs.producers})
    rest.alu -= operand.alu, rest.eup -= operand.eup, rest.xlu -= operand.xlu;
  const auto bundles = [&](const VectorSlots& slots) { return core.picoseconds(core.bundle_cycles(slots)); };
  return {bundles(part.lhs.producers), bundles(part.rhs.producers), bundles(rest)};
}

BlockVector vector_of_blocks(const Core& core, const ComputeSummary& compute, const PipelineSummary& plan) {
  const ProductVector around = vector_around(core, compute);
  if (plan.steps == 0 || around.lhs + around.rhs + around.results <= 0) return {};
  const MatmulWork& work = compute.matmul.work;
  const double cores = core.cores();
  const int64_t count = core.device().cores;
  const double columns = blocks_of(work.n, plan.n, plan.split == 'n', count);
  const double rows = blocks_of(work.m, plan.m, plan.split == 'm', count);
  const double lhs = around.lhs / (plan.split == 'b' || plan.split == 'm' ? cores : 1) * columns;
  const double rhs = around.rhs / (plan.split == 'b' || plan.split == 'n' ? cores : 1) * rows;
  const double results = around.results / cores;
  // All steps' share of the arrays is what the whole keeps them busy.
  MatmulWork block = work;
  block.batch = plan.batch, block.m = plan.m, block.n = plan.n, block.k = plan.k;
  const double mxu =
      core.picoseconds(core.product(block, compute.matmul.rate).alone() * as_double(plan.steps));
  const double exposed = core.exposed_vector(lhs + rhs + results, mxu);
  return {ceil_picoseconds(lhs + rhs), ceil_picoseconds(results), ceil_picoseconds(exposed)};
}

}  // namespace hlosim
