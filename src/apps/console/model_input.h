// Models from files of any form: model files, Hugging Face's config.json, MaxText's configurations and
// command lines, and the built-in models by name.
//
//   ModelSource from{.file = "config.json"};
//   const std::optional<ModelInput> input = read_model(from, streams);
//   if (!input) return kExitInput;                 // what is wrong is printed already
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "console/streams.h"
#include "workloads/maxtext_config.h"
#include "workloads/model_config.h"
#include "workloads/step_options.h"

namespace hlosim {

class CommandLine;
struct DeviceChoices;
struct StepChoice;

struct ModelSource {
  std::string file = {};                // a path, `-`, or a built-in model's name; may be empty with maxtext
  std::string maxtext = {};             // settings, or a command line of MaxText; after those of the file
  std::optional<int64_t> devices = {};  // of all slices, for MaxText's axes of -1; an error for other models
  std::optional<int64_t> known_devices = {};  // the same, where the number means something for all models
};

struct ModelInput {
  ModelConfig model;
  std::optional<MaxTextStep> step;  // of MaxText's configurations: their own step, mesh and batch
};

/// The meshes of a step as options: fsdp=8,tensor=4; empty: one device, one slice.
struct StepMeshes {
  std::string mesh;      // inside a slice
  std::string dcn_mesh;  // between slices
};

/// --mesh and --dcn-mesh.
void declare_step_meshes(CommandLine& line, StepMeshes& meshes);

/// The step of a MaxText configuration; of other models the one of the options. Errors: options of the step
/// or a mesh beside a MaxText configuration, those of the options.
Result<StepOptions> step_of(const ModelInput& input, const StepChoice& choice, const StepMeshes& meshes);

/// Adds a MaxText configuration's compiler flags before those of the command line, which override them.
void add_device_choices(const ModelInput& input, DeviceChoices& choices);

/// FILE, --maxtext and --devices.
void declare_model_source(CommandLine& line, ModelSource& from);
/// --maxtext alone.
void declare_maxtext(CommandLine& line, std::string& maxtext);

/// Null, with what is wrong printed. Settings that nothing models are printed as warnings.
std::optional<ModelInput> read_model(const ModelSource& from, Streams streams);

/// A model by its name: a file that ends in .yaml, .yml, .json or .sh (a script of MaxText), or a built-in
/// model; else a module.
bool names_model(std::string_view path);

}  // namespace hlosim
