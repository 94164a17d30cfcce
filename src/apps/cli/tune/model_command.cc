#include <fmt/format.h>

#include <memory>
#include <optional>
#include <ostream>

#include "base/quantity_text.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/run.h"
#include "cli/tune/fit_choice.h"
#include "cli/tune/made_text.h"
#include "console/command_line.h"
#include "console/device_input.h"
#include "console/input.h"
#include "console/model_input.h"
#include "console/step_choice.h"
#include "console/verbosity.h"
#include "hlo/printer.h"
#include "ops/op_table.h"
#include "workloads/model_text.h"
#include "workloads/step.h"

namespace hlosim {
namespace {

struct ModelArguments {
  ModelSource from;
  std::string output = "-";
  StepMeshes meshes;
  StepChoice step;
  FitChoice fit;
  bool count = false, write_model = false;
};

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

/// The step in `to`, read back before it is written.
int write_step(const Module& step, const std::string& to, Streams streams) {
  const std::string text = to_text(step, op_table());
  if (const auto checked = verify_emitted_text(text, "model", step.name); !checked) {
    tell(checked.error(), streams);
    return kExitInput;
  }
  return write_output(to, text, streams) ? kExitSuccess : kExitInput;
}

/// The table on standard output, and the largest step in the file that --output names.
int fit(const ModelConfig& model, const StepOptions& step, const ModelArguments& options, Streams streams) {
  const std::optional<FittedStep> fitted = fit_step(model, step, options.fit, streams);
  if (!fitted) return kExitInput;
  if (!write_output("-", fitted->text, streams)) return kExitInput;
  if (!fitted->module) return kExitFailedCheck;
  return options.output == "-" ? kExitSuccess : write_step(*fitted->module, options.output, streams);
}

/// The step of a configuration of MaxText, and the options that `report` needs beside its module.
void note_maxtext(const ModelInput& input, Streams streams) {
  const StepOptions& step = input.step->options;
  note(fmt::format("MaxText: mesh {}, {} slice{}, {} x {} tokens, remat {}",
                   step.mesh.axes.empty() ? "of one device" : to_text(step.mesh), input.step->slices,
                   input.step->slices == 1 ? "" : "s", step.batch, step.sequence, step.remat.name),
       streams);
  DeviceChoices choices;
  add_device_choices(input, choices);
  std::string options = input.step->slices > 1 ? fmt::format(" --slices={}", input.step->slices) : "";
  for (const std::string& one : choices.overrides) options += fmt::format(" --set={}", one);
  for (const std::string& one : choices.xla_flags) options += fmt::format(" --xla-flags='{}'", one);
  if (!options.empty()) note(fmt::format("MaxText: not part of the module: report{}", options), streams);
}

int model(const ModelArguments& options, Streams streams) {
  const auto fail = [&](const Diagnostic& diagnostic) {
    tell(diagnostic, streams);
    return kExitInput;
  };
  const std::optional<ModelInput> input = read_model(options.from, streams);
  if (!input) return kExitInput;
  if (options.write_model)
    return write_output(options.output, model_text(input->model), streams) ? kExitSuccess : kExitInput;
  const Result<StepOptions> step = step_of(*input, options.step, options.meshes);
  if (!step) return fail(step.error());
  if (input->step) note_maxtext(*input, streams);
  if (options.count)
    return write_output(options.output, counts_of(input->model, *step), streams) ? kExitSuccess : kExitInput;
  if (!options.fit.key.empty()) return fit(input->model, *step, options, streams);
  const Result<Module> made = make_step(input->model, *step);
  return made ? write_step(*made, options.output, streams) : fail(made.error());
}

}  // namespace

std::function<int()> declare_model(CommandLine& line, Streams streams) {
  const auto options = std::make_shared<ModelArguments>();
  declare_model_source(line, options->from);
  declare_step_meshes(line, options->meshes);
  declare_step(line, options->step);
  declare_fit(line, options->fit);
  line.add_flag("--write-model", options->write_model,
                "Write the model as a model file (YAML) instead of its step");
  line.add_flag("--count", options->count, "Print parameters and FLOPs without making a module");
  line.add_option("-o,--output", options->output,
                  "Output file of the step; - is standard output, but with --fit the table is there alone")
      .writes_file(streams.files)
      .show_default();
  return [options, streams] { return model(*options, streams); };
}

}  // namespace hlosim
