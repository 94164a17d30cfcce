// What a language model is made of, from a small YAML file (examples/models).
//
//   name: llama2-7b
//   layers: 32
//   d_model: 4096
//   d_ff: 11008
//   q_heads: 32          # kv_heads and head_dim follow: q_heads, d_model / q_heads
//   vocab: 32000
//
// docs/models.md has every key. Sizes are elements.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"

namespace hlosim {

enum class Activation : uint8_t { kSilu, kGelu, kRelu, kSigmoid };
enum class NormKind : uint8_t { kRms, kLayer };
enum class Position : uint8_t { kRotary, kLearned, kNone };

/// Queries, keys and values through narrow products (DeepSeek).
struct LatentAttention {
  int64_t q_rank = 0;  // 0: queries in one product
  int64_t kv_rank = 0;
  int64_t nope_dim = 0, rope_dim = 0;  // of a head's queries and keys
  int64_t value_dim = 0;
};

struct AttentionConfig {
  int64_t window = 0;   // of L layers: tokens that a token sees, itself included
  std::string pattern;  // one letter a layer, repeated: L window, G full; empty: all full
  double soft_cap = 0;  // cap * tanh(scores / cap); 0: none
  bool bias = false;    // on the projections of q, k, v and the output (Qwen 2: q, k, v alone)
  bool output_bias = false;
  bool sinks = false;                                // one more logit a head, learned
  bool qk_norm = false;                              // RMS norm of each head's queries and keys
  int64_t global_head_dim = 0, global_kv_heads = 0;  // of G layers, where they differ
  bool global_shares_kv = false;                     // G layers: values are the keys' projection
  double scale = 0;                                  // of the scores; 0: 1 / sqrt(head_dim)
  std::optional<LatentAttention> latent;
};

struct MoeConfig {
  enum class Dispatch : uint8_t {
    kDropless,  // tokens sorted by expert, grouped products (ragged-dot)
    kCapacity,  // slots per expert, one-hot dispatch and combine products
  };
  enum class Score : uint8_t { kSoftmax, kSigmoid };

  int64_t experts = 0, top_k = 0, d_ff = 0;
  int64_t shared_experts = 0, d_ff_shared = 0;  // d_ff_shared: of all shared experts together
  Dispatch dispatch = Dispatch::kDropless;
  double capacity_factor = 1.25;  // kCapacity: slots = factor * tokens * top_k / experts
  Score score = Score::kSoftmax;
  bool normalize_top_k = true;     // the weights of a token's experts sum to 1
  int64_t first_dense_layers = 0;  // the first layers have the dense MLP
  int64_t every = 1;               // of the others each n-th is sparse: the last of n
  bool bias = false;               // on router and experts
  bool random_routing = false;     // balanced by construction: experts by position, no sort by score
};

struct ModelConfig {
  std::string name;
  int64_t layers = 0, d_model = 0, d_ff = 0;
  int64_t q_heads = 0, kv_heads = 0, head_dim = 0;
  int64_t vocab = 0;
  bool gated_mlp = true;
  Activation activation = Activation::kSilu;
  bool mlp_bias = false;
  bool fused_qkv = false;
  bool tied_embeddings = false;
  bool scale_embeddings = false;  // by sqrt(d_model) (Gemma)
  double final_soft_cap = 0;      // of the logits
  NormKind norm = NormKind::kRms;
  double norm_epsilon = 1e-5;
  bool post_norms = false;      // a norm after attention and MLP too (Gemma 2 and 3)
  bool parallel_block = false;  // attention and MLP read one norm and are summed
  Position position = Position::kRotary;
  int64_t max_positions = 0;  // of a learned table; 0: the step's sequence
  double rope_theta = 10000;
  bool rope_interleaved = false;  // features 2i and 2i + 1 turn together, not i and i + size / 2
  AttentionConfig attention;
  std::optional<MoeConfig> moe;
  bool predicts_ahead =
      false;  // training: one more layer and pass through the head, for the token after the next

  bool is_global(int64_t layer) const;  // attends to everything before it
  bool is_sparse(int64_t layer) const;  // has experts
};
/// Experts that drop no token: rows sorted by expert, products in groups.
inline bool has_dropless_experts(const ModelConfig& model) {
  return model.moe && model.moe->dispatch == MoeConfig::Dispatch::kDropless;
}

/// Reads a file of examples/models; errors have places: unknown keys, sizes that don't go together.
Result<ModelConfig> read_model_config(const SourcePtr& source);
/// What is wrong with a model, and with which key of its file ("moe.every"; empty: with several).
struct ModelFault {
  std::string key, message;
};
/// The same checks for a configuration made otherwise; none: it is sound.
std::optional<ModelFault> model_fault(const ModelConfig& model);

/// The largest size of a key: "layers", "moe.experts".
int64_t most_of(std::string_view key);
/// The largest number of a key that is no size.
double most_number_of(std::string_view key);

/// Counted as published tables do: norms, biases and position tables left out.
struct ParameterCount {
  int64_t total = 0;                 // stored
  int64_t in_matmuls_per_token = 0;  // active experts only, router and output projection in, lookup out
};
ParameterCount count_parameters(const ModelConfig& model);
/// FLOPs of products in one step by these counts: 2 a parameter and token forward (train: 6), and attention's
/// multiply-adds over the whole square or, `causal`, the part that the masks leave.
double matmul_flops(const ModelConfig& model, int64_t batch, int64_t sequence, bool train, bool causal);

}  // namespace hlosim
