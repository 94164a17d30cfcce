#include "published/published_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/saturating.h"
#include "base/text.h"
#include "model/device_text_form.h"
#include "text/entry_fields.h"
#include "text/read_json.h"
#include "workloads/maxtext_settings.h"

namespace hlosim {
namespace {

/// An axis of a mesh section.
Mesh read_mesh(const Value& object, DiagnosticList& problems) {
  Mesh mesh;
  EntryFields fields(object, fmt::format("\"{}\"", object.key), problems);
  for (const std::string_view name : maxtext_axes()) {
    int64_t size = 1;
    if (fields.whole(name, size, 1) && size > 1) mesh.axes.push_back({std::string(name), size});
  }
  for (const Value* left : fields.rest())
    problems.add(error_at_key(*left, fmt::format("no axis of a mesh is called \"{}\"", shown(left->key)),
                              fmt::format("there are {}", fmt::join(maxtext_axes(), ", "))));
  return mesh;
}

/// What decides the program of one device but for batch, mesh and flags.
constexpr std::string_view kProgramKeys[] = {"device",       "model",
                                             "seq",          "step",
                                             "dtype",        "param_dtype",
                                             "quantization", "optimizer",
                                             "remat_policy", "attention_kernel",
                                             "scan_layers",  "embedding_lookup",
                                             "other_flags"};
/// For people, or said again in other words.
const std::initializer_list<std::string_view> kReaderKeys = {"id",
                                                             "chips",
                                                             "devices_per_chip",
                                                             "accelerator",
                                                             "per_device_batch_unit",
                                                             "tokens_per_step",
                                                             "check",
                                                             "software",
                                                             "confidence",
                                                             "notes",
                                                             "reruns",
                                                             "profile",
                                                             "spread",
                                                             "assumed",
                                                             "config_source"};

void append(std::string& text, const Value& value) {
  text += value.key + (value.is_map() ? "{" : value.is_list() ? "[" : "=") + value.text;
  for (const Value& item : value.items) append(text, item);
  text += ";";
}

class RunReader {
 public:
  RunReader(const Value& entry, DiagnosticList& problems)
      : fields_(entry, "an entry", problems), entry_(entry), problems_(problems) {}

  PublishedRun read() {
    const size_t errors_before = problems_.error_count();
    fields_.text("device", run_.device, EntryFields::kNeeded);
    if (const Value* model = fields_.object("model", EntryFields::kNeeded)) {
      run_.model = read_published_model(*model, problems_, run_.assumptions);
      EntryFields family(*model, "a model", problems_);
      run_.family = run_.model.moe ? "moe" : "dense";
      family.text("family", run_.family);
    }
    run_.options = read_published_options(entry_, problems_, run_.assumptions);
    drop_settings_of_experts(run_.model, run_.options);
    sizes();
    meshes();
    xla_flags();
    measured();
    loss();
    software();
    origin();
    if (problems_.error_count() == errors_before) check();
    return std::move(run_);
  }

 private:
  void sizes() {
    fields_.whole("slices", run_.slices, 1);
    fields_.whole("jax_devices", run_.devices, 1, EntryFields::kNeeded);
    fields_.whole("seq", run_.options.sequence, 1, EntryFields::kNeeded);
    double per_device = 0;
    const bool has_share = fields_.positive("per_device_batch", per_device);
    const bool has_batch = fields_.whole("global_batch", run_.options.batch, 1,
                                         has_share ? EntryFields::kOptional : EntryFields::kNeeded);
    const double batch = per_device * static_cast<double>(run_.devices);
    if (has_share && !has_batch) run_.options.batch = std::max<int64_t>(1, std::llround(batch));
    constexpr double kRounding = 0.01;
    if (has_share && has_batch && std::abs(batch - static_cast<double>(run_.options.batch)) > kRounding)
      fields_.wrong("global_batch", fmt::format("a batch of {} is not {} devices with {} each",
                                                run_.options.batch, run_.devices, per_device));
    std::string topology;
    if (!fields_.text("topology", topology)) return;
    const std::string sides = topology.substr(0, topology.find(' '));  // "4x4x12 (the usual shape)"
    Result<Topology> read = TextForm<Topology>::read(sides);
    if (!read) return fields_.wrong("topology", read.error().message, read.error().hint);
    run_.topology = std::move(*read);
    if (sides.size() != topology.size())
      run_.assumptions.push_back(fmt::format("topology: {}", shown(topology, 120)));
  }

  void meshes() {
    const Value* mesh = fields_.object("mesh");
    if (!mesh) return;
    EntryFields parts(*mesh, "\"mesh\"", problems_);
    if (const Value* ici = parts.object("ici")) run_.ici = read_mesh(*ici, problems_);
    if (const Value* dcn = parts.object("dcn")) run_.dcn = read_mesh(*dcn, problems_);
    for (const Value* left : parts.rest())
      problems_.add(
          error_at_key(*left, fmt::format("\"mesh\" has \"ici\" and \"dcn\", not \"{}\"", shown(left->key))));
  }

  void xla_flags() {
    std::vector<std::string> texts;
    const Value* list = fields_.find("xla_flags");
    if (!fields_.texts("xla_flags", texts)) return;
    for (size_t i = 0; i < texts.size(); ++i) {
      std::string_view text = texts[i];
      if (!text.starts_with("--")) {
        run_.assumptions.push_back(fmt::format("xla_flags: {} is not modelled", shown(text)));
        continue;
      }
      text.remove_prefix(2);
      const size_t equals = text.find('=');
      const Value& place = list->items[i];
      XlaFlag flag{std::string(text.substr(0, equals)),
                   equals == std::string_view::npos ? "true" : std::string(text.substr(equals + 1)),
                   place.source, place.offset, place.offset};
      std::erase_if(run_.flags, [&](const XlaFlag& other) { return other.name == flag.name; });
      run_.flags.push_back(std::move(flag));
    }
    bool known = true;
    fields_.flag("xla_flags_known", known);
    if (!known) run_.assumptions.push_back("xla_flags are unknown: none assumed");
  }

  /// tokamax' chunked_xla goes through blocks of 1024 tokens and 2048 columns of the vocabulary, and makes
  /// the logits of each once more for the gradients.
  void loss() {
    const Value* flags = entry_.find("other_flags");
    if (!flags || !has_chunked_loss(*flags) || run_.options.kind != StepKind::kTrain) return;
    constexpr int64_t kTokens = 1024, kMostTiles = 1 << 16;
    const int64_t sequence = run_.options.sequence;
    const int64_t tokens =
        saturating_multiply(run_.options.batch, sequence) / std::max<int64_t>(run_.devices, 1);
    int64_t tiles = std::clamp<int64_t>(tokens / kTokens, 1, std::clamp<int64_t>(sequence, 1, kMostTiles));
    while (sequence % tiles != 0) --tiles;
    run_.options.vocab_tiles = tiles;
    run_.assumptions.push_back(fmt::format(
        "other_flags.cross_entropy: {} parts of {} tokens with the whole vocabulary represent blocks of "
        "1024 tokens x 2048 columns",
        tiles, tokens / tiles));
  }

  /// MaxText writes rotary positions by the name of the model.
  void software() {
    const Value* used = entry_.find("software");
    if (!used || !used->is_map() || !used->find("maxtext")) return;
    run_.model.rope_interleaved = maxtext_turns_neighbors(run_.model.name);
  }

  /// Who published it, what ran, and what nobody asked for.
  void origin() {
    fields_.text("source", run_.source);
    run_.source = run_.source.substr(0, run_.source.find_first_of("@:"));
    for (const std::string_view key : kProgramKeys)
      if (const Value* value = entry_.find(key)) append(run_.program, *value);
    fields_.pass_over(kReaderKeys);
    for (const std::string_view key : kProgramKeys) fields_.find(key);
    for (const Value* left : fields_.rest())
      run_.assumptions.push_back(fmt::format("{} is not known: it changes nothing here", shown(left->key)));
  }

  void measured() {
    const Value* measured = fields_.object("measured", EntryFields::kNeeded);
    if (!measured) return;
    EntryFields times(*measured, "\"measured\"", problems_);
    const bool has_best = times.positive("step_seconds_best", run_.step_seconds);
    double plain = 0;
    const bool has_plain =
        times.positive("step_seconds", plain, has_best ? EntryFields::kOptional : EntryFields::kNeeded);
    if (has_plain && !has_best) run_.step_seconds = plain;
    const Value* flops = fields_.object("model_tflop_per_device_step");
    if (!flops) return;
    EntryFields counted(*flops, "\"model_tflop_per_device_step\"", problems_);
    if (counted.positive("canonical_causal", run_.model_flops)) run_.model_flops *= 1e12;
  }

  void check() {
    if (run_.devices % run_.slices != 0)
      return fields_.wrong("slices",
                           fmt::format("{} devices are not {} equal slices", run_.devices, run_.slices));
    if (run_.ici.devices() != run_.slice_devices())
      return fields_.wrong("mesh",
                           fmt::format("the mesh inside a slice has {} places, a slice has {} devices",
                                       run_.ici.devices(), run_.slice_devices()));
    if (run_.dcn.devices() != run_.slices)
      return fields_.wrong("mesh", fmt::format("the mesh between slices has {} places, there are {} slices",
                                               run_.dcn.devices(), run_.slices));
    run_.options.mesh = mesh_over_slices(run_.ici, run_.dcn);
    if (const std::optional<ModelFault> fault = model_fault(run_.model))
      fields_.wrong("model", fmt::format("the model is not sound: {}", fault->message));
  }

  EntryFields fields_;
  const Value& entry_;
  DiagnosticList& problems_;
  PublishedRun run_;
};

}  // namespace

PublishedRun read_published_run(const Value& entry, DiagnosticList& problems) {
  return RunReader(entry, problems).read();
}

}  // namespace hlosim
