#include "cli/execute/run_session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "base/quantity_text.h"
#include "base/saturating.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/execute/elided.h"
#include "cli/execute/run_results.h"
#include "console/input.h"
#include "console/progress.h"
#include "console/verbosity.h"
#include "ops/collective_groups.h"
#include "ops/op_table.h"
#include "text/escape.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

double machine_memory() {
  return static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

/// The outputs are written before the expected ones are read.
bool RunSession::claim_expected() {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::recursive_directory_iterator at(options_.output.empty() ? "" : options_.expect, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (at.depth() > 0) at.disable_recursion_pending();  // a folder for each device
    const std::string name = at->path().filename().string();
    if (!name.starts_with("out") || !name.ends_with(".npy")) continue;
    if (const Result<void> used = streams_.files.reads(at->path().string()); !used)
      return complain(used.error());
  }
  return true;
}

bool RunSession::prepare() {
  const InputOptions& inputs = options_.inputs;
  const bool several = !inputs.files.empty() + !inputs.folder.empty() + !options_.made.empty() > 1;
  if (!inputs.at_hand.empty() && (!inputs.files.empty() || !inputs.folder.empty() || !options_.made.empty()))
    return complain("--input, --inputs and --args exclude arrays that are given");
  if (several) return complain("--input, --inputs and --args exclude each other");
  if (!options_.compare.empty() && !options_.expect.empty())
    return complain("--compare and --expect exclude each other");
  if ((options_.abs_error || options_.rel_error) && options_.compare.empty() && options_.expect.empty())
    return complain("--abs-error and --rel-error need --compare or --expect");
  if (options_.peers != "run" && (options_.global || options_.replicas > 0 || options_.partitions > 0))
    return complain("--global, --replicas and --partitions need --peers=run");
  if (options_.peers != "run" && streams_.ranks.size() > 1) return complain("several ranks need --peers=run");
  if (options_.output == "-")
    return complain("-o: '-' is not a folder", "--print writes the outputs to standard output");
  if (!claim_expected()) return false;
  if (options_.physical.any() && !options_.physical.wanted)
    return complain("--device, --set, --schedule, --layouts and --alignment need --physical");
  max_memory_ = static_cast<int64_t>(0.8 * machine_memory());
  max_memory_source_ = "80 % of this machine's memory";
  if (streams_.limits.memory) {
    max_memory_ = *streams_.limits.memory;
    if (static_cast<double>(max_memory_) > machine_memory())
      return complain(
          fmt::format("--max-memory: {} is more than this machine has", to_text(Bytes(max_memory_))));
    max_memory_source_ = "--max-memory";
  }
  if (!options_.trace.empty()) {
    Result<Pattern> pattern = Pattern::parse(options_.trace);
    if (!pattern) return complain("--trace-values: " + pattern.error().message);
    trace_ = std::move(*pattern);
  }
  set_thread_count(static_cast<int>(options_.threads));
  const StandIns::Constants constants{options_.elided, options_.inputs.seed, max_memory_};
  std::optional<StandIns> custom_call_overrides =
      StandIns::read(options_.custom_call_overrides, constants, pool_, streams_);
  if (!custom_call_overrides) return false;
  stand_ins_ = std::move(*custom_call_overrides);
  custom_calls_ = stand_ins_.handlers();
  add_check_calls(custom_calls_, *failed_checks_);
  return true;
}

ProgramOptions RunSession::program_options(const Loaded& loaded, bool traced) {
  ProgramOptions options;
  options.graph.max_constant_bytes = max_memory_;
  options.custom_calls = &custom_calls_;
  options.twins = options_.peers == "twins";
  if (loaded.is_joint()) options.grid = loaded.grid;
  options.graph.elided = elided_values(options_.elided, *loaded.module, options_.inputs.seed);
  if (!traced || !trace_) return options;
  // One device after the other, so that what is shown has an order.
  if (loaded.is_joint()) set_thread_count(1);
  options.graph.traced = [this](const Instruction& instruction) {
    const bool matches = trace_->finds(instruction.name);
    anything_traced_ |= matches;
    return matches;
  };
  options.graph.observer = [this, joint = loaded.is_joint()](const DeviceState& device,
                                                             const Instruction& instruction,
                                                             std::span<const Array> leaves) {
    const std::string prefix = joint ? fmt::format("device-{}  ", device.id) : "";
    for (size_t i = 0; i < leaves.size(); ++i)
      streams_.out << prefix << one_line(instruction.name)
                   << (leaves.size() > 1 ? fmt::format("[{}]", i) : "") << "  " << statistics_text(leaves[i])
                   << "\n";
  };
  return options;
}

/// How many devices run, and what becomes of the others.
bool RunSession::choose_grid(Loaded& loaded, bool whole) {
  if (whole) {
    loaded.run = std::make_unique<LockstepRun>(loaded.grid, streams_.ranks);
    loaded.global_parameters = whole_parameters(*loaded.module);
    loaded.global_results = whole_results(*loaded.module);
    return true;
  }
  const auto grid = device_grid(*loaded.module, op_table(), {options_.replicas, options_.partitions});
  if (options_.peers == "run") {
    if (!grid) return complain(grid.error());
    loaded.grid = *grid;
  } else if (options_.peers == "twins" && grid && grid->devices() > 1 && is_first()) {
    warn(fmt::format(
             "'{}' is for {} devices; it runs on one, and collectives go as if all held the same values "
             "(--peers=twins)",
             loaded.file, grid->devices()),
         streams_);
  }
  if (streams_.ranks.size() > loaded.grid.devices())
    return complain(fmt::format("'{}' runs on {} device{}, too few for {} ranks", loaded.file,
                                loaded.grid.devices(), loaded.grid.devices() == 1 ? "" : "s",
                                streams_.ranks.size()));
  loaded.run = std::make_unique<LockstepRun>(loaded.grid, streams_.ranks);
  if (!options_.global) return true;
  auto parameters = global_parameters(*loaded.module, loaded.grid);
  if (!parameters) return complain(parameters.error());
  auto results = global_results(*loaded.module, loaded.grid);
  if (!results) return complain(results.error());
  loaded.global_parameters = std::move(*parameters);
  loaded.global_results = std::move(*results);
  return true;
}

std::optional<std::vector<Module>> RunSession::read_modules(const std::string& file) {
  ModuleInput input = read_module_input(file, false, streams_);
  if (!input.ok) return std::nullopt;
  const bool takes_arguments = std::ranges::any_of(
      input.modules, [](const Module& module) { return !module.entry_computation().parameters.empty(); });
  if (input.modules.size() == 1 || !takes_arguments) return std::move(input.modules);
  complain(fmt::format("'{}' has {} modules; run takes one, or several without parameters", file,
                       input.modules.size()));
  return std::nullopt;
}

bool RunSession::tell_failed_checks() {
  const std::vector<Diagnostic> failed = failed_checks_->all();
  for (const Diagnostic& finding : failed) tell(finding, streams_);
  failed_checks_->clear();
  return !failed.empty();
}

bool RunSession::is_whole_of(const std::string& file, Loaded& loaded) {
  if (!options_.global || loaded.grid.partitions < 2) return false;
  const auto modules = read_modules(file);
  return modules && modules->size() == 1 &&
         take_whole_sizes((*modules)[0], *loaded.module, loaded.global_parameters, loaded.global_results);
}

std::optional<Loaded> RunSession::load(const std::string& file, Module module, bool is_main, bool whole) {
  Loaded loaded;
  loaded.file = file;
  loaded.module = std::make_unique<Module>(std::move(module));
  loaded.parameters = parameter_leaves(*loaded.module);
  if (!choose_grid(loaded, whole)) return std::nullopt;
  if (const int64_t elided = elided_constants(*loaded.module);
      elided > 0 && options_.elided == "xla" && is_first())
    warn(fmt::format("'{}' leaves out values, {{...}}, which are made up (--elided=xla); constants: {}", file,
                     elided),
         streams_);
  if (is_main && is_first()) stand_ins_.warn_of_unused(*loaded.module, streams_);
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
  loaded.program =
      Program::make(*loaded.module, op_table(), pool_, program_options(loaded, is_main), problems);
  tell(problems, streams_);
  if (!loaded.program) return std::nullopt;
  if (is_main && trace_ && !anything_traced_) {
    complain(fmt::format("--trace-values: no instruction that runs matches '{}'", shown(options_.trace)));
    return std::nullopt;
  }
  return loaded;
}

// Devices share constants; parameters are counted for each of them, shared or not.
bool RunSession::fits(const Loaded& loaded, int64_t held) {
  const Program& program = *loaded.program;
  const int64_t devices = loaded.run->local_devices().size();
  const int64_t own =
      saturating_add(program.peak_bytes() - program.constant_bytes(), stand_ins_.peak_bytes());
  const int64_t placed = loaded.physical ? loaded.physical->bytes() : 0;
  const int64_t peak =
      saturating_add(placed, saturating_add(saturating_multiply(own, devices), program.constant_bytes()));
  if (peak <= max_memory_ - held) return true;
  const std::string exact = peak >= 1024 ? fmt::format(" ({} bytes)", grouped(peak)) : "";
  const std::string beside =
      held > 0 ? fmt::format(" next to {} of other results", to_text(Bytes(held))) : "";
  const std::string on = loaded.is_joint() ? fmt::format(" on {} devices", loaded.grid.devices()) : "";
  return complain(
      fmt::format("running '{}'{} needs {}{}{}; the limit is {} ({})", loaded.file, on, to_text(Bytes(peak)),
                  exact, beside, to_text(Bytes(max_memory_)), max_memory_source_),
      loaded.is_joint() ? "--peers=twins runs one device; --max-memory=BYTES sets another limit"
                        : "--max-memory=BYTES sets another limit");
}

std::optional<std::vector<LeafArrays>> RunSession::read_values(const Loaded& loaded) {
  if (!options_.global) {
    auto inputs = read_device_inputs(options_.inputs, *loaded.run, loaded.parameters, pool_);
    if (!inputs) {
      complain(inputs.error());
      return std::nullopt;
    }
    same_inputs_ = inputs->shared;
    return std::move(inputs->devices);
  }
  const Result<LeafArrays> globals = read_global_inputs(
      options_.inputs, loaded.parameters, loaded.global_parameters, loaded.module->shapes(), pool_);
  if (!globals) {
    complain(globals.error());
    return std::nullopt;
  }
  std::vector<LeafArrays> inputs;
  const Share local = loaded.run->local_devices();
  for (int64_t device = local.begin; device < local.end; ++device) {
    LeafArrays& values = inputs.emplace_back();
    for (size_t i = 0; i < globals->size(); ++i)
      values.push_back(
          part_of_global((*globals)[i], loaded.global_parameters[i], device % loaded.grid.partitions, pool_));
  }
  return inputs;
}

std::string RunSession::folder_of(const Loaded& loaded, const std::string& folder, int64_t device) const {
  if (folder.empty() || !loaded.is_joint()) return folder;
  return fmt::format("{}{}device-{}", folder, folder.ends_with('/') ? "" : "/", device);
}

Result<std::vector<LeafArrays>> RunSession::run_devices(const Loaded& loaded, std::vector<LeafArrays> inputs,
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
    device.stop = &streams_.stop;
    device.rng_state = {options_.inputs.seed, 0};
  }
  if (loaded.is_joint()) return loaded.program->run_jointly(*loaded.run, devices, std::move(inputs));
  Result<LeafArrays> outputs = loaded.physical ? run_physical(loaded, devices[0], std::move(inputs[0]))
                                               : loaded.program->run(devices[0], std::move(inputs[0]));
  if (!outputs) return tl::unexpected(outputs.error());
  std::vector<LeafArrays> all;
  all.push_back(std::move(*outputs));
  return all;
}

std::optional<std::vector<LeafArrays>> RunSession::execute(const Loaded& loaded,
                                                           std::vector<LeafArrays> inputs,
                                                           const std::string& output_folder) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  Result<std::vector<LeafArrays>> outputs = [&] {
    const UnderWay::Part under_way(streams_.verbosity.under_way, "running " + loaded.file);
    const Stop::Listener listens(streams_.stop);
    const ProgressLine progress(streams_, "running " + loaded.file,
                                [this] { return to_text(Bytes(pool_.live_bytes())) + " in use"; });
    return run_devices(loaded, std::move(inputs), output_folder);
  }();
  const auto passed = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start);
  if (!outputs) {
    complain(outputs.error());
    return std::nullopt;
  }
  if (options_.time || streams_.verbosity.verbose) {
    const std::string devices = loaded.is_joint() ? fmt::format(" on {} devices", loaded.grid.devices()) : "";
    const std::string rank = streams_.ranks.size() > 1 ? fmt::format("rank {}: ", streams_.ranks.rank()) : "";
    streams_.err << fmt::format("{}ran {}{} in {}, at most {} of arrays\n", rank, one_line(loaded.file),
                                devices, to_text(Picoseconds(passed.count() * 1000)),
                                to_text(Bytes(pool_.peak_bytes())));
  }
  return std::move(*outputs);
}

/// A fault is no wrong input: the answer is no.
Result<LeafArrays> RunSession::run_physical(const Loaded& loaded, DeviceState& device, LeafArrays inputs) {
  Result<PhysicalResult> result =
      loaded.physical->run(*loaded.module, device, std::move(inputs), program_options(loaded, true));
  if (!result) return tl::unexpected(result.error());
  if (options_.time) streams_.err << loaded.physical->summary(*result) << "\n";
  if (!result->fault) return std::move(result->outputs);
  exit_code_ = kExitFailedCheck;
  return tl::unexpected(result->fault->diagnostic);
}

std::optional<std::vector<OutputSet>> RunSession::assemble(const Loaded& loaded,
                                                           std::vector<LeafArrays> local) {
  Result<std::vector<LeafArrays>> all = gather_outputs(*loaded.run, std::move(local), ++gathered_, pool_);
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

std::vector<ShapeRef> RunSession::result_shapes(const Loaded& loaded) const {
  std::vector<ShapeRef> shapes;
  for (const GlobalLeaf& leaf : loaded.global_results) shapes.push_back(leaf.bound);
  if (!options_.global) shapes.assign(loaded.program->results().begin(), loaded.program->results().end());
  return shapes;
}

}  // namespace hlosim
