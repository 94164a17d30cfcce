// A configuration of MaxText, a YAML file or the command line of a run, as a model and its training step.
//
//   std::vector<Value> settings = *read_maxtext_line(source);      // train.py base.yml model_name=… …
//   const Result<MaxTextStep> step = read_maxtext(settings, {.devices = 32});
//   make_step(step->model, step->options)
//
// What isn't given is as in MaxText's base.yml. docs/how-to/configs.md lists the settings.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "base/value.h"
#include "sharding/mesh.h"
#include "workloads/model_config.h"
#include "workloads/step_options.h"

namespace hlosim {

struct MaxTextStep {
  ModelConfig model;
  StepOptions options;  // its mesh has the axes of both meshes, numbered slice by slice
  Mesh ici, dcn;        // inside a slice and between slices
  int64_t slices = 1;
  std::string topology;   // compile_topology, "v5e-256"; empty: not given
  std::string xla_flags;  // of LIBTPU_INIT_ARGS, XLA_FLAGS and compile_xla_flags, as --xla-flags takes them
  std::vector<Diagnostic> notes;  // warnings with their places: settings that are not known, or not modelled
};

struct MaxTextContext {
  std::optional<int64_t> devices;  // of all slices; for axes of -1
  /// Devices of a slice that compile_topology names.
  std::function<Result<int64_t>(std::string_view topology)> devices_of;
};

/// KEY=VALUE of a command line, which may be a part of a script: what follows the program train….py or
/// -m ….train (or -m maxtext….$NAME) up to the line's end, and LIBTPU_INIT_ARGS and XLA_FLAGS as the lines
/// before set them. Settings without effect that are shell variables (run_name=$NAME) are left out. Errors,
/// with their place: quotes that don't end, shell variables, a line without settings.
Result<std::vector<Value>> read_maxtext_line(const SourcePtr& source);
/// The keys of a YAML file. Errors: of parse_yaml(), a file that is no map.
Result<std::vector<Value>> read_maxtext_yaml(const SourcePtr& source);
/// Is it a setting of data, checkpoints, logs or the learning rate, which no time of a step depends on?
bool is_without_effect_in_maxtext(std::string_view key);
/// Does a YAML file or a command line look like MaxText's? Model files and other texts don't.
bool is_maxtext_yaml(const SourcePtr& source);
bool is_maxtext_line(std::string_view text);

/// The last one of several settings with the same key counts. Errors, with their place: values of a wrong
/// type, models, meshes, policies and settings that aren't supported, axes of -1 without a number of devices.
Result<MaxTextStep> read_maxtext(const std::vector<Value>& settings, const MaxTextContext& context);

}  // namespace hlosim
