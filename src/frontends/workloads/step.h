// One step of a language model as a plain HLO module, as a framework would hand it to the compiler: global
// shapes, nothing lowered or fused, and shardings by mesh axes on the parameters and on the activations that
// MaxText constrains.
//
//   Result<ModelConfig> model = read_model_config(source);  // examples/models/llama2-7b.yaml
//   StepOptions options{.mesh = mesh, .batch = 64, .sequence = 2048};
//   Result<Module> module = make_step(*model, options);     // verified
//
// What runs is in docs/models.md. Errors are diagnostics: sizes that don't go together, meshes that don't
// divide what they cut, options that a kind of step doesn't have.
#pragma once

#include "base/source.h"
#include "hlo/module.h"
#include "workloads/model_config.h"
#include "workloads/step_options.h"

namespace hlosim {

/// The model as servers keep it on this mesh: fewer heads of keys and values than `tensor` has devices are
/// repeated, one for each.
ModelConfig served_model(const ModelConfig& model, const Mesh& mesh);

/// The module, verified. Errors name the option or the field of the model.
Result<Module> make_step(const ModelConfig& model, const StepOptions& options);

}  // namespace hlosim
