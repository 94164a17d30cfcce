#include "model/pallas/attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/rounding.h"
#include "model/core.h"

namespace hlosim {
namespace {

bool is_backward(AttentionPass pass) { return pass != AttentionPass::kForward; }

// ── one kernel ──

/// Everything of one kernel; amounts are those of one core.
class Attention {
 public:
  Attention(const DeviceConfig& device, AttentionPass pass, const AttentionProblem& problem,
            const AttentionBlocks& blocks, const MatmulRate& rate)
      : device_(device),
        core_(device),
        pass_(pass),
        problem_(problem),
        blocks_(blocks),
        rate_(rate),
        lanes_(core_.lanes()),
        count_(blocks_of(problem, blocks)),
        tally_(device, cores()) {}

  KernelCost cost() {
    const double heads = heads_of_core();
    // Backwards each step goes through its blocks, whether there is something to do or not.
    const double steps = as_double(is_backward(pass_) ? count_.all : count_.computed) * heads;
    inner_ = as_double(count_.computed) * heads * as_double(blocks_.kv / blocks_.kv_compute);
    scores_ = inner_ * as_double(blocks_.q * blocks_.kv_compute) / core_.register_elements();
    tally_.steps = steps;
    tally_.step_latency = as_double(rate_.latency.count());
    products();
    add_scores();
    if (is_backward(pass_))
      backward(heads, steps);
    else
      forward(heads);
    tally_.vmem = vmem();
    KernelCost cost = tally_.finish();
    describe(cost);
    return cost;
  }

 private:
  static BlockCount blocks_of(const AttentionProblem& problem, const AttentionBlocks& blocks) {
    BlockCount count = count_blocks(problem, blocks);
    if (problem.masks_all && (problem.causal || problem.window)) count.masked = count.computed;
    return count;
  }
  double padded(int64_t size) const { return as_double(round_up(size, lanes_)); }
  /// The batch is shared by cores, forward the heads as well: gradients of keys are sums over heads.
  int64_t shared() const { return is_backward(pass_) ? problem_.batch : problem_.batch * problem_.heads; }
  int64_t cores() const { return std::clamp<int64_t>(shared(), 1, device_.cores); }
  double heads_of_core() const {
    const double each = std::ceil(as_double(shared()) / as_double(cores()));
    return is_backward(pass_) ? each * as_double(problem_.heads) : each;
  }

  const KernelConfig& rules() const { return device_.kernel; }
  void product(int64_t m, int64_t k, int64_t n) {
    tally_.mxu += inner_ * core_.product_in_loop({.m = m, .n = n, .k = k}, rate_);
    tally_.multiply_adds += inner_ * as_double(m) * as_double(k) * as_double(n);
  }
  void products() {
    const int64_t q = blocks_.q, kv = blocks_.kv_compute, d = problem_.head_size, dv = problem_.value_size;
    if (pass_ == AttentionPass::kForward) {
      product(q, d, kv);
      product(q, kv, dv);
      return;
    }
    product(kv, d, q);   // logits
    product(kv, dv, q);  // gradient of probabilities
    if (pass_ != AttentionPass::kBackwardQ) {
      product(kv, q, dv);
      product(kv, q, d);
    }
    if (pass_ != AttentionPass::kBackwardKv) product(q, kv, d);
  }

  /// What is done to each score.
  void add_scores() {
    double slots = is_backward(pass_) ? rules().score_gradient : rules().score;
    double pushes = 1;
    if (!is_backward(pass_) && problem_.known_maximum) slots -= rules().known_maximum;
    if (!problem_.base2) slots += rules().natural_exponential;
    if (problem_.bias) slots += rules().bias;
    if (problem_.segments) slots += rules().segment;
    if (problem_.soft_cap) {
      slots += rules().soft_cap * (is_backward(pass_) ? 2 : 1);
      pushes += is_backward(pass_) ? 2 : 1;
    }
    const double masked =
        count_.computed == 0 ? 0 : scores_ * as_double(count_.masked) / as_double(count_.computed);
    tally_.slots.alu += scores_ * slots + masked * rules().mask;
    tally_.slots.eup += scores_ * pushes;
    tally_.scores = scores_ * core_.register_elements() * pushes;
  }

  void forward(double heads) {
    const double rows = inner_ * as_double(blocks_.q) * as_double(lanes_) / core_.register_elements();
    const double wide = padded(problem_.value_size) / as_double(lanes_);
    tally_.slots.alu += rows * rules().score_row + rows * wide * rules().accumulator;
    tally_.slots.xlu += rows * (problem_.known_maximum ? 1 : 2);  // maximum and sum along lanes
    const double queries = heads * as_double(problem_.queries);
    tally_.apart = queries * as_double(lanes_) / core_.register_elements() * wide * device_.kernel.block_end;
    const double size = element_bytes(problem_.type);
    const double value = padded(problem_.head_size) + padded(problem_.value_size);
    tally_.read =
        queries * padded(problem_.head_size) * size + keys_fetched(heads) * value * size + masks_read(heads);
    tally_.written = queries * padded(problem_.value_size) * size;
    if (problem_.residuals) tally_.written += queries * 2 * as_double(lanes_) * 4;
  }

  void backward(double heads, double steps) {
    const double d = padded(problem_.head_size), dv = padded(problem_.value_size);
    const double size = element_bytes(problem_.type);
    const bool keys = pass_ != AttentionPass::kBackwardQ, queries = pass_ != AttentionPass::kBackwardKv;
    double sums = 0;  // registers added to, once per block of keys
    if (keys) sums += inner_ * as_double(blocks_.kv_compute) * (d + dv) / core_.register_elements();
    if (queries) sums += inner_ * as_double(blocks_.q) * d / core_.register_elements();
    tally_.slots.alu += sums * rules().accumulator;
    // Gradients of queries leave as one part per block of keys, or as a whole.
    const double query_rows = pass_ == AttentionPass::kBackward ? steps * as_double(blocks_.q)
                                                                : heads * as_double(problem_.queries);
    const double key_rows = heads * as_double(problem_.keys);
    tally_.read = steps * as_double(blocks_.q) * ((d + dv) * size + 2 * 8 * 4) + masks_read(heads);
    tally_.read += keys ? key_rows * (d + dv) * size : keys_fetched(heads) * (d + dv) * size;
    if (queries) {
      tally_.apart += query_rows * d / core_.register_elements() * device_.kernel.block_end;
      tally_.written += query_rows * d * size;
    }
    if (keys) {
      tally_.apart += key_rows * (d + dv) / core_.register_elements() * device_.kernel.block_end;
      tally_.written += key_rows * (d + dv) * size;
    }
  }

  /// Rows of keys that come in, of all heads. A sequence of one block stays for all heads that share it.
  double keys_fetched(double heads) const {
    if (blocks_.kv == problem_.keys)
      return as_double(problem_.keys) *
             std::ceil(heads * as_double(problem_.kv_heads) / as_double(problem_.heads));
    return heads * as_double(count_.computed) * as_double(blocks_.kv);
  }
  /// Biases, and the positions that a mask compares.
  double masks_read(double heads) const {
    double bytes = 0;
    if (problem_.bias)
      bytes += heads * as_double(count_.computed) * as_double(blocks_.q) * as_double(blocks_.kv) *
               element_bytes(*problem_.bias);
    if (problem_.causal || problem_.window || problem_.segments)
      bytes += heads * as_double(problem_.queries) * as_double(is_backward(pass_) ? 8 : lanes_) * 4;
    return bytes;
  }

  /// Two of each block that moves, one of what stays, and the scores.
  double vmem() const {
    const double d = padded(problem_.head_size), dv = padded(problem_.value_size);
    const double size = element_bytes(problem_.type);
    const double q = as_double(blocks_.q), kv = as_double(blocks_.kv);
    const double scores = q * as_double(blocks_.kv_compute);
    double moving = (q * d + kv * (d + dv)) * size, staying = 0;
    if (problem_.bias) moving += q * kv * element_bytes(*problem_.bias);
    if (pass_ == AttentionPass::kForward) {
      moving += q * dv * size + (problem_.residuals ? 2 * q * as_double(lanes_) * 4 : 0);
      staying += q * (2 * as_double(lanes_) + dv) * 4 + scores * 6;
      return 2 * moving + staying;
    }
    moving += q * dv * size + 2 * 8 * q * 4;
    if (pass_ != AttentionPass::kBackwardQ) moving += kv * (d + dv) * size, staying += kv * (d + dv) * 4;
    if (pass_ != AttentionPass::kBackwardKv) moving += q * d * size, staying += q * d * 4;
    return 2 * moving + staying + scores * 6;
  }

  void describe(KernelCost& cost) const {
    const int64_t heads = problem_.batch * problem_.heads;
    cost.grid = {problem_.batch, problem_.heads, is_backward(pass_) ? count_.all : count_.computed};
    cost.computed = count_.computed * heads;
    cost.masked = count_.masked * heads;
    cost.skipped = (count_.all - count_.computed) * heads;
    const char* suffix = pass_ == AttentionPass::kForward     ? ""
                         : pass_ == AttentionPass::kBackwardQ ? "_dq"
                                                              : "_dkv";
    cost.blocks = {{fmt::format("block_q{}", suffix), blocks_.q},
                   {fmt::format("block_kv{}", suffix), blocks_.kv},
                   {fmt::format("block_kv{}_compute", suffix), blocks_.kv_compute}};
  }

  const DeviceConfig& device_;
  const Core core_;
  const AttentionPass pass_;
  const AttentionProblem& problem_;
  const AttentionBlocks& blocks_;
  const MatmulRate rate_;
  const int64_t lanes_;  // blocks and head sizes are padded to them
  const BlockCount count_;
  KernelTally tally_;
  double inner_ = 0;   // blocks worked on at once, of one core
  double scores_ = 0;  // registers
};

// ── what is right ──

/// Bounds that keep counts of blocks exact, and counting them short.
Result<void> check_sizes(const AttentionProblem& problem) {
  struct Size {
    std::string_view name;
    int64_t size;
    int bits;
  };
  const Size sizes[] = {{"batch", problem.batch, 14},
                        {"heads", problem.heads, 14},
                        {"heads of k and v", problem.kv_heads, 14},
                        {"queries", problem.queries, 24},
                        {"keys", problem.keys, 24},
                        {"head size", problem.head_size, 14},
                        {"head size of v", problem.value_size, 14}};
  for (const auto& [name, size, bits] : sizes)
    if (size < 1 || size > int64_t{1} << bits)
      return failure(fmt::format("attention: {} {}, expected 1 to {}", name, size, int64_t{1} << bits));
  if (problem.heads % problem.kv_heads != 0)
    return failure(fmt::format("attention: {} heads can't share {} heads of k and v evenly", problem.heads,
                               problem.kv_heads));
  return {};
}

struct BlockSize {
  std::string_view name;
  int64_t size;
};

Result<void> check_block(const BlockSize& block, int64_t lanes, std::string_view of, int64_t whole) {
  if (block.size < 1 || block.size % lanes != 0)
    return failure(fmt::format("{} is {}, expected a multiple of {}", block.name, block.size, lanes));
  if (whole % block.size != 0)
    return failure(
        fmt::format("{} is {}, which doesn't divide the {} {}", block.name, block.size, whole, of));
  return {};
}

Result<void> check_blocks(const AttentionProblem& problem, const AttentionBlocks& blocks, int64_t lanes) {
  if (Result<void> q = check_block({"block_q", blocks.q}, lanes, "queries", problem.queries); !q) return q;
  if (Result<void> kv = check_block({"block_kv", blocks.kv}, lanes, "keys", problem.keys); !kv) return kv;
  return check_block({"block_kv_compute", blocks.kv_compute}, lanes, "keys of block_kv", blocks.kv);
}

}  // namespace

BlockCount count_blocks(const AttentionProblem& problem, const AttentionBlocks& blocks) {
  const int64_t rows = problem.queries / blocks.q, columns = problem.keys / blocks.kv;
  BlockCount count{.all = rows * columns};
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t first = row * blocks.q, last = first + blocks.q - 1;
    // Blocks [begin, end) have something to see, [full_begin, full_end) everything.
    int64_t begin = 0, end = columns, full_begin = 0, full_end = columns;
    if (problem.causal) {
      end = std::min(columns, last / blocks.kv + 1);
      full_end = std::min(columns, (first + 1) / blocks.kv);
    }
    if (problem.window) {
      begin = std::max<int64_t>(first - *problem.window + 1, 0) / blocks.kv;
      full_begin = ceil_div(std::max<int64_t>(last - *problem.window + 1, 0), blocks.kv);
    }
    const int64_t computed = std::max<int64_t>(end - begin, 0);
    count.computed += computed;
    count.masked += computed - std::clamp<int64_t>(full_end - full_begin, 0, computed);
  }
  if (problem.active_blocks) {
    count.computed = std::min(*problem.active_blocks, count.all);
    count.masked = std::min(count.masked, count.computed);
  }
  return count;
}

Result<KernelCost> attention_cost(const DeviceConfig& device, AttentionPass pass,
                                  const AttentionProblem& problem, const AttentionBlocks& blocks) {
  if (Result<void> checked = check_sizes(problem); !checked) return tl::unexpected(checked.error());
  if (Result<void> checked = check_blocks(problem, blocks, Core(device).lanes()); !checked)
    return tl::unexpected(checked.error());
  const Result<MatmulRate> rate =
      kernel_rate(device, "attention", problem.type, problem.type, problem.precision);
  if (!rate) return tl::unexpected(rate.error());
  return Attention(device, pass, problem, blocks, *rate).cost();
}

std::vector<AttentionBlocks> attention_block_candidates(const DeviceConfig& device, AttentionPass pass,
                                                        const AttentionProblem& problem) {
  std::vector<AttentionBlocks> candidates;
  const int64_t lanes = Core(device).lanes();
  for (int64_t q = 4096; q >= lanes; q /= 2)
    for (int64_t kv = 4096; kv >= lanes; kv /= 2)
      for (int64_t compute = kv; compute >= lanes; compute /= 2) {
        AttentionBlocks blocks{.q = q, .kv = kv, .kv_compute = compute};
        blocks.q_sequence_minor = blocks.k_sequence_minor = blocks.v_sequence_minor =
            pass == AttentionPass::kForward && problem.head_size % lanes != 0;
        candidates.push_back(blocks);
      }
  return candidates;
}

std::optional<AttentionBlocks> best_attention_blocks(const DeviceConfig& device, AttentionPass pass,
                                                     const AttentionProblem& problem) {
  return best_blocks(
      device, attention_block_candidates(device, pass, problem),
      [&](const AttentionBlocks& blocks) { return attention_cost(device, pass, problem, blocks); });
}

}  // namespace hlosim
