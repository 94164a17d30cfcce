#include <fmt/format.h>

#include <memory>
#include <optional>
#include <ostream>

#include "base/quantity_text.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/run.h"
#include "cli/tune/made_text.h"
#include "cli/tune/step_choice.h"
#include "console/command_line.h"
#include "console/input.h"
#include "console/verbosity.h"
#include "hlo/printer.h"
#include "ops/op_table.h"
#include "workloads/step.h"

namespace hlosim {
namespace {

struct ModelArguments {
  std::string file, mesh, output = "-";
  StepChoice step;
  bool count = false;
};

Result<StepOptions> on_mesh(const ModelArguments& options) {
  Mesh mesh;
  if (!options.mesh.empty()) {
    Result<Mesh> parsed = parse_mesh(options.mesh);
    if (!parsed) return tl::unexpected(parsed.error());
    mesh = std::move(*parsed);
  }
  return step_options(options.step, mesh);
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

int model(const ModelArguments& options, Streams streams) {
  const auto fail = [&](const Diagnostic& diagnostic) {
    tell(diagnostic, streams);
    return kExitInput;
  };
  const Result<SourcePtr> source = read_input(options.file, streams);
  if (!source) return fail(source.error());
  const Result<ModelConfig> config = read_model_config(*source);
  if (!config) return fail(config.error());
  const Result<StepOptions> step = on_mesh(options);
  if (!step) return fail(step.error());
  if (options.count)
    return write_output(options.output, counts_of(*config, *step), streams) ? kExitSuccess : kExitInput;
  const Result<Module> made = make_step(*config, *step);
  if (!made) return fail(made.error());
  const std::string text = to_text(*made, op_table());
  if (const auto checked = verify_emitted_text(text, "model", made->name); !checked)
    return fail(checked.error());
  return write_output(options.output, text, streams) ? kExitSuccess : kExitInput;
}

}  // namespace

std::function<int()> declare_model(CommandLine& line, Streams streams) {
  const auto options = std::make_shared<ModelArguments>();
  line.add_option("FILE", options->file, "Model file (examples/models); - is standard input").required();
  line.add_option("--mesh", options->mesh,
                  "Axes of the devices: data, fsdp, fsdp_transpose, tensor, expert, context, sequence, as "
                  "fsdp=8,tensor=4");
  declare_step(line, options->step);
  line.add_flag("--count", options->count, "Parameters and FLOPs by arithmetic, no module");
  line.add_option("-o,--output", options->output, "Output file; - is standard output")
      .writes_file(streams.files)
      .show_default();
  return [options, streams] { return model(*options, streams); };
}

}  // namespace hlosim
