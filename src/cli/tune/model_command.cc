#include <fmt/format.h>

#include <memory>
#include <optional>
#include <ostream>

#include "base/quantity_text.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/run.h"
#include "cli/tune/made_text.h"
#include "console/command_line.h"
#include "console/input.h"
#include "console/verbosity.h"
#include "hlo/printer.h"
#include "models/step.h"
#include "ops/op_table.h"

namespace hlosim {
namespace {

struct Options {
  std::string file, kind = "train", mesh;
  std::optional<int64_t> batch;
  int64_t sequence = 2048, vocab_tiles = 1, stack_axis = 0;
  std::string compute = "bf16", params = "f32", moments = "f32", quantize = "none";
  std::string optimizer = "adamw", attention = "splash", remat = "full";
  std::vector<std::string> keep, blocks;
  bool unroll = false, one_hot = false, gradients = false, gather_stored = false, automatic = false;
  bool experts_on_fsdp = false, split_backward = false, count = false;
  std::string output = "-";
};

Result<ElementType> type_of(std::string_view option, std::string_view text) {
  const ElementType type = parse_element_type(text);
  if (type == ElementType::kInvalid)
    return failure(fmt::format("{}: '{}' is no element type", option, shown(text)), "bf16, f32, ...");
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

template <class F>
Result<void> for_each_part(const std::vector<std::string>& texts, F&& f) {
  for (const std::string& text : texts)
    for (size_t from = 0; from <= text.size();) {
      const size_t end = std::min(text.find(',', from), text.size());
      if (Result<void> done = f(std::string_view(text).substr(from, end - from)); !done) return done;
      from = end + 1;
    }
  return {};
}

Result<void> set_types(const Options& options, StepOptions& step) {
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
  if (step.compute_type == ElementType::kF64) step.grad_type = ElementType::kF64;
  return {};
}

Result<StepOptions> step_options(const Options& options) {
  StepOptions step;
  step.kind = options.kind == "train"     ? StepKind::kTrain
              : options.kind == "prefill" ? StepKind::kPrefill
                                          : StepKind::kDecode;
  if (!options.mesh.empty()) {
    const Result<Mesh> mesh = parse_mesh(options.mesh);
    if (!mesh) return tl::unexpected(mesh.error());
    step.mesh = *mesh;
  }
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
  step.tiles.fused_backward = !options.split_backward;
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
  step.scan_layers = !options.unroll, step.one_hot_embedding = options.one_hot;
  step.gradients_only = options.gradients, step.cast_before_gather = !options.gather_stored;
  step.manual_attention = !options.automatic, step.experts_on_fsdp = options.experts_on_fsdp;
  return step;
}

std::string counts_of(const ModelConfig& model, const StepOptions& step) {
  const ParameterCount count = count_parameters(model);
  const std::string parameters = fmt::format("{}: {} parameters, {} in products of a token\n", model.name,
                                             count.total, count.in_matmuls_per_token);
  const bool train = step.kind == StepKind::kTrain;
  const double whole = matmul_flops(model, step.batch, step.sequence, train, false);
  if (step.kind == StepKind::kDecode)
    return parameters + fmt::format("{:.4g} FLOPs in products of a step of {} tokens against caches of {}\n",
                                    whole / static_cast<double>(step.sequence), step.batch, step.sequence);
  return parameters + fmt::format(
                          "{:.4g} FLOPs in products of a step of {} x {} tokens, {:.4g} where "
                          "attention is causal\n",
                          whole, step.batch, step.sequence,
                          matmul_flops(model, step.batch, step.sequence, train, true));
}

int model(const Options& options, Streams streams) {
  const auto fail = [&](const Diagnostic& diagnostic) {
    tell(diagnostic, streams);
    return kExitInput;
  };
  const Result<SourcePtr> source = read_input(options.file, streams);
  if (!source) return fail(source.error());
  const Result<ModelConfig> config = read_model_config(*source);
  if (!config) return fail(config.error());
  const Result<StepOptions> step = step_options(options);
  if (!step) return fail(step.error());
  if (options.count)
    return write_output(options.output, counts_of(*config, *step), streams) ? kExitSuccess : kExitInput;
  const Result<Module> made = make_step(*config, *step);
  if (!made) return fail(made.error());
  const std::string text = to_text(*made, op_table());
  if (const auto checked = check_made_text(text, "model", made->name); !checked) return fail(checked.error());
  return write_output(options.output, text, streams) ? kExitSuccess : kExitInput;
}

void declare_sizes(CommandLine& line, Options& options) {
  line.add_option("FILE", options.file, "Model file (examples/models); - is standard input").required();
  line.add_option("--kind", options.kind, "train, prefill or decode")
      .one_of({"train", "prefill", "decode"})
      .show_default();
  line.add_option("--mesh", options.mesh,
                  "Axes of the devices: data, fsdp, fsdp_transpose, tensor, expert, context, sequence, as "
                  "fsdp=8,tensor=4");
  line.add_option("--batch", options.batch,
                  "Sequences of all devices together; without it, one for each part of the batch");
  line.add_option("--sequence", options.sequence, "Tokens of a sequence; decode: of the cache")
      .from(1)
      .show_default();
  line.add_option("--compute", options.compute, "Type of products and activations").show_default();
  line.add_option("--params", options.params, "Type of the stored parameters").show_default();
  line.add_option("--moments", options.moments, "Types of Adam's moments: one, or two as bf16,f32")
      .show_default();
  line.add_option("--quantize", options.quantize, "Products of layers in eight bits: none, int8 or fp8")
      .one_of({"none", "int8", "fp8"})
      .show_default();
}

}  // namespace

std::function<int()> declare_model(CommandLine& line, Streams streams) {
  const auto options = std::make_shared<Options>();
  declare_sizes(line, *options);
  line.add_option("--remat", options->remat, "What the backward pass is given: full, minimal, custom, ...")
      .show_default();
  line.add_option("--keep", options->keep,
                  "Changes to --remat: NAME=device, host or recompute, as context=device,mlpwo=host")
      .one_value_each();
  line.add_option("--attention", options->attention,
                  "Kernel of attention: splash, flash, or plain instructions")
      .one_of({"splash", "flash", "plain"})
      .show_default();
  line.add_option("--blocks", options->blocks, "Blocks of the kernel: block_q=1024,block_kv_dkv=2048,...")
      .one_value_each();
  line.add_flag("--split-backward", options->split_backward, "Kernels for gradients of q and of k, v apart");
  line.add_flag("--automatic", options->automatic, "Kernels are no manual region; their shardings follow");
  line.add_option("--optimizer", options->optimizer, "adamw, adam or adam_pax")
      .one_of({"adamw", "adam", "adam_pax"})
      .show_default();
  line.add_flag("--gradients-only", options->gradients, "The loss and all gradients are the results");
  line.add_flag("--unroll", options->unroll, "Layers one after the other instead of a loop");
  line.add_option("--stack-axis", options->stack_axis, "Where stacked parameters have their layers: 0 or 1")
      .show_default();
  line.add_flag("--one-hot-embedding", options->one_hot, "The lookup as a product");
  line.add_option("--vocab-tiles", options->vocab_tiles, "Logits and loss in so many parts")
      .from(1)
      .show_default();
  line.add_flag("--gather-stored", options->gather_stored, "Parameters are gathered in their stored type");
  line.add_flag("--experts-on-fsdp", options->experts_on_fsdp, "fsdp cuts the dimension of experts too");
  line.add_flag("--count", options->count, "Parameters and FLOPs by arithmetic, no module");
  line.add_option("-o,--output", options->output, "Output file; - is standard output").show_default();
  return [options, streams] { return model(*options, streams); };
}

}  // namespace hlosim
