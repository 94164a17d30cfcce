#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <ostream>

#include "base/quantity_text.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/run.h"
#include "cli/tune/mesh_programs.h"
#include "console/command_line.h"
#include "console/input.h"
#include "console/list_options.h"
#include "console/model_input.h"
#include "console/simulation_setting.h"
#include "console/step_choice.h"
#include "console/verbosity.h"
#include "ops/op_table.h"
#include "study/scaling.h"
#include "threads/parallel.h"
#include "workloads/maxtext_settings.h"
#include "workloads/step.h"

namespace hlosim {
namespace {

constexpr int64_t kMostChips = int64_t{1} << 16;

struct ScaleArguments {
  ModelSource from;
  SimulationOptions simulation;
  StepChoice step;
  std::string chips, mesh, axes = "fsdp,tensor", dcn_axes = "data", tokens, format = "text", output = "-",
                           svg;
  int64_t slices = 0, slice_chips = 0;  // 0: not given
  std::optional<double> batch_per_chip;
  double price = 0, worth = 0.5;
};

/// 15T, 300B, 1.5e12
Result<double> read_token_count(const std::string& text) {
  static constexpr std::pair<char, double> kSuffixes[] = {{'k', 1e3}, {'K', 1e3}, {'M', 1e6},
                                                          {'G', 1e9}, {'B', 1e9}, {'T', 1e12}};
  std::string number = text;
  double scale = 1;
  for (const auto& [suffix, size] : kSuffixes)
    if (number.ends_with(suffix)) {
      number.pop_back(), scale = size;
      break;
    }
  const Result<double> read = TextForm<double>::read(number);
  if (read && *read > 0) return *read * scale;
  return failure(fmt::format("--tokens: '{}' is not a number of tokens", shown(text)), "as in 15T or 300B");
}

/// The mesh on another number of devices: its data axis takes the difference.
Result<Mesh> with_devices(Mesh mesh, int64_t devices) {
  mesh.device_order.clear();
  auto data = std::ranges::find(mesh.axes, "data", &MeshAxis::name);
  if (data == mesh.axes.end()) data = mesh.axes.insert(mesh.axes.begin(), MeshAxis{"data", 1});
  const int64_t others = mesh.devices() / data->size;
  if (devices % others != 0)
    return failure(fmt::format("{} devices are not a multiple of the other axes' {}", devices, others));
  data->size = devices / others;
  if (data->size == 1 && mesh.axes.size() > 1) mesh.axes.erase(data);
  return mesh;
}

/// A program of a size, before it is simulated.
struct Candidate {
  ScalePoint point;
  std::optional<Module> module;
};

class ScaleCommand {
 public:
  ScaleCommand(const ScaleArguments& options, Streams streams) : options_(options), streams_(streams) {}

  int run() {
    const std::optional<ModelInput> input = read_model(options_.from, streams_);
    if (!input) return kExitInput;
    if (const Result<void> sound = check(*input); !sound) return fail(sound.error());
    const Result<std::vector<int64_t>> chips = read_counts("--chips", options_.chips, kMostChips);
    if (!chips) return fail(chips.error());
    ScaleQuestion question{0, options_.price, options_.worth};
    if (!options_.tokens.empty()) {
      const Result<double> tokens = read_token_count(options_.tokens);
      if (!tokens) return fail(tokens.error());
      question.tokens = *tokens;
    }
    SimulationOptions simulation = options_.simulation;
    add_device_choices(*input, simulation.choices);
    const std::optional<SimulationSetting> setting = read_simulation(simulation, streams_);
    if (!setting) return kExitInput;
    std::vector<ScalePoint> points;
    for (const int64_t count : *chips) {
      const Step step(fmt::format("{} chips", count), streams_);
      Result<ScalePoint> best = best_of(*input, *setting, count);
      if (!best) return fail(best.error());
      points.push_back(std::move(*best));
    }
    return write(plan_of(std::move(points), question, setting->device.config), *input, *setting);
  }

 private:
  int fail(const Diagnostic& diagnostic) {
    tell(diagnostic, streams_);
    return kExitInput;
  }

  bool has_own_mesh(const ModelInput& input) const { return input.step || !options_.mesh.empty(); }

  Result<void> check(const ModelInput& input) const {
    if (options_.chips.empty()) return failure("--chips is required", "as in --chips=64,128,256");
    if (options_.step.kind != "train")
      return failure(fmt::format("--kind={}: scale is for training", options_.step.kind),
                     "`hlosim serving` is for servers");
    if (options_.price > 0 && options_.tokens.empty())
      return failure("--price needs --tokens", "as in --tokens=15T");
    if (input.step) {
      if (options_.step != StepChoice() || !options_.mesh.empty() || options_.batch_per_chip)
        return failure("options of the step and --mesh are not for configurations of MaxText",
                       "--maxtext overrides its settings, as in --maxtext='remat_policy=minimal'");
      if (input.step->slices > 1 && (options_.slices > 0 || options_.slice_chips > 0))
        return failure("--slices and --slice-chips are not for a configuration with slices of its own",
                       "dcn_data_parallelism=1");
      return {};
    }
    if (options_.slices > 0 && options_.slice_chips > 0)
      return failure("--slices and --slice-chips exclude each other");
    if (options_.step.batch.has_value() == options_.batch_per_chip.has_value())
      return failure("expected exactly one of --batch and --batch-per-chip",
                     "--batch: the same global batch on all rows; --batch-per-chip: it grows with the chips");
    return {};
  }

  /// Sequences of all devices of the point.
  int64_t batch_on(const ModelInput& input, const ScalePoint& point) const {
    if (input.step) return input.step->options.batch * point.devices / input.step->options.mesh.devices();
    if (options_.step.batch) return *options_.step.batch;
    return std::max<int64_t>(1, std::llround(*options_.batch_per_chip * static_cast<double>(point.chips)));
  }

  /// Slices of so many chips. Error: they are no whole slices.
  Result<int64_t> slices_on(const ModelInput& input, const DeviceConfig& device, int64_t chips) const {
    int64_t slices = std::max<int64_t>(options_.slices, 1), in_slice = options_.slice_chips;
    if (input.step && input.step->slices > 1)
      in_slice = std::max<int64_t>(input.step->ici.devices() / device.devices_per_chip(), 1);
    if (in_slice > 0) slices = chips <= in_slice ? 1 : chips / in_slice;
    if (chips % slices != 0 || (in_slice > 0 && slices > 1 && chips != slices * in_slice))
      return failure(in_slice > 0 ? fmt::format("{} chips are not whole slices of {}", chips, in_slice)
                                  : fmt::format("{} chips are not {} equal slices", chips, slices));
    return slices;
  }

  Result<ScalePoint> best_of(const ModelInput& input, const SimulationSetting& setting, int64_t chips) const {
    const DeviceConfig& device = setting.device.config;
    ScalePoint empty;
    empty.chips = chips, empty.devices = chips * device.devices_per_chip();
    empty.batch = batch_on(input, empty);
    const Result<int64_t> slices = slices_on(input, device, chips);
    if (!slices) {
      empty.problem = slices.error().message;
      return empty;
    }
    empty.slices = *slices;
    Result<std::vector<Candidate>> candidates =
        has_own_mesh(input) ? own_mesh(input, empty) : every_mesh(input, empty);
    if (!candidates) return tl::unexpected(candidates.error());
    EstimateOptions options = setting.estimate;
    options.simulate.keep_timeline = false;
    options.simulate.slice.devices = empty.devices;
    options.simulate.slice.slices = empty.slices;
    options.mesh.emplace().partitions = empty.devices;  // the step's shardings specify everything
    parallel_for(static_cast<int64_t>(candidates->size()), 1, [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i) {
        Candidate& one = (*candidates)[static_cast<size_t>(i)];
        if (one.module) simulate_point(one.point, *one.module, op_table(), setting.device, options);
      }
    });
    if (const Result<void> go_on = options.simulate.go_on(); !go_on) return tl::unexpected(go_on.error());
    ScalePoint best = (*candidates)[0].point;
    for (const Candidate& one : *candidates)
      if (is_better(one.point, best)) best = one.point;
    return best;
  }

  void describe(ScalePoint& point, const ModelConfig& model, const StepOptions& step) const {
    point.batch = step.batch;
    point.tokens = static_cast<double>(step.batch) * static_cast<double>(step.sequence);
    point.model_flops = matmul_flops(model, step.batch, step.sequence, true, true);
  }

  /// The mesh on the point's devices: its data axis grows, over slices first.
  Result<Mesh> scaled_mesh(const ModelInput& input, const Mesh& mesh, const ScalePoint& point) const {
    if (input.step && input.step->slices > 1) {
      if (input.step->ici.devices() * point.slices != point.devices)
        return failure(fmt::format("a slice of the configuration has {} devices", input.step->ici.devices()));
      const Result<Mesh> dcn = with_devices(input.step->dcn, point.slices);
      if (!dcn) return tl::unexpected(dcn.error());
      return mesh_over_slices(input.step->ici, *dcn);
    }
    if (point.slices == 1) return with_devices(mesh, point.devices);
    const Result<Mesh> ici = with_devices(mesh, point.devices / point.slices);
    if (!ici) return tl::unexpected(ici.error());
    return mesh_over_slices(*ici, Mesh{{{"data", point.slices}}, {}});
  }

  /// The mesh of the options or of MaxText's configuration, with its data axis scaled.
  Result<std::vector<Candidate>> own_mesh(const ModelInput& input, ScalePoint point) const {
    Mesh mesh;
    if (input.step) {
      mesh = input.step->options.mesh;
    } else {
      Result<Mesh> parsed = parse_mesh(options_.mesh);
      if (!parsed) return tl::unexpected(parsed.error());
      mesh = std::move(*parsed);
    }
    std::vector<Candidate> one(1);
    const Result<Mesh> scaled = scaled_mesh(input, mesh, point);
    if (!scaled) {
      point.mesh = to_text(mesh), point.problem = scaled.error().message;
      one[0].point = std::move(point);
      return one;
    }
    StepChoice choice = options_.step;
    choice.batch = point.batch;
    Result<StepOptions> step =
        input.step ? Result<StepOptions>(input.step->options) : step_options(choice, *scaled);
    if (!step) return tl::unexpected(step.error());
    step->mesh = *scaled, step->batch = point.batch;
    describe(point, input.model, *step);
    point.mesh = to_text(*scaled);
    Result<Module> module = make_step(input.model, *step);
    if (module)
      one[0].module = std::move(*module);
    else
      point.problem = module.error().message;
    one[0].point = std::move(point);
    return one;
  }

  /// All meshes of --axes with all policies of --remat.
  Result<std::vector<Candidate>> every_mesh(const ModelInput& input, const ScalePoint& empty) const {
    const Result<std::vector<std::string>> axes = read_words("--axes", options_.axes);
    if (!axes) return tl::unexpected(axes.error());
    const Result<std::vector<std::string>> dcn_axes = read_words("--dcn-axes", options_.dcn_axes);
    if (!dcn_axes) return tl::unexpected(dcn_axes.error());
    const std::vector<StepMesh> meshes = step_meshes({empty.devices, *axes, empty.slices, *dcn_axes});
    Result<MeshPrograms> made = mesh_programs(input.model, {options_.step}, meshes, {empty.batch});
    std::vector<Candidate> candidates;
    if (!made) {
      Candidate none{empty, std::nullopt};
      none.point.problem = made.error().hint.empty() ? made.error().message : made.error().hint;
      candidates.push_back(std::move(none));
      return candidates;
    }
    StepOptions sizes;
    sizes.batch = empty.batch, sizes.sequence = options_.step.sequence;
    for (MeshProgram& program : made->programs) {
      Candidate one{empty, std::move(program.module)};
      describe(one.point, input.model, sizes);
      one.point.mesh = program.mesh, one.point.note = program.note;
      candidates.push_back(std::move(one));
    }
    return candidates;
  }

  int write(const ScalePlan& plan, const ModelInput& input, const SimulationSetting& setting) {
    ScaleWords words;
    words.model = input.model.name, words.device = setting.device.config.name;
    words.meshes = has_own_mesh(input) ? "the model's own mesh with its data axis scaled"
                                       : fmt::format("the fastest mesh of {} that fits", options_.axes);
    const bool has_slices =
        std::ranges::any_of(plan.rows, [](const ScaleRow& row) { return row.point.slices > 1; });
    words.assumptions = {has_slices ? "slices of the most compact shape, connected by the data center network"
                                    : "one slice of the most compact shape for each number of chips",
                         "the step alone: no input pipeline, no checkpoints, no restarts"};
    const std::string text = options_.format == "json"  ? to_json(plan, words)
                             : options_.format == "csv" ? to_csv(plan)
                                                        : to_text(plan, words);
    if (!options_.svg.empty() && !write_output(options_.svg, to_svg(plan), streams_)) return kExitInput;
    if (!write_output(options_.output, text, streams_)) return kExitInput;
    const bool any = std::ranges::any_of(plan.rows, [](const ScaleRow& row) { return row.point.fits(); });
    return any ? kExitSuccess : kExitFailedCheck;
  }

  const ScaleArguments& options_;
  Streams streams_;
};

}  // namespace

std::function<int()> declare_scale(CommandLine& line, Streams streams) {
  const auto options = std::make_shared<ScaleArguments>();
  declare_model_source(line, options->from);
  line.add_option("--chips", options->chips, "Numbers of chips: 64,128,256, or 64..1024, which doubles");
  line.add_option("-d,--device", options->simulation.device, "Device file, or a built-in device: v5p");
  declare_device_choices(line, options->simulation.choices);
  line.add_option(
      "--mesh", options->mesh,
      "Mesh of the model; its data axis grows with the chips. Without it, the fastest mesh of --axes");
  line.add_option("--axes", options->axes, "Axes of the meshes that are searched for each number of chips")
      .show_default();
  line.add_option("--slices", options->slices, "Slices that the chips of each row are divided into").from(1);
  line.add_option("--slice-chips", options->slice_chips,
                  "Chips of the largest slice; more chips are several such slices")
      .from(1);
  line.add_option("--dcn-axes", options->dcn_axes,
                  "Axes over slices that are tried: data, fsdp; with --mesh it is data")
      .show_default();
  line.add_option("--batch-per-chip", options->batch_per_chip,
                  "Sequences per chip; the global batch grows with the chips. --batch keeps it the same")
      .not_negative();
  line.add_option("--tokens", options->tokens,
                  "Tokens of the whole training, as in 15T; adds days and chip-hours");
  line.add_option("--price", options->price, "Price of a chip-hour; adds the cost").not_negative();
  line.add_option("--worth", options->worth,
                  "More chips pay while additional throughput is this fraction of proportional")
      .not_negative()
      .show_default();
  line.add_option("--svg", options->svg, "Write a plot of tokens/s against chips (SVG)")
      .writes_file(streams.files);
  line.add_option("--format", options->format, "text, json or csv")
      .one_of({"text", "json", "csv"})
      .show_default();
  line.add_option("-o,--output", options->output, "Output file; - is standard output")
      .writes_file(streams.files)
      .show_default();
  declare_step(line, options->step);
  line.format_by_suffix(options->format, options->output);
  return [options, streams] { return ScaleCommand(*options, streams).run(); };
}

}  // namespace hlosim
