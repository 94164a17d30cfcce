#include "published/step_work.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "layout/element_type.h"

namespace hlosim {
namespace {

using Names = std::vector<std::string>;

/// Axes that cut the batch, the sequence, and parameters along d_model.
const Names kTokenAxes = {"data", "fsdp", "fsdp_transpose", "expert", "sequence", "context"};
const Names kWeightAxes = {"fsdp", "fsdp_transpose", "sequence", "context", "expert"};

int64_t ceil_divide(int64_t a, int64_t b) { return (a + b - 1) / b; }

double bytes_of(ElementType type) { return static_cast<double>(bit_width(type)) / 8; }

/// A product with a parameter [k, n] of a layer.
struct LayerProduct {
  std::string_view name;
  int64_t k = 0, n = 0;
  SavedValue value{};
  bool needed = true;  // the backward pass reads its result
  bool grouped = false;
  double rows = 1;    // per token
  double copies = 1;  // parameters: so many of [k, n]
};

class Counter {
 public:
  Counter(const ModelConfig& model, const StepOptions& options) : model_(model), options_(options) {
    tensor_ = axis("tensor");
    experts_axis_ = axis("expert");
    for (const std::string& name : kWeightAxes)
      if (axis(name) > 1) weight_axes_.push_back(name);
    double parts = 1;
    for (const std::string& name : kTokenAxes) parts *= static_cast<double>(axis(name));
    work_.tokens = static_cast<double>(options.batch) * static_cast<double>(options.sequence) / parts;
    if (options.kind == StepKind::kDecode) work_.tokens = static_cast<double>(options.batch) / parts;
    quantized_ = options.quantization == Quantization::kInt8  ? ElementType::kS8
                 : options.quantization == Quantization::kFp8 ? ElementType::kF8E4M3FN
                                                              : options.compute_type;
  }

  StepWork count() {
    for (int64_t layer = 0; layer < model_.layers; ++layer) count_layer(layer);
    ends();
    if (trains()) update();
    return std::move(work_);
  }

 private:
  bool trains() const { return options_.kind == StepKind::kTrain; }
  int64_t axis(std::string_view name) const {
    for (const MeshAxis& one : options_.mesh.axes)
      if (one.name == name) return one.size;
    return 1;
  }
  bool keeps(SavedValue value) const { return options_.remat[value] != Keep::kRecompute; }
  bool offloads(SavedValue value) const { return options_.remat[value] == Keep::kHost; }

  /// Layers are alike but for a few kinds: a piece that is there already counts once more.
  void add(StepPiece piece) {
    for (StepPiece& other : work_.pieces)
      if (other.name == piece.name && other.part == piece.part && other.product.k == piece.product.k &&
          other.product.n == piece.product.n && other.bytes == piece.bytes &&
          other.attention.window == piece.attention.window &&
          other.attention.head_size == piece.attention.head_size &&
          other.attention.kv_heads == piece.attention.kv_heads) {
        other.times += piece.times;
        return;
      }
    work_.pieces.push_back(std::move(piece));
  }

  void add_product(StepCategory category, StepStage part, std::string name, double m, int64_t n, int64_t k,
                   ElementType type) {
    StepPiece piece{category, part, std::move(name)};
    piece.product.m = std::max<int64_t>(1, std::llround(m));
    piece.product.n = n, piece.product.k = k;
    piece.product.lhs = piece.product.rhs = type;
    add(std::move(piece));
  }

  void add_bytes(StepCategory category, StepStage part, std::string name, double bytes) {
    StepPiece piece{category, part, std::move(name)};
    piece.bytes = bytes;
    if (bytes > 0) add(std::move(piece));
  }

  void add_collective(StepStage part, std::string name, CollectiveKind kind, Names axes, double bytes,
                      bool blocks) {
    if (axes.empty() || !(bytes > 0)) return;
    StepPiece piece{StepCategory::kCollective, part, std::move(name)};
    piece.collective = kind, piece.axes = std::move(axes), piece.bytes = bytes, piece.blocks = blocks;
    add(std::move(piece));
  }

  // ── one layer ──

  std::vector<LayerProduct> attention_products(int64_t layer) const {
    const int64_t d = model_.d_model;
    if (const auto& latent = model_.attention.latent) {
      const int64_t head = latent->nope_dim + latent->rope_dim;
      std::vector<LayerProduct> out;
      if (latent->q_rank > 0) {
        out.push_back({"attention.q_down", d, latent->q_rank, SavedValue::kQueryProj});
        out.push_back({"attention.q", latent->q_rank, model_.q_heads * head, SavedValue::kQueryProj});
      } else {
        out.push_back({"attention.q", d, model_.q_heads * head, SavedValue::kQueryProj});
      }
      out.push_back({"attention.kv_down", d, latent->kv_rank + latent->rope_dim, SavedValue::kKeyProj});
      out.push_back({"attention.kv", latent->kv_rank, model_.q_heads * (latent->nope_dim + latent->value_dim),
                     SavedValue::kKeyProj});
      out.push_back({"attention.out", model_.q_heads * latent->value_dim, d, SavedValue::kOutProj});
      return out;
    }
    const auto [heads, kv_heads, size] = heads_of(layer);
    std::vector<LayerProduct> out = {{"attention.q", d, heads * size, SavedValue::kQueryProj},
                                     {"attention.k", d, kv_heads * size, SavedValue::kKeyProj}};
    if (!(model_.attention.global_shares_kv && is_global(layer)))
      out.push_back({"attention.v", d, kv_heads * size, SavedValue::kValueProj});
    out.push_back({"attention.out", heads * size, d, SavedValue::kOutProj});
    return out;
  }

  bool is_global(int64_t layer) const {
    const std::string& pattern = model_.attention.pattern;
    return pattern.empty() || pattern[static_cast<size_t>(layer) % pattern.size()] == 'G';
  }

  struct Heads {
    int64_t queries, keys, size;
  };
  Heads heads_of(int64_t layer) const {
    const AttentionConfig& attention = model_.attention;
    if (attention.pattern.empty() || !is_global(layer) || attention.global_head_dim == 0)
      return {model_.q_heads, model_.kv_heads, model_.head_dim};
    return {model_.q_heads, attention.global_kv_heads > 0 ? attention.global_kv_heads : model_.kv_heads,
            attention.global_head_dim};
  }

  std::vector<LayerProduct> mlp_products(int64_t layer) const {
    const int64_t d = model_.d_model;
    const double gates = model_.gated_mlp ? 2 : 1;
    const auto dense = [&](std::vector<LayerProduct>& out, int64_t width) {
      out.push_back({"mlp.wi", d, width, model_.gated_mlp ? SavedValue::kMlpWi0 : SavedValue::kMlpWi, true,
                     false, 1, gates});
      out.push_back({"mlp.wo", width, d, SavedValue::kMlpWo, model_.post_norms, false, 1, 1});
    };
    std::vector<LayerProduct> out;
    if (!model_.moe || !model_.is_sparse(layer)) {
      dense(out, model_.d_ff);
      return out;
    }
    const MoeConfig& moe = *model_.moe;
    const bool slots = moe.dispatch == MoeConfig::Dispatch::kCapacity;
    const double rows = static_cast<double>(moe.top_k) * (slots ? moe.capacity_factor : 1);
    out.push_back({"router", d, moe.experts, SavedValue::kMlpWi0});
    out.push_back({"experts.wi", d, moe.d_ff, SavedValue::kMlpWi0, true, true, rows,
                   gates * static_cast<double>(moe.experts)});
    out.push_back(
        {"experts.wo", moe.d_ff, d, SavedValue::kMlpWo, true, true, rows, static_cast<double>(moe.experts)});
    if (moe.shared_experts > 0) dense(out, moe.d_ff_shared);
    return out;
  }

  bool keeps_result(const LayerProduct& product) const {
    if (keeps(product.value)) return true;
    if (product.value == SavedValue::kMlpWi0) return keeps(SavedValue::kMlpWi);
    const bool is_qkv = product.value == SavedValue::kQueryProj || product.value == SavedValue::kKeyProj ||
                        product.value == SavedValue::kValueProj;
    return is_qkv && keeps(SavedValue::kQkvProj);
  }

  void count_layer(int64_t layer) {
    for (LayerProduct product : attention_products(layer)) {
      if (product.value == SavedValue::kOutProj) product.needed = !model_.parallel_block;
      layer_product(product);
    }
    layer_attention(layer);
    for (const LayerProduct& product : mlp_products(layer)) layer_product(product);
    if (model_.moe && model_.is_sparse(layer)) dispatch();
    layer_vector(layer);
    layer_collectives();
    offload(layer);
  }

  /// Columns of most parameters are cut by the tensor axis, rows of those that lead back to d_model.
  void layer_product(const LayerProduct& product) {
    const bool rows_cut = product.n == model_.d_model && product.k != model_.d_model;
    const bool is_whole = product.name == "router" || product.name.ends_with("_down");
    const int64_t n = rows_cut || is_whole ? product.n : ceil_divide(product.n, tensor_);
    const int64_t k = rows_cut && !is_whole ? ceil_divide(product.k, tensor_) : product.k;
    const StepCategory category = product.grouped ? StepCategory::kExperts : StepCategory::kProducts;
    const double m = work_.tokens * product.rows;
    const double per_row =
        product.grouped ? product.copies / static_cast<double>(model_.moe->experts) : product.copies;
    const std::string name(product.name);
    const int64_t columns = std::llround(static_cast<double>(n) * per_row);
    const ElementType type = name == "router" ? options_.compute_type : quantized_;
    add_product(category, StepStage::kForward, name + ", forward", m, columns, k, type);
    const double array = static_cast<double>(k) * static_cast<double>(n) * product.copies;
    work_.parameters += array / weight_parts();
    const double bytes = array / static_cast<double>(product.grouped ? experts_axis_ : 1) *
                         bytes_of(options_.cast_before_gather ? options_.compute_type : options_.param_type);
    const Names axes = gathered_axes(product.grouped);
    add_collective(StepStage::kForward, name + ", gather", CollectiveKind::kAllGather, axes, bytes, false);
    if (!trains()) return;
    if (product.needed && !keeps_result(product))
      add_product(category, StepStage::kBackward, name + ", again", m, columns, k, type);
    add_product(category, StepStage::kBackward, name + ", gradient of input", m, k, columns, type);
    add_product(category, StepStage::kBackward, name + ", gradient of parameter", static_cast<double>(k),
                columns, std::max<int64_t>(1, std::llround(m)), type);
    add_collective(StepStage::kBackward, name + ", gather", CollectiveKind::kAllGather, axes, bytes, false);
    add_collective(
        StepStage::kBackward, name + ", scatter", CollectiveKind::kReduceScatter, axes,
        array / static_cast<double>(product.grouped ? experts_axis_ : 1) * bytes_of(options_.compute_type),
        false);
  }

  double weight_parts() const {
    double parts = 1;
    for (const std::string& name : weight_axes_) parts *= static_cast<double>(axis(name));
    return parts;
  }
  /// Experts stay where they are along their own axis.
  Names gathered_axes(bool grouped) const {
    Names axes = weight_axes_;
    if (grouped) std::erase(axes, "expert");
    return axes;
  }

  void layer_attention(int64_t layer) {
    AttentionProblem problem;
    const Heads heads = heads_of(layer);
    const double sequences =
        work_.tokens * static_cast<double>(length_parts()) / static_cast<double>(options_.sequence);
    problem.batch = std::max<int64_t>(1, std::llround(sequences));
    problem.heads = std::max<int64_t>(1, ceil_divide(heads.queries, tensor_));
    problem.kv_heads = std::max<int64_t>(1, ceil_divide(heads.keys, tensor_));
    if (problem.heads % problem.kv_heads != 0) problem.kv_heads = problem.heads;
    problem.keys = options_.sequence;
    problem.queries = options_.sequence;
    problem.head_size = problem.value_size = heads.size;
    if (const auto& latent = model_.attention.latent)
      problem.head_size = latent->nope_dim + latent->rope_dim, problem.value_size = latent->value_dim;
    problem.causal = true;
    if (!is_global(layer) && model_.attention.window > 0) problem.window = model_.attention.window;
    problem.known_maximum = options_.tiles.known_maximum;
    problem.base2 = options_.tiles.tokamax;
    problem.masks_all = !options_.tiles.tokamax;
    problem.residuals = true;
    const auto pass = [&](StepStage part, std::string name, AttentionPass which) {
      StepPiece piece{StepCategory::kAttention, part, std::move(name)};
      piece.pass = which, piece.attention = problem;
      piece.times = 1.0 / static_cast<double>(length_parts());  // masks are shared out evenly
      add(std::move(piece));
    };
    pass(StepStage::kForward, "attention, forward", AttentionPass::kForward);
    if (!trains()) return;
    if (!keeps(SavedValue::kContext)) pass(StepStage::kBackward, "attention, again", AttentionPass::kForward);
    if (options_.tiles.fused_backward) {
      pass(StepStage::kBackward, "attention, backward", AttentionPass::kBackward);
    } else {
      pass(StepStage::kBackward, "attention, backward of k and v", AttentionPass::kBackwardKv);
      pass(StepStage::kBackward, "attention, backward of q", AttentionPass::kBackwardQ);
    }
  }

  int64_t length_parts() const { return axis("sequence") * axis("context"); }

  /// Tokens change places twice: to their experts' rows and back. With slots, by products with one-hot rows.
  void dispatch() {
    const MoeConfig& moe = *model_.moe;
    const double d = static_cast<double>(model_.d_model), type = bytes_of(options_.compute_type);
    const double rows = work_.tokens * static_cast<double>(moe.top_k);
    if (moe.dispatch == MoeConfig::Dispatch::kDropless) {
      const double moved = 4 * rows * d * type;  // there and back, each read and written
      add_bytes(StepCategory::kExperts, StepStage::kForward, "experts, dispatch", moved);
      if (trains()) add_bytes(StepCategory::kExperts, StepStage::kBackward, "experts, dispatch", 2 * moved);
    } else {
      const auto slots = static_cast<int64_t>(moe.capacity_factor * static_cast<double>(moe.top_k) *
                                              static_cast<double>(options_.sequence));
      const int64_t k = options_.sequence;  // of one sequence: [slots, seq] x [seq, d]
      const double m = work_.tokens / static_cast<double>(k) * static_cast<double>(slots);
      for (const std::string name : {"experts, dispatch", "experts, combine"}) {
        add_product(StepCategory::kExperts, StepStage::kForward, name, m, model_.d_model, k,
                    options_.compute_type);
        if (!trains()) continue;
        for (const std::string part : {", again", ", gradient of tokens", ", gradient of weights"})
          add_product(StepCategory::kExperts, StepStage::kBackward, name + part, m, model_.d_model, k,
                      options_.compute_type);
      }
    }
    if (experts_axis_ > 1) between_experts(rows * d * type, work_.tokens * d * type);
  }

  /// Rows of a device there and back; in a ring of experts the tokens of all devices, and the sums of them.
  void between_experts(double rows, double tokens) {
    const double all = tokens * static_cast<double>(experts_axis_);
    for (const StepStage part : {StepStage::kForward, StepStage::kBackward}) {
      if (part == StepStage::kBackward && !trains()) break;
      if (options_.ring_of_experts) {
        add_collective(part, "experts, tokens there", CollectiveKind::kAllGather, {"expert"}, all, true);
        add_collective(part, "experts, tokens back", CollectiveKind::kReduceScatter, {"expert"}, all, true);
        continue;
      }
      for (const std::string name : {"experts, tokens there", "experts, tokens back"})
        add_collective(part, name, CollectiveKind::kAllToAll, {"expert"}, rows, true);
    }
  }

  /// Arrays of a layer that are read or written between products and kernels.
  void layer_vector(int64_t layer) {
    const double type = bytes_of(options_.compute_type);
    const double stream = work_.tokens * static_cast<double>(model_.d_model) * type;
    const Heads heads = heads_of(layer);
    const double rotated = work_.tokens * type *
                           static_cast<double>((heads.queries + heads.keys) * heads.size) /
                           static_cast<double>(tensor_);
    double width = static_cast<double>(model_.d_ff);
    if (model_.moe && model_.is_sparse(layer))
      width = static_cast<double>(model_.moe->top_k * model_.moe->d_ff + model_.moe->d_ff_shared);
    const double gated = work_.tokens * width * type / static_cast<double>(tensor_);
    const double norms = (model_.parallel_block ? 1 : 2) + (model_.post_norms ? 2 : 0);
    const double forward = norms * 2 * stream + 2 * rotated;  // each read and written
    add_bytes(StepCategory::kVector, StepStage::kForward, "norms and rotation, forward", forward);
    if (!trains()) return;
    add_bytes(StepCategory::kVector, StepStage::kBackward, "norms and rotation, again", forward);
    // A norm reads its input and what comes back, and writes; the residual's gradient is added.
    add_bytes(StepCategory::kVector, StepStage::kBackward, "norms and rotation, backward",
              norms * 3 * stream + 2 * stream + 2 * rotated);
    const double gates = model_.gated_mlp ? 2 : 1;
    add_bytes(StepCategory::kVector, StepStage::kBackward, "gates, backward", (2 * gates + 1) * gated);
  }

  /// Partial sums along the tensor axis: after the products that lead back to d_model, and in the backward
  /// pass after those that leave it.
  void layer_collectives() {
    if (tensor_ == 1 && axis("context") == 1) return;
    const double stream =
        work_.tokens * static_cast<double>(model_.d_model) * bytes_of(options_.compute_type);
    const double sums = model_.parallel_block ? 1 : 2;
    if (tensor_ > 1)
      for (const StepStage part : {StepStage::kForward, StepStage::kBackward}) {
        if (part == StepStage::kBackward && !trains()) continue;
        // What is computed again needs the sum after attention again.
        const bool again =
            part == StepStage::kBackward && !model_.parallel_block && !keeps(SavedValue::kOutProj);
        for (int i = 0; i < static_cast<int>(sums) + (again ? 1 : 0); ++i)
          add_collective(part, "sum of activations", CollectiveKind::kAllReduce, {"tensor"}, stream, true);
      }
    if (axis("context") > 1) {
      const double keys = 2 * work_.tokens * static_cast<double>(axis("context")) *
                          static_cast<double>(model_.kv_heads * model_.head_dim) *
                          bytes_of(options_.compute_type) / static_cast<double>(tensor_);
      add_collective(StepStage::kForward, "keys and values", CollectiveKind::kAllGather, {"context"}, keys,
                     true);
      if (trains())
        add_collective(StepStage::kBackward, "gradients of keys and values", CollectiveKind::kReduceScatter,
                       {"context"}, keys, true);
    }
  }

  void offload(int64_t layer) {
    if (!trains()) return;
    const Heads heads = heads_of(layer);
    const auto width = [&](SavedValue value) -> int64_t {
      switch (value) {
        case SavedValue::kQueryProj:
        case SavedValue::kContext:
          return heads.queries * heads.size / tensor_;
        case SavedValue::kKeyProj:
        case SavedValue::kValueProj:
          return heads.keys * heads.size / tensor_;
        case SavedValue::kQkvProj:
          return model_.fused_qkv ? (heads.queries + 2 * heads.keys) * heads.size / tensor_ : 0;
        case SavedValue::kMlpWi:
          return model_.gated_mlp ? 0 : model_.d_ff / tensor_;
        case SavedValue::kMlpWi0:
        case SavedValue::kMlpWi1:
          return model_.gated_mlp ? model_.d_ff / tensor_ : 0;
        case SavedValue::kDecoderLayerInput:
        case SavedValue::kOutProj:
        case SavedValue::kMlpWo:
          return model_.d_model;
      }
      return 0;
    };
    double bytes = 0;
    for (size_t i = 0; i < kSavedValues; ++i)
      if (const auto value = static_cast<SavedValue>(i); offloads(value))
        bytes += work_.tokens * static_cast<double>(width(value)) * bytes_of(options_.compute_type);
    add_bytes(StepCategory::kHost, StepStage::kForward, "values to the host", bytes);
    add_bytes(StepCategory::kHost, StepStage::kBackward, "values from the host", bytes);
  }

  // ── beside the layers ──

  void ends() {
    const int64_t vocab = ceil_divide(model_.vocab, tensor_), d = model_.d_model;
    const double array = static_cast<double>(vocab) * static_cast<double>(d);
    const double tokens = options_.kind == StepKind::kPrefill
                              ? work_.tokens / static_cast<double>(options_.sequence)
                              : work_.tokens;
    const ElementType type = options_.compute_type;
    const int64_t rows = std::max<int64_t>(1, std::llround(tokens));
    work_.parameters += array / weight_parts() * (model_.tied_embeddings ? 1 : 2);
    add_product(StepCategory::kLoss, StepStage::kLoss, "logits", tokens, vocab, d, type);
    if (options_.one_hot_embedding)
      add_product(StepCategory::kLoss, StepStage::kLoss, "embedding", work_.tokens, d, vocab, type);
    if (trains()) {
      if (options_.vocab_tiles > 1)
        add_product(StepCategory::kLoss, StepStage::kLoss, "logits, again", tokens, vocab, d, type);
      add_product(StepCategory::kLoss, StepStage::kLoss, "logits, gradient of input", tokens, d, vocab, type);
      add_product(StepCategory::kLoss, StepStage::kLoss, "logits, gradient of parameter",
                  static_cast<double>(vocab), d, rows, type);
      if (options_.one_hot_embedding)
        add_product(StepCategory::kLoss, StepStage::kLoss, "embedding, gradient", static_cast<double>(vocab),
                    d, rows, type);
      // Written, read for the maximum and the sum, read and written for the gradient.
      add_bytes(StepCategory::kLoss, StepStage::kLoss, "softmax",
                4 * tokens * static_cast<double>(vocab) * bytes_of(ElementType::kF32));
    }
    const double bytes = array * bytes_of(type);
    for (const std::string name : {"embedding, gather", "logits, gather"})
      add_collective(StepStage::kLoss, name, CollectiveKind::kAllGather, weight_axes_, bytes, false);
    if (trains())
      for (const std::string name : {"embedding, scatter", "logits, scatter"})
        add_collective(StepStage::kLoss, name, CollectiveKind::kReduceScatter, weight_axes_, bytes, false);
  }

  void update() {
    const double moments = bytes_of(options_.optimizer.mu_type) + bytes_of(options_.optimizer.nu_type);
    const double gradient = bytes_of(options_.grad_type);
    const double clip = options_.optimizer.clip_norm > 0 ? gradient : 0;
    add_bytes(StepCategory::kOptimizer, StepStage::kUpdate, "optimizer",
              work_.parameters * (2 * moments + 2 * bytes_of(options_.param_type) + gradient + clip));
    if (axis("data") > 1)
      add_collective(StepStage::kBackward, "sum of gradients", CollectiveKind::kAllReduce, {"data"},
                     work_.parameters * bytes_of(options_.compute_type), false);
  }

  const ModelConfig& model_;
  const StepOptions& options_;
  int64_t tensor_ = 1, experts_axis_ = 1;
  ElementType quantized_{};
  Names weight_axes_;
  StepWork work_;
};

}  // namespace

std::string_view to_text(StepCategory category) {
  switch (category) {
    case StepCategory::kProducts:
      return "products";
    case StepCategory::kExperts:
      return "experts";
    case StepCategory::kAttention:
      return "attention";
    case StepCategory::kVector:
      return "vector";
    case StepCategory::kLoss:
      return "loss";
    case StepCategory::kOptimizer:
      return "optimizer";
    case StepCategory::kCollective:
      return "collectives";
    case StepCategory::kHost:
      return "host";
  }
  return "?";
}

double StepPiece::flops() const {
  return 2 * static_cast<double>(product.m) * static_cast<double>(product.n) *
         static_cast<double>(product.k) * static_cast<double>(product.batch) * times;
}

StepWork step_work(const ModelConfig& model, const StepOptions& options) {
  return Counter(model, options).count();
}

}  // namespace hlosim
