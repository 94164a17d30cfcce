// The attention kernel of a model's step, and its blocks.
#include <fmt/format.h>

#include <algorithm>

#include "advise/kinds/kinds.h"
#include "advise/module_edits.h"

namespace hlosim {
namespace {

/// A kernel as users name it.
struct NamedKernel {
  std::string_view name;  // of hlosim model --attention
  AttentionKernel kernel;
  bool is_tokamax;
  std::string_view change;  // in JAX and MaxText
};
constexpr NamedKernel kKernels[] = {
    {"splash", AttentionKernel::kSplash, false,
     "jax.experimental.pallas.ops.tpu.splash_attention; MaxText: attention=flash"},
    {"tokamax", AttentionKernel::kSplash, true,
     "tokamax's splash attention; MaxText: attention=flash use_tokamax_splash=true"},
    {"flash", AttentionKernel::kFlash, false, "jax.experimental.pallas.ops.tpu.flash_attention"},
};

// Keys and values that are worked on at once: more need registers, fewer fill no product.
constexpr int64_t kMostComputed = 512;

/// All blocks of one size. `like`: which kernels there are, and their layouts.
AttentionTiles blocks_of(int64_t size, AttentionTiles like) {
  like.q = like.kv = like.q_dkv = like.kv_dkv = size;
  like.kv_compute = like.kv_dkv_compute = std::min(size, kMostComputed);
  like.q_dq = like.kv_dq = like.fused_backward ? 0 : size;
  return like;
}

bool has_blocks_of(int64_t size, const AttentionTiles& tiles) {
  const bool forward = tiles.q == size && tiles.kv == size && tiles.q_dkv == size && tiles.kv_dkv == size;
  return forward && (tiles.fused_backward || (tiles.q_dq == size && tiles.kv_dq == size));
}

std::string_view problem_of(const StepOptions& step) {
  if (step.attention == AttentionKernel::kPlain) return "scores of all pairs of tokens go through memory";
  return step.attention == AttentionKernel::kFlash
             ? "the flash kernel computes all blocks of scores, those above the diagonal too"
             : "attention is the splash kernel";
}

/// BlockSizes of the kernel's module in JAX; tokamax's has the words of JAX's splash kernel.
std::string blocks_text(AttentionKernel kernel, int64_t size, const AttentionTiles& tiles) {
  if (kernel == AttentionKernel::kFlash)
    return fmt::format(
        "BlockSizes(block_b=1, block_q={0}, block_k_major={0}, block_k={1}, block_q_major_dkv={0}, "
        "block_q_dkv={0}, block_k_major_dkv={0}, block_k_dkv={1}, block_q_dq={0}, block_k_major_dq={0}, "
        "block_k_dq={1})",
        size, tiles.kv_compute);
  return fmt::format(
      "BlockSizes(block_q={0}, block_kv={0}, block_kv_compute={1}, block_q_dkv={0}, block_kv_dkv={0}, {2})",
      size, tiles.kv_compute,
      tiles.fused_backward ? "use_fused_bwd_kernel=True"
                           : fmt::format("block_q_dq={0}, block_kv_dq={0}", size));
}

std::string maxtext_blocks(int64_t size, const AttentionTiles& tiles) {
  return fmt::format("sa_block_q={0} sa_block_kv={0} sa_block_kv_compute={1} ... sa_use_fused_bwd_kernel={2}",
                     size, tiles.kv_compute, tiles.fused_backward);
}

}  // namespace

std::vector<Proposal> find_attention_kernel(const AdviceSubject& subject) {
  std::vector<Proposal> found;
  const auto& model = subject.setup.model;
  if (!model || model->step.kind == StepKind::kDecode) return found;
  const StepOptions& now = model->step;
  // Size 0: the kernel's own blocks. Kernels differ in the blocks that are best: each is tried with some.
  for (const int64_t size : {2048, 0, 1024})
    for (const NamedKernel& one_kernel : kKernels) {
      const bool is_now = now.attention == one_kernel.kernel && now.tiles.tokamax == one_kernel.is_tokamax;
      if (is_now || size > now.sequence) continue;
      AttentionTiles tiles;
      tiles.tokamax = one_kernel.is_tokamax;
      tiles.fused_backward = one_kernel.kernel == AttentionKernel::kSplash;
      if (size > 0) tiles = blocks_of(size, tiles);
      Proposal& one = found.emplace_back();
      one.stage = EditStage::kModel;
      one.edit = edit_of_blocks([kernel = one_kernel.kernel, tiles](StepOptions& step) {
        step.attention = kernel;
        step.tiles = tiles;
      });
      one.name = fmt::format("attention={}", one_kernel.name);
      one.problem = problem_of(now);
      one.change = fmt::format("{}; hlosim model --attention={}", one_kernel.change, one_kernel.name);
      if (size > 0) {
        one.name += fmt::format(", blocks of {}", size);
        one.change += "; " + blocks_text(one_kernel.kernel, size, tiles);
      }
      one.reason = "blocks of scores stay in VMEM; splash skips the blocks that the mask empties";
    }
  return found;
}

std::vector<Proposal> find_attention_blocks(const AdviceSubject& subject) {
  std::vector<Proposal> found;
  const auto& model = subject.setup.model;
  if (!model || model->step.kind == StepKind::kDecode || model->step.attention == AttentionKernel::kPlain)
    return found;
  const StepOptions& now = model->step;
  // JAX's flash kernel has no kernel for all gradients at once.
  const bool may_fuse = now.kind == StepKind::kTrain && now.attention == AttentionKernel::kSplash;
  for (const bool changes_backward : {false, true})
    for (const int64_t size : {1024, 2048, 256}) {
      if (size > now.sequence || (changes_backward && !may_fuse)) continue;
      AttentionTiles like = now.tiles;
      if (changes_backward) like.fused_backward = !like.fused_backward;
      if (has_blocks_of(size, like)) continue;
      const AttentionTiles tiles = blocks_of(size, like);
      Proposal& one = found.emplace_back();
      one.stage = EditStage::kModel;
      one.edit = edit_of_blocks([tiles](StepOptions& step) { step.tiles = tiles; });
      one.name = fmt::format("block_q=block_kv={}", size);
      if (changes_backward)
        one.name += tiles.fused_backward ? ", one backward kernel" : ", two backward kernels";
      one.problem = "blocks of the attention kernel decide how often keys and values are read";
      one.change = blocks_text(now.attention, size, tiles);
      if (now.attention == AttentionKernel::kSplash)
        one.change += "; MaxText: " + maxtext_blocks(size, tiles);
      one.reason = "larger blocks take fewer grid steps and read less; VMEM limits them";
      one.proof = ProofKind::kNone;
      one.no_proof = "the same kernel with other blocks: its body isn't executed block by block here";
    }
  return found;
}

}  // namespace hlosim
