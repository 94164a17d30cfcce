// Qwen 2 and 3 of config.json.
#include <algorithm>
#include <string>

#include "workloads/hf_families.h"

namespace hlosim {
namespace {

/// Qwen: with use_sliding_window, layers from max_window_layers on have the window.
void upper_windows(HfReader& reader) {
  bool has_windows = false;
  int64_t window = 0, below = 0;
  reader.fields.flag("use_sliding_window", has_windows);
  reader.fields.whole("sliding_window", window, 1);
  reader.fields.whole("max_window_layers", below, 0);
  const Value* types = reader.fields.find("layer_types");
  if (!has_windows || window == 0) return;
  reader.model.attention.window = window;
  below = std::min(below, reader.model.layers);
  reader.model.attention.pattern =
      types ? reader.pattern_of(*types)
            : std::string(static_cast<size_t>(below), 'G') +
                  std::string(static_cast<size_t>(reader.model.layers - below), 'L');
}

/// Qwen 2 and 3.
void qwen_experts(HfReader& reader) {
  MoeConfig moe = reader.experts("num_experts", "num_experts_per_tok", "moe_intermediate_size");
  moe.normalize_top_k = false;
  reader.fields.flag("norm_topk_prob", moe.normalize_top_k);
  reader.fields.whole("decoder_sparse_step", moe.every, 1);
  if (const Value* dense = reader.fields.find("mlp_only_layers"); dense && !dense->items.empty())
    reader.wrong(*dense, "mlp_only_layers", "layers without experts at any place are not supported");
  if (moe.every == 1) reader.model.d_ff = 0;
  reader.model.moe = moe;
}

}  // namespace

void read_qwen2(HfReader& reader) {
  reader.model.attention.bias = true;  // on q, k and v, for any value of the key
  upper_windows(reader);
}

void read_qwen3(HfReader& reader) {
  reader.biases();
  reader.model.attention.qk_norm = true;
  upper_windows(reader);
}

void read_qwen2_moe(HfReader& reader) {
  reader.model.attention.bias = true;
  reader.fields.flag("qkv_bias", reader.model.attention.bias);
  bool has_windows = false;
  reader.fields.flag("use_sliding_window", has_windows);
  reader.fields.pass_over({"sliding_window", "max_window_layers"});
  if (has_windows && !reader.fields.find("layer_types"))
    reader.wrong("use_sliding_window", "use_sliding_window without layer_types is not supported",
                 "versions of transformers differ in which layers have the window");
  if (has_windows) reader.windows("");
  reader.fields.pass_over({"layer_types"});
  qwen_experts(reader);
  MoeConfig& moe = *reader.model.moe;
  if (!reader.fields.whole("shared_expert_intermediate_size", moe.d_ff_shared, 0) || moe.d_ff_shared == 0)
    return;
  moe.shared_experts = 1;
  reader.note(*reader.fields.find("shared_expert_intermediate_size"),
              "is modelled without the shared expert's gate, a product with one column");
}

void read_qwen3_moe(HfReader& reader) {
  read_qwen3(reader);
  qwen_experts(reader);
}

}  // namespace hlosim
