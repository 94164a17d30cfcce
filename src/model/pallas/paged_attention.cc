#include "model/pallas/paged_attention.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/rounding.h"
#include "ops/work.h"

namespace hlosim {
namespace {

/// Elements of a 32-bit word.
int64_t packing(ElementType type) { return std::max<int64_t>(32 / bit_width(type), 1); }

/// Heads and sizes as they lie in memory.
struct PaddedHeads {
  PaddedHeads(const PagedProblem& problem, int64_t lanes)
      : shares_lanes(problem.version == PagedVersion::kV3 && 2 * problem.head_size <= lanes),
        size(round_up(problem.head_size, lanes)),
        group(problem.version == PagedVersion::kV3
                  ? round_up(problem.heads / problem.kv_heads, packing(problem.q))
                  : problem.heads / problem.kv_heads),
        kv_rows(round_up((shares_lanes ? 1 : 2) * problem.kv_heads, packing(problem.kv))) {}

  bool shares_lanes;  // keys and values of a head of half a row lie in one row
  int64_t size;       // of a head
  int64_t group;      // query heads of one head of keys
  int64_t kv_rows;    // of one token in the cache
};

// ── one kernel ──

class PagedAttention {
 public:
  PagedAttention(const DeviceConfig& device, const PagedProblem& problem, const PagedBlocks& blocks,
                 const MatmulRate& rate)
      : device_(device),
        problem_(problem),
        blocks_(blocks),
        rate_(rate),
        heads_(problem, Core(device).lanes()),
        token_bytes_(cache_bytes_per_token(problem, Core(device).lanes())),
        steps_(device, 1) {
    Kernel& kernel = steps_.kernel();
    kernel.units = OverlapRule::kBundles;
    kernel.requests = Requests::kWhenFree;
    kernel.waits = as_double(core().dma_latency(true, true).count());
  }

  KernelCost cost() && {
    if (problem_.version == PagedVersion::kV2) {
      add_v2();
    } else {
      for (const SequenceLength& one : problem_.sequences)
        one.queries == 1 ? add_decode(one) : add_mixed(one);
      // Both calls are in the program, the one without sequences begins and ends.
      steps_.add(is_needed(true) && is_needed(false) ? 2 : 1, {});
    }
    steps_.kernel().scratch = vmem();
    KernelCost cost = std::move(steps_).finish();
    cost.vmem_limit = vmem_limit();
    cost.grid = {1};
    cost.computed = computed_;
    describe(cost);
    return cost;
  }

 private:
  using Step = KernelSteps::Step;
  const Core& core() const { return steps_.core(); }
  const KernelConfig& rules() const { return device_.kernel; }
  double registers(double rows, double columns) const { return rows * columns / core().register_elements(); }
  bool is_needed(bool decode) const {
    return std::any_of(problem_.sequences.begin(), problem_.sequences.end(),
                       [&](const SequenceLength& one) { return (one.queries == 1) == decode; });
  }

  /// Blocks of one call.
  struct Blocks {
    int64_t q, kv, q_compute, kv_compute;
  };

  void add_decode(const SequenceLength& one) {
    const Blocks blocks{1, blocks_.decode_kv, 1, blocks_.decode_kv_compute};
    const int64_t first = problem_.window ? std::max<int64_t>(one.keys - *problem_.window, 0) / blocks.kv : 0;
    add_query_block(as_double(one.count), blocks, 1, first, one.keys, one.keys, true, false);
  }

  /// A block of queries sees the keys before its own end; it starts with the first block of its window.
  void add_mixed(const SequenceLength& one) {
    const Blocks blocks{blocks_.q, blocks_.kv, blocks_.q_compute, blocks_.kv_compute};
    const int64_t query_blocks = ceil_div(one.queries, blocks.q);
    for (int64_t i = 0; i < query_blocks; ++i) {
      const int64_t begin = i * blocks.q, queries = std::min(blocks.q, one.queries - begin);
      const int64_t before = one.keys - one.queries;
      const int64_t end = std::min(one.keys, before + begin + blocks.q);
      const int64_t first =
          problem_.window ? std::max<int64_t>(before + begin - *problem_.window + 1, 0) / blocks.kv : 0;
      add_query_block(as_double(one.count), blocks, queries, first, end, one.keys, i + 1 == query_blocks,
                      true);
    }
  }

  /// All blocks of keys from `first` to the one with `end`, for one block of queries. Fetched are tokens of
  /// the cache up to `keys`, computed are whole blocks up to `end`.
  void add_query_block(double count, const Blocks& blocks, int64_t queries, int64_t first, int64_t end,
                       int64_t keys, bool updates, bool is_masked) {
    const int64_t last = std::max(ceil_div(end, blocks.kv), first + 1);
    const double bytes = as_double(blocks.kv) * token_bytes_;
    Step full = key_block(blocks, blocks.kv, is_masked);
    full.read = bytes;
    steps_.add(count * as_double(last - first - 1), full);
    const int64_t valid = std::min(blocks.kv, keys - (last - 1) * blocks.kv);
    Step final = key_block(blocks, std::min(valid, end - (last - 1) * blocks.kv), is_masked);
    final.read = as_double(valid) * token_bytes_;
    // Scratch is begun and the result finished once.
    const double rows = as_double(problem_.kv_heads) * as_double(blocks.q * heads_.group);
    const double result = registers(rows, as_double(heads_.size));
    final.apart += result * rules().block_end + 2 * registers(rows, as_double(core().lanes()));
    const double query_bytes = as_double(queries) * as_double(problem_.kv_heads * heads_.group) *
                               as_double(heads_.size) * element_bytes(problem_.q);
    final.read += query_bytes;
    final.written += query_bytes;
    if (updates && problem_.updates_cache) final.written += as_double(queries) * token_bytes_;
    steps_.add(count, final);
    computed_ += static_cast<int64_t>(count) * (last - first);
  }

  /// One block of keys: `tokens` of it are computed, in whole blocks.
  Step key_block(const Blocks& blocks, int64_t tokens, bool is_masked) const {
    Step step;
    const double rounds = as_double(std::max<int64_t>(ceil_div(tokens, blocks.kv_compute), 1));
    const double pairs =
        rounds * as_double(ceil_div(blocks.q, blocks.q_compute)) * as_double(problem_.kv_heads);
    add_pairs(step, pairs, blocks.q_compute * heads_.group, blocks.kv_compute, is_masked);
    step.latency = rounds * 2 * as_double(rate_.latency.count());
    return step;
  }

  /// Products of `rows` queries and `columns` keys with the softmax between, `pairs` times.
  void add_pairs(Step& step, double pairs, int64_t rows, int64_t columns, bool is_masked) const {
    const int64_t depth = heads_.size;
    step.mxu += pairs * (core().product_in_loop({.m = rows, .n = columns, .k = depth}, rate_) +
                         core().product_in_loop({.m = rows, .n = depth, .k = columns}, rate_));
    step.multiply_adds += pairs * 2 * as_double(rows) * as_double(columns) * as_double(depth);
    const double padded = as_double(round_up(rows, core().sublanes()));
    const double scores = pairs * registers(padded, as_double(columns));
    // Scaled, compared with the length, and with the query's position.
    const double mask = is_masked ? rules().mask : rules().mask / 2;
    step.slots.alu += scores * (rules().score + rules().natural_exponential + 1 + mask);
    step.slots.eup += scores;
    if (problem_.soft_cap) step.slots.alu += scores * rules().soft_cap, step.slots.eup += scores;
    step.exponentials += scores * core().register_elements();
    const double row_registers = pairs * registers(padded, as_double(core().lanes()));
    step.slots.xlu += 2 * row_registers;
    step.slots.alu +=
        row_registers * rules().score_row + pairs * registers(padded, as_double(depth)) * rules().accumulator;
    // Keys and values are taken out of the words that they share, and widened.
    const double keys = pairs * 2 * registers(as_double(columns), as_double(depth));
    if (packing(problem_.kv) > 1) step.slots.alu += keys * 2;
    if (problem_.kv != problem_.q) step.slots.alu += keys * core().conversion_slots(problem_.kv);
  }

  // ── version 2 ──

  /// Blocks of `q` tokens cross the borders of sequences; each sequence in one is computed for all its
  /// rows. Whole blocks of pages are fetched, and the result is finished after each of them.
  void add_v2() {
    const int64_t tokens = query_tokens(problem_.sequences);
    const double head_blocks = as_double(ceil_div(2 * problem_.kv_heads, heads_per_block()));
    const int64_t heads = std::max<int64_t>(std::min(heads_per_block() / 2, problem_.kv_heads), 1);
    for (const SequenceLength& one : problem_.sequences) {
      // A block begins anywhere in a sequence, so that sequences of less than a block are in one.
      const double visits = as_double(one.count) * as_double(ceil_div(one.queries, blocks_.q));
      const double key_blocks = as_double(ceil_div(one.keys, blocks_.kv));
      Step step;
      add_pairs(step, as_double(heads), blocks_.q * heads_.group, blocks_.kv, true);
      step.latency = 2 * as_double(rate_.latency.count());
      const double rows = as_double(heads) * as_double(blocks_.q * heads_.group);
      step.slots.alu += registers(rows, as_double(heads_.size)) * 2;  // divided by the sum
      step.slots.eup += registers(rows, as_double(core().lanes()));
      step.read = as_double(blocks_.kv) * token_bytes_ / head_blocks;
      steps_.add(head_blocks * visits * key_blocks, step);
      computed_ += static_cast<int64_t>(head_blocks * visits * key_blocks);
    }
    const double bytes =
        as_double(tokens) * as_double(problem_.heads) * as_double(heads_.size) * element_bytes(problem_.q);
    Step ends;
    const double blocks = head_blocks * as_double(ceil_div(tokens, blocks_.q));
    ends.read = ends.written = bytes / blocks;
    steps_.add(blocks, ends);
  }
  /// Of keys and values together.
  int64_t heads_per_block() const {
    const int64_t combined = 2 * problem_.kv_heads, most = 8 * packing(problem_.kv);
    return combined % most == 0 ? most : combined;
  }

  // ── VMEM ──

  double vmem_of(const Blocks& blocks) const {
    const double kv_words = as_double(heads_.kv_rows / packing(problem_.kv));
    // An even stride would meet the same bank again.
    const double stride = kv_words + (static_cast<int64_t>(kv_words) % 2 == 0 ? 1 : 0);
    const double rows = as_double(problem_.kv_heads) * as_double(blocks.q * heads_.group);
    const double size = as_double(heads_.size), lanes = as_double(core().lanes());
    return 2 * as_double(blocks.kv) * stride * 4 * size + 4 * rows * size * element_bytes(problem_.q) +
           2 * rows * lanes * 4 + rows * size * 4;
  }
  double vmem() const {
    if (problem_.version == PagedVersion::kV2) {
      const double q = as_double(blocks_.q) * as_double(problem_.heads) * as_double(heads_.size);
      return 2 * as_double(blocks_.kv) * token_bytes_ + 2 * as_double(blocks_.q * problem_.heads) * 128 * 4 +
             q * 4 + 4 * q * element_bytes(problem_.q);
    }
    const double decode = is_needed(true) ? vmem_of({1, blocks_.decode_kv, 1, blocks_.decode_kv_compute}) : 0;
    const double mixed =
        is_needed(false) ? vmem_of({blocks_.q, blocks_.kv, blocks_.q_compute, blocks_.kv_compute}) : 0;
    return std::max(decode, mixed);
  }
  /// The calls ask for all VMEM of a core.
  Bytes vmem_limit() const { return device_.vmem_space().capacity.value_or(core().vmem_budget()); }

  void describe(KernelCost& cost) const {
    if (problem_.version == PagedVersion::kV2) {
      cost.blocks = {{"num_kv_pages_per_block", blocks_.kv / problem_.page_size},
                     {"num_queries_per_block", blocks_.q}};
      return;
    }
    if (is_needed(true))
      cost.blocks = {{"decode_bkv_sz", blocks_.decode_kv}, {"decode_bkv_csz", blocks_.decode_kv_compute}};
    if (is_needed(false))
      cost.blocks.insert(cost.blocks.end(), {{"bq_sz", blocks_.q},
                                             {"bkv_sz", blocks_.kv},
                                             {"bq_csz", blocks_.q_compute},
                                             {"bkv_csz", blocks_.kv_compute}});
  }

  const DeviceConfig& device_;
  const PagedProblem& problem_;
  const PagedBlocks& blocks_;
  const MatmulRate rate_;
  const PaddedHeads heads_;
  const double token_bytes_;
  KernelSteps steps_;
  int64_t computed_ = 0;
};

// ── what is right ──

Result<void> check_problem(const PagedProblem& problem) {
  if (Result<void> checked = check_kernel_sizes("paged attention",
                                                {{"query heads", problem.heads},
                                                 {"key heads", problem.kv_heads},
                                                 {"head size", problem.head_size},
                                                 {"page size", problem.page_size}},
                                                1 << 14);
      !checked)
    return checked;
  if (problem.heads % problem.kv_heads != 0)
    return failure(fmt::format("paged attention: {} query heads can't share {} heads of keys evenly",
                               problem.heads, problem.kv_heads));
  if (Result<void> checked = check_sequences(problem.sequences); !checked) return checked;
  if (problem.most_keys % problem.page_size != 0)
    return failure(fmt::format("paged attention: {} keys of a sequence at most, expected whole pages of {}",
                               problem.most_keys, problem.page_size));
  for (const SequenceLength& one : problem.sequences)
    if (one.keys > problem.most_keys)
      return failure(fmt::format("paged attention: a sequence of {} keys, but pages for {}", one.keys,
                                 problem.most_keys));
  return {};
}

Result<void> check_pair(std::string_view name, int64_t fetched, int64_t computed) {
  if (fetched < 1 || computed < 1 || fetched % computed != 0)
    return failure(fmt::format("{}: {} computed at once don't divide {} fetched", name, computed, fetched));
  return {};
}

Result<void> check_blocks(const PagedProblem& problem, const PagedBlocks& blocks) {
  const auto pages = [&](std::string_view name, int64_t size) -> Result<void> {
    if (size >= 1 && size % problem.page_size == 0) return {};
    return failure(fmt::format("{} is {}, expected whole pages of {}", name, size, problem.page_size));
  };
  if (problem.version == PagedVersion::kV2) {
    if (blocks.q < 1)
      return failure(fmt::format("num_queries_per_block is {}, expected 1 or more", blocks.q));
    return pages("num_kv_pages_per_block", blocks.kv);
  }
  for (const SequenceLength& one : problem.sequences) {
    Result<void> checked =
        one.queries == 1 ? pages("decode_bkv_sz", blocks.decode_kv) : pages("bkv_sz", blocks.kv);
    if (checked && one.queries == 1)
      checked = check_pair("decode_bkv_sz", blocks.decode_kv, blocks.decode_kv_compute);
    if (checked && one.queries > 1) checked = check_pair("bkv_sz", blocks.kv, blocks.kv_compute);
    if (checked && one.queries > 1) checked = check_pair("bq_sz", blocks.q, blocks.q_compute);
    if (!checked) return checked;
  }
  return {};
}

int64_t power_of_two_from(double least) {
  int64_t power = 1;
  while (as_double(power) < least && power < int64_t{1} << 40) power *= 2;
  return power;
}

}  // namespace

double cache_bytes_per_token(const PagedProblem& problem, int64_t lanes) {
  const PaddedHeads heads(problem, lanes);
  return as_double(heads.kv_rows) * as_double(heads.size) * element_bytes(problem.kv);
}

Result<KernelCost> paged_attention_cost(const DeviceConfig& device, const PagedProblem& problem,
                                        const PagedBlocks& blocks) {
  if (Result<void> checked = check_problem(problem); !checked) return tl::unexpected(checked.error());
  if (Result<void> checked = check_blocks(problem, blocks); !checked) return tl::unexpected(checked.error());
  const Result<MatmulRate> rate = kernel_rate(device, "paged attention", problem.q, problem.q);
  if (!rate) return tl::unexpected(rate.error());
  return PagedAttention(device, problem, blocks, *rate).cost();
}

PagedBlocks default_paged_blocks(const DeviceConfig& device, const PagedProblem& problem) {
  const int64_t lanes = Core(device).lanes(), page = problem.page_size;
  const int64_t group = std::max<int64_t>(problem.heads / problem.kv_heads, 1);
  const int64_t most = std::max(problem.most_keys, page);
  const int64_t tokens = std::max<int64_t>(query_tokens(problem.sequences), 1);
  const auto paged = [&](int64_t size) { return round_up(std::clamp<int64_t>(size, 1, most), page); };
  PagedBlocks blocks;
  if (problem.version == PagedVersion::kV2) {
    blocks.q = std::min<int64_t>(32, tokens);
    blocks.kv = page * std::min<int64_t>(128, ceil_div(most, page));
    return blocks;
  }
  constexpr double kDecodeBytes = 16.0 * 1024 * 1024;
  const double token = cache_bytes_per_token(problem, lanes);
  blocks.decode_kv = blocks.decode_kv_compute = paged(power_of_two_from(kDecodeBytes / token));
  const auto divides = [](int64_t part, int64_t of) {  // the largest part of at most `part`
    while (part > 1 && of % part != 0) --part;
    return std::max<int64_t>(part, 1);
  };
  const int64_t scale = device.kernel.paged_block_scale;
  blocks.q = std::clamp<int64_t>(scale * 1024 / group, 1, std::max<int64_t>(tokens / 2, 1));
  blocks.kv = paged(std::min(scale * 1024, most / scale));
  blocks.q_compute = divides(std::max<int64_t>(scale * 512 / group, 1), blocks.q);
  blocks.kv_compute = divides(std::max<int64_t>(std::min<int64_t>(512, most / 2), 1), blocks.kv);
  return blocks;
}

namespace {

/// Whole pages of at most `most` tokens, doubled, and `most`.
std::vector<int64_t> key_blocks(int64_t page, int64_t most) {
  std::vector<int64_t> sizes;
  for (int64_t pages = 1; pages * page < most && pages <= 256; pages *= 2)
    if (pages * page >= 128) sizes.push_back(pages * page);
  sizes.push_back(most);
  return sizes;
}

std::vector<PagedBlocks> decode_candidates(const PagedBlocks& usual, const std::vector<int64_t>& keys) {
  std::vector<PagedBlocks> candidates;
  for (const int64_t kv : keys)
    for (int64_t compute = kv; compute >= 128 && kv % compute == 0; compute /= 2) {
      PagedBlocks blocks = usual;
      blocks.decode_kv = kv, blocks.decode_kv_compute = compute;
      candidates.push_back(blocks);
    }
  return candidates;
}

std::vector<PagedBlocks> mixed_candidates(const PagedBlocks& usual, const std::vector<int64_t>& keys,
                                          int64_t longest) {
  std::vector<PagedBlocks> candidates;
  for (int64_t q = 8; q <= std::max<int64_t>(2 * longest, 8) && q <= 512; q *= 2)
    for (int64_t rows = q; rows >= std::max<int64_t>(q / 4, 8); rows /= 2)
      for (const int64_t kv : keys)
        for (int64_t compute = kv; compute >= 256 && kv % compute == 0; compute /= 2) {
          PagedBlocks blocks = usual;
          blocks.q = q, blocks.q_compute = rows, blocks.kv = kv, blocks.kv_compute = compute;
          candidates.push_back(blocks);
        }
  return candidates;
}

}  // namespace

std::vector<PagedBlocks> paged_block_candidates(const DeviceConfig& device, const PagedProblem& problem) {
  PagedBlocks usual = default_paged_blocks(device, problem);
  const std::vector<int64_t> keys =
      key_blocks(problem.page_size, std::max(problem.most_keys, problem.page_size));
  std::vector<PagedBlocks> candidates;
  if (problem.version == PagedVersion::kV2) {
    for (int64_t q = 8; q <= 256; q *= 2)
      for (const int64_t kv : keys) candidates.push_back({.q = q, .kv = kv});
    return candidates;
  }
  PagedProblem decode = problem;  // its sequences of one new token
  int64_t longest = 1;
  std::erase_if(decode.sequences, [](const SequenceLength& one) { return one.queries > 1; });
  for (const SequenceLength& one : problem.sequences) longest = std::max(longest, one.queries);
  const bool has_decode = !decode.sequences.empty();
  if (has_decode) candidates = decode_candidates(usual, keys);
  if (decode.sequences.size() == problem.sequences.size()) return candidates;
  // The two calls run one after the other: the blocks of one don't change the time of the other.
  if (const auto best = best_blocks(device, candidates, [&](const PagedBlocks& blocks) {
        return paged_attention_cost(device, decode, blocks);
      }))
    usual.decode_kv = best->decode_kv, usual.decode_kv_compute = best->decode_kv_compute;
  return mixed_candidates(usual, keys, longest);
}

std::vector<KernelPass> paged_attention_passes(const DeviceConfig& device, const PagedProblem& problem) {
  if (problem.version == PagedVersion::kV2) return {};
  const int64_t lanes = Core(device).lanes();
  const PaddedHeads heads(problem, lanes);
  const double tokens = as_double(query_tokens(problem.sequences));
  const double from = tokens * as_double(problem.heads * problem.head_size) * element_bytes(problem.q);
  const double inside =
      tokens * as_double(problem.kv_heads * heads.group) * as_double(heads.size) * element_bytes(problem.q);
  const double kv = tokens * cache_bytes_per_token(problem, lanes);
  return {kernel_pass(device, "q turned", from, inside), kernel_pass(device, "k and v joined", kv, kv),
          kernel_pass(device, "out turned back", inside, from)};
}

}  // namespace hlosim
