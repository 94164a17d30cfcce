// Llama, Mistral and Mixtral of config.json, and gpt-oss, which has experts like theirs.
#include <fmt/format.h>

#include <algorithm>

#include "base/quantity_text.h"
#include "workloads/hf_families.h"

namespace hlosim {
namespace {

/// n of a list of layers that has each n-th one: [1, 3, 5] of 6 layers.
int64_t moe_step_of(HfReader& reader, const Value& layers) {
  int64_t step = 1;
  for (size_t i = 0; i < layers.items.size(); ++i) {
    const Result<int64_t> layer = TextForm<int64_t>::read(layers.items[i].text);
    if (layer && i == 0 && *layer < reader.model.layers) step = std::max<int64_t>(*layer + 1, 1);
    if (!layer || *layer != step * static_cast<int64_t>(i + 1) - 1 || *layer >= reader.model.layers) {
      reader.wrong(layers.items[i], "moe_layers", "experts are supported in each n-th layer alone");
      return 1;
    }
  }
  if (static_cast<int64_t>(layers.items.size()) != reader.model.layers / step)
    reader.wrong(layers, "moe_layers", "experts are supported in each n-th layer alone");
  return step;
}

}  // namespace

void read_llama(HfReader& reader) {
  reader.biases();
  reader.fields.flag("mlp_bias", reader.model.mlp_bias);
}

void read_mistral(HfReader& reader) { reader.window_of_all(); }

void read_mixtral(HfReader& reader) {
  reader.window_of_all();
  reader.model.moe = reader.experts("num_local_experts", "num_experts_per_tok", "intermediate_size");
  reader.model.d_ff = 0;
}

void read_llama4(HfReader& reader) {
  reader.biases();
  if (!reader.fields.find("rope_theta") && !reader.fields.find("rope_parameters"))
    reader.model.rope_theta = 500000;
  MoeConfig moe = reader.experts("num_local_experts", "num_experts_per_tok", "intermediate_size");
  moe.shared_experts = 1, moe.d_ff_shared = moe.d_ff;
  moe.score = MoeConfig::Score::kSigmoid, moe.normalize_top_k = false;
  reader.fields.whole("interleave_moe_layer_step", moe.every, 1);
  if (const Value* sparse = reader.fields.find("moe_layers")) moe.every = moe_step_of(reader, *sparse);
  reader.model.d_ff = 0;
  int64_t dense = 0;
  reader.fields.whole("intermediate_size_mlp", dense, 1,
                      moe.every > 1 ? EntryFields::kNeeded : EntryFields::kOptional);
  if (moe.every > 1) reader.model.d_ff = dense;
  reader.model.moe = moe;
  reader.model.attention.qk_norm = true;
  reader.fields.flag("use_qk_norm", reader.model.attention.qk_norm);
  int64_t chunk = 0;
  if (reader.fields.whole("attention_chunk_size", chunk, 1))
    reader.note(
        *reader.fields.find("attention_chunk_size"),
        fmt::format("is not modelled: layers attend to all earlier tokens, as in sequences up to {}", chunk));
  reader.fields.pass_over({"layer_types", "no_rope_layer_interval"});
  if (const Value* layers = reader.fields.find("no_rope_layers"); layers && !layers->items.empty())
    reader.note(*layers, "is not modelled: all layers have rotary positions and norms of queries and keys");
}

void read_gpt_oss(HfReader& reader) {
  reader.biases();
  reader.model.attention.sinks = true;
  reader.model.activation = Activation::kSigmoid;  // x * sigmoid(1.702 x), with the file's hidden_act of silu
  MoeConfig moe =
      reader.experts("num_local_experts",
                     reader.fields.find("num_experts_per_tok") ? "num_experts_per_tok" : "experts_per_token",
                     "intermediate_size");
  reader.fields.pass_over({"experts_per_token"});
  moe.bias = true;
  reader.model.moe = moe;
  reader.model.d_ff = 0;
  reader.windows("LG");
}

}  // namespace hlosim
