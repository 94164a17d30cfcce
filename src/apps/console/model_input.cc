#include "console/model_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/text.h"
#include "console/command_line.h"
#include "console/device_input.h"
#include "console/input.h"
#include "console/step_choice.h"
#include "console/verbosity.h"
#include "estimate/named_slice.h"
#include "workloads/builtin_models.h"
#include "workloads/hf_config.h"
#include "workloads/maxtext_settings.h"

namespace hlosim {
namespace {

const BuiltinModel* builtin_model(std::string_view name) {
  const std::span<const BuiltinModel> models = builtin_models();
  const auto found = std::ranges::find(models, name, &BuiltinModel::name);
  return found == models.end() ? nullptr : &*found;
}

/// The devices of a slice, as JAX counts them: "v5e-256" has 256.
Result<int64_t> devices_of_slice(std::string_view name) {
  DiagnosticList problems;
  const std::optional<Device> device =
      load_device(std::string(name), {}, DeviceSearch::from_environment(), problems);
  if (!device) return tl::unexpected(problems.items().front());
  const Result<SliceRequest> slice = on_named_slice({}, name, *device);
  if (!slice) return tl::unexpected(slice.error());
  if (!slice->topology) return failure(fmt::format("\"{}\" names no slice", shown(name)), "as in v5e-256");
  return slice->topology->chips() * device->config.devices_per_chip();
}

SourcePtr source_of(std::string name, std::string_view text) {
  return std::make_shared<const SourceFile>(std::move(name), std::string(text));
}

bool begins_object(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

class ModelLoader {
 public:
  ModelLoader(const ModelSource& from, Streams streams) : from_(from), streams_(streams) {}

  Result<ModelInput> load() {
    std::vector<Value> settings;
    if (!from_.file.empty()) {
      Result<SourcePtr> source = text_of(from_.file);
      if (!source) return tl::unexpected(source.error());
      const std::string_view text = (*source)->text();
      const bool is_yaml = from_.file.ends_with(".yaml") || from_.file.ends_with(".yml");
      const bool is_line = !is_yaml && is_maxtext_line(text);
      if (!is_line && begins_object(text)) return of_hugging_face(*source);
      if (!is_line && !is_maxtext_yaml(*source)) return of_model_file(*source);
      Result<std::vector<Value>> read = is_line ? read_maxtext_line(*source) : read_maxtext_yaml(*source);
      if (!read) return tl::unexpected(read.error());
      settings = std::move(*read);
    }
    return of_maxtext(std::move(settings));
  }

 private:
  Result<SourcePtr> text_of(const std::string& file) const {
    if (const BuiltinModel* model = builtin_model(file)) return source_of(file + ".yaml", model->text);
    return read_input(file, streams_);
  }

  Result<void> no_line(std::string_view what) const {
    if (from_.maxtext.empty() && !from_.devices) return {};
    return failure(fmt::format("--maxtext and --devices are for MaxText's configurations, {} is {}",
                               shown(from_.file), what));
  }

  Result<ModelInput> of_model_file(const SourcePtr& source) const {
    if (const Result<void> alone = no_line("a model file"); !alone) return tl::unexpected(alone.error());
    Result<ModelConfig> model = read_model_config(source);
    if (!model) return tl::unexpected(model.error());
    return ModelInput{std::move(*model), std::nullopt};
  }

  Result<ModelInput> of_hugging_face(const SourcePtr& source) const {
    if (const Result<void> alone = no_line("a config.json"); !alone) return tl::unexpected(alone.error());
    Result<ImportedModel> imported = read_hf_config(source);
    if (!imported) return tl::unexpected(imported.error());
    for (const Diagnostic& warning : imported->notes) tell(warning, streams_);
    return ModelInput{std::move(imported->model), std::nullopt};
  }

  Result<ModelInput> of_maxtext(std::vector<Value> settings) const {
    if (!from_.maxtext.empty()) {
      const Result<std::vector<Value>> more = read_maxtext_line(source_of("--maxtext", from_.maxtext));
      if (!more) return tl::unexpected(more.error());
      settings.insert(settings.end(), more->begin(), more->end());
    }
    Result<MaxTextStep> step =
        read_maxtext(settings, {from_.devices ? from_.devices : from_.known_devices, devices_of_slice});
    if (!step) return tl::unexpected(step.error());
    for (const Diagnostic& warning : step->notes) tell(warning, streams_);
    ModelConfig model = step->model;
    return ModelInput{std::move(model), std::move(*step)};
  }

  const ModelSource& from_;
  Streams streams_;
};

}  // namespace

void declare_model_source(CommandLine& line, ModelSource& from) {
  line.add_option(
      "FILE", from.file,
      "Model file (examples/models), Hugging Face config.json, MaxText configuration or script, or a "
      "built-in model such as llama3-8b; - is standard input");
  declare_maxtext(line, from.maxtext);
  line.add_option("--devices", from.devices, "Devices of all slices, where an axis of MaxText's meshes is -1")
      .from(1);
}

void declare_maxtext(CommandLine& line, std::string& maxtext) {
  line.add_option(
      "--maxtext", maxtext,
      "Settings or command line of MaxText: train.py base.yml model_name=llama2-70b ...; overrides "
      "those of FILE");
}

std::optional<ModelInput> read_model(const ModelSource& from, Streams streams) {
  if (from.file.empty() && from.maxtext.empty()) {
    complain("FILE or --maxtext is required", "as in examples/models/llama3-8b.yaml", streams);
    return std::nullopt;
  }
  Result<ModelInput> input = ModelLoader(from, streams).load();
  if (input) return std::move(*input);
  tell(input.error(), streams);
  return std::nullopt;
}

void declare_step_meshes(CommandLine& line, StepMeshes& meshes) {
  line.add_option("--mesh", meshes.mesh,
                  "Axes of the devices: data, fsdp, fsdp_transpose, tensor, expert, context, sequence, as "
                  "fsdp=8,tensor=4; with --dcn-mesh those of a slice");
  line.add_option("--dcn-mesh", meshes.dcn_mesh,
                  "Axes over the slices, as data=2; `report` needs --slices=2");
}

Result<StepOptions> step_of(const ModelInput& input, const StepChoice& choice, const StepMeshes& meshes) {
  if (input.step) {
    if (choice != StepChoice() || !meshes.mesh.empty() || !meshes.dcn_mesh.empty())
      return failure("options of the step and --mesh are not for configurations of MaxText",
                     "--maxtext overrides its settings, as in --maxtext='remat_policy=minimal'");
    return input.step->options;
  }
  Mesh ici, dcn;
  for (const auto& [text, mesh] : {std::pair(&meshes.mesh, &ici), std::pair(&meshes.dcn_mesh, &dcn)}) {
    if (text->empty()) continue;
    Result<Mesh> parsed = parse_mesh(*text);
    if (!parsed) return tl::unexpected(parsed.error());
    *mesh = std::move(*parsed);
  }
  if (dcn.axes.empty()) return step_options(choice, ici);
  if (dcn.devices() > kMostMeshDevices / ici.devices())
    return failure(fmt::format("the mesh has more than {} devices", kMostMeshDevices));
  return step_options(choice, mesh_over_slices(ici, dcn));
}

void add_device_choices(const ModelInput& input, DeviceChoices& choices) {
  if (input.step && !input.step->xla_flags.empty())
    choices.xla_flags.insert(choices.xla_flags.begin(), input.step->xla_flags);
}

bool names_model(std::string_view path) {
  static constexpr std::string_view kSuffixes[] = {".yaml", ".yml", ".json", ".sh"};
  return std::ranges::any_of(kSuffixes, [&](std::string_view suffix) { return path.ends_with(suffix); }) ||
         builtin_model(path);
}

}  // namespace hlosim
