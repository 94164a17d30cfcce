// Attention as the TPU kernel that frameworks call: its operands, results and notes, so that it is costed by
// its blocks (model/pallas) and run by what its notes say of the mask (evaluate/custom_calls).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "workloads/gradients.h"
#include "workloads/layer.h"
#include "workloads/manual_region.h"

namespace hlosim {
namespace {

using AttrKind = ExpressionAttr::Kind;

constexpr int64_t kLanes = 128;       // that a row of residuals is repeated in
constexpr int64_t kSublanes = 8;      // the same for gradients
constexpr int64_t kUsualBlock = 512;  // what kernels take where nothing is said

/// One call and its gradients; everything in it is one device's.
struct KernelProblem {
  const StepOptions& options;
  double soft_cap = 0;
  int64_t window = 0;
  bool splash = true;
};

/// A block that the sequence has room for and that divides it.
int64_t block(int64_t wanted, int64_t length) {
  int64_t size = std::min(wanted > 0 ? wanted : kUsualBlock, length);
  while (size > 1 && length % size != 0) size /= 2;
  return size;
}

/// Blocks of queries x keys that a causal mask and a window leave. A device with some of the queries has its
/// share of all blocks, as if they were dealt out evenly.
int64_t active_blocks(int64_t queries, int64_t keys, int64_t q, int64_t kv, int64_t window) {
  int64_t count = 0;
  for (int64_t first = 0; first < keys; first += q) {
    const int64_t end = std::min(keys, first + q);  // the last query sees keys before it
    const int64_t begin = window == 0 ? 0 : std::max<int64_t>(first - window + 1, 0);
    count += (end - 1) / kv - begin / kv + 1;
  }
  return std::max<int64_t>(count * queries / keys, 1);
}

std::string pass_suffix(bool backward) { return backward ? "_dkv" : ""; }

/// The kernel's notes as its authors write them.
ExpressionAttr metadata(const KernelProblem& problem, int64_t q, int64_t kv, int64_t compute, bool backward,
                        bool queries_only) {
  const std::string suffix = queries_only ? "_dq" : pass_suffix(backward);
  const AttentionTiles& tiles = problem.options.tiles;
  std::string notes =
      fmt::format("\\\"block_q{0}\\\": {1}, \\\"block_kv{0}\\\": {2}, \\\"block_kv{0}_compute\\\": {3}",
                  suffix, q, kv, compute);
  const auto layout = [&](const char* name, bool minor) {
    notes += fmt::format(", \\\"{}_layout\\\": {}", name, minor ? 2 : 1);
  };
  layout("q", tiles.q_sequence_minor), layout("k", tiles.k_sequence_minor),
      layout("v", tiles.v_sequence_minor);
  if (problem.soft_cap > 0) notes += fmt::format(", \\\"attn_logits_soft_cap\\\": {}", problem.soft_cap);
  if (tiles.tokamax) {
    if (!backward) notes += ", \\\"use_base2_exp\\\": true";
    notes += ", \\\"use_experimental_scheduler\\\": false";
  }
  if (tiles.known_maximum) notes += ", \\\"max_logit_const\\\": 30.0";
  return {AttrKey::kFrontendAttributes,
          AttrKind::kBraces,
          {},
          fmt::format("{{kernel_metadata={{\"xprof_metadata\":\"{{{}}}\"}}}}", notes)};
}

/// What the kernel is, and what it computes: the blocks on an average device.
ExpressionAttr config(const KernelProblem& problem, std::string_view name, int64_t blocks) {
  const AttentionTiles& tiles = problem.options.tiles;
  return {AttrKey::kBackendConfig,
          AttrKind::kBraces,
          {},
          fmt::format("{{\"kernel_name\":\"{}\",\"attention_mask\":{{\"causal\":true,\"window\":{},"
                      "\"soft_cap\":{},\"active_blocks\":{},\"sequence_minor\":\"{}{}{}\"}}}}",
                      name, problem.window, problem.soft_cap, blocks, tiles.q_sequence_minor ? "q" : "",
                      tiles.k_sequence_minor ? "k" : "", tiles.v_sequence_minor ? "v" : "")};
}

std::string name_of(const KernelProblem& problem, std::string_view splash, std::string_view flash) {
  return std::string(problem.splash ? splash : flash);
}

/// Inputs of the kernels: [b, heads, sequence, size]; positions of the queries s32[l].
struct KernelInputs {
  Expr queries, keys, values, positions;
};

/// As the kernel takes it: the sequence last where the tiles say so.
Expr as_taken(ExpressionGraph& graph, Expr value, bool sequence_minor) {
  return sequence_minor ? transpose(graph, value, {0, 1, 3, 2}) : value;
}

Expr table(ExpressionGraph& graph, int64_t blocks) { return full(graph, ElementType::kS8, {blocks}, 0); }

/// (context, logarithm of the sum of exponentials, largest score): the last two [b, h, l, 128].
Expr forward_call(ExpressionGraph& graph, const KernelProblem& problem, const KernelInputs& in) {
  const Dims q = graph.dims(in.queries), k = graph.dims(in.keys);
  const AttentionTiles& tiles = problem.options.tiles;
  const int64_t bq = block(tiles.q, q[2]), bkv = block(tiles.kv, k[2]);
  const int64_t compute = block(tiles.kv_compute > 0 ? tiles.kv_compute : bkv, bkv);
  const Expr places = broadcast(graph, in.positions, {q[2], kLanes}, {0});
  const ElementType wide =
      graph.element(in.queries) == ElementType::kF64 ? ElementType::kF64 : ElementType::kF32;
  const ValueType rows{wide, {q[0], q[1], q[2], kLanes}, {}};
  const ValueType out{graph.element(in.queries), {q[0], q[1], q[2], graph.dims(in.values)[3]}, {}};
  const int64_t blocks = active_blocks(q[2], k[2], bq, bkv, problem.window);
  std::vector<ExpressionAttr> attrs{
      metadata(problem, bq, bkv, compute, false, false),
      config(problem, name_of(problem, "splash_mha_fwd_residuals", "flash_attention"), blocks)};
  return custom_call(graph, "tpu_custom_call",
                     {table(graph, blocks), as_taken(graph, in.queries, tiles.q_sequence_minor),
                      as_taken(graph, in.keys, tiles.k_sequence_minor),
                      as_taken(graph, in.values, tiles.v_sequence_minor), places},
                     {ElementType::kInvalid, {}, {out, rows, rows}}, attrs);
}

struct Cotangents {
  Expr sums, context, products;  // log of sums [b,h,l]; of the context; sum of context x cotangent [b,h,l]
};

std::vector<Expr> backward_operands(ExpressionGraph& graph, const AttentionTiles& tiles,
                                    const KernelInputs& in, const Cotangents& given, int64_t blocks) {
  const Dims q = graph.dims(in.queries);
  const Dims rows{q[0], q[1], kSublanes, q[2]};
  return {table(graph, blocks),
          as_taken(graph, in.queries, tiles.q_sequence_minor),
          as_taken(graph, in.keys, tiles.k_sequence_minor),
          as_taken(graph, in.values, tiles.v_sequence_minor),
          broadcast(graph, given.sums, rows, {0, 1, 3}),
          given.context,
          broadcast(graph, given.products, rows, {0, 1, 3}),
          broadcast(graph, in.positions, {kSublanes, q[2]}, {1})};
}

struct KernelGradients {
  Expr queries, keys, values;
};

KernelGradients fused_backward(ExpressionGraph& graph, const KernelProblem& problem, const KernelInputs& in,
                               const Cotangents& given) {
  const Dims q = graph.dims(in.queries), k = graph.dims(in.keys);
  const AttentionTiles& tiles = problem.options.tiles;
  const int64_t bq = block(tiles.q_dkv, q[2]), bkv = block(tiles.kv_dkv, k[2]);
  const int64_t compute = block(tiles.kv_dkv_compute > 0 ? tiles.kv_dkv_compute : bkv, bkv);
  const int64_t parts = tiles.dq_parts > 0 ? std::min(tiles.dq_parts, k[2] / bkv) : k[2] / bkv;
  const ElementType type = graph.element(in.queries);
  const ValueType dq{type, {q[0], parts, q[1], q[2], q[3]}, {}};
  const Expr call = custom_call(
      graph, "tpu_custom_call", backward_operands(graph, tiles, in, given, (q[2] / bq) * (k[2] / bkv)),
      {ElementType::kInvalid, {}, {dq, graph[in.keys].type, graph[in.values].type}},
      {metadata(problem, bq, bkv, compute, true, false),
       config(problem, name_of(problem, "splash_mha_dkv_no_residuals", "flash_attention_bwd_dkv"),
              active_blocks(q[2], k[2], bq, bkv, problem.window))});
  const ElementType wide = type == ElementType::kF64 ? type : ElementType::kF32;
  const Expr sum = reduce_sum(graph, convert(graph, element(graph, call, 0), wide), {1});
  return {convert(graph, sum, type), element(graph, call, 1), element(graph, call, 2)};
}

KernelGradients split_backward(ExpressionGraph& graph, const KernelProblem& problem, const KernelInputs& in,
                               const Cotangents& given) {
  const Dims q = graph.dims(in.queries), k = graph.dims(in.keys);
  const AttentionTiles& tiles = problem.options.tiles;
  const int64_t bq = block(tiles.q_dkv, q[2]), bkv = block(tiles.kv_dkv, k[2]);
  const int64_t compute = block(tiles.kv_dkv_compute > 0 ? tiles.kv_dkv_compute : bkv, bkv);
  const int64_t bq_dq = block(tiles.q_dq, q[2]), bkv_dq = block(tiles.kv_dq, k[2]);
  const Expr both = custom_call(
      graph, "tpu_custom_call", backward_operands(graph, tiles, in, given, (q[2] / bq) * (k[2] / bkv)),
      {ElementType::kInvalid, {}, {graph[in.keys].type, graph[in.values].type}},
      {metadata(problem, bq, bkv, compute, true, false),
       config(problem, name_of(problem, "splash_mha_dkv_no_residuals", "flash_attention_bwd_dkv"),
              active_blocks(q[2], k[2], bq, bkv, problem.window))});
  const Expr dq = custom_call(
      graph, "tpu_custom_call", backward_operands(graph, tiles, in, given, (q[2] / bq_dq) * (k[2] / bkv_dq)),
      graph[in.queries].type,
      {metadata(problem, bq_dq, bkv_dq, bkv_dq, true, true),
       config(problem, name_of(problem, "splash_mha_dq_no_residuals", "flash_attention_bwd_dq"),
              active_blocks(q[2], k[2], bq_dq, bkv_dq, problem.window))});
  return {dq, element(graph, both, 0), element(graph, both, 1)};
}

/// The kernels on whole arrays [b, h, l, size]: what is saved of them, and how gradients go round them, is
/// seen from outside of the region in which they run.
class KernelAttention {
 public:
  KernelAttention(const AxisRules& rules, const KernelProblem& problem) : rules_(rules), problem_(problem) {}

  struct Outputs {
    Expr context, sums;  // [b, h, l, size]; logarithm of the sums of exponentials [b, h, l]
  };
  Outputs make(ExpressionGraph& graph, const KernelInputs& in) const {
    const Expr call = forward_call(graph, problem_, local(graph, in));
    const Expr rows = stop_gradient(graph, element(graph, call, 1));
    const Dims dims = graph.dims(rows);
    const Expr row = reshape(graph, slice(graph, rows, 3, 0, 1), {dims[0], dims[1], dims[2]});
    Outputs out{leave(graph, element(graph, call, 0)), leave(graph, row)};
    graph.named(out.context, SavedValue::kContext);
    graph.named(out.sums, SavedValue::kContext);
    graph.at(out.sums).gradient = {};
    graph.at(out.context).gradient = [kernel = *this, in, sums = out.sums](Backward& backward, Expr self,
                                                                           Expr cotangent) {
      kernel.hand_back(backward, in, {self, sums}, cotangent);
    };
    return out;
  }

 private:
  /// The queries' cut for arrays of `rank` dimensions.
  static std::vector<Axis> cut(int64_t rank) {
    std::vector<Axis> axes{Axis::kBatch, Axis::kActHeads, Axis::kLength, Axis::kNone};
    axes.resize(static_cast<size_t>(rank));
    return axes;
  }
  Expr enter(ExpressionGraph& graph, Expr value) const {
    if (!problem_.options.manual_attention) return value;
    return ManualRegion(graph, rules_).enter(value, cut(graph.rank(value)));
  }
  Expr leave(ExpressionGraph& graph, Expr value) const {
    if (!problem_.options.manual_attention) return value;
    return ManualRegion(graph, rules_).leave(value, cut(graph.rank(value)));
  }
  std::vector<AxisPart> length_axes() const {
    if (!problem_.options.manual_attention) return {};
    const Axis length[] = {Axis::kLength};
    return rules_.axes(length).dimensions[0];
  }
  /// Each device has the keys of the whole sequence.
  KernelInputs local(ExpressionGraph& graph, const KernelInputs& in) const {
    const ManualRegion region(graph, rules_);
    const auto whole = [&](Expr value) { return region.gather(enter(graph, value), 2, length_axes()); };
    KernelInputs made{enter(graph, in.queries), whole(in.keys), whole(in.values), in.positions};
    if (problem_.options.manual_attention) made.positions = region.enter(in.positions, {Axis::kLength});
    return made;
  }
  void hand_back(Backward& backward, const KernelInputs& in, const Outputs& out, Expr cotangent) const {
    ExpressionGraph& graph = backward.graph();
    const Expr context = enter(graph, out.context), sums = enter(graph, out.sums);
    const Expr given = enter(graph, cotangent);
    const ElementType wide = graph.element(sums);
    const Expr wide_given = convert(graph, given, wide), wide_context = convert(graph, context, wide);
    Expr products = reduce_sum(graph, multiply(graph, wide_context, wide_given), {3});
    // What the sums themselves hand back acts on the scores as a smaller product does.
    if (const std::optional<Expr> of_sums = backward.so_far(out.sums))
      products = subtract(graph, products, enter(graph, *of_sums));
    const KernelInputs shards = local(graph, in);
    const KernelGradients made = problem_.options.tiles.fused_backward
                                     ? fused_backward(graph, problem_, shards, {sums, given, products})
                                     : split_backward(graph, problem_, shards, {sums, given, products});
    const ManualRegion region(graph, rules_);
    backward.add(in.queries, leave(graph, made.queries));
    backward.add(in.keys, leave(graph, region.scatter_sum(made.keys, 2, length_axes())));
    backward.add(in.values, leave(graph, region.scatter_sum(made.values, 2, length_axes())));
  }

  const AxisRules& rules_;
  KernelProblem problem_;
};

}  // namespace

Expr kernel_attention(const LayerScope& scope, const AttentionInputs& inputs) {
  ExpressionGraph& graph = scope.graph;
  const KernelProblem problem{scope.options, scope.model.attention.soft_cap, inputs.window,
                              scope.options.attention == AttentionKernel::kSplash};
  const KernelInputs in{transpose(graph, inputs.queries, {0, 2, 1, 3}),
                        transpose(graph, inputs.keys, {0, 2, 1, 3}),
                        transpose(graph, inputs.values, {0, 2, 1, 3}),
                        iota(graph, ElementType::kS32, {graph.dims(inputs.queries)[1]}, 0)};
  const KernelAttention::Outputs out = KernelAttention(scope.rules, problem).make(graph, in);
  const Expr context = transpose(graph, out.context, {0, 2, 1, 3});
  if (!inputs.sinks) return context;
  // One more logit: every share becomes smaller by sum / (sum + exp(sink)).
  const Dims dims = graph.dims(context);
  const Expr sums = transpose(graph, out.sums, {0, 2, 1});
  const Expr sink =
      along_last(graph, convert(graph, *inputs.sinks, graph.element(sums)), {dims[0], dims[1], dims[2]});
  const Expr share = logistic(graph, subtract(graph, sums, sink));
  return multiply(graph, context, along(graph, convert(graph, share, graph.element(context)), dims, 3));
}

}  // namespace hlosim
