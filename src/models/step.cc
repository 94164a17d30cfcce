#include "models/step.h"

#include <fmt/format.h>

#include "models/step_module.h"

namespace hlosim {
namespace {

std::string sizes_fault(const ModelConfig& model, const StepOptions& options) {
  constexpr int64_t kMost = 1 << 24;
  for (const auto& [name, size] : {std::pair{"batch", options.batch}, {"sequence", options.sequence}})
    if (size < 1 || size > kMost) return fmt::format("{} is {}, expected 1 to {}", name, size, kMost);
  if (options.kind != StepKind::kTrain && (options.gradients_only || options.vocab_tiles > 1))
    return "gradients and vocabulary tiles belong to training";
  if (options.vocab_tiles < 1 || options.sequence % options.vocab_tiles != 0)
    return fmt::format("a sequence of {} can't be cut into {} vocabulary tiles", options.sequence,
                       options.vocab_tiles);
  if (options.stack_axis != 0 && options.stack_axis != 1)
    return fmt::format("stack axis {}, expected 0 or 1", options.stack_axis);
  if (model.max_positions > 0 && options.sequence > model.max_positions)
    return fmt::format("a sequence of {} has more positions than the model's {}", options.sequence,
                       model.max_positions);
  return {};
}

std::string types_fault(const StepOptions& options) {
  for (const auto& [name, type] : {std::pair{"compute", options.compute_type},
                                   {"param", options.param_type},
                                   {"grad", options.grad_type},
                                   {"mu", options.optimizer.mu_type},
                                   {"nu", options.optimizer.nu_type}})
    if (type != ElementType::kBF16 && type != ElementType::kF32 && type != ElementType::kF64 &&
        type != ElementType::kF16)
      return fmt::format("{} type {}, expected bf16, f16, f32 or f64", name, to_text(type));
  return {};
}

std::string experts_fault(const ModelConfig& model, const StepOptions& options) {
  if (!model.moe) return {};
  const bool dropless = model.moe->dispatch == MoeConfig::Dispatch::kDropless;
  if (dropless && options.quantization == Quantization::kInt8)
    return "dropless experts have no products in int8, expected none or fp8";
  return {};
}

/// Does the mesh cut parameters and activations into equal parts?
std::string mesh_fault(const ModelConfig& model, const StepOptions& options) {
  if (options.mesh.axes.empty()) return {};
  const AxisRules rules(options.mesh, options.experts_on_fsdp);
  if (const std::string unknown = rules.unknown_axis(); !unknown.empty()) return unknown;
  std::string fault = rules.fault("the batch of", {Axis::kBatch}, {options.batch});
  if (fault.empty() && options.kind == StepKind::kDecode && rules.parts(Axis::kLength) > 1)
    fault = "decode has one token, which no axis for sequences can cut";
  if (fault.empty())
    fault = rules.fault("the sequence of", {Axis::kLength}, {options.sequence / options.vocab_tiles});
  if (fault.empty()) fault = rules.fault("d_model", {Axis::kHidden}, {model.d_model});
  std::vector<ParameterSpec> specs = outer_parameters(model, options.sequence);
  for (const LayerGroup& group : layer_groups(model))
    for (int64_t i = 0; i < group.period; ++i)
      for (const ParameterSpec& spec : layer_parameters(model, group.first + i)) specs.push_back(spec);
  for (const ParameterSpec& spec : specs)
    if (fault.empty()) fault = rules.fault("of " + spec.name + ", dimension", spec.axes, spec.dims);
  return fault;
}

}  // namespace

std::string step_fault(const ModelConfig& model, const StepOptions& options) {
  if (const std::optional<ModelFault> fault = model_fault(model)) return fault->message;
  for (const std::string& fault :
       {sizes_fault(model, options), types_fault(options), experts_fault(model, options)})
    if (!fault.empty()) return fault;
  return mesh_fault(model, options);
}

Result<Module> make_step(const ModelConfig& model, const StepOptions& options) {
  if (const std::string fault = step_fault(model, options); !fault.empty()) return failure(fault);
  return options.kind == StepKind::kTrain ? make_train_step(model, options) : make_serve_step(model, options);
}

}  // namespace hlosim
