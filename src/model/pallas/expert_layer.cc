#include "model/pallas/expert_layer.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/rounding.h"
#include "ops/work.h"

namespace hlosim {
namespace {

class ExpertLayer {
 public:
  ExpertLayer(const DeviceConfig& device, const ExpertProblem& problem, const ExpertBlocks& blocks,
              const MatmulRate& rate)
      : device_(device), problem_(problem), blocks_(blocks), rate_(rate), steps_(device, 1) {
    Kernel& kernel = steps_.kernel();
    kernel.units = kernel.transfers = problem.pipelined ? OverlapRule::kHidden : OverlapRule::kBundles;
  }

  KernelCost cost() && {
    const double sent = rows_ * as_double(problem_.model) * others_;
    const double exchange =
        sent * (element_bytes(problem_.wire) + element_bytes(problem_.activations)) * problem_.exchange;
    const double passes = this->passes();
    Step step;
    step.copies = exchange / passes;
    step.loops = local_;
    step.latency = local_ * 2 * as_double(rate_.latency.count());
    add_products(step, rows_per_pass(), local_);
    step.read = local_ * expert_bytes() + rows_ / passes * row_bytes();
    step.written = rows_ / passes * row_bytes();
    steps_.add(passes, step);
    add_shared();
    Kernel& kernel = steps_.kernel();
    kernel.scratch = vmem();
    // Counts of rows go round all devices; then the first rows come and the last ones leave.
    kernel.waits = as_double(problem_.devices - 1) * as_double(device_.ici.hop_latency.count()) *
                   (problem_.pipelined ? 1 : passes);
    if (problem_.pipelined) kernel.waits += exchange / local_;
    KernelCost cost = std::move(steps_).finish();
    cost.vmem_limit = device_.vmem_space().capacity.value_or(steps_.core().vmem_budget());
    cost.grid = {static_cast<int64_t>(passes), problem_.experts / problem_.devices};
    cost.computed = cost.grid[0] * cost.grid[1];
    cost.blocks = {{problem_.pipelined ? "bts" : "bt", blocks_.tokens}, {"bf", blocks_.hidden}};
    return cost;
  }

 private:
  using Step = KernelSteps::Step;

  /// Over the weights of all local experts.
  double passes() const {
    const int64_t local_tokens = ceil_div(problem_.tokens, problem_.devices);
    if (!problem_.pipelined) return as_double(ceil_div(local_tokens, blocks_.tokens));
    const auto rows = static_cast<int64_t>(std::max(rows_ / local_, 1.0));
    return as_double(ceil_div(rows, blocks_.tokens));
  }
  /// Of one expert.
  double rows_per_pass() const { return rows_ / local_ / passes(); }
  double expert_bytes() const {
    return 3 * as_double(problem_.model) * as_double(problem_.hidden) * element_bytes(problem_.weights);
  }
  double row_bytes() const { return as_double(problem_.model) * element_bytes(problem_.activations); }

  /// Two products with the activation between, and the third one, of `rows` of each of `experts`.
  void add_products(Step& step, double rows, double experts) const {
    const auto m = std::max<int64_t>(static_cast<int64_t>(rows + 0.5), 1);
    const Core& core = steps_.core();
    step.mxu +=
        experts * (core.product_in_loop({.m = m, .n = 2 * problem_.hidden, .k = problem_.model}, rate_) +
                   core.product_in_loop({.m = m, .n = problem_.model, .k = problem_.hidden}, rate_));
    step.multiply_adds += experts * as_double(m) * 3 * as_double(problem_.model) * as_double(problem_.hidden);
    const double registers = experts * as_double(m) / core.register_elements();
    // A sigmoid and two factors between; rows are scaled by their routing weights and added up.
    step.slots.alu += registers * as_double(problem_.hidden) * 6 +
                      registers * as_double(problem_.model) * device_.kernel.accumulator;
    step.slots.eup += registers * as_double(problem_.hidden);
    step.exponentials += experts * as_double(m) * as_double(problem_.hidden);
    step.slots.alu += experts * 3 * as_double(problem_.model) * as_double(problem_.hidden) /
                      core.register_elements() * rate_.rhs_convert;
  }

  void add_shared() {
    if (problem_.shared_experts == 0) return;
    Step step;
    const double experts = as_double(problem_.shared_experts);
    add_products(step, as_double(ceil_div(problem_.tokens, problem_.devices)), experts);
    step.read = experts * expert_bytes();
    steps_.add(1, step);
  }

  /// Buffers of rows that come and leave, two each, and of weights.
  double vmem() const {
    const double rows = as_double(blocks_.tokens), model = as_double(problem_.model);
    const double weights = 2 * 3 * model * as_double(std::min(blocks_.hidden, problem_.hidden)) *
                           element_bytes(problem_.weights);
    if (problem_.pipelined)
      return rows * model * (2 * element_bytes(problem_.wire) + 4 + 2 * element_bytes(problem_.activations)) +
             weights;
    // Rows of all devices may be for one expert.
    const double all = rows * as_double(problem_.devices);
    return all * (4 * row_bytes() + 2 * as_double(blocks_.hidden) * 4) + weights;
  }

  const DeviceConfig& device_;
  const ExpertProblem& problem_;
  const ExpertBlocks& blocks_;
  const MatmulRate rate_;
  const double local_ = as_double(problem_.experts) / as_double(problem_.devices);  // experts
  const double rows_ = as_double(problem_.tokens) * as_double(problem_.top_k) / as_double(problem_.devices);
  const double others_ = 1 - 1 / as_double(problem_.devices);
  KernelSteps steps_;
};

Result<void> check(const ExpertProblem& problem, const ExpertBlocks& blocks) {
  if (Result<void> checked = check_kernel_sizes("expert layer",
                                                {{"tokens", problem.tokens},
                                                 {"experts", problem.experts},
                                                 {"top_k", problem.top_k},
                                                 {"d_model", problem.model},
                                                 {"d_ff", problem.hidden},
                                                 {"devices", problem.devices},
                                                 {"block of tokens", blocks.tokens},
                                                 {"block of d_ff", blocks.hidden}},
                                                1 << 24);
      !checked)
    return checked;
  if (problem.shared_experts < 0 || problem.shared_experts > 1024)
    return failure(
        fmt::format("expert layer: {} shared experts, expected 0 to 1024", problem.shared_experts));
  if (problem.experts % problem.devices != 0)
    return failure(fmt::format("expert layer: {} devices can't share {} experts evenly", problem.devices,
                               problem.experts));
  if (problem.top_k > problem.experts)
    return failure(fmt::format("expert layer: {} of {} experts for a token", problem.top_k, problem.experts));
  return {};
}

}  // namespace

Result<KernelCost> expert_layer_cost(const DeviceConfig& device, const ExpertProblem& problem,
                                     const ExpertBlocks& blocks) {
  if (Result<void> checked = check(problem, blocks); !checked) return tl::unexpected(checked.error());
  // Rows are quantised to the type of the weights where the arrays have it.
  const Result<MatmulRate> rate = kernel_rate(device, "expert layer", problem.weights, problem.weights);
  if (!rate) return tl::unexpected(rate.error());
  return ExpertLayer(device, problem, blocks, *rate).cost();
}

std::vector<ExpertBlocks> expert_block_candidates(const ExpertProblem& problem) {
  std::vector<ExpertBlocks> candidates;
  for (int64_t hidden = 2048; hidden >= 128; hidden /= 2)
    if (hidden <= problem.hidden && problem.hidden % hidden == 0)
      for (int64_t tokens = 8; tokens <= 1024; tokens *= 2)
        if (tokens / 2 < ceil_div(problem.tokens, problem.devices)) candidates.push_back({tokens, hidden});
  return candidates;
}

double expert_layer_bytes(const ExpertProblem& problem) {
  const double local =
      as_double(problem.experts) / as_double(problem.devices) + as_double(problem.shared_experts);
  const double tokens = as_double(problem.tokens) / as_double(problem.devices);
  return local * 3 * as_double(problem.model) * as_double(problem.hidden) * element_bytes(problem.weights) +
         2 * tokens * as_double(problem.model) * element_bytes(problem.activations);
}

}  // namespace hlosim
