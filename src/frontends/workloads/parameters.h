// The parameters of a model: names, sizes, and what their dimensions are to a mesh.
//
//   for (const ParameterSpec& spec : layer_parameters(model, 0)) …    // "attention.query", {4096, 32, 128}
//   for (const ParameterSpec& spec : outer_parameters(model, 2048)) … // "embedding", "final_norm", "head", …
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "workloads/axis_rules.h"
#include "workloads/model_config.h"

namespace hlosim {

struct ParameterSpec {
  std::string name;
  Dims dims;
  std::vector<Axis> axes;  // of each dimension
  bool counted = true;     // no norm, bias or position table
  bool of_experts = false;
  ElementType type = ElementType::kInvalid;  // as stored; kInvalid: the step's param_type
};

/// Of one layer.
std::vector<ParameterSpec> layer_parameters(const ModelConfig& model, int64_t layer);
/// The dimension of a product's weights in whose blocks scales may be: the last one that is summed over.
size_t blocked_dimension(const ParameterSpec& weights);
/// The same as a server stores them: weights of products in `type`, and behind each one `NAME_scale`, f32,
/// one for each output, or with `block` > 0 one for each output and each `block` of blocked_dimension().
/// kInvalid: as layer_parameters(). Requires: `block` divides all of these dimensions.
std::vector<ParameterSpec> stored_parameters(const ModelConfig& model, int64_t layer, ElementType type,
                                             int64_t block = 0);
/// Is it stored in a narrow type where weights are?
bool is_stored_narrow(const ParameterSpec& spec);
/// Of everything around the layers. `positions`: rows of a learned table where the model doesn't say.
std::vector<ParameterSpec> outer_parameters(const ModelConfig& model, int64_t positions);

/// What joins the last layer's output and the next tokens' embeddings for the layer that predicts ahead.
std::vector<ParameterSpec> ahead_parameters(const ModelConfig& model);

/// Heads as a layer has them.
struct HeadSizes {
  int64_t q_heads = 0, kv_heads = 0;
  int64_t head_dim = 0, value_dim = 0;
  bool shares_kv = false;  // values are the keys' projection
};
HeadSizes head_sizes(const ModelConfig& model, int64_t layer);

/// Layers that run alike, one after the other: `repeats` times the same `period` layers.
struct LayerGroup {
  int64_t first = 0, period = 1, repeats = 1;
};
/// The fewest layers to write, each group counted as one more: dense layers before sparse ones, patterns of
/// windows however they are spelled (LG, LGLGLG), what is left over. Among equals the fewest groups.
std::vector<LayerGroup> layer_groups(const ModelConfig& model);

}  // namespace hlosim
