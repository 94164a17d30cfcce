#include "console/step_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <tuple>

#include "base/quantity_text.h"
#include "base/text.h"
#include "workloads/maxtext_settings.h"

namespace hlosim {
namespace {

Result<ElementType> type_of(std::string_view option, std::string_view text) {
  const ElementType type = parse_element_type(text);
  if (type == ElementType::kInvalid)
    return failure(fmt::format("{}: '{}' is not an element type", option, shown(text)), "bf16, f32, ...");
  return type;
}

/// "context=host"
Result<void> keep_value(std::string_view text, RematPolicy& policy) {
  const size_t equals = std::min(text.find('='), text.size());
  const std::optional<SavedValue> value = parse_saved_value(text.substr(0, equals));
  const std::string_view where = text.substr(std::min(equals + 1, text.size()));
  std::string names;
  for (size_t i = 0; i < kSavedValues; ++i)
    names += fmt::format("{}{}", i ? ", " : "", to_text(static_cast<SavedValue>(i)));
  if (!value) return failure(fmt::format("--keep: '{}' is not NAME=PLACE", shown(text)), "names: " + names);
  if (where == "device")
    policy[*value] = Keep::kDevice;
  else if (where == "host")
    policy[*value] = Keep::kHost;
  else if (where == "recompute")
    policy[*value] = Keep::kRecompute;
  else
    return failure(fmt::format("--keep: '{}' is none of device, host, recompute", shown(where)));
  return {};
}

/// "block_q=1024"
Result<void> set_block(std::string_view text, AttentionTiles& tiles) {
  const std::pair<std::string_view, int64_t*> names[] = {{"block_q", &tiles.q},
                                                         {"block_kv", &tiles.kv},
                                                         {"block_kv_compute", &tiles.kv_compute},
                                                         {"block_q_dkv", &tiles.q_dkv},
                                                         {"block_kv_dkv", &tiles.kv_dkv},
                                                         {"block_kv_dkv_compute", &tiles.kv_dkv_compute},
                                                         {"block_q_dq", &tiles.q_dq},
                                                         {"block_kv_dq", &tiles.kv_dq},
                                                         {"dq_parts", &tiles.dq_parts}};
  const size_t equals = std::min(text.find('='), text.size());
  const std::pair<std::string_view, bool*> layouts[] = {{"q_layout", &tiles.q_sequence_minor},
                                                        {"k_layout", &tiles.k_sequence_minor},
                                                        {"v_layout", &tiles.v_sequence_minor}};
  for (const auto& [name, minor] : layouts)
    if (name == text.substr(0, equals) && (text.substr(equals) == "=1" || text.substr(equals) == "=2")) {
      *minor = text.substr(equals) == "=2";
      return {};
    }
  std::vector<std::string_view> known{"q_layout", "k_layout", "v_layout"};
  for (const auto& [name, into] : names) {
    known.push_back(name);
    if (name != text.substr(0, equals)) continue;
    const Result<int64_t> size = TextForm<int64_t>::read(text.substr(std::min(equals + 1, text.size())));
    if (!size || *size < 1) break;
    *into = *size;
    return {};
  }
  return failure(fmt::format("--blocks: '{}' is not NAME=SIZE", shown(text)),
                 fmt::format("one of {}", fmt::join(known, ", ")));
}

/// "512x2048x1536", or of one product "wi_dlhs=512x1536x4096"
Result<void> set_expert_tile(std::string_view text, ExpertTiles& tiles) {
  const size_t equals = text.find('='), first = equals == std::string_view::npos ? 0 : equals + 1;
  std::vector<int64_t> sizes;
  for (const std::string& side : split(text.substr(first), 'x')) {
    const Result<int64_t> size = TextForm<int64_t>::read(side);
    sizes.push_back(size ? *size : 0);
  }
  const bool are_sizes = sizes.size() == 3 && *std::ranges::min_element(sizes) > 0;
  std::string known;
  bool is_set = false;
  for (const TiledProduct& one : tiled_products()) {
    const std::string name = fmt::format("{}_{}", one.matrix, one.pass);
    known += (known.empty() ? "" : ", ") + name;
    if (!are_sizes || (first > 0 && name != text.substr(0, equals))) continue;
    tiles.*one.tiles.*one.tile = {sizes[0], sizes[1], sizes[2]};
    is_set = true;
  }
  if (is_set) return {};
  return failure(
      fmt::format("--expert-tiles: '{}' is not ROWSxDEPTHxCOLUMNS or NAME=ROWSxDEPTHxCOLUMNS", shown(text)),
      "names: " + known);
}

template <class F>
Result<void> for_each_part(const std::vector<std::string>& texts, F&& f) {
  for (const std::string& text : texts)
    for (const std::string& part : split(text, ','))
      if (Result<void> done = f(part); !done) return done;
  return {};
}

Result<void> set_types(const StepChoice& options, StepOptions& step) {
  const size_t comma = std::min(options.moments.find(','), options.moments.size());
  const std::string first = options.moments.substr(0, comma);
  const std::string second = comma < options.moments.size() ? options.moments.substr(comma + 1) : first;
  const std::tuple<const char*, std::string, ElementType*> types[] = {
      {"--compute", options.compute, &step.compute_type},
      {"--params", options.params, &step.param_type},
      {"--moments", first, &step.optimizer.mu_type},
      {"--moments", second, &step.optimizer.nu_type}};
  for (const auto& [option, text, into] : types) {
    const Result<ElementType> type = type_of(option, text);
    if (!type) return tl::unexpected(type.error());
    *into = *type;
  }
  // Gradients have their parameters' type, as in JAX.
  step.grad_type = step.compute_type == ElementType::kF64 ? ElementType::kF64 : step.param_type;
  if (options.grads == "params") return {};
  const Result<ElementType> type = type_of("--grads", options.grads);
  if (!type) return tl::unexpected(type.error());
  step.grad_type = *type;
  return {};
}

void declare_sizes(CommandLine& line, StepChoice& choice) {
  line.add_option("--kind", choice.kind, "train, prefill or decode")
      .one_of({"train", "prefill", "decode"})
      .show_default();
  line.add_option("--batch", choice.batch, "Global batch in sequences; default: one per shard of the batch")
      .from(1);
  line.add_option("--sequence", choice.sequence, "Tokens per sequence; decode: length of the cache")
      .from(1)
      .show_default();
  line.add_option("--compute", choice.compute, "Type of matmuls and activations").show_default();
  line.add_option("--params", choice.params, "Type of the stored parameters").show_default();
  line.add_option("--moments", choice.moments, "Types of Adam's moments: one, or two as bf16,f32")
      .show_default();
  line.add_option("--grads", choice.grads, "Type of the gradients that the optimizer reads; params: theirs")
      .show_default();
  line.add_option("--quantize", choice.quantize, "Quantized matmuls of layers: none, int8 or fp8")
      .one_of({"none", "int8", "fp8"})
      .show_default();
  line.add_option("--weights", choice.weights,
                  "Prefill and decode: stored type of layer weights, with a scale per output")
      .one_of({"params", "int8", "int4", "fp8"})
      .show_default();
  line.add_option("--weight-block", choice.weight_block,
                  "With --weights: inputs of an output that share a scale; 0: all")
      .from(0);
  line.add_option("--cache", choice.cache, "Prefill and decode: stored type of keys and values")
      .one_of({"compute", "bf16", "fp8"})
      .show_default();
  line.add_option("--page-size", choice.page_size,
                  "Decode: tokens of a cache page; 0: the cache of a sequence is one piece")
      .between(0, 1 << 20)
      .show_default();
  line.add_option("--sampling", choice.sampling,
                  "Prefill and decode: the result is the logits of the last row, or the most likely token")
      .one_of({"logits", "greedy", "random"})
      .show_default();
}

}  // namespace

void declare_step(CommandLine& line, StepChoice& choice) {
  declare_sizes(line, choice);
  line.add_option("--remat", choice.remat, "Rematerialization policy: full, minimal, custom, ...")
      .show_default();
  line.add_option("--keep", choice.keep,
                  "Changes to --remat: NAME=device, host or recompute, as context=device,mlpwo=host")
      .one_value_each();
  line.add_option("--attention", choice.attention,
                  "Attention: JAX's splash or flash kernel, tokamax's splash kernel, or plain instructions")
      .one_of({"splash", "tokamax", "flash", "plain"})
      .show_default();
  line.add_option("--blocks", choice.blocks, "Blocks of the kernel: block_q=1024,block_kv_dkv=2048,...")
      .one_value_each();
  line.add_option("--expert-tiles", choice.expert_tiles,
                  "Tiles of grouped matmuls: 512x2048x1536, or wi_fwd=512x2048x1536, wi_dlhs=..., wo_fwd=...")
      .one_value_each();
  line.add_option("--expert-kernel", choice.expert_kernel,
                  "Kernel with those tiles: cores of a chip share megablox, one executes tokamax's")
      .one_of({"megablox", "tokamax"})
      .show_default();
  line.add_flag("--ring-of-experts", choice.ring_of_experts,
                "Training, axis expert: gather tokens and sum results instead of exchanging rows");
  line.add_option("--ragged-buffer-factor", choice.ragged_buffer_factor,
                  "Training, axis expert: room for received rows, times their mean; 0: the worst case")
      .not_negative()
      .show_default();
  line.add_flag("--logit-bound", choice.logit_bound,
                "A bound on attention's logits in place of their running maximum (use_max_logit_estimate)");
  line.add_flag("--split-backward", choice.split_backward, "Separate backward kernels for q and for k, v");
  line.add_flag("--automatic", choice.automatic,
                "Kernels outside of manual regions; their shardings are propagated");
  line.add_option("--optimizer", choice.optimizer, "adamw, adam or adam_pax")
      .one_of({"adamw", "adam", "adam_pax"})
      .show_default();
  line.add_option("--clip-norm", choice.clip_norm, "Norm that all gradients are clipped to; 0: no clipping")
      .not_negative()
      .show_default();
  line.add_flag("--gradients-only", choice.gradients,
                "Return the loss and all gradients, without an optimizer");
  line.add_flag("--unroll", choice.unroll, "Unroll the loop over layers (default for decode)");
  line.add_flag("--loop", choice.loop, "Keep the loop over layers in decode");
  line.add_option("--stack-axis", choice.stack_axis, "Dimension of the layers in stacked parameters: 0 or 1")
      .show_default();
  line.add_flag("--one-hot-embedding", choice.one_hot, "Embedding lookup by a one-hot matmul");
  line.add_option("--vocab-tiles", choice.vocab_tiles, "Number of tiles of logits and loss")
      .from(1)
      .show_default();
  line.add_flag("--gather-stored", choice.gather_stored, "All-gather parameters in their stored type");
  line.add_flag("--quantized-gather", choice.quantized_gather,
                "With --quantize=fp8: expert weights become e4m3 before they are gathered");
  line.add_flag("--experts-on-fsdp", choice.experts_on_fsdp, "Shard the expert dimension over fsdp too");
  line.add_flag("--experts-on-tensor", choice.experts_on_tensor,
                "Prefill and decode: shard the expert dimension over tensor too, not the experts' widths");
}

ElementType stored_weight_type(std::string_view word) {
  using enum ElementType;
  return word == "int8" ? kS8 : word == "int4" ? kS4 : word == "fp8" ? kF8E4M3FN : kInvalid;
}

Result<StepOptions> step_options(const StepChoice& options, const Mesh& mesh) {
  StepOptions step;
  step.kind = options.kind == "train"     ? StepKind::kTrain
              : options.kind == "prefill" ? StepKind::kPrefill
                                          : StepKind::kDecode;
  step.mesh = mesh;
  step.sequence = options.sequence;
  if (options.batch) {
    step.batch = *options.batch;
  } else {
    for (const MeshAxis& axis : step.mesh.axes)
      if (axis.name == "data" || axis.name == "expert" || axis.name.starts_with("fsdp"))
        step.batch *= axis.size;
  }
  if (const Result<void> types = set_types(options, step); !types) return tl::unexpected(types.error());
  const Result<RematPolicy> remat = remat_policy(options.remat);
  if (!remat) return tl::unexpected(remat.error());
  step.remat = *remat;
  const auto keep = [&](std::string_view text) { return keep_value(text, step.remat); };
  if (const auto done = for_each_part(options.keep, keep); !done) return tl::unexpected(done.error());
  const auto block = [&](std::string_view text) { return set_block(text, step.tiles); };
  if (const auto done = for_each_part(options.blocks, block); !done) return tl::unexpected(done.error());
  const auto tile = [&](std::string_view text) { return set_expert_tile(text, step.expert_tiles); };
  if (const auto done = for_each_part(options.expert_tiles, tile); !done) return tl::unexpected(done.error());
  if (options.expert_kernel == "tokamax") {
    if (options.expert_tiles.empty())
      return failure("--expert-kernel=tokamax needs tiles",
                     "--expert-tiles=512x2048x1536; without them no kernel is assumed");
    for (const TiledProduct& one : tiled_products()) (step.expert_tiles.*one.tiles.*one.tile).one_core = true;
  }
  step.tiles.fused_backward = !options.split_backward, step.tiles.known_maximum = options.logit_bound;
  step.tiles.tokamax = options.attention == "tokamax";
  step.attention = options.attention == "plain"   ? AttentionKernel::kPlain
                   : options.attention == "flash" ? AttentionKernel::kFlash
                                                  : AttentionKernel::kSplash;
  step.quantization = options.quantize == "int8"  ? Quantization::kInt8
                      : options.quantize == "fp8" ? Quantization::kFp8
                                                  : Quantization::kNone;
  step.optimizer.kind = options.optimizer == "adam"       ? OptimizerOptions::Kind::kAdam
                        : options.optimizer == "adam_pax" ? OptimizerOptions::Kind::kAdamPax
                                                          : OptimizerOptions::Kind::kAdamW;
  step.vocab_tiles = options.vocab_tiles, step.stack_axis = options.stack_axis;
  using enum ElementType;
  step.weight_type = stored_weight_type(options.weights), step.weight_block = options.weight_block;
  step.cache_type = options.cache == "bf16" ? kBF16 : options.cache == "fp8" ? kF8E4M3FN : kInvalid;
  step.page_size = options.page_size;
  step.sampling = options.sampling == "greedy"   ? Sampling::kGreedy
                  : options.sampling == "random" ? Sampling::kRandom
                                                 : Sampling::kLogits;
  step.scan_layers = !options.unroll && (step.kind != StepKind::kDecode || options.loop),
  step.one_hot_embedding = options.one_hot;
  step.gradients_only = options.gradients, step.cast_before_gather = !options.gather_stored;
  step.manual_attention = !options.automatic, step.experts_on_fsdp = options.experts_on_fsdp;
  step.experts_on_tensor = options.experts_on_tensor, step.ring_of_experts = options.ring_of_experts;
  step.ragged_buffer_factor = options.ragged_buffer_factor;
  step.quantized_gather = options.quantized_gather, step.optimizer.clip_norm = options.clip_norm;
  return step;
}

}  // namespace hlosim
