#include "workloads/step.h"

#include <fmt/format.h>

#include "workloads/step_module.h"

namespace hlosim {
namespace {

std::string sizes_fault(const ModelConfig& model, const StepOptions& options) {
  constexpr int64_t kMost = 1 << 24;
  for (const auto& [name, size] : {std::pair{"batch", options.batch}, {"sequence", options.sequence}})
    if (size < 1 || size > kMost) return fmt::format("{} is {}, expected 1 to {}", name, size, kMost);
  if (options.kind != StepKind::kTrain && (options.gradients_only || options.vocab_tiles > 1))
    return "gradients and vocabulary tiles belong to training";
  const bool stores =
      options.weight_type != ElementType::kInvalid || options.cache_type != ElementType::kInvalid;
  if (options.kind == StepKind::kTrain && (stores || options.sampling != Sampling::kLogits))
    return "types of stored weights and of the cache, and sampling, belong to prefill and decode";
  if (options.vocab_tiles < 1 || options.sequence % options.vocab_tiles != 0)
    return fmt::format("a sequence of {} can't be divided into {} vocabulary tiles", options.sequence,
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

/// Blocks of weights with a scale of their own. `narrow`: products are in a narrow type.
std::string blocks_fault(const ModelConfig& model, const StepOptions& options, bool narrow) {
  const int64_t block = options.weight_block;
  if (block == 0) return {};
  if (options.weight_type == ElementType::kInvalid)
    return "scales of blocks need weights stored in a narrow type";
  if (model.moe) return "weights of experts have one scale for each output: no scales of blocks";
  if (narrow) return "weights with scales of blocks are widened: no products in their type";
  for (const LayerGroup& group : layer_groups(model))
    for (int64_t i = 0; i < group.period; ++i)
      for (const ParameterSpec& spec : layer_parameters(model, group.first + i)) {
        const int64_t inputs = spec.dims[blocked_dimension(spec)];
        if (is_stored_narrow(spec) && (block < 0 || inputs % block != 0))
          return fmt::format("{} inputs of {} are not a whole number of blocks of {}", inputs, spec.name,
                             block);
      }
  return {};
}

/// Types that weights and caches may be stored in, and how products with such weights may run.
std::string stored_fault(const ModelConfig& model, const StepOptions& options) {
  using enum ElementType;
  const ElementType weights = options.weight_type, cache = options.cache_type;
  if (weights != kInvalid && weights != kS8 && weights != kS4 && weights != kF8E4M3FN)
    return fmt::format("weights stored as {}, expected s8, s4 or f8e4m3fn", to_text(weights));
  if (cache != kInvalid && cache != kBF16 && cache != kF32 && cache != kF8E4M3FN && cache != kF8E5M2)
    return fmt::format("a cache of {}, expected bf16, f32, f8e4m3fn or f8e5m2", to_text(cache));
  const ElementType native = options.quantization == Quantization::kInt8  ? kS8
                             : options.quantization == Quantization::kFp8 ? kF8E4M3FN
                                                                          : kInvalid;
  if (weights != kInvalid && native != kInvalid && weights != native)
    return fmt::format("products in {} of weights stored as {}", to_text(native), to_text(weights));
  return blocks_fault(model, options, native != kInvalid);
}

std::string pages_fault(const StepOptions& options) {
  if (options.page_size == 0) return {};
  if (options.kind != StepKind::kDecode) return "only decode has caches of pages";
  if (options.page_size < 0 || options.sequence % options.page_size != 0)
    return fmt::format("a cache of {} tokens is not a whole number of pages of {}", options.sequence,
                       options.page_size);
  if (options.scan_layers) return "caches of pages need unrolled layers";
  const AxisRules rules(options.mesh, options.experts_on_fsdp, true, options.experts_on_tensor);
  if (rules.unknown_axis().empty() && rules.parts(Axis::kBatch) > 1)
    return "all requests share one pool of pages: no axis of the mesh may shard the batch";
  return {};
}

std::string experts_fault(const ModelConfig& model, const StepOptions& options) {
  const bool dropless = has_dropless_experts(model);
  const char* const setting = options.expert_tiles != ExpertTiles() ? "tiles of grouped products belong"
                              : options.ring_of_experts             ? "the ring of experts belongs"
                              : options.ragged_buffer_factor > 0    ? "the room for exchanged rows belongs"
                                                                    : nullptr;
  if (setting && !dropless)
    return fmt::format("{} to dropless experts, which the model does not have", setting);
  if (!model.moe) return {};
  if ((options.ring_of_experts || options.ragged_buffer_factor > 0) && options.kind != StepKind::kTrain)
    return "rows of experts are exchanged in training only: servers have the ring of experts";
  if (options.ring_of_experts && options.ragged_buffer_factor > 0)
    return "the ring of experts exchanges no rows that a buffer could be given for";
  if (options.experts_on_tensor && options.kind == StepKind::kTrain)
    return "experts are dealt out over tensor in prefill and decode only";
  if (dropless && options.quantization == Quantization::kInt8)
    return "dropless experts have no products in int8, expected none or fp8";
  return {};
}

/// Does the mesh cut parameters and activations into equal parts?
std::string mesh_fault(const ModelConfig& model, const StepOptions& options) {
  if (options.mesh.axes.empty()) return {};
  const AxisRules rules(options.mesh, options.experts_on_fsdp, options.kind != StepKind::kTrain,
                        options.experts_on_tensor);
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
      for (const ParameterSpec& spec :
           stored_parameters(model, group.first + i, options.weight_type, options.weight_block))
        specs.push_back(spec);
  for (const ParameterSpec& spec : specs)
    if (fault.empty()) fault = rules.fault("of " + spec.name + ", dimension", spec.axes, spec.dims);
  return fault;
}

}  // namespace

std::string step_fault(const ModelConfig& model, const StepOptions& options) {
  if (const std::optional<ModelFault> fault = model_fault(model)) return fault->message;
  for (const std::string& fault :
       {sizes_fault(model, options), types_fault(options), stored_fault(model, options), pages_fault(options),
        experts_fault(model, options)})
    if (!fault.empty()) return fault;
  return mesh_fault(model, options);
}

ModelConfig served_model(const ModelConfig& model, const Mesh& mesh) {
  ModelConfig served = model;
  int64_t tensor = 1;
  for (const MeshAxis& axis : mesh.axes)
    if (axis.name == "tensor") tensor *= axis.size;
  const auto repeat = [tensor](int64_t& heads) {
    if (heads > 0 && tensor > heads && tensor % heads == 0) heads = tensor;
  };
  repeat(served.kv_heads), repeat(served.attention.global_kv_heads);
  return served;
}

Result<Module> make_step(const ModelConfig& model, const StepOptions& options) {
  const ModelConfig made = options.kind == StepKind::kTrain ? model : served_model(model, options.mesh);
  if (const std::string fault = step_fault(made, options); !fault.empty()) return failure(fault);
  return options.kind == StepKind::kTrain ? make_train_step(made, options) : make_serve_step(made, options);
}

}  // namespace hlosim
