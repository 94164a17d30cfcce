#include "model/pallas/linear_loss.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/rounding.h"
#include "ops/work.h"

namespace hlosim {
namespace {

/// Keeps counts of blocks exact.
constexpr int64_t kMostSize = int64_t{1} << 27;
/// Where a gradient is an f32 sum in HBM.
constexpr double kSumBytes = 4;

class LinearLoss {
 public:
  LinearLoss(const DeviceConfig& device, const LinearLossProblem& problem, const LinearLossBlocks& blocks,
             const MatmulRate& rate)
      : device_(device), core_(device), problem_(problem), blocks_(blocks), rate_(rate), tally_(device, 1) {}

  KernelCost cost() {
    products_ = as_double(token_blocks_) * as_double(word_blocks_) * as_double(hidden_blocks_);
    tally_.multiply_adds = as_double(problem_.tokens) * as_double(problem_.hidden) *
                           as_double(problem_.vocabulary) * (problem_.gradients ? 3 : 1);
    tally_.step_latency = as_double(rate_.latency.count());
    const double logits =
        as_double(token_blocks_ * word_blocks_) * registers(blocks_.tokens, blocks_.vocabulary);
    tally_.slots_apart.alu =
        logits * (problem_.gradients ? device_.kernel.loss_gradient : device_.kernel.loss);
    tally_.slots_apart.eup = logits;
    tally_.scores = logits * core_.register_elements();
    add_product(blocks_.tokens, blocks_.hidden, blocks_.vocabulary);
    tally_.steps = products_ * (problem_.gradients ? 2 : 1);
    fetch();
    if (problem_.gradients) gradients();
    tally_.vmem = vmem();
    KernelCost cost = tally_.finish();
    describe(cost);
    return cost;
  }

 private:
  double registers(int64_t rows, int64_t columns) const {
    return as_double(rows) * as_double(columns) / core_.register_elements();
  }
  void add_product(int64_t m, int64_t k, int64_t n) {
    tally_.mxu += products_ * core_.product_in_loop({.m = m, .n = n, .k = k}, rate_);
  }

  /// A block of x that is all of the hidden dimension stays while the vocabulary streams by.
  void fetch() {
    const double stages = problem_.gradients ? 2 : 1;
    const bool stays = hidden_blocks_ == 1;
    const double x_blocks = stays ? as_double(token_blocks_) : products_ * stages;
    const double w_blocks = stays ? products_ : products_ * stages;
    tally_.read = x_blocks * x_bytes() + w_blocks * w_bytes();
    tally_.written = as_double(problem_.tokens) * 4;
  }

  /// Second stage: both gradients of the block are products, added to what HBM has of them. Reads come in
  /// behind the products; a step ends when its writes are done.
  void gradients() {
    add_product(blocks_.hidden, blocks_.tokens, blocks_.vocabulary);
    add_product(blocks_.tokens, blocks_.vocabulary, blocks_.hidden);
    const double x_tile = registers(blocks_.tokens, blocks_.hidden);
    const double w_tile = registers(blocks_.hidden, blocks_.vocabulary);
    tally_.apart = products_ * (x_tile + w_tile) * device_.kernel.block_add;
    const double last_words = products_ / as_double(word_blocks_),
                 last_tokens = products_ / as_double(token_blocks_);
    tally_.apart += (last_words * x_tile + last_tokens * w_tile) * device_.kernel.block_scale;
    const double tiles = (x_tile + w_tile) * core_.register_elements() * kSumBytes;
    tally_.written += products_ * tiles;
    tally_.read += ((products_ - last_words) * x_tile + (products_ - last_tokens) * w_tile) *
                   core_.register_elements() * kSumBytes;
    tally_.exposed =
        products_ * (tiles * core_.hbm_bus(1).total + as_double(core_.dma_latency(false, true).count()));
  }

  double x_bytes() const { return as_double(blocks_.tokens * blocks_.hidden) * element_bytes(problem_.x); }
  double w_bytes() const {
    return as_double(blocks_.hidden * blocks_.vocabulary) * element_bytes(problem_.w);
  }

  /// Two of each block that moves; x is one where a single block is all of it.
  double vmem() const {
    const bool whole = token_blocks_ == 1 && hidden_blocks_ == 1;
    double bytes =
        x_bytes() * (whole ? 1 : 2) + 2 * w_bytes() + 4 * as_double(blocks_.tokens * blocks_.vocabulary);
    if (problem_.gradients)
      bytes += kSumBytes *
               (as_double(blocks_.tokens * blocks_.hidden) + as_double(blocks_.hidden * blocks_.vocabulary));
    return bytes;
  }

  void describe(KernelCost& cost) const {
    cost.grid = {token_blocks_, word_blocks_};
    if (problem_.gradients) cost.grid.push_back(2);
    cost.grid.push_back(hidden_blocks_);
    cost.computed = token_blocks_ * word_blocks_ * hidden_blocks_;
    cost.blocks = {{"b_block_size", blocks_.tokens},
                   {"h_block_size", blocks_.hidden},
                   {"v_block_size", blocks_.vocabulary}};
  }

  const DeviceConfig& device_;
  const Core core_;
  const LinearLossProblem& problem_;
  const LinearLossBlocks& blocks_;
  const MatmulRate rate_;
  const int64_t token_blocks_ = ceil_div(problem_.tokens, blocks_.tokens);
  const int64_t word_blocks_ = ceil_div(problem_.vocabulary, blocks_.vocabulary);
  const int64_t hidden_blocks_ = ceil_div(problem_.hidden, blocks_.hidden);
  double products_ = 0;
  KernelTally tally_;
};

Result<void> check(const LinearLossProblem& problem, const LinearLossBlocks& blocks, int64_t lanes) {
  if (Result<void> checked = check_kernel_sizes("loss",
                                                {{"tokens", problem.tokens},
                                                 {"hidden dimension", problem.hidden},
                                                 {"vocabulary", problem.vocabulary}},
                                                kMostSize);
      !checked)
    return checked;
  const std::pair<std::string_view, int64_t> named[] = {
      {"b_block_size", blocks.tokens}, {"h_block_size", blocks.hidden}, {"v_block_size", blocks.vocabulary}};
  for (const auto& [name, block] : named)
    if (block < 1 || block % lanes != 0 || block > int64_t{1} << 24)
      return failure(fmt::format("{} is {}, expected a multiple of {}", name, block, lanes));
  if (problem.tokens % blocks.tokens != 0)
    return failure(
        fmt::format("b_block_size is {}, which doesn't divide the {} tokens", blocks.tokens, problem.tokens));
  return {};
}

}  // namespace

Result<KernelCost> linear_loss_cost(const DeviceConfig& device, const LinearLossProblem& problem,
                                    const LinearLossBlocks& blocks) {
  if (Result<void> checked = check(problem, blocks, Core(device).lanes()); !checked)
    return tl::unexpected(checked.error());
  const Result<MatmulRate> rate = kernel_rate(device, "loss", problem.x, problem.w);
  if (!rate) return tl::unexpected(rate.error());
  return LinearLoss(device, problem, blocks, *rate).cost();
}

std::vector<LinearLossBlocks> linear_loss_block_candidates(const DeviceConfig& device,
                                                           const LinearLossProblem& problem) {
  std::vector<LinearLossBlocks> candidates;
  const int64_t lanes = Core(device).lanes();
  std::vector<int64_t> hidden;  // what divides the dimension, and powers of two
  for (int64_t size = lanes; size <= 8192; size += lanes)
    if (problem.hidden % size == 0 || (size & (size - 1)) == 0) hidden.push_back(size);
  for (int64_t tokens = 4096; tokens >= lanes; tokens /= 2)
    for (int64_t words = 4096; words >= lanes; words /= 2)
      for (auto size = hidden.rbegin(); size != hidden.rend(); ++size)
        if (*size < problem.hidden + lanes) candidates.push_back({tokens, *size, words});
  return candidates;
}

std::optional<LinearLossBlocks> best_linear_loss_blocks(const DeviceConfig& device,
                                                        const LinearLossProblem& problem) {
  return best_blocks(
      device, linear_loss_block_candidates(device, problem),
      [&](const LinearLossBlocks& blocks) { return linear_loss_cost(device, problem, blocks); });
}

}  // namespace hlosim
