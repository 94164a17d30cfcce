// DeepSeek 2 and 3 of config.json.
#include <fmt/format.h>

#include <string>

#include "base/text.h"
#include "workloads/hf_families.h"

namespace hlosim {
namespace {

/// `score`: of files that don't name one; its family's weights sum to 1 where it is the sigmoid.
void read_deepseek(HfReader& reader, MoeConfig::Score score) {
  LatentAttention latent;
  reader.fields.whole("q_lora_rank", latent.q_rank, 0);
  reader.fields.whole("kv_lora_rank", latent.kv_rank, 1, EntryFields::kNeeded);
  reader.fields.whole("qk_nope_head_dim", latent.nope_dim, 1, EntryFields::kNeeded);
  reader.fields.whole("qk_rope_head_dim", latent.rope_dim, 1, EntryFields::kNeeded);
  reader.fields.whole("v_head_dim", latent.value_dim, 1, EntryFields::kNeeded);
  reader.fields.pass_over({"head_dim", "qk_head_dim", "rope_interleave"});
  reader.model.kv_heads = reader.model.q_heads;
  if (reader.model.q_heads > 0) reader.model.head_dim = reader.model.d_model / reader.model.q_heads;
  reader.model.attention.latent = latent;
  reader.biases();
  MoeConfig moe = reader.experts("n_routed_experts", "num_experts_per_tok", "moe_intermediate_size");
  moe.score = score;
  reader.fields.whole("n_shared_experts", moe.shared_experts, 0);
  moe.d_ff_shared = moe.shared_experts * moe.d_ff;
  reader.fields.whole("first_k_dense_replace", moe.first_dense_layers, 0);
  reader.fields.whole("moe_layer_freq", moe.every, 1);
  moe.normalize_top_k = moe.score == MoeConfig::Score::kSigmoid;
  reader.fields.flag("norm_topk_prob", moe.normalize_top_k);
  std::string named;
  if (reader.fields.text("scoring_func", named)) {
    moe.score = named == "sigmoid" ? MoeConfig::Score::kSigmoid : MoeConfig::Score::kSoftmax;
    if (named != "sigmoid" && named != "softmax")
      reader.wrong("scoring_func",
                   fmt::format("scoring_func \"{}\" is neither softmax nor sigmoid", shown(named)));
  }
  reader.model.moe = moe;
  int64_t groups = 1;
  reader.fields.pass_over({"topk_group", "topk_method"});
  if (reader.fields.whole("n_group", groups, 1) && groups > 1)
    reader.note(*reader.fields.find("n_group"),
                "is not modelled: a token's experts are chosen from all groups");
  int64_t ahead = 0;
  if (reader.fields.whole("num_nextn_predict_layers", ahead, 0) && ahead > 0)
    reader.note(*reader.fields.find("num_nextn_predict_layers"),
                "is left out; `predicts_ahead: true` in the model file adds one layer to training");
}

}  // namespace

void read_deepseek_v2(HfReader& reader) { read_deepseek(reader, MoeConfig::Score::kSoftmax); }
void read_deepseek_v3(HfReader& reader) { read_deepseek(reader, MoeConfig::Score::kSigmoid); }

}  // namespace hlosim
