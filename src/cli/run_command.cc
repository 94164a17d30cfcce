#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <regex>

#include "array/npy.h"
#include "base/quantity_text.h"
#include "base/saturating.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/elided.h"
#include "cli/input.h"
#include "cli/physical_run.h"
#include "cli/progress.h"
#include "cli/run.h"
#include "cli/run_grid.h"
#include "cli/run_inputs.h"
#include "cli/run_results.h"
#include "exec/program.h"
#include "kernels/parallel.h"
#include "ops/collective_groups.h"
#include "ops/op_table.h"

namespace hlosim {
namespace {

struct Options {
  std::string file;
  InputOptions inputs;
  std::string made;
  int64_t seed = 0;
  std::string output, compare, expect, trace;
  std::optional<double> abs_error, rel_error;
  std::string elided = "xla";
  std::string peers = "run";
  int64_t replicas = 0, partitions = 0;  // 0: as the module says
  bool global = false;
  std::string max_memory;
  int64_t threads = 0;
  PhysicalChoices physical;
  bool print = false;
  bool time = false;
};

/// A module ready to run. The program refers to the module.
struct Loaded {
  std::string file;
  std::unique_ptr<Module> module;
  DeviceGrid grid;                     // of the devices that run
  std::unique_ptr<JointRun> run;
  std::unique_ptr<const Program> program;
  std::vector<ParameterLeaf> parameters;
  std::vector<GlobalLeaf> global_parameters, global_results;  // of --global
  std::unique_ptr<PhysicalSetting> physical;  // null: runs as a program

  bool is_joint() const { return grid.devices() > 1; }
};

/// Outputs of one device, or of all together.
struct OutputSet {
  std::string name;  // "device-3"; empty where there is one set only
  Values values;
};

/// One call of the command.
class Run {
 public:
  Run(const Options& options, Streams streams) : options_(options), streams_(streams) {}

  int run();

 private:
  bool prepare();
  std::optional<Loaded> load(const std::string& file, bool is_main);
  bool choose_grid(Loaded& loaded);
  ProgramOptions program_options(const Loaded& loaded, bool traced);
  bool fits(const Loaded& loaded, int64_t held);
  std::optional<std::vector<Values>> read_values(const Loaded& loaded);
  std::optional<std::vector<Values>> execute(const Loaded& loaded, std::vector<Values> inputs,
                                             const std::string& output_folder);
  Result<std::vector<Values>> run_devices(const Loaded& loaded, std::vector<Values> inputs,
                                          const std::string& output_folder);
  Result<std::vector<Array>> run_physical(const Loaded& loaded, DeviceState& device, std::vector<Array> inputs);
  std::string folder_of(const Loaded& loaded, const std::string& folder, int64_t device) const;
  bool stage(const Values& outputs, const std::string& folder);
  bool write(const Loaded& loaded, const std::vector<OutputSet>& outputs);
  std::optional<std::vector<OutputSet>> assemble(const Loaded& loaded, std::vector<Values> local);
  bool parameters_agree(const Loaded& loaded, const Loaded& other);
  bool results_agree(const Loaded& loaded, const Loaded& other);
  std::optional<std::vector<OutputSet>> run_other(const Loaded& loaded, std::vector<Values> inputs, int64_t held);
  std::optional<std::vector<OutputSet>> read_expected(const Loaded& loaded, const std::vector<OutputSet>& outputs);
  std::optional<Values> read_expected(const std::string& folder, std::span<const ShapeRef> shapes);
  int compare(const std::vector<OutputSet>& outputs, const std::vector<OutputSet>& expected);
  Tolerance tolerance(ElementType type) const;
  void show(const Loaded& loaded, const std::vector<OutputSet>& outputs);
  int report(const Loaded& loaded, const std::vector<OutputSet>& outputs, std::vector<Values> inputs);
  std::vector<ShapeRef> result_shapes(const Loaded& loaded) const;
  bool is_first() const { return streams_.ranks.rank() == 0; }

  bool complain(const Diagnostic& problem) {
    streams_.err << render(problem);
    return false;
  }
  bool complain(std::string message, std::string hint = {}) {
    return complain(failure(std::move(message), std::move(hint)).value());
  }

  const Options& options_;
  Streams streams_;
  MemoryPool pool_;
  int64_t max_memory_ = 0;
  std::string max_memory_source_;
  std::optional<std::regex> trace_;
  bool anything_traced_ = false;
  StagedFiles files_;
  bool same_inputs_ = true;  // of all devices
  int gathered_ = 0;         // how often outputs came together
  int exit_code_ = kExitInput;  // when something stops the run
};

double machine_memory() {
  return static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

/// What the options say, before anything is read.
bool Run::prepare() {
  const bool several =
      !options_.inputs.files.empty() + !options_.inputs.folder.empty() + !options_.made.empty() > 1;
  if (several) return complain("--input, --inputs and --args exclude each other");
  if (!options_.compare.empty() && !options_.expect.empty())
    return complain("--compare and --expect exclude each other");
  if ((options_.abs_error || options_.rel_error) && options_.compare.empty() && options_.expect.empty())
    return complain("--abs-error and --rel-error need --compare or --expect");
  if (options_.peers != "run" && (options_.global || options_.replicas > 0 || options_.partitions > 0))
    return complain("--global, --replicas and --partitions need --peers=run");
  if (options_.peers != "run" && streams_.ranks.size() > 1)
    return complain("several ranks need --peers=run");
  if (options_.output == "-")
    return complain("-o: '-' is no folder", "--print writes the outputs to standard output");
  if (options_.physical.any() && !options_.physical.wanted)
    return complain("--device, --set, --schedule, --layouts and --alignment need --physical");
  max_memory_ = static_cast<int64_t>(0.8 * machine_memory());
  max_memory_source_ = "80 % of this machine's memory";
  if (!options_.max_memory.empty()) {
    const bool digits = options_.max_memory.find_first_not_of("0123456789") == std::string::npos;
    const Result<Bytes> bytes = TextForm<Bytes>::read(options_.max_memory + (digits ? "B" : ""));
    if (!bytes) return complain(fmt::format("--max-memory: {}", bytes.error().message), bytes.error().hint);
    max_memory_ = bytes->count();
    if (static_cast<double>(max_memory_) > machine_memory())
      return complain(fmt::format("--max-memory: {} is more than this machine has", to_text(*bytes)));
    max_memory_source_ = "--max-memory";
  }
  if (!options_.trace.empty()) {
    try {
      trace_.emplace(options_.trace);
    } catch (const std::regex_error& error) {
      return complain(fmt::format("--trace-values: '{}' is no regular expression", shown(options_.trace)));
    }
  }
  set_thread_count(static_cast<int>(options_.threads));
  return true;
}

ProgramOptions Run::program_options(const Loaded& loaded, bool traced) {
  ProgramOptions options;
  options.graph.max_constant_bytes = max_memory_;
  options.twins = options_.peers == "twins";
  if (loaded.is_joint()) options.grid = loaded.grid;
  options.graph.elided = elided_values(options_.elided, *loaded.module, options_.inputs.seed);
  if (!traced || !trace_) return options;
  // One device after the other, so that what is shown has an order.
  if (loaded.is_joint()) set_thread_count(1);
  options.graph.traced = [this](const Instruction& instruction) {
    const bool matches = std::regex_search(instruction.name.begin(), instruction.name.end(), *trace_);
    anything_traced_ |= matches;
    return matches;
  };
  options.graph.observer = [this, joint = loaded.is_joint()](const DeviceState& device, const Instruction& instruction,
                                                             std::span<const Array> leaves) {
    const std::string prefix = joint ? fmt::format("device-{}  ", device.id) : "";
    for (size_t i = 0; i < leaves.size(); ++i)
      streams_.out << prefix << instruction.name << (leaves.size() > 1 ? fmt::format("[{}]", i) : "") << "  "
                   << statistics_text(leaves[i]) << "\n";
  };
  return options;
}

/// How many devices run, and what becomes of the others.
bool Run::choose_grid(Loaded& loaded) {
  const auto grid = device_grid(*loaded.module, op_table(), {options_.replicas, options_.partitions});
  if (options_.peers == "run") {
    if (!grid) return complain(grid.error());
    loaded.grid = *grid;
  } else if (options_.peers == "twins" && grid && grid->devices() > 1 && is_first()) {
    streams_.err << fmt::format(
        "hlosim: warning: '{}' is for {} devices; it runs on one, and collectives go as if all held the same "
        "values (--peers=twins)\n",
        loaded.file, grid->devices());
  }
  if (streams_.ranks.size() > loaded.grid.devices())
    return complain(fmt::format("'{}' runs on {} device{}, too few for {} ranks", loaded.file, loaded.grid.devices(),
                                loaded.grid.devices() == 1 ? "" : "s", streams_.ranks.size()));
  loaded.run = std::make_unique<JointRun>(loaded.grid, streams_.ranks);
  if (!options_.global) return true;
  auto parameters = global_parameters(*loaded.module, loaded.grid);
  if (!parameters) return complain(parameters.error());
  auto results = global_results(*loaded.module, loaded.grid);
  if (!results) return complain(results.error());
  loaded.global_parameters = std::move(*parameters);
  loaded.global_results = std::move(*results);
  return true;
}

std::optional<Loaded> Run::load(const std::string& file, bool is_main) {
  ModuleInput input = read_module_input(file, false, streams_);
  if (!input.ok) return std::nullopt;
  if (input.modules.size() != 1) {
    complain(fmt::format("'{}' has {} modules; run takes one", file, input.modules.size()));
    return std::nullopt;
  }
  Loaded loaded;
  loaded.file = file;
  loaded.module = std::make_unique<Module>(std::move(input.modules[0]));
  loaded.parameters = parameter_leaves(*loaded.module);
  if (!choose_grid(loaded)) return std::nullopt;
  if (const int64_t elided = elided_constants(*loaded.module); elided > 0 && options_.elided == "xla" && is_first())
    streams_.err << fmt::format(
        "hlosim: warning: '{}' leaves out values, {{...}}, which are made up (--elided=xla); constants: {}\n",
        file, elided);
  if (is_main && options_.physical.wanted) {
    if (loaded.is_joint()) {
      complain(fmt::format("--physical runs one device; '{}' is for {}", file, loaded.grid.devices()),
               "--peers=twins runs one, as if all held the same values");
      return std::nullopt;
    }
    loaded.physical = std::make_unique<PhysicalSetting>();
    if (!loaded.physical->prepare(options_.physical, *loaded.module, options_.inputs.seed, streams_))
      return std::nullopt;
  }
  DiagnosticList problems;
  loaded.program = Program::make(*loaded.module, op_table(), pool_, program_options(loaded, is_main), problems);
  for (const Diagnostic& problem : problems.items()) streams_.err << render(problem);
  if (!loaded.program) return std::nullopt;
  if (is_main && trace_ && !anything_traced_) {
    complain(fmt::format("--trace-values: no instruction that runs matches '{}'", shown(options_.trace)));
    return std::nullopt;
  }
  return loaded;
}

// Devices share constants, and parameters unless each has its own.
bool Run::fits(const Loaded& loaded, int64_t held) {
  const Program& program = *loaded.program;
  const int64_t devices = loaded.run->local_devices().size();
  const int64_t own = program.peak_bytes() - program.constant_bytes();
  const int64_t placed = loaded.physical ? loaded.physical->bytes() : 0;
  const int64_t peak =
      saturating_sum(placed, saturating_sum(saturating_product(own, devices), program.constant_bytes()));
  if (peak <= max_memory_ - held) return true;
  const std::string exact = peak >= 1024 ? fmt::format(" ({} bytes)", grouped(peak)) : "";
  const std::string beside = held > 0 ? fmt::format(" beside {} of other results", to_text(Bytes(held))) : "";
  const std::string on = loaded.is_joint() ? fmt::format(" on {} devices", loaded.grid.devices()) : "";
  return complain(fmt::format("running '{}'{} needs {}{}{}; the limit is {} ({})", loaded.file, on,
                              to_text(Bytes(peak)), exact, beside, to_text(Bytes(max_memory_)), max_memory_source_),
                  loaded.is_joint() ? "--peers=twins runs one device; --max-memory=BYTES sets another limit"
                                    : "--max-memory=BYTES sets another limit");
}

/// The inputs of this rank's devices.
std::optional<std::vector<Values>> Run::read_values(const Loaded& loaded) {
  if (!options_.global) {
    auto inputs = read_device_inputs(options_.inputs, *loaded.run, loaded.parameters, pool_);
    if (!inputs) {
      complain(inputs.error());
      return std::nullopt;
    }
    same_inputs_ = inputs->shared;
    return std::move(inputs->devices);
  }
  const Result<Values> globals = read_global_inputs(options_.inputs, loaded.parameters, loaded.global_parameters,
                                                    loaded.module->shapes(), pool_);
  if (!globals) {
    complain(globals.error());
    return std::nullopt;
  }
  std::vector<Values> inputs;
  const Share local = loaded.run->local_devices();
  for (int64_t device = local.begin; device < local.end; ++device) {
    Values& values = inputs.emplace_back();
    for (size_t i = 0; i < globals->size(); ++i)
      values.push_back(part_of_global((*globals)[i], loaded.global_parameters[i], device % loaded.grid.partitions, pool_));
  }
  return inputs;
}

/// DIR/device-3, or DIR where one device runs.
std::string Run::folder_of(const Loaded& loaded, const std::string& folder, int64_t device) const {
  if (folder.empty() || !loaded.is_joint()) return folder;
  return fmt::format("{}{}device-{}", folder, folder.ends_with('/') ? "" : "/", device);
}

Result<std::vector<Values>> Run::run_devices(const Loaded& loaded, std::vector<Values> inputs,
                                             const std::string& output_folder) {
  const Share local = loaded.run->local_devices();
  std::vector<DeviceState> devices;
  std::vector<InputOptions> host_inputs(inputs.size(), options_.inputs);
  std::vector<std::unique_ptr<HostTransfers>> hosts;
  for (int64_t id = local.begin; id < local.end; ++id) {
    InputOptions& host = host_inputs[devices.size()];
    std::error_code error;
    if (const std::string own = folder_of(loaded, host.folder, id); std::filesystem::is_directory(own, error))
      host.folder = own;
    hosts.push_back(host_files(host, folder_of(loaded, output_folder, id), files_));
    DeviceState& device = devices.emplace_back(pool_);
    device.id = id;
    device.replica_id = id / loaded.grid.partitions;
    device.partition_id = id % loaded.grid.partitions;
    device.host = hosts.back().get();
    device.rng_state = {options_.inputs.seed, 0};
  }
  if (loaded.is_joint()) return loaded.program->run_jointly(*loaded.run, devices, std::move(inputs));
  Result<Values> outputs = loaded.physical ? run_physical(loaded, devices[0], std::move(inputs[0]))
                                           : loaded.program->run(devices[0], std::move(inputs[0]));
  if (!outputs) return tl::unexpected(outputs.error());
  std::vector<Values> all;
  all.push_back(std::move(*outputs));
  return all;
}

std::optional<std::vector<Values>> Run::execute(const Loaded& loaded, std::vector<Values> inputs,
                                                const std::string& output_folder) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  Result<std::vector<Values>> outputs = [&] {
    const ProgressLine progress(streams_, "running " + loaded.file,
                                [this] { return to_text(Bytes(pool_.live_bytes())) + " in use"; });
    return run_devices(loaded, std::move(inputs), output_folder);
  }();
  const auto passed = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start);
  if (!outputs) {
    complain(outputs.error());
    return std::nullopt;
  }
  if (options_.time) {
    const std::string devices = loaded.is_joint() ? fmt::format(" on {} devices", loaded.grid.devices()) : "";
    const std::string rank = streams_.ranks.size() > 1 ? fmt::format("rank {}: ", streams_.ranks.rank()) : "";
    streams_.err << fmt::format("{}ran {}{} in {}, at most {} of arrays\n", rank, loaded.file, devices,
                                to_text(Picoseconds(passed.count() * 1000)), to_text(Bytes(pool_.peak_bytes())));
  }
  return std::move(*outputs);
}

/// A fault is no wrong input: the answer is no.
Result<std::vector<Array>> Run::run_physical(const Loaded& loaded, DeviceState& device,
                                             std::vector<Array> inputs) {
  Result<PhysicalResult> result =
      loaded.physical->run(*loaded.module, device, std::move(inputs), program_options(loaded, true));
  if (!result) return tl::unexpected(result.error());
  if (options_.time) streams_.err << loaded.physical->summary(*result) << "\n";
  if (!result->fault) return std::move(result->outputs);
  exit_code_ = kExitFailedCheck;
  return tl::unexpected(result->fault->diagnostic);
}

bool Run::stage(const Values& outputs, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return complain(fmt::format("cannot make the folder '{}': {}", folder, error.message()));
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].shape->is_array()) continue;
    const std::string path = fmt::format("{}/output{}.npy", folder, i);
    if (const Result<void> staged = stage_npy(files_, path, outputs[i]); !staged) return complain(staged.error());
  }
  return true;
}

bool same_bits(const Values& a, const Values& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Array& x, const Array& y) {
    const int64_t bytes = data_bytes(x.shape);
    return x.data.data() == y.data.data() ||
           (!x.sizes && !y.sizes && std::memcmp(x.bytes(), y.bytes(), static_cast<size_t>(bytes)) == 0);
  });
}

/// On rank 0. All outputs, and what went to the host, appear together. Devices that got the same inputs and
/// made the same bits are written once.
bool Run::write(const Loaded& loaded, const std::vector<OutputSet>& outputs) {
  const bool once = outputs.size() > 1 && same_inputs_ &&
                    std::all_of(outputs.begin(), outputs.end(), [&](const OutputSet& set) {
                      return same_bits(set.values, outputs[0].values);
                    });
  for (size_t i = 0; i < outputs.size() && !(once && i > 0); ++i) {
    const std::string folder = once || options_.global
                                   ? options_.output
                                   : folder_of(loaded, options_.output, static_cast<int64_t>(i));
    if (!stage(outputs[i].values, folder)) return false;
  }
  const Result<void> written = files_.commit();
  return written || complain(written.error());
}

/// On rank 0: the outputs of every device, or what they make together.
std::optional<std::vector<OutputSet>> Run::assemble(const Loaded& loaded, std::vector<Values> local) {
  Result<std::vector<Values>> all = gather_outputs(*loaded.run, std::move(local), ++gathered_, pool_);
  if (!all) {
    complain(all.error());
    return std::nullopt;
  }
  std::vector<OutputSet> sets;
  if (!is_first()) return sets;
  if (options_.global) {
    const auto partitions = static_cast<size_t>(loaded.grid.partitions);
    sets.push_back({"", global_outputs(std::span(*all).first(partitions), loaded.global_results, pool_)});
    return sets;
  }
  for (size_t device = 0; device < all->size(); ++device)
    sets.push_back({loaded.is_joint() ? fmt::format("device-{}", device) : "", std::move((*all)[device])});
  return sets;
}

bool same_array(ShapeRef a, ShapeRef b) {
  return a->kind == b->kind && a->element_type == b->element_type &&
         std::equal(a->dimensions.begin(), a->dimensions.end(), b->dimensions.begin(), b->dimensions.end());
}

bool Run::parameters_agree(const Loaded& loaded, const Loaded& other) {
  const auto shape = [&](const Loaded& one, size_t i) {
    return options_.global ? one.global_parameters[i].bound : one.parameters[i].shape;
  };
  for (size_t i = 0; i < std::min(loaded.parameters.size(), other.parameters.size()); ++i)
    if (!same_array(shape(loaded, i), shape(other, i)))
      return complain(fmt::format("--compare: {} is {} in '{}', {} in '{}'", loaded.parameters[i].name,
                                  to_text_without_layout(shape(loaded, i)), loaded.file,
                                  to_text_without_layout(shape(other, i)), other.file));
  if (loaded.parameters.size() != other.parameters.size())
    return complain(
        fmt::format("--compare: the numbers of parameter arrays differ: {1} of '{0}', {3} of '{2}'",
                    loaded.file, loaded.parameters.size(), other.file, other.parameters.size()));
  if (!options_.global && loaded.grid.devices() != other.grid.devices())
    return complain(fmt::format("--compare: '{}' runs on {} devices, '{}' on {}", loaded.file, loaded.grid.devices(),
                                other.file, other.grid.devices()),
                    "--global compares what the devices of each make together");
  return true;
}

std::vector<ShapeRef> Run::result_shapes(const Loaded& loaded) const {
  std::vector<ShapeRef> shapes;
  for (const GlobalLeaf& leaf : loaded.global_results) shapes.push_back(leaf.bound);
  if (!options_.global) shapes.assign(loaded.program->results().begin(), loaded.program->results().end());
  return shapes;
}

bool Run::results_agree(const Loaded& loaded, const Loaded& other) {
  const std::vector<ShapeRef> ours = result_shapes(loaded), theirs = result_shapes(other);
  if (ours.size() != theirs.size())
    return complain(fmt::format("--compare: the numbers of outputs differ: {1} of '{0}', {3} of '{2}'",
                                loaded.file, ours.size(), other.file, theirs.size()));
  for (size_t i = 0; i < ours.size(); ++i)
    if (!same_array(ours[i], theirs[i]))
      return complain(fmt::format("--compare: output {} is {} of '{}', {} of '{}'", i, to_text_without_layout(ours[i]),
                                  loaded.file, to_text_without_layout(theirs[i]), other.file));
  return true;
}

std::optional<std::vector<OutputSet>> Run::run_other(const Loaded& loaded, std::vector<Values> inputs,
                                                     int64_t held) {
  const std::optional<Loaded> other = load(options_.compare, false);
  if (!other || !parameters_agree(loaded, *other) || !results_agree(loaded, *other) || !fits(*other, held))
    return std::nullopt;
  if (options_.global) {
    auto own = read_values(*other);
    if (!own) return std::nullopt;
    inputs = std::move(*own);
  }
  for (Values& values : inputs)
    for (size_t i = 0; i < values.size(); ++i) values[i].shape = other->program->parameters()[i];
  std::optional<std::vector<Values>> local = execute(*other, std::move(inputs), "");
  if (!local) return std::nullopt;
  std::optional<std::vector<OutputSet>> sets = assemble(*other, std::move(*local));
  if (!sets) return std::nullopt;
  const std::vector<ShapeRef> ours = result_shapes(loaded);  // theirs go with their module
  for (OutputSet& set : *sets)
    for (size_t i = 0; i < ours.size(); ++i) set.values[i].shape = ours[i];
  return sets;
}

std::optional<Values> Run::read_expected(const std::string& folder, std::span<const ShapeRef> shapes) {
  constexpr std::string_view kPrefixes[] = {"output", "out"};
  const auto files = numbered_files(folder, kPrefixes);
  if (!files) {
    complain(files.error());
    return std::nullopt;
  }
  Values expected;
  for (const ShapeRef shape : shapes) {
    const size_t i = expected.size();
    expected.push_back(Array{shape, {}, {}});
    if (!shape->is_array()) continue;
    const auto file = files->find(static_cast<int64_t>(i));
    if (file == files->end()) {
      complain(fmt::format("output {}: '{}' has no output{}.npy", i, folder, i));
      return std::nullopt;
    }
    Result<Array> array = read_numbered(file->second, shape, pool_);
    if (!array) {
      array.error().message = fmt::format("output {}: {}", i, array.error().message);
      complain(array.error());
      return std::nullopt;
    }
    expected.back() = std::move(*array);
  }
  return expected;
}

/// Folders device-0, … of the folder, or what it holds for every device.
std::optional<std::vector<OutputSet>> Run::read_expected(const Loaded& loaded,
                                                         const std::vector<OutputSet>& outputs) {
  std::vector<OutputSet> expected;
  const std::vector<ShapeRef> shapes = result_shapes(loaded);
  std::error_code error;
  const bool has_folders = !options_.global && std::filesystem::is_directory(folder_of(loaded, options_.expect, 0), error);
  for (const OutputSet& set : outputs) {
    if (!expected.empty() && !has_folders) {
      expected.push_back({set.name, expected[0].values});
      continue;
    }
    std::optional<Values> values = read_expected(
        has_folders ? folder_of(loaded, options_.expect, static_cast<int64_t>(expected.size())) : options_.expect, shapes);
    if (!values) return std::nullopt;
    expected.push_back({set.name, std::move(*values)});
  }
  return expected;
}

Tolerance Run::tolerance(ElementType type) const {
  if (!options_.abs_error && !options_.rel_error) return default_tolerance(type);
  return {options_.abs_error.value_or(0), options_.rel_error.value_or(0)};
}

int Run::compare(const std::vector<OutputSet>& outputs, const std::vector<OutputSet>& expected) {
  bool all_within = true;
  for (size_t k = 0; k < outputs.size(); ++k) {
    const Values& actual = outputs[k].values;
    std::vector<ComparedOutput> compared;
    bool within = true;
    for (size_t i = 0; i < actual.size(); ++i) {
      ComparedOutput& one = compared.emplace_back();
      one.actual = &actual[i];
      if (!actual[i].shape->is_array()) continue;
      one.expected = &expected[k].values[i];
      one.comparison = hlosim::compare(actual[i], *one.expected, tolerance(actual[i].type()));
      within = within && one.comparison.within();
    }
    if (!outputs[k].name.empty()) streams_.out << outputs[k].name << "\n";
    streams_.out << comparison_text(compared);
    all_within = all_within && within;
  }
  return all_within ? kExitSuccess : kExitFailedCheck;
}

/// Devices whose outputs are the same bits are shown once.
void Run::show(const Loaded& loaded, const std::vector<OutputSet>& outputs) {
  std::vector<bool> shown_already(outputs.size(), false);
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (shown_already[k]) continue;
    std::string names = outputs[k].name;
    for (size_t other = k + 1; other < outputs.size(); ++other) {
      if (shown_already[other] || !same_bits(outputs[k].values, outputs[other].values)) continue;
      shown_already[other] = true;
      names += ", " + outputs[other].name;
    }
    if (!names.empty()) streams_.out << names << ":\n";
    if (!options_.print) {
      streams_.out << outputs_text(outputs[k].values);
      continue;
    }
    for (const Array& output : outputs[k].values)
      streams_.out << literal_text(output, loaded.module->shapes()) << "\n";
  }
}

int Run::report(const Loaded& loaded, const std::vector<OutputSet>& outputs, std::vector<Values> inputs) {
  const bool compares = !options_.compare.empty() || !options_.expect.empty();
  if (options_.print || (!compares && options_.output.empty() && !trace_)) show(loaded, outputs);
  if (!compares) return kExitSuccess;
  int64_t held = 0;
  for (const OutputSet& set : outputs)
    for (const Array& output : set.values) held += data_bytes(output.shape);
  const std::optional<std::vector<OutputSet>> expected =
      options_.compare.empty() ? read_expected(loaded, outputs) : run_other(loaded, std::move(inputs), held);
  return expected ? compare(outputs, *expected) : kExitInput;
}

int Run::run() {
  if (!prepare()) return kExitInput;
  const std::optional<Loaded> loaded = load(options_.file, true);
  if (!loaded || !fits(*loaded, 0)) return kExitInput;
  std::optional<std::vector<Values>> inputs = read_values(*loaded);
  if (!inputs) return kExitInput;
  if (!options_.output.empty()) {
    std::error_code error;
    std::filesystem::create_directories(options_.output, error);
    if (error) {
      complain(fmt::format("cannot make the folder '{}': {}", options_.output, error.message()));
      return kExitInput;
    }
  }
  std::vector<Values> kept;
  if (!options_.compare.empty() && !options_.global) kept = *inputs;
  std::optional<std::vector<Values>> local = execute(*loaded, std::move(*inputs), options_.output);
  if (!local) return exit_code_;
  const std::optional<std::vector<OutputSet>> outputs = assemble(*loaded, std::move(*local));
  if (!outputs) return kExitInput;
  if (!options_.output.empty() && !write(*loaded, *outputs)) return kExitInput;
  return report(*loaded, *outputs, std::move(kept));
}

/// Checks an option's text: a number from 0 on.
std::string tolerance_problem(const std::string& text) {
  const Result<double> number = TextForm<double>::read(text);
  return number && *number >= 0 ? "" : fmt::format("'{}' is no number from 0 on", shown(text));
}

}  // namespace

std::function<int()> declare_run(CLI::App& app, Streams streams) {
  const auto options = std::make_shared<Options>();
  app.add_option("FILE", options->file, "HLO text file with one module; - is standard input")->required();
  app.add_option("--input", options->inputs.files,
                 "The next parameter's value: a.npy, or a.npz with several; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--inputs", options->inputs.folder, "Folder with param0.npy, param1.npy, ...");
  app.add_option("--args", options->made, "Make up the parameters: random, zeros or iota")
      ->check(CLI::IsMember({"random", "zeros", "iota"}));
  app.add_option("--seed", options->seed, "Of random values")
      ->check(whole_number_from(0))
      ->capture_default_str();
  app.add_option("-o,--output", options->output, "Folder for output0.npy, output1.npy, ...");
  app.add_flag("--print", options->print, "Print the outputs as HLO literals");
  app.add_option("--compare", options->compare,
                 "HLO text file whose outputs for the same inputs are expected");
  app.add_option("--expect", options->expect, "Folder with the expected output0.npy, output1.npy, ...");
  app.add_option("--abs-error", options->abs_error, "An element may be off by this much")
      ->check(tolerance_problem);
  app.add_option("--rel-error", options->rel_error, "... or by this times the expected magnitude")
      ->check(tolerance_problem);
  app.add_option("--trace-values", options->trace,
                 "Print statistics of the values of instructions whose names match this regular expression");
  app.add_option(
         "--elided", options->elided,
         "Values of constants written as {...}: xla (as its reader makes them up), zeros, random or error")
      ->check(CLI::IsMember({"xla", "zeros", "random", "error"}))
      ->capture_default_str();
  app.add_option("--replicas", options->replicas, "Number of replicas; without it, what the module says")
      ->check(whole_number_from(1));
  app.add_option("--partitions", options->partitions, "Number of partitions; without it, what the module says")
      ->check(whole_number_from(1));
  app.add_flag("--global", options->global,
               "Inputs and outputs are those of all partitions together, split as the sharding attributes say");
  app.add_option("--peers", options->peers,
                 "All devices run (run), or one does: the others hold the same values (twins), or are an error")
      ->check(CLI::IsMember({"run", "twins", "error"}))
      ->capture_default_str();
  app.add_flag("--physical", options->physical.wanted,
               "Execute on real bytes, every value where the buffer assignment puts it; exit code 1 at a fault");
  app.add_option("--device", options->physical.device,
                 "With --physical: capacities, and tiled layouts where the text has none");
  app.add_option("--set", options->physical.overrides, "PATH=VALUE: a device value");
  app.add_option("--schedule", options->physical.schedule,
                 "With --physical: the module's order (auto), text, list, dfs, post, or random by --seed")
      ->check(CLI::IsMember({"auto", "text", "list", "dfs", "post", "random"}));
  app.add_option("--layouts", options->physical.layouts,
                 "With --physical: those of the module, or random by --seed")
      ->check(CLI::IsMember({"module", "random"}))
      ->capture_default_str();
  app.add_option("--alignment", options->physical.alignment,
                 "With --physical: bytes that offsets are multiples of")
      ->check(whole_number_from(1))
      ->capture_default_str();
  app.add_option("--threads", options->threads, "Number of threads; 0: one per processor")
      ->check(whole_number_from(0))
      ->capture_default_str();
  app.add_option("--max-memory", options->max_memory,
                 "Refuse modules that need more: bytes, or 8GiB. Without it: 80 % of this machine's memory");
  app.add_flag("--time", options->time, "Say on standard error how long it ran");
  return [options, streams] {
    options->inputs.seed = static_cast<uint64_t>(options->seed);
    if (options->made == "random") options->inputs.made = ArgumentKind::kRandom;
    if (options->made == "zeros") options->inputs.made = ArgumentKind::kZeros;
    if (options->made == "iota") options->inputs.made = ArgumentKind::kIota;
    return Run(*options, streams).run();
  };
}

}  // namespace hlosim
