#include "model/pipeline.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/rounding.h"

namespace hlosim {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
/// A plan has to be better by this factor to be preferred to one with larger blocks.
constexpr double kBetter = 1 - 1e-9;
/// Streams are cut into at most so many blocks per core.
constexpr int64_t kMostStreamBlocks = int64_t{1} << 20;

/// As few blocks of at most `most` as it takes, all as long, in whole steps of `unit`.
int64_t even_block(int64_t whole, int64_t most, int64_t unit) {
  if (whole <= most) return whole;
  return std::min(most, ceil_div(ceil_div(whole, ceil_div(whole, most)), unit) * unit);
}

/// The whole dimension, and even blocks of at most each power of two below it that is at least `least`.
struct BlockSizes {
  BlockSizes(int64_t whole, int64_t least, int64_t unit, int64_t most_blocks) {
    sizes[count++] = whole;
    for (int64_t size = int64_t{1} << 30; size >= least; size /= 2)
      if (size < whole && ceil_div(whole, size) <= most_blocks && count < sizes.size())
        sizes[count++] = even_block(whole, size, unit);
  }
  std::array<int64_t, 24> sizes{};
  size_t count = 0;
  const int64_t* begin() const { return sizes.data(); }
  const int64_t* end() const { return sizes.data() + count; }
};

}  // namespace

PipelineModel::PipelineModel(const Core& core, const std::array<DmaChannel, kDmaChannels>& channels)
    : core_(core),
      channels_(channels),
      cores_(core.cores()),
      scratch_(std::max(as_double(core.vmem_budget().count()), 1.0)) {}

double PipelineModel::transfer(const BlockTraffic& block) const {
  double longest = 0;
  for (size_t i = 0; i < kDmaChannels; ++i)
    longest = std::max(longest, channels_[i].bus.time(block.in[i], block.out[i]));
  return longest;
}

double PipelineModel::dma(const BlockTraffic& block) const {
  double longest = transfer(block);
  for (size_t i = 0; i < kDmaChannels; ++i) {
    const DmaChannel& channel = channels_[i];
    const double in = block.in[i], out = block.out[i];
    if (in > 0) longest = std::max(longest, channel.bus.time(in, 0) + channel.read_latency);
    if (out > 0) longest = std::max(longest, channel.bus.time(0, out) + channel.write_latency);
  }
  return longest;
}

// ── a stream of blocks ──

PipelinePlan PipelineModel::stream(const PipelineTask& task) const {
  BlockTraffic all;
  double bytes = 0, held = 0;
  for (size_t i = 0; i < kDmaChannels; ++i) {
    all.in[i] = task.other.in[i] / cores_, all.out[i] = task.other.out[i] / cores_;
    bytes += all.in[i] + all.out[i];
  }
  const double work = std::max(task.vector, task.others) / cores_;
  PipelinePlan best;
  best.time = kInfinite;
  const double smallest = as_double(core_.smallest_window().count());
  for (int64_t steps = 1; steps <= kMostStreamBlocks; steps *= 2) {
    const auto count = as_double(steps);
    held = bytes / count * (steps > 1 ? 2 : 1);
    const bool fits = held <= scratch_;
    if (steps > 1 && bytes / count < smallest && best.time < kInfinite) break;
    if (!fits && bytes / count >= smallest) continue;
    BlockTraffic block, in, out;
    for (size_t i = 0; i < kDmaChannels; ++i) {
      block.in[i] = in.in[i] = all.in[i] / count;
      block.out[i] = out.out[i] = all.out[i] / count;
    }
    PipelinePlan plan;
    plan.steps = steps;
    plan.step_work = work / count;
    // A block is asked for as soon as the last but one has been worked on and has left.
    plan.step_dma = std::max(transfer(block), (plan.step_work + dma(block)) / 2);
    plan.first_in = dma(in), plan.last_out = dma(out);
    plan.time = plan.first_in + plan.step_work + plan.last_out +
                (count - 1) * std::max(plan.step_work, plan.step_dma);
    plan.vector = task.vector / cores_;
    plan.vmem = held;
    if (plan.time < best.time * kBetter) best = plan;
    if (task.in_few_blocks) break;
    // Smaller blocks only add latencies once these are longer than anything else.
    if (best.time < kInfinite && plan.time > 2 * best.time) break;
  }
  return best;
}

// ── a product ──

namespace {

/// Dimensions of what one core does.
struct CoreShare {
  int64_t batch, m, n, k;
  double lhs, rhs;                  // bytes
  double lhs_convert, rhs_convert;  // picoseconds, once
  double lhs_bundles, rhs_bundles;  // the same
};

CoreShare share_of(const PipelineTask& task, char split, int64_t cores) {
  const MatmulWork& work = *task.matmul;
  CoreShare share{work.batch,     work.m,           work.n,           work.k,           task.lhs.bytes,
                  task.rhs.bytes, task.lhs_convert, task.rhs_convert, task.lhs_bundles, task.rhs_bundles};
  const auto part = as_double(cores);
  if (split == 'b') share.batch = ceil_div(work.batch, cores);
  if (split == 'm') share.m = ceil_div(work.m, cores);
  if (split == 'n') share.n = ceil_div(work.n, cores);
  if (split == 'b' || split == 'm') share.lhs /= part, share.lhs_convert /= part, share.lhs_bundles /= part;
  if (split == 'b' || split == 'n') share.rhs /= part, share.rhs_convert /= part, share.rhs_bundles /= part;
  return share;
}

void add(BlockTraffic& block, const PipelineOperand& operand, double bytes) {
  if (operand.channel >= 0) block.in[static_cast<size_t>(operand.channel)] += bytes;
}

}  // namespace

/// One candidate: how long it takes.
struct PipelineModel::Search {
  const PipelineModel& model;
  const PipelineTask& task;
  const CoreShare& share;

  /// Everything that depends on the sizes of blocks only, then both orders of the loops.
  void consider(int64_t bb, int64_t bm, int64_t bn, int64_t bk, char split, bool must_fit,
                PipelinePlan& best) const {
    Blocks blocks{ceil_div(share.batch, bb), ceil_div(share.m, bm), ceil_div(share.n, bn),
                  ceil_div(share.k, bk)};
    const double outs = as_double(blocks.batch) * as_double(blocks.m) * as_double(blocks.n);
    const double steps = outs * as_double(blocks.k);
    const double lhs = share.lhs / (as_double(blocks.batch) * as_double(blocks.m) * as_double(blocks.k));
    const double rhs = share.rhs / (as_double(blocks.batch) * as_double(blocks.n) * as_double(blocks.k));
    const double vmem = held(blocks, bb * bm * bn, lhs, rhs, outs);
    if (must_fit && vmem > model.scratch_) return;
    PipelinePlan plan;
    plan.steps = steps < 9e18 ? static_cast<int64_t>(steps) : std::numeric_limits<int64_t>::max();
    plan.blocks = blocks;
    plan.block_batch = bb, plan.block_m = bm, plan.block_n = bn, plan.block_k = bk;
    plan.split = split;
    plan.vmem = vmem;
    MatmulWork block = *task.matmul;
    block.batch = bb, block.m = bm, block.n = bn, block.k = bk;
    plan.mxu = model.core_.picoseconds(model.core_.product(block, *task.rate).alone()) * steps +
               task.extra_mxu / model.cores_;
    plan.vector = task.vector / model.cores_ + share.lhs_convert * as_double(blocks.n) +
                  share.rhs_convert * as_double(blocks.m);
    expose(plan, blocks);
    plan.step_work = std::max({plan.mxu + plan.exposed, plan.vector, task.others / model.cores_}) / steps;
    if (plan.step_work * steps >= best.time) return;
    for (const bool rows_outside : {false, true}) {
      plan.rows_outside = rows_outside;
      add_time(plan, lhs, rhs, outs, steps);
      if (plan.time < best.time * kBetter) best = plan;
    }
  }

  /// Operands that the vector unit computes are computed each time a block of them is taken up, results once;
  /// the bundles in which the arrays are fed and their results popped have slots for a part of that only.
  void expose(PipelinePlan& plan, const Blocks& blocks) const {
    plan.operand_work = share.lhs_bundles * as_double(blocks.n) + share.rhs_bundles * as_double(blocks.m);
    plan.result_work = task.epilogue_bundles / model.cores_;
    const double all = plan.operand_work + plan.result_work;
    if (all <= 0) return;
    plan.exposed = model.core_.exposed_vector(all, plan.mxu);
  }

  double held(const Blocks& blocks, int64_t results, double lhs, double rhs, double outs) const {
    const auto buffers = [](double count) { return count > 1 ? 2.0 : 1.0; };
    const auto batches = as_double(blocks.batch), parts = as_double(blocks.k);
    double bytes = task.other_bytes / model.cores_ / outs * buffers(outs);
    if (task.lhs.channel >= 0) bytes += lhs * buffers(batches * as_double(blocks.m) * parts);
    if (task.rhs.channel >= 0) bytes += rhs * buffers(batches * as_double(blocks.n) * parts);
    if (blocks.k > 1) bytes += as_double(results) * 4;  // sums in f32
    return bytes;
  }

  void add_time(PipelinePlan& plan, double lhs, double rhs, double outs, double steps) const {
    const auto batches = as_double(plan.blocks.batch);
    const auto columns = as_double(plan.blocks.n), rows = as_double(plan.blocks.m);
    BlockTraffic result, none;
    for (size_t i = 0; i < kDmaChannels; ++i) {
      result.in[i] = task.other.in[i] / model.cores_ / outs;
      result.out[i] = task.other.out[i] / model.cores_ / outs;
    }
    BlockTraffic both = result;
    add(both, task.lhs, lhs), add(both, task.rhs, rhs);
    BlockTraffic first = both, last = result;
    first.out = none.out, last.in = none.in;
    plan.first_in = model.dma(first), plan.last_out = model.dma(last);
    plan.step_dma = 0;
    double sum = 0;
    const auto steps_of = [&](double count, const BlockTraffic& block) {
      if (count <= 0) return;
      const double time = model.transfer(block);  // the next ones are on their way already
      plan.step_dma = std::max(plan.step_dma, time);
      sum += count * model.core_.step_beside_dma(plan.step_work, time);
    };
    if (plan.blocks.k > 1) {
      steps_of(outs - 1, both);
      BlockTraffic inner;
      add(inner, task.lhs, lhs), add(inner, task.rhs, rhs);
      steps_of(steps - outs, inner);
      plan.lhs_times = outs > batches ? columns : 1;
      plan.rhs_times = outs > batches ? rows : 1;
    } else {
      const bool rows_outside = plan.rows_outside;
      const double outer = rows_outside ? rows : columns, inner = rows_outside ? columns : rows;
      BlockTraffic at_outer = result, at_inner = result;
      if (rows_outside || inner > 1) add(at_outer, task.lhs, lhs);
      if (!rows_outside || inner > 1) add(at_outer, task.rhs, rhs);
      rows_outside ? add(at_inner, task.rhs, rhs) : add(at_inner, task.lhs, lhs);
      steps_of(batches - 1, both);
      steps_of(batches * (outer - 1), at_outer);
      steps_of(steps - batches * outer, at_inner);
      plan.lhs_times = !rows_outside && rows > 1 ? columns : 1;
      plan.rhs_times = rows_outside && columns > 1 ? rows : 1;
    }
    // What all cores read: those that share a dimension of the result read the other operand each.
    if (plan.split == 'n') plan.lhs_times *= model.cores_;
    if (plan.split == 'm') plan.rhs_times *= model.cores_;
    plan.time = plan.first_in + plan.step_work + plan.last_out + sum;
  }
};

void PipelineModel::consider(const PipelineTask& task, char split, const GivenBlocks* given,
                             PipelinePlan& best) const {
  const CoreShare share = share_of(task, split, split == '-' ? 1 : core_.device().cores);
  const Search search{*this, task, share};
  if (given) {
    const auto size = [](int64_t whole, int64_t blocks) {
      return ceil_div(whole, std::clamp<int64_t>(blocks, 1, whole));
    };
    const auto of_core = [&](int64_t blocks, char dimension) {
      return split == dimension ? ceil_div(blocks, core_.device().cores) : blocks;
    };
    search.consider(1, size(share.m, of_core(given->m, 'm')), size(share.n, of_core(given->n, 'n')),
                    size(share.k, given->k), split, false, best);
    return;
  }
  const MatmulRate& rate = *task.rate;
  constexpr int64_t kMostBlocks = int64_t{1} << 20;
  const Core::ProductBlock least = core_.smallest_block(rate.rows);
  const BlockSizes ms(share.m, least.m, rate.rows, kMostBlocks);
  const BlockSizes ns(share.n, least.n, core_.mxu_columns(), kMostBlocks);
  const BlockSizes ks(share.k, least.k, core_.mxu_rows(), kMostBlocks);
  for (const int64_t bk : ks)
    for (const int64_t bm : ms)
      for (const int64_t bn : ns) search.consider(1, bm, bn, bk, split, true, best);
  for (int64_t bb = 2; bb <= share.batch && bb <= 4096; bb *= 2)  // several small products at once
    search.consider(bb, share.m, share.n, share.k, split, true, best);
  if (best.time == kInfinite)  // nothing fits: the smallest blocks
    search.consider(1, ms.sizes[ms.count - 1], ns.sizes[ns.count - 1], ks.sizes[ks.count - 1], split, false,
                    best);
}

PipelinePlan PipelineModel::product(const PipelineTask& task, const std::optional<GivenBlocks>& given) const {
  PipelinePlan best;
  best.time = kInfinite;
  const GivenBlocks* blocks = given ? &*given : nullptr;
  if (core_.device().cores == 1) {
    consider(task, '-', blocks, best);
    return best;
  }
  const auto may = [&](char split) { return !given || given->split == '-' || given->split == split; };
  if (task.matmul->batch > 1) consider(task, 'b', blocks, best);
  if (may('m')) consider(task, 'm', blocks, best);
  if (may('n')) consider(task, 'n', blocks, best);
  return best;
}

/// Groups whose sizes are data: a kernel that walks over tiles of a group, one after the other. Its units
/// take turns, as sums, masks and stores wait for the products; the weights of the next group come when it
/// begins. Fitted as a sum to ragged dots of v7x and v5p; the overlapping pipeline is a third of what they
/// take.
PipelinePlan PipelineModel::ragged(const PipelineTask& task) const {
  const MatmulWork& work = *task.matmul;
  MatmulWork tile = work;
  tile.batch = 1;
  tile.m = std::min<int64_t>(work.m, 512);
  tile.n = even_block(work.n, 1024, core_.mxu_columns());
  tile.k = even_block(work.k, 1024, core_.mxu_rows());
  PipelinePlan plan;
  plan.blocks = {work.batch, ceil_div(work.m, tile.m), ceil_div(work.n, tile.n), ceil_div(work.k, tile.k)};
  plan.block_m = tile.m, plan.block_n = tile.n, plan.block_k = tile.k;
  const double steps = std::max(1.0, as_double(work.batch) / cores_ * as_double(plan.blocks.m) *
                                         as_double(plan.blocks.n) * as_double(plan.blocks.k));
  plan.steps = steps < 9e18 ? static_cast<int64_t>(steps) : std::numeric_limits<int64_t>::max();
  plan.mxu = core_.picoseconds(core_.product(tile, *task.rate).alone()) * steps + task.extra_mxu / cores_;
  plan.vector = (task.vector + task.lhs_convert + task.rhs_convert) / cores_;
  const double compute = plan.mxu + plan.vector + task.others / cores_;
  BlockTraffic streamed, weights, last;
  plan.lhs_times = as_double(plan.blocks.n);
  for (size_t i = 0; i < kDmaChannels; ++i)
    streamed.in[i] = task.other.in[i] / cores_, streamed.out[i] = last.out[i] = task.other.out[i] / cores_;
  add(streamed, task.lhs, task.lhs.bytes * plan.lhs_times / cores_);
  add(weights, task.rhs, task.rhs.bytes / cores_);
  plan.step_work = compute / steps;
  plan.step_dma = dma(streamed) / steps;
  double fetches = 0;
  if (task.rhs.channel >= 0) {
    const DmaChannel& channel = channels_[static_cast<size_t>(task.rhs.channel)];
    fetches = dma(weights) + (as_double(work.batch) / cores_ - 1) * channel.read_latency;
  }
  for (double& bytes : last.out) bytes /= steps;
  plan.first_in = fetches / std::max(as_double(work.batch) / cores_, 1.0);
  plan.last_out = dma(last);
  plan.time = fetches + std::max(compute, dma(streamed)) + plan.last_out;
  return plan;
}

PipelinePlan PipelineModel::plan(const PipelineTask& task, const std::optional<GivenBlocks>& given) const {
  const PipelinePlan plan = !task.matmul          ? stream(task)
                            : task.matmul->ragged ? ragged(task)
                                                  : product(task, given);
  HLOSIM_CHECK(plan.time >= 0 && plan.steps >= 1, "{} ps in {} steps", plan.time, plan.steps);
  return plan;
}

}  // namespace hlosim
