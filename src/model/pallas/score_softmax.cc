#include "model/pallas/score_softmax.h"

#include <algorithm>

#include "base/rounding.h"
#include "ops/work.h"

namespace hlosim {

Result<KernelCost> score_softmax_cost(const DeviceConfig& device, const ScoreSoftmaxProblem& problem) {
  constexpr std::string_view kName = "softmax of scores";
  if (Result<void> checked = check_kernel_sizes(
          kName, {{"queries", problem.queries}, {"keys", problem.keys}, {"head size", problem.head_size}},
          1 << 24);
      !checked)
    return tl::unexpected(checked.error());
  const Result<MatmulRate> rate = kernel_rate(device, kName, problem.type, problem.type);
  if (!rate) return tl::unexpected(rate.error());
  // Rows in blocks of which two fit into half of the VMEM of an instruction, so that a row is read once.
  KernelSteps steps(device, 1);
  const Core& core = steps.core();
  const double element = as_double(bit_width(problem.type)) / 8;
  const double row_bytes = as_double(problem.keys) * element;
  const auto rows =
      std::clamp<int64_t>(static_cast<int64_t>(as_double(core.vmem_budget().count()) / 4 / row_bytes),
                          core.sublanes(), problem.queries);
  const double blocks = as_double(problem.queries) / as_double(rows);
  KernelSteps::Step step;
  step.mxu = core.product_in_loop({.m = rows, .n = problem.head_size, .k = problem.keys}, *rate);
  step.multiply_adds = as_double(rows) * as_double(problem.keys) * as_double(problem.head_size);
  const double scores = as_double(rows) * as_double(problem.keys) / core.register_elements();
  step.slots.alu = scores * (device.kernel.score + device.kernel.natural_exponential);
  step.slots.eup = scores;
  step.exponentials = scores * core.register_elements();
  const double result = as_double(rows) * as_double(problem.head_size);
  step.apart = result / core.register_elements() * device.kernel.block_end;
  step.latency = as_double(rate->latency.count());
  step.read = as_double(rows) * row_bytes, step.written = result * element;
  Kernel& kernel = steps.kernel();
  kernel.units = OverlapRule::kBundles;
  kernel.requests = Requests::kWhenFree;
  kernel.first.in[0] = step.read, kernel.last.out[0] = step.written;
  kernel.windows = {{step.read, 0, 2, false}, {step.written, 0, 2, true}};
  kernel.scratch = as_double(problem.keys) * as_double(problem.head_size) * element;
  steps.add(blocks, step);
  KernelCost cost = std::move(steps).finish();
  cost.grid = {static_cast<int64_t>(blocks + 0.999)};
  cost.computed = cost.grid.front();
  cost.blocks = {{"rows", rows}};
  return cost;
}

}  // namespace hlosim
