#include "workloads/maxtext_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>

#include "base/saturating.h"
#include "base/text.h"
#include "text/entry_fields.h"
#include "text/read_json.h"
#include "workloads/builtin_models.h"
#include "workloads/maxtext_settings.h"
#include "workloads/model_words.h"

namespace hlosim {
namespace {

/// MaxText's names of models whose sizes examples/models has, and their decoder_block.
struct KnownModel {
  std::string_view name, file, block;
};
constexpr KnownModel kModels[] = {{"default", "maxtext-default-1b", "llama2"},
                                  {"llama2-7b", "llama2-7b", "llama2"},
                                  {"llama2-70b", "llama2-70b", "llama2"},
                                  {"llama3-8b", "llama3-8b", "llama2"},
                                  {"llama3.1-8b", "llama3-8b", "llama2"},
                                  {"llama3-70b", "llama3-70b", "llama2"},
                                  {"llama3.1-70b", "llama3-70b", "llama2"},
                                  {"llama3.3-70b", "llama3-70b", "llama2"},
                                  {"llama3-405b", "llama3-405b", "llama2"},
                                  {"llama3.1-405b", "llama3-405b", "llama2"},
                                  {"llama4-17b-128e", "llama4-maverick", "llama4"},
                                  {"mistral-7b", "mistral-7b", "mistral"},
                                  {"mixtral-8x7b", "mixtral-8x7b", "mixtral"},
                                  {"gemma2-9b", "gemma2-9b", "gemma2"},
                                  {"gemma3-12b", "gemma3-12b", "gemma3"},
                                  {"gemma4-26b", "gemma4-26b", "gemma4"},
                                  {"qwen3-8b", "qwen3-8b", "qwen3"},
                                  {"qwen3-30b-a3b", "qwen3-30b-a3b", "qwen3_moe"},
                                  {"qwen3-235b-a22b", "qwen3-235b-a22b", "qwen3_moe"},
                                  {"deepseek2-16b", "deepseek-v2-lite", "deepseek"},
                                  {"deepseek3-671b", "deepseek-v3", "deepseek"},
                                  {"gpt3-175b", "gpt3-175b", "gpt3"},
                                  {"gpt-oss-20b", "gpt-oss-20b", "gpt_oss"},
                                  {"gpt-oss-120b", "gpt-oss-120b", "gpt_oss"}};

/// Values of decoder_block with the same layers, but for sizes and experts.
constexpr std::string_view kPlainBlocks[] = {"default", "llama2", "mistral", "mixtral"};

bool has_same_layers(std::string_view block, std::string_view other) {
  const auto is_plain = [](std::string_view one) {
    return std::ranges::find(kPlainBlocks, one) != std::end(kPlainBlocks);
  };
  return block == other || (is_plain(block) && is_plain(other));
}

/// Sizes that override the model's.
struct SizeSetting {
  std::string_view key;
  int64_t ModelConfig::*size;
};
constexpr SizeSetting kSizes[] = {
    {"base_emb_dim", &ModelConfig::d_model}, {"base_num_kv_heads", &ModelConfig::kv_heads},
    {"base_mlp_dim", &ModelConfig::d_ff},    {"base_num_decoder_layers", &ModelConfig::layers},
    {"head_dim", &ModelConfig::head_dim},    {"vocab_size", &ModelConfig::vocab}};

/// Settings of data, checkpoints, logs and the learning rate: no time of a step depends on them.
constexpr std::string_view kMaxTextWithoutEffect[] = {"adam_b1",
                                                      "adam_b2",
                                                      "adam_eps",
                                                      "adam_eps_root",
                                                      "adam_weight_decay",
                                                      "add_bos",
                                                      "add_eos",
                                                      "async_checkpointing",
                                                      "base_config",
                                                      "base_output_directory",
                                                      "checkpoint_period",
                                                      "checkpoint_storage_use_ocdbt",
                                                      "checkpoint_storage_use_zarr3",
                                                      "compiled_trainstep_file",
                                                      "cosine_learning_rate_final_fraction",
                                                      "data_shuffle_seed",
                                                      "dataset_name",
                                                      "dataset_path",
                                                      "dataset_type",
                                                      "dump_hlo",
                                                      "dump_hlo_gcs_dir",
                                                      "dump_step",
                                                      "enable_checkpoint_cloud_logger",
                                                      "enable_checkpoint_standard_logger",
                                                      "enable_checkpointing",
                                                      "enable_data_shuffling",
                                                      "enable_dropout",
                                                      "enable_goodput_recording",
                                                      "enable_profiler",
                                                      "enable_single_controller",
                                                      "enable_single_replica_ckpt_restoring",
                                                      "enable_tensorboard",
                                                      "eval_dataset_name",
                                                      "eval_interval",
                                                      "eval_per_device_batch_size",
                                                      "eval_split",
                                                      "eval_steps",
                                                      "expansion_factor_real_data",
                                                      "force_unroll",
                                                      "gcs_metrics",
                                                      "grain_train_files",
                                                      "grain_worker_count",
                                                      "hf_access_token",
                                                      "hf_data_dir",
                                                      "hf_data_files",
                                                      "hf_path",
                                                      "hf_train_files",
                                                      "init_weights_seed",
                                                      "jax_cache_dir",
                                                      "jax_debug_log_modules",
                                                      "learning_rate",
                                                      "learning_rate_schedule_steps",
                                                      "load_full_state_path",
                                                      "load_parameters_path",
                                                      "log_period",
                                                      "max_corpus_chars",
                                                      "max_prefill_predict_length",
                                                      "metrics_file",
                                                      "monitor_goodput",
                                                      "normalize_embedding_logits",
                                                      "num_epoch",
                                                      "num_slices",
                                                      "override_model_config",
                                                      "packing",
                                                      "param_scan_axis",
                                                      "profile_cleanly",
                                                      "profile_periodically_period",
                                                      "profiler",
                                                      "profiler_steps",
                                                      "prompt",
                                                      "record_internal_nn_metrics",
                                                      "reuse_example_batch",
                                                      "run_name",
                                                      "save_config_to_gcs",
                                                      "save_period",
                                                      "skip_first_n_steps_for_profiler",
                                                      "skip_jax_distributed_system",
                                                      "stack_trace_to_cloud",
                                                      "collect_stack_trace",
                                                      "stack_trace_interval_seconds",
                                                      "steps",
                                                      "target_eval_loss",
                                                      "tokenizer_path",
                                                      "tokenizer_type",
                                                      "upload_all_profiler_results",
                                                      "use_vertex_tensorboard",
                                                      "vertex_tensorboard_project",
                                                      "vertex_tensorboard_region",
                                                      "warmup_steps_fraction"};

/// Settings that are modelled at one value alone; at others, what is modelled is a warning.
struct UnmodelledSetting {
  std::string_view key, modelled, warning;
};
constexpr UnmodelledSetting kUnmodelled[] = {
    {"megablox", "true", "is not modelled: grouped products are timed as the kernel of megablox"},
    {"rope_type", "default",
     "is not modelled but for how it turns: frequencies are not scaled, which changes numbers and no time"},
    {"logits_dot_in_fp32", "false",
     "is not modelled: the product of the logits is in the type of the others"}};

/// Settings that are supported at one value alone.
struct FixedSetting {
  std::string_view key, value;
};
constexpr FixedSetting kFixed[] = {{"hardware", "tpu"},
                                   {"global_parameter_scale", "1"},
                                   {"gradient_accumulation_steps", "1"},
                                   {"max_checkify", "false"},
                                   {"dropout_rate", "0"},
                                   {"fused_mlp", "false"},
                                   {"record_internal_nn_metrics", "0"},
                                   {"use_untrainable_positional_embedding", "false"},
                                   {"allow_split_physical_axes", "false"},
                                   {"use_dpo", "false"},
                                   {"enable_lora", "false"}};

/// Compiler flags as text: of the environment of a script, and of train_compile.
constexpr std::string_view kFlagSettings[] = {"XLA_FLAGS", "LIBTPU_INIT_ARGS", "compile_xla_flags"};

constexpr std::string_view kOtherAxes[] = {
    "autoregressive", "pipeline", "tensor_transpose", "tensor_sequence", "context_autoregressive",
    "diloco",         "stage",    "attn_dp"};

class MaxTextReader {
 public:
  MaxTextReader(const Value& root, const MaxTextContext& context, DiagnosticList& problems)
      : root_(root), context_(context), problems_(problems), fields_(root, "the configuration", problems) {}

  MaxTextStep read() {
    if (model()) sizes();
    options();
    meshes();
    fixed();
    unmodelled();
    compiler_flags();
    fields_.pass_over(kMaxTextWithoutEffect);
    for (const Value* left : fields_.rest()) note(*left, "is not known: it is ignored");
    return std::move(step_);
  }

 private:
  bool model() {
    std::string name = "default";
    fields_.text("model_name", name);
    const auto* known = std::ranges::find(kModels, name, &KnownModel::name);
    if (known == std::end(kModels)) {
      std::vector<std::string_view> names;
      for (const KnownModel& one : kModels) names.push_back(one.name);
      fields_.wrong("model_name", fmt::format("no sizes of the model \"{}\" are known", shown(name)),
                    fmt::format("one of {}; or base_emb_dim and other sizes without model_name",
                                fmt::join(names, ", ")));
      return false;
    }
    for (const BuiltinModel& file : builtin_models()) {
      if (file.name != known->file) continue;
      Result<ModelConfig> read = read_model_config(
          std::make_shared<const SourceFile>(fmt::format("{}.yaml", file.name), std::string(file.text)));
      if (!read) return fields_.wrong("model_name", read.error().message), false;
      step_.model = std::move(*read);
      step_.model.name = name;
    }
    decoder_block(*known);
    return true;
  }

  /// The structure of the layers is the named model's; other blocks would need another one.
  void decoder_block(const KnownModel& known) {
    std::string block(known.block);
    if (!fields_.text("decoder_block", block) || has_same_layers(block, known.block)) return;
    fields_.wrong("decoder_block",
                  fmt::format("decoder_block={} is not supported: the layers of model_name={} are {}",
                              shown(block), known.name, known.block),
                  "name a model with these layers, or write a model file (docs/models.md)");
  }

  void unmodelled() {
    for (const UnmodelledSetting& one : kUnmodelled) {
      const Value* value = fields_.find(one.key);
      if (value && value->text != one.modelled) note(*value, one.warning);
    }
  }

  void compiler_flags() {
    for (const std::string_view key : kFlagSettings) {
      const Value* value = fields_.find(key);
      if (value && value->is_scalar()) add_flags(*value);
    }
  }

  /// Scripts have environment variables among the flags: TPU_MEGACORE=MEGACORE_DENSE.
  void add_flags(const Value& value) {
    for (std::string_view text = trimmed(value.text); !text.empty(); text = trimmed(text)) {
      const std::string_view word = text.substr(0, text.find_first_of(" \t\r\n"));
      text.remove_prefix(word.size());
      if (word[0] >= 'A' && word[0] <= 'Z')
        note(value, fmt::format("has {}, which is not modelled", shown(word)));
      else
        step_.xla_flags += fmt::format("{}{}", step_.xla_flags.empty() ? "" : " ", word);
    }
  }

  void sizes() {
    ModelConfig& model = step_.model;
    for (const SizeSetting& one : kSizes) fields_.whole(one.key, model.*one.size, 1);
    for (const std::string_view key : {"base_num_query_heads", "base_num_heads"}) {
      const bool shares = model.kv_heads == model.q_heads && !fields_.find("base_num_kv_heads");
      if (fields_.whole(key, model.q_heads, 1) && shares) model.kv_heads = model.q_heads;
    }
    activations();
    fields_.flag("logits_via_embedding", model.tied_embeddings);
    fields_.flag("fused_qkv", model.fused_qkv);
    fields_.flag("use_qk_norm", model.attention.qk_norm);
    fields_.not_negative("attn_logits_soft_cap", model.attention.soft_cap);
    fields_.not_negative("final_logits_soft_cap", model.final_soft_cap);
    fields_.positive("normalization_layer_epsilon", model.norm_epsilon);
    fields_.positive("rope_max_timescale", model.rope_theta);
    std::string rope = "default";
    fields_.text("rope_type", rope);
    model.rope_interleaved = maxtext_turns_neighbors(model.name) || maxtext_turns_neighbors(lower_case(rope));
    int64_t window = 0, positions = 0;
    if (fields_.whole("sliding_window_size", window, 0) && window > 0) model.attention.window = window;
    if (fields_.whole("trainable_position_size", positions, -1) && positions > 0)
      model.position = Position::kLearned, model.max_positions = positions;
    experts();
  }

  void activations() {
    std::vector<std::string> names;
    if (!fields_.texts("mlp_activations", names) || names.empty()) return;
    const std::optional<Activation> known = parse_activation(names[0]);
    if (!known || names.size() > 2 || (names.size() == 2 && names[1] != "linear"))
      return fields_.wrong("mlp_activations",
                           fmt::format("mlp_activations {} are not supported", fmt::join(names, ", ")),
                           "silu, gelu, relu or sigmoid, alone or with linear");
    step_.model.activation = *known;
    step_.model.gated_mlp = names.size() == 2;
  }

  void experts() {
    std::optional<MoeConfig>& moe = step_.model.moe;
    int64_t count = moe ? moe->experts : 1;
    fields_.whole("num_experts", count, 1);
    if (count == 1) {
      moe.reset();
      fields_.pass_over({"num_experts_per_tok", "base_moe_mlp_dim", "shared_experts",
                         "first_num_dense_layers", "capacity_factor", "sparse_matmul", "use_random_routing"});
      return;
    }
    if (!moe) moe = MoeConfig{.top_k = 1, .d_ff = step_.model.d_ff};
    moe->experts = count;
    fields_.whole("num_experts_per_tok", moe->top_k, 1);
    // Experts have the width of the dense MLP where no width of their own is given.
    if (!fields_.whole("base_moe_mlp_dim", moe->d_ff, 1) && fields_.find("base_mlp_dim"))
      moe->d_ff = step_.model.d_ff;
    if (fields_.whole("shared_experts", moe->shared_experts, 0))
      moe->d_ff_shared = moe->shared_experts * moe->d_ff;
    fields_.whole("first_num_dense_layers", moe->first_dense_layers, 0);
    fields_.flag("use_random_routing", moe->random_routing);
    double factor = -1;
    bool is_sparse = true;
    number("capacity_factor", factor);
    fields_.flag("sparse_matmul", is_sparse);
    if (factor > 0) moe->dispatch = MoeConfig::Dispatch::kCapacity, moe->capacity_factor = factor;
    if (!is_sparse && factor <= 0)
      fields_.wrong("sparse_matmul", "sparse_matmul=false without capacity_factor is not supported",
                    "each expert would compute all tokens");
  }

  void options() {
    StepOptions& options = step_.options;
    options.sequence = 2048;
    fields_.whole("max_target_length", options.sequence, 1);
    options.tiles.fused_backward = false;  // base.yml: sa_use_fused_bwd_kernel
    read_maxtext_type(fields_, "dtype", options.compute_type);
    read_maxtext_quantization(fields_, options);
    read_maxtext_settings(fields_, options);
    std::vector<const Value*> left;
    read_maxtext_expert_tiles(fields_, true, options.expert_tiles, problems_, left);
    for (const Value* one : left) note(*one, "of the tiles of grouped products is not modelled");
    drop_settings_of_experts(step_.model, options);
    // Moments and gradients have the parameters' type, as in optax.
    options.grad_type = options.optimizer.nu_type = options.param_type;
    if (!fields_.find("mu_dtype")) options.optimizer.mu_type = options.param_type;
    read_maxtext_type(fields_, "grad_dtype", options.grad_type);
    fields_.not_negative("gradient_clipping_threshold", options.optimizer.clip_norm);
    std::string optimizer;
    if (fields_.text("opt_type", optimizer)) {
      if (const auto kind = maxtext_optimizer(optimizer))
        options.optimizer.kind = *kind;
      else
        fields_.wrong("opt_type", fmt::format("opt_type \"{}\" is not supported", shown(optimizer)),
                      "adamw or adam_pax");
    }
    attention();
    remat();
  }

  void attention() {
    std::string kernel = "autoselected";
    fields_.text("attention", kernel);
    if (kernel == "dot_product")
      step_.options.attention = AttentionKernel::kPlain;
    else if (kernel != "autoselected" && kernel != "flash")  // both are the splash kernel on a TPU
      fields_.wrong("attention", fmt::format("attention \"{}\" is not supported", shown(kernel)),
                    "autoselected, flash or dot_product");
  }

  /// A policy's name; `custom` with a place for each named value.
  void remat() {
    std::string name = "full";
    fields_.text("remat_policy", name);
    const Result<RematPolicy> policy = remat_policy(name);
    if (!policy) return fields_.wrong("remat_policy", policy.error().message, policy.error().hint);
    step_.options.remat = *policy;
    for (size_t i = 0; i < kSavedValues; ++i) {
      const auto value = static_cast<SavedValue>(i);
      std::string place;
      if (!fields_.text(to_text(value), place) || name != "custom") continue;
      if (place == "device")
        step_.options.remat[value] = Keep::kDevice;
      else if (place == "offload")
        step_.options.remat[value] = Keep::kHost;
      else if (place == "remat")
        step_.options.remat[value] = Keep::kRecompute;
      else
        fields_.wrong(to_text(value), fmt::format("\"{}\" is not \"{}\"", to_text(value), shown(place)),
                      "device, offload or remat");
    }
  }

  // ── devices ──

  /// The sizes of ici_ or dcn_ axes; `automatic` is the axis of -1.
  Mesh axes(std::string_view kind, std::string_view usual, std::string& automatic) {
    Mesh mesh;
    for (const std::string_view name : maxtext_axes()) {
      const std::string& key = keys_.emplace_back(fmt::format("{}_{}_parallelism", kind, name));
      int64_t size = name == usual ? -1 : 1;
      fields_.whole(key, size, -1);
      if (size > kMostMeshDevices)
        fields_.wrong(key, fmt::format("{} is more than {}", key, kMostMeshDevices)), size = 1;
      if (size == 0)
        fields_.wrong(key, fmt::format("{} is 0", key), "a number of devices, or -1 for the rest");
      if (size == -1) {
        if (!automatic.empty() && automatic != key) {
          // The default of -1 gives way to one that is given.
          if (!fields_.find(key))
            size = 1;
          else if (!fields_.find(automatic))
            mesh.axes.back().size = 1;
          else
            fields_.wrong(key, fmt::format("{} and {} are both -1", automatic, key));
        }
        if (size == -1) automatic = key;
      }
      mesh.axes.push_back({std::string(name), size});
    }
    for (const std::string_view name : kOtherAxes) {
      const std::string& key = keys_.emplace_back(fmt::format("{}_{}_parallelism", kind, name));
      int64_t size = 1;
      if (fields_.whole(key, size, 1) && size > 1)
        fields_.wrong(key, fmt::format("{}={} is not supported", key, size),
                      fmt::format("axes of meshes: {}", fmt::join(maxtext_axes(), ", ")));
    }
    return mesh;
  }

  /// Gives the axis of -1 what is left of `devices`; without a number 1, where that is what MaxText would do.
  void resolve(Mesh& mesh, const std::string& automatic, std::optional<int64_t> devices,
               std::string_view what) {
    int64_t given = 1;
    MeshAxis* rest = nullptr;
    for (MeshAxis& axis : mesh.axes)
      if (axis.size == -1)
        rest = &axis;
      else
        given = saturating_multiply(given, axis.size);
    if (problems_.has_errors()) return;
    if (given > kMostMeshDevices) return too_large();
    if (rest && !devices)
      return fields_.wrong(automatic, fmt::format("{} is -1: the number of devices is needed", automatic),
                           "--devices, or compile_topology=v5e-256");
    if (devices && *devices % given != 0) return disagree(given, *devices, what);
    if (rest)
      rest->size = *devices / given;
    else if (devices && given != *devices)
      return disagree(given, *devices, what);
    std::erase_if(mesh.axes, [](const MeshAxis& axis) { return axis.size == 1; });
  }

  void disagree(int64_t given, int64_t devices, std::string_view what) {
    problems_.add(
        error_at(root_, fmt::format("the {} axes have {} places, but there are {}", what, given, devices)));
  }

  void too_large() {
    problems_.add(error_at(root_, fmt::format("the mesh has more than {} devices", kMostMeshDevices)));
  }

  void meshes() {
    std::string ici_rest, dcn_rest;
    Mesh ici = axes("ici", "fsdp", ici_rest), dcn = axes("dcn", "data", dcn_rest);
    fields_.text("compile_topology", step_.topology);
    int64_t slices = -1;
    fields_.whole("compile_topology_num_slices", slices, -1);
    if (slices < 1) fields_.whole("num_slices", slices, -1);
    std::optional<int64_t> in_slice;
    if (!step_.topology.empty() && context_.devices_of) {
      const Result<int64_t> named = context_.devices_of(step_.topology);
      if (!named) return fields_.wrong("compile_topology", named.error().message, named.error().hint);
      in_slice = *named;
    }
    // Without any number of slices there are as many as the axes over them say.
    int64_t over_slices = 1;
    for (const MeshAxis& axis : dcn.axes)
      over_slices = saturating_multiply(over_slices, std::max<int64_t>(axis.size, 1));
    step_.slices = slices > 0 ? slices : over_slices;
    if (step_.slices > kMostMeshDevices) return too_large();
    if (context_.devices) {
      if (*context_.devices % step_.slices != 0) {
        problems_.add(error_at(root_, fmt::format("{} devices are not dealt evenly to {} slices",
                                                  *context_.devices, step_.slices)));
        return;
      }
      in_slice = *context_.devices / step_.slices;
    }
    resolve(dcn, dcn_rest, step_.slices, "dcn");
    resolve(ici, ici_rest, in_slice, "ici");
    if (problems_.has_errors()) return;
    if (ici.devices() > kMostMeshDevices / dcn.devices()) return too_large();
    step_.options.mesh = mesh_over_slices(ici, dcn);
    step_.ici = ici, step_.dcn = dcn;
    batch(ici.devices() * dcn.devices());
  }

  void batch(int64_t devices) {
    double per_device = 12;
    fields_.positive("per_device_batch_size", per_device);
    const double batch = per_device * static_cast<double>(devices);
    step_.options.batch = std::llround(batch);
    constexpr double kRounding = 1e-6;
    if (step_.options.batch < 1 ||
        std::abs(batch - static_cast<double>(step_.options.batch)) > kRounding * batch)
      fields_.wrong(
          "per_device_batch_size",
          fmt::format("{} devices with {} sequences each make no whole batch", devices, per_device));
  }

  void fixed() {
    for (const FixedSetting& one : kFixed) {
      const Value* value = fields_.find(one.key);
      if (value && value->text != one.value)
        fields_.wrong(one.key, fmt::format("{}={} is not supported", one.key, shown(value->text)),
                      fmt::format("{} alone", one.value));
    }
  }

  /// Any number.
  void number(std::string_view key, double& into) {
    const Value* value = fields_.find(key);
    if (value && value->text.starts_with('-'))
      into = -1;
    else
      fields_.positive(key, into);
  }

  void note(const Value& value, std::string_view what) {
    Diagnostic warning = error_at_key(value, fmt::format("\"{}\" {}", shown(value.key), what));
    warning.severity = Severity::kWarning;
    step_.notes.push_back(std::move(warning));
  }

  const Value& root_;
  const MaxTextContext& context_;
  DiagnosticList& problems_;
  std::deque<std::string> keys_;  // that fields_ has views of
  EntryFields fields_;
  MaxTextStep step_;
};

}  // namespace

bool is_without_effect_in_maxtext(std::string_view key) {
  return std::ranges::find(kMaxTextWithoutEffect, key) != std::end(kMaxTextWithoutEffect);
}

Result<MaxTextStep> read_maxtext(const std::vector<Value>& settings, const MaxTextContext& context) {
  Value root;
  root.kind = Value::Kind::kMap;
  for (const Value& setting : settings) {
    if (!root.source) root.source = setting.source, root.offset = setting.key_offset;
    if (Value* before = root.find(setting.key))
      *before = setting;
    else
      root.items.push_back(setting);
  }
  DiagnosticList problems;
  MaxTextStep step = MaxTextReader(root, context, problems).read();
  for (const Diagnostic& problem : problems.items())
    if (problem.severity == Severity::kError) return tl::unexpected(problem);
  if (const std::optional<ModelFault> fault = model_fault(step.model))
    return tl::unexpected(error_at(root, fault->message));
  return step;
}

}  // namespace hlosim
