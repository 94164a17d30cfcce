// The forward of one layer as expressions.
//
//   LayerScope scope(graph, model, options, rules, layer, parameters);
//   const Expr out = decoder_layer(scope, x);                      // [batch, length, d_model]
//
// Activations are [batch, length, …]. Norms, softmax and gates are computed in f32 (in f64 where the layer
// is).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/axis_rules.h"
#include "workloads/expression_graph.h"
#include "workloads/model_config.h"
#include "workloads/model_operations.h"
#include "workloads/parameters.h"
#include "workloads/step_options.h"

namespace hlosim {

/// The scales of weights that are stored in a narrow type.
inline std::string scale_of(std::string_view name) { return std::string(name) + "_scale"; }

/// Parameters of a layer by name, as they are stored.
using ParameterMap = std::map<std::string, Expr, std::less<>>;

/// What the parts of a layer are made with.
struct LayerScope {
  ExpressionGraph& graph;
  const ModelConfig& model;
  const StepOptions& options;
  const AxisRules& rules;
  int64_t layer = 0;
  ParameterMap parameters{};
  // Serving: the cache's keys and values [batch, sequence, heads, size] of before, or latents [batch,
  // sequence, rank] and the keys' rotary part [batch, sequence, size]; and the first new position.
  std::optional<Expr> cached_keys{}, cached_values{}, position{};
  // Caches of pages [pages, tokens of a page, …]: those of each request s32[batch, pages of a request], and
  // the token of the pool that each request writes, s32[batch]; `position` is s32[batch] then.
  std::optional<Expr> page_table{}, slots{};
  Expr new_keys{}, new_values{};  // what attention has made of this step's tokens, for the cache

  ElementType type() const { return options.compute_type; }
  /// Of norms and softmax.
  ElementType wide() const {
    return options.compute_type == ElementType::kF64 ? ElementType::kF64 : ElementType::kF32;
  }
  bool has(std::string_view name) const { return parameters.find(name) != parameters.end(); }
  /// In the layer's type, times its scales where it has some.
  Expr parameter(std::string_view name) const;
  Expr stored(std::string_view name) const;
  Expr constrained(Expr value, const std::vector<Axis>& axes) const {
    return with_sharding(graph, value, rules.sharding(axes));
  }
  Expr residual(Expr value) const { return constrained(value, {Axis::kBatch, Axis::kLength, Axis::kHidden}); }
};

Expr decoder_layer(LayerScope& scope, Expr x);

// ── parts ──

/// RMS or layer norm along the last dimension, with the scale `name`.scale (and `name`.bias).
Expr norm(const LayerScope& scope, Expr x, const std::string& name);
/// RMS whatever the model's norms are.
Expr rms_norm(const LayerScope& scope, Expr x, const std::string& name);
/// The parameter with every axis of its sharding gone that begins with fsdp; gradients are as they come.
Expr gathered(ExpressionGraph& graph, Expr value, const ParameterSpec& spec, const AxisRules& rules);
/// A product of activations with the parameter `name`, quantized where the options say so; `shared`
/// dimensions of x's end meet the first ones of the parameter.
Expr project(const LayerScope& scope, Expr x, const std::string& name, int64_t shared = 1);
/// With the bias `name`, if there is one, along the last dimensions.
Expr with_bias(const LayerScope& scope, Expr x, const std::string& name);
Expr activate(const LayerScope& scope, Expr x);
/// From the normed input to what is added to the residual.
Expr attention(LayerScope& scope, Expr x);
Expr dense_mlp(const LayerScope& scope, Expr x, const std::string& name);
Expr sparse_mlp(const LayerScope& scope, Expr x);

/// Queries [b, l, heads, size], keys [b, s, kv heads, size], values [b, s, kv heads, value size] to
/// [b, l, heads, value size]; `first` is the position of the first query (none: 0), one for all or s32[b].
struct AttentionInputs {
  Expr queries, keys, values;
  int64_t window = 0;  // 0: full
  std::optional<Expr> first{}, sinks{};
};
Expr plain_attention(const LayerScope& scope, const AttentionInputs& inputs);
Expr kernel_attention(const LayerScope& scope, const AttentionInputs& inputs);

/// x times the parameter `name`, which is stored in a narrow type and has scales for what comes out: in that
/// type where the options quantize products, else with widened weights. No gradient.
Expr stored_dot(const LayerScope& scope, Expr x, const std::string& name, const DotDims& dims);

/// a x b in s8 or f8, scaled back to a's type; gradients are such products too.
Expr quantized_dot(ExpressionGraph& graph, Expr a, Expr b, const DotDims& dims, Quantization quantization);

}  // namespace hlosim
