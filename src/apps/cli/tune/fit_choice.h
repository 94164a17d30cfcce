// `hlosim model --fit=KEY`: the largest size of a step or of its model that fits into a device's memory.
//
//   FitChoice choice;
//   declare_fit(line, choice);
//   if (!choice.key.empty()) return fit_step(model, step, choice, streams)
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "console/command_line.h"
#include "console/simulation_setting.h"
#include "hlo/module.h"
#include "study/fit_search.h"
#include "workloads/model_config.h"
#include "workloads/step_options.h"

namespace hlosim {

struct FitChoice {
  std::string key, format = "text";
  int64_t unit = 0;  // 0: by what the key is
  std::optional<int64_t> most;
  SimulationOptions simulation;  // the device and its slice
};

/// --fit, --fit-step, --fit-most, --format, --device, --set, --xla-flags, --topology, --devices, --slices.
void declare_fit(CommandLine& line, FitChoice& choice);

struct FittedStep {
  std::string text;              // the table of what was tried
  std::optional<Module> module;  // the step of the largest size; none: nothing fits
};

/// Nothing, with what is wrong printed: a key that is no size, a model that can't have a size.
std::optional<FittedStep> fit_step(const ModelConfig& model, const StepOptions& step, const FitChoice& choice,
                                   Streams streams);

}  // namespace hlosim
