#include "workloads/layer.h"

#include <cmath>
#include <numbers>

namespace hlosim {
namespace {

Expr mean_last(ExpressionGraph& graph, Expr x) {
  const int64_t last = graph.rank(x) - 1;
  const auto size = static_cast<double>(graph.dims(x).back());
  return scale(graph, reduce_sum(graph, x, {last}), 1 / size);
}

Expr centred(ExpressionGraph& graph, Expr x) {
  const Dims dims = graph.dims(x);
  return subtract(graph, x, along(graph, mean_last(graph, x), dims, graph.rank(x) - 1));
}

/// x / sqrt(mean(x²) + epsilon), in the wide type.
Expr normed(const LayerScope& scope, Expr x) {
  ExpressionGraph& graph = scope.graph;
  const Dims dims = graph.dims(x);
  const Expr squares = mean_last(graph, multiply(graph, x, x));
  const Expr factor = inverse_square_root(graph, shift(graph, squares, scope.model.norm_epsilon));
  return multiply(graph, x, along(graph, factor, dims, graph.rank(x) - 1));
}

Expr scaled(const LayerScope& scope, Expr x, const std::string& name) {
  ExpressionGraph& graph = scope.graph;
  const Dims dims = graph.dims(x);
  x = multiply(graph, x, along_last(graph, scope.parameter(name + ".scale"), dims));
  if (scope.has(name + ".bias")) x = add(graph, x, along_last(graph, scope.parameter(name + ".bias"), dims));
  return x;
}

/// sqrt(2 / pi) (x + 0.044715 x³)
Expr gelu(ExpressionGraph& graph, Expr x) {
  const Expr cube = multiply(graph, multiply(graph, x, x), x);
  const Expr inner =
      scale(graph, add(graph, x, scale(graph, cube, 0.044715)), std::sqrt(2 / std::numbers::pi));
  const Expr share = shift(graph, tangent_hyperbolic(graph, inner), 1);
  return scale(graph, multiply(graph, x, share), 0.5);
}

/// Values times the scales of blocks of them; both have the same dimensions but for the one with the blocks.
Expr times_blocks(ExpressionGraph& graph, Expr values, Expr scales) {
  const Dims whole = graph.dims(values), blocks = graph.dims(scales);
  Dims cut, places;
  for (size_t i = 0; i < whole.size(); ++i) {
    places.push_back(static_cast<int64_t>(cut.size()));
    cut.push_back(blocks[i]);
    if (blocks[i] != whole[i]) cut.push_back(whole[i] / blocks[i]);
  }
  if (cut.size() == whole.size()) return multiply(graph, values, scales);
  const Expr parts = reshape(graph, values, cut);
  return reshape(graph, multiply(graph, parts, broadcast(graph, scales, cut, places)), whole);
}

}  // namespace

Expr LayerScope::stored(std::string_view name) const {
  const auto found = parameters.find(name);
  HLOSIM_CHECK(found != parameters.end(), "the layer has no parameter {}", name);
  return found->second;
}
Expr LayerScope::parameter(std::string_view name) const {
  const Expr value = convert(graph, stored(name), type());
  const std::string scale = scale_of(name);
  if (!has(scale)) return value;
  // Of experts [e, in, out] each has its own scales [e, out].
  const Dims dims = graph.dims(value);
  const Expr scales = convert(graph, stored(scale), type());
  if (options.weight_block > 0) return times_blocks(graph, value, scales);
  const int64_t rank = graph.rank(value), missing = rank - graph.rank(scales);
  Dims places;
  for (int64_t i = 0; i < graph.rank(scales); ++i)
    places.push_back(name.starts_with("moe.") && i == 0 ? 0 : i + missing);
  return multiply(graph, value, broadcast(graph, scales, dims, places));
}

Expr norm(const LayerScope& scope, Expr x, const std::string& name) {
  ExpressionGraph& graph = scope.graph;
  x = convert(graph, x, scope.wide());
  if (scope.model.norm == NormKind::kLayer) x = centred(graph, x);
  return scaled(scope, convert(graph, normed(scope, x), scope.type()), name);
}

Expr rms_norm(const LayerScope& scope, Expr x, const std::string& name) {
  const Expr wide = convert(scope.graph, x, scope.wide());
  return scaled(scope, convert(scope.graph, normed(scope, wide), scope.type()), name);
}

Expr with_bias(const LayerScope& scope, Expr x, const std::string& name) {
  if (!scope.has(name)) return x;
  ExpressionGraph& graph = scope.graph;
  const Expr bias = scope.parameter(name);
  Dims places;
  for (int64_t i = graph.rank(x) - graph.rank(bias); i < graph.rank(x); ++i) places.push_back(i);
  return add(graph, x, broadcast(graph, bias, Dims(graph.dims(x)), places));
}

Expr gathered(ExpressionGraph& graph, Expr value, const ParameterSpec& spec, const AxisRules& rules) {
  if (!rules.sharded()) return value;
  AxisSharding whole = rules.axes(spec.axes);
  const auto is_gathered = [&](const AxisPart& part) {
    return rules.mesh().axes[part.axis].name.starts_with("fsdp");
  };
  for (auto& parts : whole.dimensions) std::erase_if(parts, is_gathered);
  return with_sharding(graph, value, sharding_text(rules.mesh(), whole), false);
}

Expr project(const LayerScope& scope, Expr x, const std::string& name, int64_t shared) {
  ExpressionGraph& graph = scope.graph;
  DotDims dims;
  for (int64_t i = 0; i < shared; ++i) {
    dims.lhs.push_back(graph.rank(x) - shared + i);
    dims.rhs.push_back(i);
  }
  if (scope.has(scale_of(name)) && scope.options.weight_block == 0) return stored_dot(scope, x, name, dims);
  const Expr weights = scope.parameter(name);
  return scope.options.quantization == Quantization::kNone
             ? dot(graph, x, weights, dims)
             : quantized_dot(graph, x, weights, dims, scope.options.quantization);
}

Expr activate(const LayerScope& scope, Expr x) {
  ExpressionGraph& graph = scope.graph;
  switch (scope.model.activation) {
    case Activation::kSilu:
      return multiply(graph, x, logistic(graph, x));
    case Activation::kGelu:
      return gelu(graph, x);
    case Activation::kRelu:
      return maximum(graph, x, full_like(graph, x, 0));
    case Activation::kSigmoid:
      return logistic(graph, x);
  }
  return x;
}

Expr dense_mlp(const LayerScope& scope, Expr x, const std::string& name) {
  ExpressionGraph& graph = scope.graph;
  graph.set_scope("mlp");
  const auto in = [&](const std::string& which, SavedValue value) {
    const Expr made = with_bias(scope, project(scope, x, name + "." + which), name + "." + which + "_bias");
    return graph.named(made, value);
  };
  Expr hidden;
  if (scope.model.gated_mlp) {
    const Expr gate = in("wi_0", SavedValue::kMlpWi0), up = in("wi_1", SavedValue::kMlpWi1);
    hidden = multiply(graph, activate(scope, gate), up);
  } else {
    hidden = activate(scope, in("wi", SavedValue::kMlpWi));
  }
  hidden = scope.constrained(hidden, {Axis::kBatch, Axis::kLength, Axis::kActMlp});
  const Expr out = with_bias(scope, project(scope, hidden, name + ".wo"), name + ".wo_bias");
  return graph.named(out, SavedValue::kMlpWo);
}

Expr decoder_layer(LayerScope& scope, Expr x) {
  ExpressionGraph& graph = scope.graph;
  graph.set_scope("layer");
  x = graph.named(scope.residual(x), SavedValue::kDecoderLayerInput);
  const Expr normed_input = scope.residual(norm(scope, x, "attention_norm"));
  Expr attended = scope.residual(attention(scope, normed_input));
  graph.set_scope("layer");
  if (scope.model.post_norms) attended = norm(scope, attended, "attention_post_norm");
  if (scope.model.parallel_block) {
    const Expr mlp = scope.residual(dense_mlp(scope, normed_input, "mlp"));
    graph.set_scope("layer");
    return scope.residual(add(graph, add(graph, attended, mlp), x));
  }
  x = add(graph, x, attended);
  const Expr mlp_input = scope.residual(norm(scope, x, "mlp_norm"));
  Expr made =
      scope.model.is_sparse(scope.layer) ? sparse_mlp(scope, mlp_input) : dense_mlp(scope, mlp_input, "mlp");
  made = scope.residual(made);
  graph.set_scope("layer");
  if (scope.model.post_norms) made = norm(scope, made, "mlp_post_norm");
  return scope.residual(add(graph, x, made));
}

}  // namespace hlosim
