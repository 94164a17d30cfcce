// The attention kernel of a model's step, and its blocks.
#include <fmt/format.h>

#include "advise/kinds/kinds.h"
#include "advise/module_edits.h"

namespace hlosim {

std::vector<Proposal> find_attention_kernel(const AdviceSubject& subject) {
  std::vector<Proposal> found;
  const auto& model = subject.setup.model;
  if (!model || model->step.kind == StepKind::kDecode) return found;
  const auto propose = [&](AttentionKernel kernel, std::string_view name) {
    if (model->step.attention == kernel) return;
    Proposal& one = found.emplace_back();
    one.stage = EditStage::kModel;
    one.edit = edit_of_step([kernel](StepOptions& step) {
      step.attention = kernel;
      step.tiles = {};  // blocks are a kernel's own; splash has one kernel for all gradients
    });
    one.name = fmt::format("attention={}", name);
    one.problem = model->step.attention == AttentionKernel::kPlain
                      ? "scores of all pairs of tokens go through memory"
                  : model->step.attention == AttentionKernel::kFlash
                      ? "the flash kernel computes all blocks of scores, those above the diagonal too"
                      : "attention is the splash kernel";
    one.change = fmt::format(
        "jax.experimental.pallas.ops.tpu.{0}_attention; MaxText: attention=flash with "
        "use_{0}; hlosim model --attention={0}",
        name);
    one.reason = "blocks of scores stay in VMEM; splash skips the blocks that the mask empties";
  };
  propose(AttentionKernel::kSplash, "splash");
  propose(AttentionKernel::kFlash, "flash");
  return found;
}

std::vector<Proposal> find_attention_blocks(const AdviceSubject& subject) {
  std::vector<Proposal> found;
  const auto& model = subject.setup.model;
  if (!model || model->step.kind == StepKind::kDecode || model->step.attention == AttentionKernel::kPlain)
    return found;
  for (const int64_t size : {1024, 2048, 256}) {
    AttentionTiles tiles = model->step.tiles;
    if (size > model->step.sequence || tiles.q == size) continue;
    tiles.q = tiles.kv = tiles.q_dkv = tiles.kv_dkv = size;
    tiles.kv_compute = tiles.kv_dkv_compute = std::min<int64_t>(size, 512);
    if (!tiles.fused_backward) tiles.q_dq = tiles.kv_dq = size;
    Proposal& one = found.emplace_back();
    one.stage = EditStage::kModel;
    one.edit = edit_of_step([tiles](StepOptions& step) { step.tiles = tiles; });
    one.name = fmt::format("block_q=block_kv={}", size);
    one.problem = "blocks of the attention kernel decide how often keys and values are read";
    one.change = fmt::format(
        "BlockSizes(block_q={0}, block_kv={0}, block_kv_compute={1}, block_q_dkv={0}, ...); "
        "MaxText: sa_block_q={0}, sa_block_kv={0}, ...",
        size, tiles.kv_compute);
    one.reason = "larger blocks take fewer grid steps and read less; VMEM limits them";
    one.proof = ProofKind::kNone;
    one.no_proof = "the same kernel with other blocks: its body isn't executed block by block here";
  }
  return found;
}

}  // namespace hlosim
