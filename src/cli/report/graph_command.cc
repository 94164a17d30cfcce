#include <fmt/format.h>

#include <memory>
#include <ostream>

#include "cli/commands.h"
#include "cli/run.h"
#include "console/command_line.h"
#include "console/input.h"
#include "console/simulation_setting.h"
#include "console/verbosity.h"
#include "ops/op_table.h"
#include "report/graph_view.h"

namespace hlosim {
namespace {

struct Options : SimulationOptions {
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

Result<std::string> written(const GraphData& data, const Options& options) {
  const GraphColour colour = colour_of(options.colour);
  if (options.format == "model-explorer") return model_explorer_json(data);
  if (options.format == "node-data") return node_data_json(data, colour);
  const Result<GraphView> view =
      options.around.empty() ? graph_of(data, options.computation)
                             : graph_around(data, {options.around, options.distance, options.computation});
  if (!view) return tl::unexpected(view.error());
  return to_dot(data, *view, colour);
}

/// The graph of one module; says what is wrong.
std::optional<std::string> graph_module(const Module& module, const SimulationSetting& setting,
                                        const Options& options, Streams streams) {
  const Result<Estimate> estimate = hlosim::estimate(module, op_table(), setting.device, setting.estimate);
  Diagnostic problem;
  if (estimate) {
    Result<std::string> text = written(GraphData(op_table(), setting.device.config, *estimate), options);
    if (text) return std::move(*text);
    problem = text.error();
  } else {
    problem = estimate.error();
    if (!problem.source) problem.message = fmt::format("module {}: {}", module.name, problem.message);
  }
  tell(problem, streams);
  return std::nullopt;
}

int graph(const Options& options, Streams streams) {
  const bool is_whole = options.format != "dot";
  if (is_whole && (!options.around.empty() || !options.computation.empty())) {
    tell(failure(fmt::format("--format={} has every computation", options.format),
                 "--around and --computation are for --format=dot")
             .value(),
         streams);
    return kExitInput;
  }
  const std::optional<SimulationSetting> setting = read_simulation(options, streams);
  if (!setting) return kExitInput;
  std::vector<std::string> texts;
  const bool ok = for_each_chosen(options, *setting, streams, [&](const Module& module) {
    std::optional<std::string> text = graph_module(module, *setting, options, streams);
    if (text) texts.push_back(std::move(*text));
    return text.has_value();
  });
  if (!ok || texts.empty()) return kExitInput;
  if (is_whole && texts.size() > 1) {
    tell(failure(fmt::format("--format={} holds one module, there are {}", options.format, texts.size()),
                 "--module chooses one")
             .value(),
         streams);
    return kExitInput;
  }
  std::string all;
  for (const std::string& text : texts) all += text;
  return write_output(options.output, all, streams) ? kExitSuccess : kExitInput;
}

}  // namespace

std::function<int()> declare_graph(CommandLine& line, Streams streams) {
  const auto options = std::make_shared<Options>();
  declare_simulation(line, *options);
  line.add_option("--format", options->format,
                  "dot (Graphviz), model-explorer (graphs of all computations), node-data (values for them)")
      .one_of({"dot", "model-explorer", "node-data"})
      .show_default();
  line.add_option("--color-by,--colour-by", options->colour,
                  "What colours and node data tell: time, space or category")
      .one_of({"time", "space", "category"})
      .show_default();
  line.add_option("--computation", options->computation, "The computation to draw; the entry unless named");
  line.add_option("--around", options->around, "Draw what is near this instruction only");
  line.add_option("--distance", options->distance, "How near: operands and users so many edges away")
      .from(0)
      .show_default();
  line.add_option("-o,--output", options->output, "Output file; - is standard output")
      .writes_file(streams.files)
      .show_default();
  return [options, streams] { return graph(*options, streams); };
}

}  // namespace hlosim
