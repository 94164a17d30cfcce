#include <fmt/format.h>

#include <memory>
#include <optional>
#include <ostream>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/run.h"
#include "cli/tune/made_text.h"
#include "cli/tune/mesh_programs.h"
#include "console/command_line.h"
#include "console/exchange.h"
#include "console/input.h"
#include "console/list_options.h"
#include "console/model_input.h"
#include "console/progress.h"
#include "console/simulation_setting.h"
#include "console/step_choice.h"
#include "console/verbosity.h"
#include "hlo/printer.h"
#include "model/version.h"
#include "ops/op_table.h"
#include "study/mesh_search.h"
#include "study/mesh_table.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

/// Goes up with every change of what results mean, so that a journal of before isn't used; changes of the
/// model have their own number.
constexpr int kResultsVersion = 1;

constexpr int64_t kMostBatch = int64_t{1} << 24;  // sequences

struct TuneMeshArguments {
  SimulationOptions simulation;
  StepChoice step;  // of a model
  std::string file, maxtext, axes, output, format = "text", svg, journal, batches;
  int64_t devices = 0, threads = 0, top = 20;
  double within = 1.5;
  bool everything = false;
};

/// `data,model` as its words. The error says which is none, or is there twice.
Result<std::vector<std::string>> read_axes(const std::string& text) {
  Result<std::vector<std::string>> axes = read_words("--axes", text);
  if (!axes) return axes;
  for (const std::string& name : *axes)
    if (name.find_first_of("=[]{} ;") != std::string::npos)
      return failure(fmt::format("--axes: '{}' is not a name of an axis", shown(name)),
                     "as in --axes=data,model");
  return axes;
}

/// What every point of the search has in common.
Experiment base_experiment(const TuneMeshArguments& options, const SimulationSetting& setting,
                           SourcePtr source, Streams streams) {
  Experiment experiment;
  experiment.name = options.file;
  experiment.modules = {{options.file, std::move(source)}};
  experiment.devices = {{options.simulation.device, setting.device}};
  experiment.load = {streams.limits, streams.mlir, streams.partial};
  experiment.stop = &streams.stop;
  const auto knob = [&](const char* name, std::string value) {
    experiment.axes.push_back({SweepAxis::Kind::kKnob, name, {std::move(value)}});
  };
  const SimulationOptions& simulation = options.simulation;
  if (simulation.no_lower) knob("lower", "false");
  if (simulation.slices != 1) knob("slices", std::to_string(simulation.slices));
  if (!simulation.topology.empty()) knob("topology", simulation.topology);
  if (simulation.while_trip_count != 1) knob("while_trip_count", std::to_string(simulation.while_trip_count));
  experiment.objectives = {{"time"}, {"hbm_peak"}};
  return experiment;
}

class MeshTuner {
 public:
  MeshTuner(const TuneMeshArguments& options, Streams streams) : options_(options), streams_(streams) {}

  int tune() {
    MeshRequest every;
    every.partitions = options_.devices;
    if (const Result<void> few = check_devices(every, streams_.limits); !few) return fail(few.error());
    Result<std::vector<std::string>> axes = read_axes(options_.axes);
    if (!axes) return fail(axes.error());
    if (options_.file.empty() && options_.maxtext.empty())
      return fail(failure("FILE is required: one module or model file").value());
    if (!options_.maxtext.empty() || names_model(options_.file)) return tune_model(*axes);
    SimulationOptions plain = options_.simulation;
    plain.mesh = {};  // it is every point's own
    const std::optional<SimulationSetting> setting = read_simulation(plain, streams_);
    if (!setting) return kExitInput;
    const Result<SourcePtr> source = read_input(options_.file, streams_);
    if (!source) return fail(source.error());
    if (options_.step != StepChoice() || !options_.batches.empty())
      return fail(failure(fmt::format("{}: options of a step are for model files", options_.file),
                          "a model file ends in .yaml (examples/models)")
                      .value());
    const ModuleInput input = read_module_input(options_.file, false, streams_);
    if (!input.ok) return kExitInput;
    if (input.modules.size() != 1)
      return fail(
          failure(fmt::format("{} holds {} modules, expected one", options_.file, input.modules.size()))
              .value());
    MeshTask task = task_of(*setting, *source);
    task.question = {options_.devices, std::move(*axes), options_.simulation.mesh.statements,
                     options_.simulation.mesh.order, options_.simulation.mesh.written_for};
    const Module& module = input.modules[0];
    return search(
        setting->device, task,
        [&](SweepProgress& progress) {
          return search_meshes(module, setting->device, task, streams_.ranks, progress);
        },
        [&](const MeshRow&) -> const Module& { return module; });
  }

 private:
  MeshTask task_of(const SimulationSetting& setting, const SourcePtr& source) const {
    MeshTask task;
    task.experiment = base_experiment(options_, setting, source, streams_);
    task.estimate = setting.estimate;
    task.sweep = {options_.journal, fmt::format("hlosim {} tune mesh {}, model {}", HLOSIM_VERSION,
                                                kResultsVersion, kModelVersion)};
    task.within = options_.within;
    task.everything = options_.everything;
    return task;
  }

  /// The model's step is written anew for each mesh.
  int tune_model(const std::vector<std::string>& axes) {
    const MeshOptions& mesh = options_.simulation.mesh;
    if (!mesh.statements.empty() || !mesh.written_for.empty() || !mesh.order.empty())
      return fail(failure("--shard, --mesh-order and --written-for are for modules",
                          "a model's step is written for each mesh")
                      .value());
    const std::optional<ModelInput> input = read_model(
        {.file = options_.file, .maxtext = options_.maxtext, .known_devices = options_.devices}, streams_);
    if (!input) return kExitInput;
    SimulationOptions simulation = options_.simulation;
    add_device_choices(*input, simulation.choices);
    if (input->step && simulation.slices == 1) simulation.slices = input->step->slices;
    const std::optional<SimulationSetting> setting = read_simulation(simulation, streams_);
    if (!setting) return kExitInput;
    const Result<std::vector<int64_t>> batches = batches_of_step(*input);
    if (!batches) return fail(batches.error());
    const Result<MeshPrograms> made =
        mesh_programs(input->model, {options_.step, input->step ? &input->step->options : nullptr},
                      step_meshes({options_.devices, axes}), *batches);
    if (!made) return fail(made.error());
    for (const std::string& text : made->left_out) note("left out: " + text, streams_);
    const MeshTask task = task_of(*setting, nullptr);
    return search(
        setting->device, task,
        [&](SweepProgress& progress) {
          return search_programs(made->programs, setting->device, task, streams_.ranks, progress);
        },
        [&](const MeshRow& row) -> const Module& { return made->programs[row.program].module; });
  }

  /// --batch or --batches, else the batch of a MaxText configuration. Errors: both, or other options of the
  /// step beside such a configuration.
  Result<std::vector<int64_t>> batches_of_step(const ModelInput& input) const {
    if (input.step) {
      StepChoice others = options_.step;
      others.batch.reset(), others.remat = StepChoice().remat;
      if (others != StepChoice())
        return failure(
            "options of the step other than --batch and --remat are not for configurations of MaxText",
            "--maxtext overrides its settings, as in --maxtext='max_target_length=4096'");
    }
    if (!options_.batches.empty()) {
      if (options_.step.batch) return failure("--batch and --batches exclude each other");
      return read_counts("--batches", options_.batches, kMostBatch);
    }
    if (options_.step.batch) return std::vector<int64_t>{*options_.step.batch};
    return input.step ? std::vector<int64_t>{input.step->options.batch} : std::vector<int64_t>();
  }

  int fail(const Diagnostic& diagnostic) {
    tell(diagnostic, streams_);
    return kExitInput;
  }

  template <class Search, class ModuleOf>
  int search(const Device& device, const MeshTask& task, Search&& run, ModuleOf&& module_of) {
    set_thread_count(static_cast<int>(options_.threads));
    SweepProgress own;
    SweepProgress& progress = streams_.exchange && streams_.exchange->sweep ? *streams_.exchange->sweep : own;
    progress.stop = &streams_.stop;
    const Result<MeshSearch> search = [&] {
      const ProgressLine line(streams_, "tune mesh", [&] {
        return fmt::format("{} of {} points of this batch", progress.done.load(), progress.total.load());
      });
      return run(progress);
    }();
    set_thread_count(0);
    if (!search) return fail(search.error());
    if (streams_.ranks.rank() != 0) return kExitSuccess;
    for (const std::string& text : search->left_out) note("not sharded: " + text, streams_);
    if (search->resumed > 0)
      note(fmt::format("{} of {} points were in the journal", search->resumed, search->rows.size()),
           streams_);
    const MeshTextOptions text{static_cast<size_t>(options_.top), output_paint("-", streams_)};
    const std::string table = options_.format == "json" ? mesh_json(*search) : mesh_text(*search, text);
    if (!options_.svg.empty() && !write_output(options_.svg, mesh_svg(*search, task.experiment), streams_))
      return kExitInput;
    (options_.output == "-" ? streams_.err : streams_.out) << table;
    if (!search->best) return kExitFailedCheck;
    const MeshRow& best = search->rows[*search->best];
    return options_.output.empty() ? kExitSuccess : write_best(module_of(best), device, task, best);
  }

  int write_best(const Module& module, const Device& device, const MeshTask& task, const MeshRow& row) {
    const Result<Module> best = spread_module(module, device, task, row.text);
    if (!best) return fail(best.error());
    const std::string text = to_text(*best, op_table());
    if (const auto checked = verify_emitted_text(text, "tune mesh", module.name); !checked)
      return fail(checked.error());
    return write_output(options_.output, text, streams_) ? kExitSuccess : kExitInput;
  }

  const TuneMeshArguments& options_;
  Streams streams_;
};

void declare_device(CommandLine& line, SimulationOptions& simulation) {
  line.add_option("-d,--device", simulation.device,
                  "Device file, or a built-in device: v4, v4.yaml, my/device.yaml");
  declare_device_choices(line, simulation.choices);
  line.add_option("--topology", simulation.topology, "Slice topology, e.g. 4x4x4");
  line.add_option("--slices", simulation.slices, "Number of slices, connected by the hosts' network")
      .from(1)
      .show_default();
  line.add_option("--shard", simulation.mesh.statements,
                  "REGEX=[axes]: sharding of parameters of that name on every mesh (default: all shardings "
                  "are tried)")
      .one_value_each();
  line.add_option("--mesh-order", simulation.mesh.order,
                  "Mapping of mesh axes to torus axes: auto, or model=y,data=xz (default: device-id order)");
  line.add_option("--written-for", simulation.mesh.written_for,
                  "Original mesh of the module's shardings, which are mapped to --mesh by axis name");
  line.add_option("--while-trip-count", simulation.while_trip_count,
                  "Trip count to assume for while loops whose trip count is unknown")
      .from(0)
      .show_default();
  line.add_flag("--no-lower", simulation.no_lower,
                "Simulate unoptimized modules as they are, without hlosim's lowering passes");
}

}  // namespace

std::function<int()> declare_tune_mesh(CommandLine& line, Streams streams) {
  const auto options = std::make_shared<TuneMeshArguments>();
  line.add_option("FILE", options->file,
                  "HLO text file of one program that isn't partitioned, or a model as hlosim model takes it "
                  "(.yaml, .json, .sh or a built-in name)");
  declare_maxtext(line, options->maxtext);
  line.add_option("--devices", options->devices, "Number of devices of every mesh").from(1).required();
  line.add_option("--axes", options->axes, "Names of the axes of the meshes: data,model").required();
  declare_device(line, options->simulation);
  line.add_option("--within", options->within,
                  "Skip choices that surely take this many times as long as the fastest that fits")
      .not_negative()
      .show_default();
  line.add_flag("--all", options->everything, "Simulate every choice");
  line.add_option("-o,--output", options->output,
                  "Write the program that the fastest choice gives; with -, the table goes to standard error")
      .writes_file(streams.files);
  line.add_option("--svg", options->svg, "Write a plot of time against memory (SVG)")
      .writes_file(streams.files);
  line.add_option("--format", options->format, "text or json").one_of({"text", "json"}).show_default();
  line.add_option("--top", options->top, "Rows of the table; 0: all").from(0).show_default();
  line.add_option("--journal", options->journal, "File that keeps results for the next run")
      .writes_file(streams.files);
  line.add_option("--threads", options->threads, "Number of threads of each rank; 0: one per processor")
      .between(0, kMostThreads)
      .show_default();
  declare_step(line, options->step);
  line.add_option(
      "--batches", options->batches,
      "Of a model: several global batches, compared by time per token: 64,128, or 64..1024, which "
      "doubles; --remat may name several policies too: full,minimal,full+context=host");
  return [options, streams] { return MeshTuner(*options, streams).tune(); };
}

}  // namespace hlosim
