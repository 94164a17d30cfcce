#include "published/step_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/core.h"
#include "published/axis_links.h"

namespace hlosim {
namespace {

double hbm_rate(const DeviceConfig& device) { return device_rates(device, device.hbm()).total.count(); }

Result<double> product_seconds(const MatmulWork& product, const DeviceConfig& device) {
  const Core core(device);
  const std::optional<MatmulRate> rate = core.matmul_rate(product.lhs, product.rhs, product.precision);
  if (!rate) return failure(fmt::format("{} doesn't multiply {}", device.generation, to_text(product.lhs)));
  const double mxu = core.product_of_all_cores(product, *rate) / device.clock.count();
  const auto m = static_cast<double>(product.m), n = static_cast<double>(product.n),
             k = static_cast<double>(product.k);
  const double in = static_cast<double>(byte_width(product.lhs)), out = 2;  // results are bf16
  return std::max(mxu, ((m * k + k * n) * in + m * n * out) / hbm_rate(device));
}

/// S x S scores in HBM: products, and reading and writing the scores for the softmax.
Result<double> plain_attention_seconds(const AttentionProblem& problem, AttentionPass pass,
                                       const DeviceConfig& device) {
  MatmulWork scores;
  scores.batch = problem.batch * problem.heads;
  scores.m = problem.queries, scores.n = problem.keys, scores.k = problem.head_size;
  scores.lhs = scores.rhs = ElementType::kBF16;
  const Result<double> one = product_seconds(scores, device);
  if (!one) return one;
  const double all = *one / static_cast<double>(scores.batch);
  const double bytes = static_cast<double>(scores.batch) * static_cast<double>(scores.m) *
                       static_cast<double>(scores.n) * static_cast<double>(byte_width(ElementType::kF32));
  const bool forward = pass == AttentionPass::kForward;
  return (forward ? 2 : 5) * all * static_cast<double>(scores.batch) +
         (forward ? 3 : 5) * bytes / hbm_rate(device);
}

AttentionBlocks blocks_of(const AttentionTiles& tiles, AttentionPass pass, const AttentionProblem& problem) {
  constexpr int64_t kUsual = 512;
  const auto within = [](int64_t block, int64_t other, int64_t length) {
    int64_t size = std::min(block > 0 ? block : other, length);
    while (size > 128 && length % size != 0) size -= 128;
    return size;
  };
  AttentionBlocks blocks;
  const bool forward = pass == AttentionPass::kForward, of_q = pass == AttentionPass::kBackwardQ;
  blocks.q = within(forward ? tiles.q : of_q ? tiles.q_dq : tiles.q_dkv, kUsual, problem.queries);
  blocks.kv = within(forward ? tiles.kv : of_q ? tiles.kv_dq : tiles.kv_dkv, kUsual, problem.keys);
  blocks.kv_compute = within(forward ? tiles.kv_compute
                             : of_q  ? tiles.kv_dq
                                     : tiles.kv_dkv_compute,
                             kUsual, blocks.kv);
  blocks.q_sequence_minor = tiles.q_sequence_minor;
  blocks.k_sequence_minor = tiles.k_sequence_minor;
  blocks.v_sequence_minor = tiles.v_sequence_minor;
  return blocks;
}

/// Of one piece, once.
Result<double> attention_seconds(const StepPiece& piece, const AttentionTiles& tiles, AttentionKernel kernel,
                                 const DeviceConfig& device) {
  if (kernel == AttentionKernel::kPlain) return plain_attention_seconds(piece.attention, piece.pass, device);
  const Result<KernelCost> cost =
      attention_cost(device, piece.pass, piece.attention, blocks_of(tiles, piece.pass, piece.attention));
  if (!cost) return tl::unexpected(cost.error());
  return static_cast<double>(cost->kernel.count()) * 1e-12;
}

class PartsOf {
 public:
  PartsOf(const PublishedRun& run, const DeviceConfig& device, AxisLinks links)
      : run_(run), device_(device), links_(std::move(links)) {}

  Result<StepParts> add_up(const StepWork& work) {
    StepParts parts;
    for (const StepPiece& piece : work.pieces) {
      const Result<double> once = seconds(piece);
      if (!once) return tl::unexpected(once.error());
      const double all = *once * piece.times;
      parts.pieces.push_back(all);
      parts.by_category[static_cast<size_t>(piece.category)] += all;
      PartSeconds& here = parts.by_part[static_cast<size_t>(piece.part)];
      if (piece.category == StepCategory::kHost)
        here.host += all;
      else if (piece.category != StepCategory::kCollective)
        here.work += all;
      else
        (piece.blocks ? here.blocking : here.links) += all;
    }
    return parts;
  }

 private:
  Result<double> seconds(const StepPiece& piece) const {
    if (piece.category == StepCategory::kCollective)
      return links_.seconds(piece.collective, piece.axes, piece.bytes);
    if (piece.category == StepCategory::kHost)
      return piece.bytes * chip_share() / device_.host.pcie.bandwidth.count();
    if (piece.attention.queries > 0)
      return attention_seconds(piece, run_.options.tiles, run_.options.attention, device_);
    if (piece.product.m > 0) return product_seconds(piece.product, device_);
    return piece.bytes / hbm_rate(device_);
  }

  /// PCIe is the chip's.
  double chip_share() const { return static_cast<double>(device_.devices_per_chip()); }

  const PublishedRun& run_;
  const DeviceConfig& device_;
  AxisLinks links_;
};

}  // namespace

double PartSeconds::least() const { return std::max({work + blocking, links + blocking, host}); }

double StepParts::least() const {
  double sum = 0;
  for (const PartSeconds& part : by_part) sum += part.least();
  return sum;
}

Result<StepParts> step_parts(const StepWork& work, const PublishedRun& run, const DeviceConfig& device,
                             const Slice& slice) {
  Result<AxisLinks> links = AxisLinks::of(run.ici, run.dcn, device, slice);
  if (!links) return tl::unexpected(links.error());
  return PartsOf(run, device, std::move(*links)).add_up(work);
}

}  // namespace hlosim
