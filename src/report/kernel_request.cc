#include "report/kernel_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "base/text.h"
#include "layout/shape_text.h"
#include "layout/sizes.h"
#include "model/core.h"

namespace hlosim {
namespace {

constexpr std::string_view kTrainingNames[] = {"flash_attention", "flash_attention_vjp",
                                               "linear_softmax_cross_entropy_loss",
                                               "linear_softmax_cross_entropy_loss_vjp"};
constexpr std::string_view kAttentionArguments[] = {"q",    "k",        "v",         "causal",   "window",
                                                    "bias", "soft_cap", "residuals", "segments", "precision"};
constexpr std::string_view kLossArguments[] = {"x", "w"};
constexpr std::string_view kForwardBlocks[] = {
    "block_q",  "block_kv", "block_kv_compute", "q_layout",
    "k_layout", "v_layout", "use_base2_exp",    "use_experimental_scheduler"};
constexpr std::string_view kBackwardBlocks[] = {"block_q_dkv", "block_kv_dkv", "block_kv_dkv_compute",
                                                "use_base2_exp"};
constexpr std::string_view kLossBlocks[] = {"b_block_size", "h_block_size", "v_block_size"};

bool is_loss(std::string_view kernel) { return kernel.starts_with("linear"); }
bool is_vjp(std::string_view kernel) { return kernel.ends_with("_vjp"); }
bool is_training(std::string_view kernel) {
  return std::find(std::begin(kTrainingNames), std::end(kTrainingNames), kernel) != std::end(kTrainingNames);
}

void read_attention(SettingReader& read, AttentionProblem& problem) {
  const ShapeRef q = read.array("q", 4, "bf16[2,8192,16,128]");
  const ShapeRef k = read.array("k", 4, "bf16[2,8192,16,128]");
  const ShapeRef v = read.array("v", 4, "bf16[2,8192,16,128]");
  problem.causal = read.flag("causal", false);
  problem.residuals = read.flag("residuals", false);
  problem.segments = read.flag("segments", false);
  problem.soft_cap = read.number("soft_cap");
  problem.precision = read.precision();
  if (read.has("window")) problem.window = read.whole("window", 1);
  if (const ShapeRef bias = read.array("bias", 4, "f32[1,16,8192,8192]", false))
    problem.bias = bias->element_type;
  if (!q || !k || !v) return;
  problem.batch = q->dim(0), problem.queries = q->dim(1), problem.heads = q->dim(2);
  problem.head_size = q->dim(3);
  problem.keys = k->dim(1), problem.kv_heads = k->dim(2), problem.value_size = v->dim(3);
  problem.type = q->element_type;
  if (k->dim(0) != q->dim(0) || k->dim(3) != q->dim(3))
    read.fail(fmt::format("k {} has another batch or head size than q {}", to_text(k), to_text(q)));
  if (v->dim(0) != k->dim(0) || v->dim(1) != k->dim(1) || v->dim(2) != k->dim(2))
    read.fail(
        fmt::format("v {} has another batch, length or number of heads than k {}", to_text(v), to_text(k)));
}

void read_attention_blocks(SettingReader& read, KernelRequest& request) {
  const std::string_view suffix = request.pass == AttentionPass::kForward ? "" : "_dkv";
  const std::string q = fmt::format("block_q{}", suffix), kv = fmt::format("block_kv{}", suffix);
  const std::string compute = kv + "_compute";
  request.attention.base2 = read.flag("use_base2_exp", true);
  read.flag("use_experimental_scheduler", false);
  const auto minor = [&](std::string_view name) {
    const int64_t layout = read.whole(name, 1);
    if (layout > 2)
      read.fail(fmt::format("{} is {}, expected 1 (head size minor) or 2 (sequence minor)", name, layout));
    return layout == 2;
  };
  AttentionBlocks blocks;
  blocks.q_sequence_minor = minor("q_layout");
  blocks.k_sequence_minor = minor("k_layout");
  blocks.v_sequence_minor = minor("v_layout");
  if (!read.has(q) && !read.has(kv) && !read.has(compute)) return;
  if (!read.has(q) || !read.has(kv))
    read.fail(fmt::format("{} is missing: {} and {} go together", read.has(q) ? kv : q, q, kv));
  blocks.q = read.whole(q, 1);
  blocks.kv = read.whole(kv, 1);
  blocks.kv_compute = read.whole(compute, blocks.kv);
  request.attention_blocks = blocks;
}

void read_loss(SettingReader& read, LinearLossProblem& problem) {
  const ShapeRef x = read.array("x", 2, "f32[4096,4096]");
  const ShapeRef w = read.array("w", 2, "bf16[4096,128256]");
  if (!x || !w) return;
  problem.tokens = x->dim(0), problem.hidden = x->dim(1), problem.vocabulary = w->dim(1);
  problem.x = x->element_type, problem.w = w->element_type;
  if (w->dim(0) != x->dim(1))
    read.fail(fmt::format("w {} has {} rows, but x {} has {} columns", to_text(w), w->dim(0), to_text(x),
                          x->dim(1)));
}

void read_loss_blocks(SettingReader& read, KernelRequest& request) {
  size_t given = 0;
  std::string_view missing;
  for (const std::string_view name : kLossBlocks)
    if (read.has(name))
      ++given;
    else
      missing = name;
  if (given == 0) return;
  if (!missing.empty())
    read.fail(fmt::format("{} is missing: b_block_size, h_block_size and v_block_size go together", missing));
  request.loss_blocks = LinearLossBlocks{read.whole("b_block_size", 1), read.whole("h_block_size", 1),
                                         read.whole("v_block_size", 1)};
}

constexpr int64_t kSmallestBlock = 128;

/// Blocks that nobody gave have to divide what they cut.
Result<void> require_blocks(std::string_view kernel, int64_t count, std::string_view of) {
  if (count % kSmallestBlock == 0) return {};
  return failure(fmt::format("{}: {} {}, expected a multiple of {}, which the smallest blocks are", kernel,
                             count, of, kSmallestBlock));
}

Result<KernelCost> attention_request_cost(const DeviceConfig& device, const KernelRequest& request) {
  std::optional<AttentionBlocks> blocks = request.attention_blocks;
  if (!blocks) {
    blocks = best_attention_blocks(device, request.pass, request.attention);
    // An error of the problem itself says more than that nothing fits.
    if (!blocks) {
      if (Result<void> q = require_blocks(request.kernel, request.attention.queries, "queries"); !q)
        return tl::unexpected(q.error());
      if (Result<void> kv = require_blocks(request.kernel, request.attention.keys, "keys"); !kv)
        return tl::unexpected(kv.error());
      const Result<KernelCost> smallest =
          attention_cost(device, request.pass, request.attention,
                         {.q = kSmallestBlock, .kv = kSmallestBlock, .kv_compute = kSmallestBlock});
      if (!smallest) return smallest;
      return failure(
          fmt::format("{}: no blocks fit into {}", request.kernel, to_text(Core(device).vmem_budget())));
    }
  }
  Result<KernelCost> cost = attention_cost(device, request.pass, request.attention, *blocks);
  if (cost && !request.alone)
    add_passes(*cost, attention_passes(device, request.pass, request.attention, *blocks));
  return cost;
}

Result<KernelCost> loss_request_cost(const DeviceConfig& device, const KernelRequest& request) {
  std::optional<LinearLossBlocks> blocks = request.loss_blocks;
  if (!blocks) {
    blocks = best_linear_loss_blocks(device, request.loss);
    if (!blocks) {
      if (Result<void> tokens = require_blocks(request.kernel, request.loss.tokens, "tokens"); !tokens)
        return tl::unexpected(tokens.error());
      const Result<KernelCost> smallest =
          linear_loss_cost(device, request.loss, {kSmallestBlock, kSmallestBlock, kSmallestBlock});
      if (!smallest) return smallest;
      return failure(
          fmt::format("{}: no blocks fit into {}", request.kernel, to_text(Core(device).vmem_budget())));
    }
  }
  return linear_loss_cost(device, request.loss, *blocks);
}

}  // namespace

std::span<const std::string_view> kernel_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all(std::begin(kTrainingNames), std::end(kTrainingNames));
    const std::span<const std::string_view> serving = serving_kernel_names();
    all.insert(all.end(), serving.begin(), serving.end());
    return all;
  }();
  return names;
}

std::span<const std::string_view> kernel_arguments(std::string_view kernel) {
  if (!is_training(kernel)) return serving_kernel_arguments(kernel);
  if (is_loss(kernel)) return kLossArguments;
  return kAttentionArguments;
}

std::span<const std::string_view> kernel_blocks(std::string_view kernel) {
  if (!is_training(kernel)) return serving_kernel_blocks(kernel);
  if (is_loss(kernel)) return kLossBlocks;
  if (is_vjp(kernel)) return kBackwardBlocks;
  return kForwardBlocks;
}

Result<KernelRequest> read_kernel(std::string_view kernel, std::span<const KernelSetting> arguments,
                                  std::span<const KernelSetting> blocks, std::string_view lengths) {
  if (kernel_arguments(kernel).empty()) {
    std::string hint = did_you_mean(kernel, kernel_names());
    if (hint.empty()) hint = fmt::format("one of {}", fmt::join(kernel_names(), ", "));
    return failure(fmt::format("unknown kernel \"{}\"", shown(kernel)), std::move(hint));
  }
  if (!is_training(kernel)) {
    Result<ServingRequest> serving = read_serving_kernel(kernel, arguments, blocks, lengths);
    if (!serving) return tl::unexpected(serving.error());
    KernelRequest request;
    request.kernel = kernel;
    request.serving = std::move(*serving);
    return request;
  }
  if (!lengths.empty()) return failure(fmt::format("{} takes no lengths", kernel));
  KernelRequest request;
  request.kernel = kernel;
  request.is_loss = is_loss(kernel);
  request.pass = is_vjp(kernel) ? AttentionPass::kBackward : AttentionPass::kForward;
  request.loss.gradients = is_vjp(kernel);
  SettingReader read(arguments, kernel_arguments(kernel), "argument");
  SettingReader sizes(blocks, kernel_blocks(kernel), "block size");
  if (request.is_loss) {
    read_loss(read, request.loss);
    read_loss_blocks(sizes, request);
  } else {
    read_attention(read, request.attention);
    read_attention_blocks(sizes, request);
  }
  if (read.error()) return tl::unexpected(*read.error());
  if (sizes.error()) return tl::unexpected(*sizes.error());
  return request;
}

Result<KernelCost> kernel_cost(const DeviceConfig& device, const KernelRequest& request) {
  if (request.serving) return serving_kernel_cost(device, *request.serving);
  return request.is_loss ? loss_request_cost(device, request) : attention_request_cost(device, request);
}

Result<BlockRanking> rank_blocks(const DeviceConfig& device, const KernelRequest& request) {
  if (request.serving) return rank_serving_blocks(device, *request.serving);
  if (request.is_loss) {
    const std::vector<LinearLossBlocks> candidates = linear_loss_block_candidates(device, request.loss);
    return rank_candidates(std::span(candidates), [&](const LinearLossBlocks& blocks) {
      return linear_loss_cost(device, request.loss, blocks);
    });
  }
  const std::vector<AttentionBlocks> candidates =
      attention_block_candidates(device, request.pass, request.attention);
  return rank_candidates(std::span(candidates), [&](const AttentionBlocks& blocks) {
    Result<KernelCost> cost = attention_cost(device, request.pass, request.attention, blocks);
    if (cost) add_passes(*cost, attention_passes(device, request.pass, request.attention, blocks));
    return cost;
  });
}

bool has_blocks(const KernelRequest& request) {
  if (request.serving) return has_blocks(*request.serving);
  return request.is_loss ? request.loss_blocks.has_value() : request.attention_blocks.has_value();
}

Bytes kernel_bytes(const KernelRequest& request) {
  const auto size = [](ElementType type, std::initializer_list<int64_t> sides) {
    double bytes = static_cast<double>(bit_width(type)) / 8;
    for (const int64_t side : sides) bytes *= static_cast<double>(side);
    return bytes;
  };
  double bytes = 0;
  if (request.serving) {
    bytes = serving_kernel_bytes(*request.serving);
  } else if (request.is_loss) {
    const LinearLossProblem& p = request.loss;
    bytes = size(p.x, {p.tokens, p.hidden}) + size(p.w, {p.hidden, p.vocabulary});
    if (p.gradients)
      bytes +=
          size(ElementType::kF32, {p.tokens, p.hidden}) + size(ElementType::kF32, {p.hidden, p.vocabulary});
  } else {
    const AttentionProblem& p = request.attention;
    const double q = size(p.type, {p.batch, p.queries, p.heads, p.head_size});
    const double out = size(p.type, {p.batch, p.queries, p.heads, p.value_size});
    const double keys = size(p.type, {p.batch, p.keys, p.kv_heads, p.head_size + p.value_size});
    bytes = request.pass == AttentionPass::kForward ? q + keys + out : 2 * (q + keys + out);
  }
  return Bytes(static_cast<int64_t>(std::min(bytes, 2e18)));
}

}  // namespace hlosim
