#include "model/pallas/quantized_matmul.h"

#include <algorithm>

#include "base/rounding.h"
#include "ops/work.h"

namespace hlosim {
namespace {

class QuantizedProduct {
 public:
  QuantizedProduct(const DeviceConfig& device, const QuantizedProblem& problem, const QuantizedBlocks& blocks,
                   const MatmulRate& rate)
      : device_(device),
        problem_(problem),
        blocks_(blocks),
        rate_(rate),
        is_native_(multiplies_stored_weights(device, problem)),
        steps_(device, cores(device)) {
    steps_.kernel().units = OverlapRule::kBundles;
    steps_.kernel().transfers = OverlapRule::kWindows;
  }

  KernelCost cost() && {
    const double m = as_double(ceil_div(problem_.rows, blocks_.rows)) / steps_.kernel().cores;
    const double n = as_double(ceil_div(problem_.columns, blocks_.columns));
    const double k = as_double(ceil_div(problem_.depth, blocks_.depth));
    const double x = as_double(blocks_.rows) * as_double(blocks_.depth) * element_bytes(problem_.activations);
    const double w = as_double(blocks_.columns) * as_double(blocks_.depth) * element_bytes(problem_.weights);
    const double out =
        as_double(blocks_.rows) * as_double(blocks_.columns) * element_bytes(problem_.activations);
    Kernel& kernel = steps_.kernel();
    kernel.windows = {{x, 0, 2, false}, {w, 0, 2, false}, {out, 0, 2, true}};
    kernel.scratch = scratch(k);
    kernel.first.in[0] = x + w, kernel.last.out[0] = out;
    const auto add = [&](double count, bool quantises, bool is_last, double read, double written) {
      Step step = this->step(quantises, is_last);
      step.read = read, step.written = written;
      steps_.add(count, step);
    };
    if (k > 1) {  // both come at every step, and rows are quantised each time
      add(m * n * (k - 1), true, false, x + w, 0);
      add(m * n, true, true, x + w, out);
    } else {  // rows stay while columns go by
      add(m, true, true, x + w, out);
      add(m * (n - 1), false, true, w, out);
    }
    KernelCost cost = std::move(steps_).finish();
    cost.grid = {ceil_div(problem_.rows, blocks_.rows), ceil_div(problem_.columns, blocks_.columns),
                 ceil_div(problem_.depth, blocks_.depth)};
    cost.computed = cost.steps;
    cost.blocks = {{"batch_block_size", blocks_.rows},
                   {"out_block_size", blocks_.columns},
                   {"in_block_size", blocks_.depth}};
    cost.flops = Flops(static_cast<int64_t>(std::min(
        2 * as_double(problem_.rows) * as_double(problem_.depth) * as_double(problem_.columns), 9e18)));
    return cost;
  }

 private:
  using Step = KernelSteps::Step;
  /// Rows are the parallel dimension of the grid.
  int64_t cores(const DeviceConfig& device) const {
    return std::clamp<int64_t>(ceil_div(problem_.rows, blocks_.rows), 1, device.cores);
  }
  double registers(int64_t rows, int64_t columns) const {
    return as_double(rows) * as_double(columns) / steps_.core().register_elements();
  }

  Step step(bool quantises, bool is_last) const {
    Step step;
    step.mxu =
        steps_.core().product_in_loop({.m = blocks_.rows, .n = blocks_.columns, .k = blocks_.depth}, rate_);
    step.multiply_adds = as_double(blocks_.rows) * as_double(blocks_.columns) * as_double(blocks_.depth);
    const double results = registers(blocks_.rows, blocks_.columns);
    step.slots.alu = results * device_.kernel.accumulator;
    if (is_last) step.slots.alu += results * 3;  // two scales, and the type of the result
    if (is_native_ && quantises)                 // scaled, rounded and narrowed
      step.slots.alu +=
          registers(blocks_.rows, blocks_.depth) * (2 + steps_.core().conversion_slots(problem_.activations) +
                                                    steps_.core().conversion_slots(problem_.weights));
    step.slots.alu += registers(blocks_.columns, blocks_.depth) * rate_.rhs_convert;
    return step;
  }

  /// Sums of parts, and rows that were quantised.
  double scratch(double parts) const {
    const double rows = as_double(blocks_.rows);
    double bytes = parts > 1 ? rows * as_double(blocks_.columns) * 4 : 0;
    if (is_native_) bytes += rows * as_double(blocks_.depth) * element_bytes(problem_.weights);
    return bytes;
  }

  const DeviceConfig& device_;
  const QuantizedProblem& problem_;
  const QuantizedBlocks& blocks_;
  const MatmulRate rate_;
  const bool is_native_;
  KernelSteps steps_;
};

}  // namespace

bool multiplies_stored_weights(const DeviceConfig& device, const QuantizedProblem& problem) {
  const std::optional<MatmulRate> rate =
      Core(device).matmul_rate(problem.weights, problem.weights, MatmulPrecision{});
  return rate && !rate->emulated;
}

Result<KernelCost> quantized_product_cost(const DeviceConfig& device, const QuantizedProblem& problem,
                                          const QuantizedBlocks& blocks) {
  if (Result<void> checked = check_kernel_sizes("quantized product",
                                                {{"rows", problem.rows},
                                                 {"depth", problem.depth},
                                                 {"columns", problem.columns},
                                                 {"batch_block_size", blocks.rows},
                                                 {"out_block_size", blocks.columns},
                                                 {"in_block_size", blocks.depth}},
                                                1 << 28);
      !checked)
    return tl::unexpected(checked.error());
  const ElementType lhs = multiplies_stored_weights(device, problem) ? problem.weights : problem.activations;
  const Result<MatmulRate> rate = kernel_rate(device, "quantized product", lhs, problem.weights);
  if (!rate) return tl::unexpected(rate.error());
  return QuantizedProduct(device, problem, blocks, *rate).cost();
}

std::vector<KernelPass> quantized_product_passes(const DeviceConfig& device,
                                                 const QuantizedProblem& problem) {
  if (!multiplies_stored_weights(device, problem)) return {};
  const double x = as_double(problem.rows) * as_double(problem.depth) * element_bytes(problem.activations);
  KernelPass pass = kernel_pass(device, "largest value of each token", x, as_double(problem.rows) * 4);
  pass.time = std::max(pass.time, device.overhead.smallest_fusion);
  return {pass};
}

std::vector<QuantizedBlocks> quantized_block_candidates(const DeviceConfig& device,
                                                        const QuantizedProblem& problem) {
  const int64_t lanes = Core(device).lanes();
  const auto parts_of = [&](int64_t size) {
    std::vector<int64_t> sizes{size};
    for (int64_t parts = 2; parts <= 64; ++parts)
      if (size % parts == 0 && size / parts % lanes == 0) sizes.push_back(size / parts);
    return sizes;
  };
  std::vector<int64_t> rows{std::min<int64_t>(problem.rows, 1024)};
  for (int64_t size = 512; size >= 16; size /= 2)
    if (size < rows.front()) rows.push_back(size);
  std::vector<QuantizedBlocks> candidates;
  for (const int64_t m : rows)
    for (const int64_t n : parts_of(problem.columns))
      for (const int64_t k : parts_of(problem.depth)) candidates.push_back({m, n, k});
  return candidates;
}

}  // namespace hlosim
