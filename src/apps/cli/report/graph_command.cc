#include <fmt/format.h>

#include <memory>
#include <ostream>

#include "cli/commands.h"
#include "cli/run.h"
#include "console/command_line.h"
#include "console/input.h"
#include "console/simulation_setting.h"
#include "console/text_output.h"
#include "console/verbosity.h"
#include "ops/op_table.h"
#include "report/graph_view.h"

namespace hlosim {
namespace {

struct GraphArguments : SimulationOptions {
  std::string format = "dot";
  std::string colour = "time";
  std::string computation;
  std::string around;
  int64_t distance = 2;
  std::string output = "-";
};

GraphColour colour_of(const std::string& word) {
  if (word == "space") return GraphColour::kSpace;
  return word == "category" ? GraphColour::kCategory : GraphColour::kTime;
}

std::optional<Estimate> estimated(const Module& module, const SimulationSetting& setting, Streams streams) {
  Result<Estimate> estimate = hlosim::estimate(module, op_table(), setting.device, setting.estimate);
  if (estimate) return std::move(*estimate);
  Diagnostic problem = estimate.error();
  if (!problem.source) problem.message = fmt::format("module {}: {}", module.name, problem.message);
  tell(problem, streams);
  return std::nullopt;
}

/// The picture of one module.
std::optional<std::string> drawn(const Module& module, const SimulationSetting& setting,
                                 const GraphArguments& options, Streams streams) {
  const std::optional<Estimate> estimate = estimated(module, setting, streams);
  if (!estimate) return std::nullopt;
  const GraphData data(op_table(), setting.device.config, *estimate);
  const Result<GraphView> view =
      options.around.empty() ? graph_of(data, options.computation)
                             : graph_around(data, {options.around, options.distance, options.computation});
  if (view) return to_dot(data, *view, colour_of(options.colour));
  tell(view.error(), streams);
  return std::nullopt;
}

int write_pictures(const GraphArguments& options, const SimulationSetting& setting, Streams streams) {
  std::string all;
  bool any = false;
  const bool ok = for_each_chosen(options, setting, streams, [&](const Module& module) {
    const std::optional<std::string> text = drawn(module, setting, options, streams);
    if (text) any = true, all += *text;
    return text.has_value();
  });
  if (!ok || !any) return kExitInput;
  return write_output(options.output, all, streams) ? kExitSuccess : kExitInput;
}

/// Every computation of one module, written as it is made: of large modules that is more text than fits.
int write_graphs(const GraphArguments& options, const SimulationSetting& setting, Streams streams) {
  std::optional<Estimate> estimate;
  size_t modules = 0;
  const bool ok = for_each_chosen(options, setting, streams, [&](const Module& module) {
    std::optional<Estimate> one = estimated(module, setting, streams);
    if (!one) return false;
    if (++modules == 1) estimate = std::move(one);
    return true;
  });
  if (!ok || !estimate) return kExitInput;
  if (modules > 1) {
    tell(failure(fmt::format("--format={} holds one module, there are {}", options.format, modules),
                 "--module chooses one")
             .value(),
         streams);
    return kExitInput;
  }
  const GraphData data(op_table(), setting.device.config, *estimate);
  const TextSource text = [&](const TextSink& out) {
    if (options.format == "model-explorer") return write_model_explorer_json(data, out);
    write_node_data_json(data, colour_of(options.colour), out);
  };
  return write_output(options.output, text, streams) ? kExitSuccess : kExitInput;
}

int graph(const GraphArguments& options, Streams streams) {
  const bool is_picture = options.format == "dot";
  if (!is_picture && (!options.around.empty() || !options.computation.empty())) {
    tell(failure(fmt::format("--format={} has every computation", options.format),
                 "--around and --computation are for --format=dot")
             .value(),
         streams);
    return kExitInput;
  }
  const std::optional<SimulationSetting> setting = read_simulation(options, streams);
  if (!setting) return kExitInput;
  return is_picture ? write_pictures(options, *setting, streams) : write_graphs(options, *setting, streams);
}

}  // namespace

std::function<int()> declare_graph(CommandLine& line, Streams streams) {
  const auto options = std::make_shared<GraphArguments>();
  declare_simulation(line, *options);
  line.add_option("--format", options->format,
                  "dot (Graphviz), model-explorer (graphs of all computations), node-data (values for them)")
      .one_of({"dot", "model-explorer", "node-data"})
      .show_default();
  line.add_option("--color-by,--colour-by", options->colour,
                  "Quantity shown by colors and node data: time, space or category")
      .one_of({"time", "space", "category"})
      .show_default();
  line.add_option("--computation", options->computation, "Computation to draw; default: the entry");
  line.add_option("--around", options->around, "Draw the neighborhood of this instruction only");
  line.add_option("--distance", options->distance, "Radius of the neighborhood in edges")
      .from(0)
      .show_default();
  line.add_option("-o,--output", options->output, "Output file; - is standard output")
      .writes_file(streams.files)
      .show_default();
  return [options, streams] { return graph(*options, streams); };
}

}  // namespace hlosim
