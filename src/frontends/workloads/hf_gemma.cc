// Gemma 1 to 4 of config.json.
#include <algorithm>
#include <cmath>
#include <string>

#include "workloads/hf_families.h"

namespace hlosim {
namespace {

void gemma_embeddings(HfReader& reader) {
  reader.model.scale_embeddings = true;
  if (!reader.says_tied) reader.model.tied_embeddings = true;
  if (!reader.fields.find("hidden_activation") && !reader.fields.find("hidden_act"))
    reader.model.activation = Activation::kGelu;
  // Early files of Gemma have hidden_act "gelu" for the approximation by tanh, which all of them compute.
}

void scale_of_queries(HfReader& reader) {
  double scalar = 0;
  if (!reader.fields.positive("query_pre_attn_scalar", scalar)) return;
  const double scale = 1 / std::sqrt(scalar);
  if (scalar != static_cast<double>(reader.model.head_dim)) reader.model.attention.scale = scale;
}

/// Five layers with windows before one without; the last layer has none.
void gemma4_windows(HfReader& reader) {
  AttentionConfig& attention = reader.model.attention;
  attention.window = 512;
  reader.fields.whole("sliding_window", attention.window, 1);
  std::string letters;
  if (const Value* types = reader.fields.find("layer_types")) {
    letters = reader.letters_of(*types);
  } else {
    for (int64_t layer = 1; layer <= reader.model.layers; ++layer) letters += layer % 6 == 0 ? 'G' : 'L';
  }
  if (!letters.empty()) letters.back() = 'G';
  attention.pattern = HfReader::shortest_period(letters);
  if (attention.pattern == "G") attention.pattern.clear(), attention.window = 0;
  attention.global_head_dim = 512;
  reader.fields.whole("global_head_dim", attention.global_head_dim, 1);
  int64_t heads = 0;
  const bool has_heads = reader.fields.whole("num_global_key_value_heads", heads, 1);
  reader.fields.flag("attention_k_eq_v", attention.global_shares_kv);
  if (has_heads && attention.global_shares_kv) attention.global_kv_heads = heads;
}

/// The dense MLP is kept next to the experts.
void gemma4_experts(HfReader& reader) {
  bool has_experts = false;
  reader.fields.flag("enable_moe_block", has_experts);
  if (!has_experts) return reader.fields.pass_over({"num_experts", "top_k_experts", "moe_intermediate_size"});
  MoeConfig moe = reader.experts("num_experts", "top_k_experts", "moe_intermediate_size");
  moe.shared_experts = 1, moe.d_ff_shared = reader.model.d_ff;
  reader.model.d_ff = 0;
  reader.model.moe = moe;
}

}  // namespace

void read_gemma(HfReader& reader) {
  reader.biases();
  gemma_embeddings(reader);
}

void read_gemma2(HfReader& reader) {
  read_gemma(reader);
  reader.model.post_norms = true;
  scale_of_queries(reader);
  reader.fields.positive("attn_logit_softcapping", reader.model.attention.soft_cap);
  reader.fields.positive("final_logit_softcapping", reader.model.final_soft_cap);
  reader.windows("LG");
}

void read_gemma3(HfReader& reader) {
  read_gemma2(reader);
  reader.model.attention.qk_norm = true;
  int64_t period = 6;
  reader.fields.whole("sliding_window_pattern", period, 1);
  reader.fields.whole("_sliding_window_pattern", period, 1);
  if (reader.fields.find("layer_types") == nullptr && reader.model.attention.window > 0)
    reader.model.attention.pattern =
        std::string(static_cast<size_t>(std::min(period, most_of("layers")) - 1), 'L') + 'G';
}

void read_gemma4(HfReader& reader) {
  read_gemma(reader);
  reader.model.post_norms = reader.model.attention.qk_norm = true;
  reader.fields.positive("final_logit_softcapping", reader.model.final_soft_cap);
  reader.refuse_above_zero("hidden_size_per_layer_input", 256, "embeddings for each layer");
  reader.refuse_above_zero("num_kv_shared_layers", 0, "layers that share keys and values");
  reader.fields.pass_over({"vocab_size_per_layer_input", "use_double_wide_mlp"});  // of what was refused
  if (reader.fields.find("per_layer_config"))
    reader.wrong("per_layer_config", "per_layer_config is not supported",
                 "global_head_dim and num_global_key_value_heads are read");
  std::string both_ways;
  if (reader.fields.text("use_bidirectional_attention", both_ways) && both_ways != "vision")
    reader.wrong("use_bidirectional_attention", "attention to later tokens is not supported");
  gemma4_windows(reader);
  gemma4_experts(reader);
}

}  // namespace hlosim
