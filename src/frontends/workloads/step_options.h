// What a step of a model does, with which kernels and types, on which mesh.
//
//   StepOptions options{.mesh = mesh, .batch = 64, .sequence = 2048};
//   options.remat = *remat_policy("minimal");
//   options.remat[SavedValue::kContext] = Keep::kHost;
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "layout/element_type.h"
#include "sharding/mesh.h"

namespace hlosim {

enum class StepKind : uint8_t {
  kTrain,    // forward, backward, optimizer
  kPrefill,  // forward of whole prompts; writes the KV cache and the last token's logits
  kDecode,   // one token per sequence against a KV cache
};

/// Values of a layer that have names, as MaxText calls them.
enum class SavedValue : uint8_t {
  kDecoderLayerInput,
  kQueryProj,
  kKeyProj,
  kValueProj,
  kQkvProj,  // of fused projections
  kContext,  // the output of attention before its projection
  kOutProj,
  kMlpWi,   // the one input product of a plain MLP
  kMlpWi0,  // gated: what the activation is applied to
  kMlpWi1,
  kMlpWo,  // of experts: what comes out of them
};
inline constexpr size_t kSavedValues = static_cast<size_t>(SavedValue::kMlpWo) + 1;
/// "decoder_layer_input", "query_proj", …
std::string_view to_text(SavedValue value);
std::optional<SavedValue> parse_saved_value(std::string_view name);

enum class Keep : uint8_t {
  kRecompute,  // in the backward pass
  kDevice,
  kHost,  // offloaded to pinned host memory, S(5), and back
};

/// What of a layer's forward the backward pass is given, and what it computes once more.
struct RematPolicy {
  std::string name = "full";
  std::vector<Keep> values = std::vector<Keep>(kSavedValues, Keep::kRecompute);  // by SavedValue

  Keep& operator[](SavedValue value) { return values[static_cast<size_t>(value)]; }
  Keep operator[](SavedValue value) const { return values[static_cast<size_t>(value)]; }
};
/// The layer loop's own state, its first layer's input, is on the device whatever the policy, unless
/// decoder_layer_input is offloaded.
/// Names: full, nothing_saveable, custom (decoder_layer_input on the device), minimal, minimal_with_context,
/// save_dot_except_mlpwi, save_dot_except_mlp, save_qkv_proj, save_out_proj, qkv_proj_offloaded,
/// minimal_offloaded. Another one is an error (without a place) that names them.
Result<RematPolicy> remat_policy(std::string_view name);

enum class AttentionKernel : uint8_t {
  kPlain,   // products and a softmax as plain instructions; scores of sequence x sequence
  kFlash,   // a kernel that goes over all blocks of the square, masked
  kSplash,  // a kernel that goes over the blocks that its mask leaves
};

/// Blocks of the attention kernel; 0: the kernel's own choice (512), or the sequence where that is shorter.
struct AttentionTiles {
  int64_t q = 0, kv = 0, kv_compute = 0;
  int64_t q_dkv = 0, kv_dkv = 0, kv_dkv_compute = 0;
  int64_t q_dq = 0, kv_dq = 0;
  int64_t dq_parts = 0;        // that the fused kernel leaves the gradients of q in; 0: one a block of keys
  bool fused_backward = true;  // one kernel for the gradients of q, k and v
  bool q_sequence_minor = false, k_sequence_minor = false, v_sequence_minor = false;
  bool known_maximum = false;  // a bound on the logits in place of their running maximum
  bool tokamax = false;  // tokamax's splash kernel; else JAX's, which masks all blocks and takes powers of e
};

/// A tile of the kernel of grouped products, in elements: rows, contracted terms and columns of one product.
/// 0: the kernel's own (kernel.ragged_* of the device).
struct GroupedTile {
  int64_t rows = 0, depth = 0, columns = 0;
  bool one_core = false;  // the kernel is tokamax's, which one core of a device executes
  bool operator==(const GroupedTile&) const = default;
};
/// Of a product, of the gradient of its rows and of that of its weights.
struct ProductTiles {
  GroupedTile forward{}, row_gradient{}, weight_gradient{};
  bool operator==(const ProductTiles&) const = default;
};
/// Of the experts' products into the hidden width and out of it.
struct ExpertTiles {
  ProductTiles in{}, out{};
  bool operator==(const ExpertTiles&) const = default;
};
/// The same tile for all of them.
inline ExpertTiles same_tiles(const GroupedTile& tile) {
  const ProductTiles all{tile, tile, tile};
  return {all, all};
}

enum class Quantization : uint8_t {
  kNone,
  kInt8,  // products of layers and both of their gradients in s8, scales by row and column
  kFp8,   // e4m3 weights and activations, e5m2 gradients
};

/// The first result of a serving step, of the last token of each sequence.
enum class Sampling : uint8_t {
  kLogits,
  kGreedy,  // the most likely token
  kRandom,  // a token drawn by temperature, top-k and top-p, which are inputs of each sequence
};

struct OptimizerOptions {
  enum class Kind : uint8_t { kAdam, kAdamW, kAdamPax } kind = Kind::kAdamW;
  ElementType mu_type = ElementType::kF32, nu_type = ElementType::kF32;
  double clip_norm = 1.0;  // of all gradients together; 0: none, and no sum of their squares
  double learning_rate = 3e-5, beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8, weight_decay = 0.1;
};

struct StepOptions {
  StepKind kind = StepKind::kTrain;
  Mesh mesh;             // no axes: one device, nothing sharded. Axes that a rule knows: data, fsdp,
                         // fsdp_transpose, tensor, expert, context, sequence
  int64_t batch = 1;     // sequences, of all devices together
  int64_t sequence = 0;  // tokens of a sequence; decode: of the cache
  ElementType compute_type = ElementType::kBF16;  // of the layers' products and activations
  ElementType param_type = ElementType::kF32;     // of the stored parameters
  ElementType grad_type = ElementType::kF32;      // that the optimizer reads
  bool cast_before_gather =
      true;  // parameters become compute_type while sharded; else each use casts its own
  Quantization quantization = Quantization::kNone;
  // Serving: types of the stored weights of layers' products, with a scale for each of their outputs, and of
  // the cache. kInvalid: param_type, compute_type. With `quantization` the products are in that type too,
  // else weights are widened.
  ElementType weight_type = ElementType::kInvalid, cache_type = ElementType::kInvalid;
  // Of stored weights: inputs of an output that share a scale. 0: all of them.
  int64_t weight_block = 0;
  // Decode: tokens of a page. Each cache is a pool of pages, and a table has the pages of each request.
  // 0: a cache of a request is one piece.
  int64_t page_size = 0;
  Sampling sampling = Sampling::kLogits;  // serving: what the result is
  OptimizerOptions optimizer;
  RematPolicy remat;
  AttentionKernel attention = AttentionKernel::kSplash;
  AttentionTiles tiles;
  ExpertTiles expert_tiles;      // of the grouped products: XLA's ragged_dot_tiling
  bool manual_attention = true;  // kernels in a manual region, as shard_map puts them; false: shardings alone
  bool scan_layers = true;       // a while loop over stacked parameters; false: unrolled
  int64_t stack_axis = 0;        // where the stacked parameters have their layers: 0 or 1 (MaxText's)
  bool quantized_gather = false;  // fp8: weights of experts become e4m3 before they are gathered
  bool experts_on_fsdp = false;   // the dimension of experts is cut by fsdp too
  bool experts_on_tensor =
      false;  // serving: experts are dealt out over tensor, too, in place of their widths
  // Training with an axis `expert`, of dropless experts: devices are given all tokens of the axis and sum
  // what they make of them, in place of exchanging rows; and the room for rows that arrive, as a multiple of
  // their mean: those beyond it are dropped. 0: room for the most that could arrive.
  bool ring_of_experts = false;
  double ragged_buffer_factor = 0;
  bool one_hot_embedding = false;  // the lookup as a product with one-hot rows
  int64_t vocab_tiles = 1;         // logits and loss in so many parts along the tokens
  bool gradients_only = false;     // train: the loss and all gradients are the results, no optimizer
};

}  // namespace hlosim
