#include "model/pallas/latent_attention.h"

#include <algorithm>

#include "base/rounding.h"
#include "ops/work.h"

namespace hlosim {
namespace {

/// Words of the buffers beside the block: new tokens may begin and end inside a word.
constexpr int64_t kFurtherWords = 2;

class LatentAttention {
 public:
  LatentAttention(const DeviceConfig& device, const LatentProblem& problem, const LatentBlocks& blocks,
                  const MatmulRate& rate)
      : device_(device),
        problem_(problem),
        blocks_(blocks),
        rate_(rate),
        latent_(round_up(problem.latent, Core(device).lanes())),
        rope_(round_up(problem.rope, Core(device).lanes())),
        token_bytes_(as_double(latent_ + rope_) * element_bytes(problem.kv)),
        steps_(device, 1) {
    Kernel& kernel = steps_.kernel();
    // All scores of a block are made before the first of them is used.
    kernel.units = OverlapRule::kTurns;
    kernel.transfers = OverlapRule::kWindows;
    kernel.requests = Requests::kWhenFree;
    kernel.waits = as_double(core().dma_latency(true, true).count());
  }

  KernelCost cost() && {
    for (const SequenceLength& one : problem_.sequences) one.queries == 1 ? add_decode(one) : add_mixed(one);
    steps_.kernel().scratch = vmem();
    KernelCost cost = std::move(steps_).finish();
    cost.vmem_limit = device_.vmem_space().capacity.value_or(core().vmem_budget());
    cost.computed = computed_;
    cost.grid = {1};
    if (is_needed(true))
      cost.blocks = {{"decode_num_kv_pages_per_block", blocks_.decode_pages},
                     {"decode_batch_size", blocks_.decode_batch}};
    if (is_needed(false))
      cost.blocks.insert(cost.blocks.end(), {{"num_kv_pages_per_block", blocks_.pages},
                                             {"num_queries_per_block", blocks_.queries}});
    return cost;
  }

 private:
  using Step = KernelSteps::Step;
  const Core& core() const { return steps_.core(); }
  double registers(double rows, double columns) const { return rows * columns / core().register_elements(); }
  bool is_needed(bool decode) const {
    return std::any_of(problem_.sequences.begin(), problem_.sequences.end(),
                       [&](const SequenceLength& one) { return (one.queries == 1) == decode; });
  }

  /// Sequences in groups of a batch; those that are left over one by one.
  void add_decode(const SequenceLength& one) {
    const int64_t batch = std::max<int64_t>(std::min(blocks_.decode_batch, one.count), 1);
    add_sequences(as_double(one.count / batch), batch, 1, 1, blocks_.decode_pages, one);
    add_sequences(as_double(one.count % batch), 1, 1, 1, blocks_.decode_pages, one);
  }
  /// Every block of queries goes through all keys: none is skipped because it is in the future.
  void add_mixed(const SequenceLength& one) {
    const int64_t query_blocks = ceil_div(one.queries, blocks_.queries);
    add_sequences(as_double(one.count), 1, query_blocks, blocks_.queries, blocks_.pages, one);
  }

  void add_sequences(double count, int64_t batch, int64_t query_blocks, int64_t queries, int64_t pages,
                     const SequenceLength& one) {
    if (count <= 0) return;
    const int64_t block = pages * problem_.page_size, key_blocks = ceil_div(one.keys, block);
    const double visits = count * as_double(query_blocks);
    Step step = key_block(batch, queries, block);
    step.read = as_double(batch * block) * token_bytes_;
    steps_.add(visits * as_double(key_blocks - 1), step);
    Step last = step;
    last.read = as_double(batch * (one.keys - (key_blocks - 1) * block)) * token_bytes_;
    const double rows = as_double(batch * queries * problem_.heads);
    last.apart += registers(rows, as_double(latent_)) * device_.kernel.block_end;
    // New tokens are merged with the cache again for every block of queries.
    const double merged =
        as_double(one.queries * batch) * as_double(latent_ + rope_) / as_double(core().lanes());
    last.apart += merged * device_.kernel.merged_row;
    const double size = element_bytes(problem_.q);
    last.read += rows * as_double(latent_ + rope_) * size;
    last.written = rows * as_double(latent_) * size +
                   as_double(one.queries * batch) * token_bytes_ / as_double(query_blocks);
    steps_.add(visits, last);
    computed_ += static_cast<int64_t>(visits) * key_blocks;
  }

  /// Scores and values of `batch` sequences, of all heads.
  Step key_block(int64_t batch, int64_t queries, int64_t tokens) const {
    Step step;
    const int64_t rows = queries * problem_.heads;
    const auto each = as_double(batch);
    step.mxu = each * (core().product_in_loop({.m = rows, .n = tokens, .k = latent_ + rope_}, rate_) +
                       core().product_in_loop({.m = rows, .n = latent_, .k = tokens}, rate_));
    step.multiply_adds = each * as_double(rows) * as_double(tokens) * as_double(2 * latent_ + rope_);
    const double padded = as_double(round_up(rows, core().sublanes()));
    const double scores = each * registers(padded, as_double(tokens));
    const KernelConfig& rules = device_.kernel;
    step.slots.alu = scores * (rules.score + rules.natural_exponential + 1 + rules.mask);
    step.slots.eup = scores;
    step.exponentials = scores * core().register_elements();
    const double row_registers = each * registers(padded, as_double(core().lanes()));
    step.slots.xlu = 2 * row_registers;
    step.slots.alu +=
        row_registers * rules.score_row + each * registers(padded, as_double(latent_)) * rules.accumulator;
    if (problem_.kv != problem_.q)
      step.slots.alu += each * registers(as_double(tokens), as_double(latent_ + rope_)) *
                        core().conversion_slots(problem_.kv);
    step.latency = 2 * as_double(rate_.latency.count());
    return step;
  }

  double vmem_of(int64_t batch, int64_t queries, int64_t pages) const {
    const double words =
        as_double(pages * problem_.page_size) * element_bytes(problem_.kv) / 4 + kFurtherWords;
    const double q = as_double(queries * problem_.heads) * element_bytes(problem_.q);
    const double sums = as_double(queries * problem_.heads) * 4 * as_double(2 * core().lanes() + latent_);
    return as_double(batch) *
           (2 * words * 4 * as_double(latent_ + rope_) + 2 * q * as_double(2 * latent_ + rope_) + sums);
  }
  double vmem() const {
    return std::max(is_needed(true) ? vmem_of(blocks_.decode_batch, 1, blocks_.decode_pages) : 0,
                    is_needed(false) ? vmem_of(1, blocks_.queries, blocks_.pages) : 0);
  }

  const DeviceConfig& device_;
  const LatentProblem& problem_;
  const LatentBlocks& blocks_;
  const MatmulRate rate_;
  const int64_t latent_, rope_;  // padded to lanes
  const double token_bytes_;
  KernelSteps steps_;
  int64_t computed_ = 0;
};

Result<void> check(const LatentProblem& problem, const LatentBlocks& blocks) {
  Result<void> checked = check_kernel_sizes("latent attention",
                                            {{"query heads", problem.heads},
                                             {"kv_lora_rank", problem.latent},
                                             {"qk_rope_head_dim", problem.rope},
                                             {"page size", problem.page_size},
                                             {"decode_num_kv_pages_per_block", blocks.decode_pages},
                                             {"decode_batch_size", blocks.decode_batch},
                                             {"num_kv_pages_per_block", blocks.pages},
                                             {"num_queries_per_block", blocks.queries}},
                                            1 << 16);
  return checked ? check_sequences(problem.sequences) : checked;
}

}  // namespace

Result<KernelCost> latent_attention_cost(const DeviceConfig& device, const LatentProblem& problem,
                                         const LatentBlocks& blocks) {
  if (Result<void> checked = check(problem, blocks); !checked) return tl::unexpected(checked.error());
  const Result<MatmulRate> rate = kernel_rate(device, "latent attention", problem.q, problem.q);
  if (!rate) return tl::unexpected(rate.error());
  return LatentAttention(device, problem, blocks, *rate).cost();
}

LatentBlocks default_latent_blocks() {
  return {.decode_pages = 3, .decode_batch = 4, .pages = 1, .queries = 16};
}

std::vector<LatentBlocks> latent_block_candidates(const DeviceConfig& device, const LatentProblem& problem) {
  LatentBlocks usual = default_latent_blocks();
  LatentProblem decode = problem;
  std::erase_if(decode.sequences, [](const SequenceLength& one) { return one.queries > 1; });
  std::vector<LatentBlocks> decodes, candidates;
  constexpr int64_t kPages[] = {1, 2, 3, 4, 6, 8, 16, 32, 64};
  if (!decode.sequences.empty())
    for (const int64_t pages : kPages)
      for (int64_t batch = 1; batch <= 32; batch *= 2) {
        LatentBlocks blocks = usual;
        blocks.decode_pages = pages, blocks.decode_batch = batch;
        decodes.push_back(blocks);
      }
  if (decode.sequences.size() == problem.sequences.size()) return decodes;
  // The calls run one after the other: the blocks of one don't change the time of the other.
  if (const auto best = best_blocks(device, decodes, [&](const LatentBlocks& blocks) {
        return latent_attention_cost(device, decode, blocks);
      }))
    usual = *best;
  for (const int64_t pages : kPages)
    for (int64_t queries = 1; queries <= 512; queries *= 2) {
      LatentBlocks blocks = usual;
      blocks.pages = pages, blocks.queries = queries;
      candidates.push_back(blocks);
    }
  return candidates;
}

}  // namespace hlosim
