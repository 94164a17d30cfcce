#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <regex>

#include "array/npy.h"
#include "base/quantity_text.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/elided.h"
#include "cli/input.h"
#include "cli/progress.h"
#include "cli/run.h"
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
  std::string peers = "twins";
  std::string max_memory;
  int64_t threads = 0;
  bool print = false;
  bool time = false;
};

/// A module ready to run. The program refers to the module.
struct Loaded {
  std::unique_ptr<Module> module;
  std::unique_ptr<const Program> program;
};

/// One call of the command.
class Run {
 public:
  Run(const Options& options, Streams streams) : options_(options), streams_(streams) {}

  int run();

 private:
  bool prepare();
  std::optional<Loaded> load(const std::string& file, bool traced);
  ProgramOptions program_options(const Module& module, bool traced);
  bool fits(const Loaded& loaded, const std::string& file, int64_t held);
  std::optional<std::vector<Array>> execute(const Loaded& loaded, const std::string& file,
                                            std::vector<Array> inputs, const std::string& output_folder);
  bool write(const std::vector<Array>& outputs);
  bool parameters_agree(const Loaded& loaded, const Loaded& other);
  std::optional<std::vector<Array>> run_other(const Loaded& loaded, std::vector<Array> inputs, int64_t held);
  std::optional<std::vector<Array>> read_expected(const Loaded& loaded);
  int compare(const std::vector<Array>& outputs, const std::vector<Array>& expected);
  Tolerance tolerance(ElementType type) const;
  int report(const Loaded& loaded, const std::vector<Array>& outputs, std::vector<Array> inputs);

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
  if (options_.output == "-")
    return complain("-o: '-' is no folder", "--print writes the outputs to standard output");
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

ProgramOptions Run::program_options(const Module& module, bool traced) {
  ProgramOptions options;
  options.graph.max_constant_bytes = max_memory_;
  options.twins = options_.peers == "twins";
  options.graph.elided = elided_values(options_.elided, module, options_.inputs.seed);
  if (!traced || !trace_) return options;
  options.graph.traced = [this](const Instruction& instruction) {
    const bool matches = std::regex_search(instruction.name.begin(), instruction.name.end(), *trace_);
    anything_traced_ |= matches;
    return matches;
  };
  options.graph.observer = [this](const Instruction& instruction, std::span<const Array> leaves) {
    for (size_t i = 0; i < leaves.size(); ++i)
      streams_.out << instruction.name << (leaves.size() > 1 ? fmt::format("[{}]", i) : "") << "  "
                   << statistics_text(leaves[i]) << "\n";
  };
  return options;
}

std::optional<Loaded> Run::load(const std::string& file, bool traced) {
  ModuleInput input = read_module_input(file, false, streams_);
  if (!input.ok) return std::nullopt;
  if (input.modules.size() != 1) {
    complain(fmt::format("'{}' has {} modules; run takes one", file, input.modules.size()));
    return std::nullopt;
  }
  Loaded loaded;
  loaded.module = std::make_unique<Module>(std::move(input.modules[0]));
  if (const auto grid = device_grid(*loaded.module, op_table()); options_.peers == "twins" && grid && grid->devices() > 1)
    streams_.err << fmt::format(
        "hlosim: warning: '{}' is for {} devices; it runs on one, and collectives go as if all held the same "
        "values (--peers=twins)\n",
        file, grid->devices());
  if (const int64_t elided = elided_constants(*loaded.module); elided > 0 && options_.elided == "xla")
    streams_.err << fmt::format(
        "hlosim: warning: '{}' leaves out values, {{...}}, which are made up (--elided=xla); constants: {}\n",
        file, elided);
  DiagnosticList problems;
  loaded.program =
      Program::make(*loaded.module, op_table(), pool_, program_options(*loaded.module, traced), problems);
  for (const Diagnostic& problem : problems.items()) streams_.err << render(problem);
  if (!loaded.program) return std::nullopt;
  if (traced && trace_ && !anything_traced_) {
    complain(fmt::format("--trace-values: no instruction that runs matches '{}'", shown(options_.trace)));
    return std::nullopt;
  }
  return loaded;
}

bool Run::fits(const Loaded& loaded, const std::string& file, int64_t held) {
  const int64_t peak = loaded.program->peak_bytes();
  if (peak <= max_memory_ - held) return true;
  const std::string exact = peak >= 1024 ? fmt::format(" ({} bytes)", grouped(peak)) : "";
  const std::string beside = held > 0 ? fmt::format(" beside {} of other results", to_text(Bytes(held))) : "";
  return complain(fmt::format("running '{}' needs {}{}{}; the limit is {} ({})", file, to_text(Bytes(peak)),
                              exact, beside, to_text(Bytes(max_memory_)), max_memory_source_),
                  "--max-memory=BYTES sets another limit");
}

std::optional<std::vector<Array>> Run::execute(const Loaded& loaded, const std::string& file,
                                               std::vector<Array> inputs, const std::string& output_folder) {
  using Clock = std::chrono::steady_clock;
  const std::unique_ptr<HostTransfers> host = host_files(options_.inputs, output_folder, files_);
  DeviceState device(pool_);
  device.host = host.get();
  device.rng_state = {options_.inputs.seed, 0};
  const Clock::time_point start = Clock::now();
  Result<std::vector<Array>> outputs = [&] {
    const ProgressLine progress(streams_, "running " + file,
                                [this] { return to_text(Bytes(pool_.live_bytes())) + " in use"; });
    return loaded.program->run(device, std::move(inputs));
  }();
  const auto passed = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start);
  if (!outputs) {
    complain(outputs.error());
    return std::nullopt;
  }
  if (options_.time)
    streams_.err << fmt::format("ran {} in {}, at most {} of arrays\n", file,
                                to_text(Picoseconds(passed.count() * 1000)),
                                to_text(Bytes(pool_.peak_bytes())));
  return std::move(*outputs);
}

/// All outputs, and what went to the host, appear together.
bool Run::write(const std::vector<Array>& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].shape->is_array()) continue;
    const std::string path = fmt::format("{}/output{}.npy", options_.output, i);
    if (const Result<void> staged = stage_npy(files_, path, outputs[i]); !staged)
      return complain(staged.error());
  }
  if (const Result<void> written = files_.commit(); !written) return complain(written.error());
  return true;
}

bool same_array(ShapeRef a, ShapeRef b) {
  return a->kind == b->kind && a->element_type == b->element_type &&
         std::equal(a->dimensions.begin(), a->dimensions.end(), b->dimensions.begin(), b->dimensions.end());
}

bool Run::parameters_agree(const Loaded& loaded, const Loaded& other) {
  const std::vector<ParameterLeaf> ours = parameter_leaves(*loaded.module),
                                   theirs = parameter_leaves(*other.module);
  for (size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i)
    if (!same_array(ours[i].shape, theirs[i].shape))
      return complain(fmt::format("--compare: {} is {} in '{}', {} in '{}'", ours[i].name,
                                  to_text_without_layout(ours[i].shape), options_.file,
                                  to_text_without_layout(theirs[i].shape), options_.compare));
  if (ours.size() != theirs.size())
    return complain(
        fmt::format("--compare: the numbers of parameter arrays differ: {1} of '{0}', {3} of '{2}'",
                    options_.file, ours.size(), options_.compare, theirs.size()));
  return true;
}

std::optional<std::vector<Array>> Run::run_other(const Loaded& loaded, std::vector<Array> inputs,
                                                 int64_t held) {
  const std::optional<Loaded> other = load(options_.compare, false);
  if (!other || !parameters_agree(loaded, *other) || !fits(*other, options_.compare, held))
    return std::nullopt;
  for (size_t i = 0; i < inputs.size(); ++i) inputs[i].shape = other->program->parameters()[i];
  const std::span<const ShapeRef> ours = loaded.program->results(), theirs = other->program->results();
  if (ours.size() != theirs.size()) {
    complain(fmt::format("--compare: the numbers of outputs differ: {1} of '{0}', {3} of '{2}'",
                         options_.file, ours.size(), options_.compare, theirs.size()));
    return std::nullopt;
  }
  for (size_t i = 0; i < ours.size(); ++i) {
    if (same_array(ours[i], theirs[i])) continue;
    complain(fmt::format("--compare: output {} is {} of '{}', {} of '{}'", i, to_text_without_layout(ours[i]),
                         options_.file, to_text_without_layout(theirs[i]), options_.compare));
    return std::nullopt;
  }
  std::optional<std::vector<Array>> outputs = execute(*other, options_.compare, std::move(inputs), "");
  if (!outputs) return std::nullopt;
  for (size_t i = 0; i < outputs->size(); ++i) (*outputs)[i].shape = ours[i];  // theirs go with their module
  return outputs;
}

std::optional<std::vector<Array>> Run::read_expected(const Loaded& loaded) {
  constexpr std::string_view kPrefixes[] = {"output", "out"};
  const auto files = numbered_files(options_.expect, kPrefixes);
  if (!files) {
    complain(files.error());
    return std::nullopt;
  }
  std::vector<Array> expected;
  for (const ShapeRef shape : loaded.program->results()) {
    const size_t i = expected.size();
    expected.push_back(Array{shape, {}, {}});
    if (!shape->is_array()) continue;
    const auto file = files->find(static_cast<int64_t>(i));
    if (file == files->end()) {
      complain(fmt::format("output {}: '{}' has no output{}.npy", i, options_.expect, i));
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

Tolerance Run::tolerance(ElementType type) const {
  if (!options_.abs_error && !options_.rel_error) return default_tolerance(type);
  return {options_.abs_error.value_or(0), options_.rel_error.value_or(0)};
}

int Run::compare(const std::vector<Array>& outputs, const std::vector<Array>& expected) {
  std::vector<ComparedOutput> compared;
  bool within = true;
  for (size_t i = 0; i < outputs.size(); ++i) {
    ComparedOutput& one = compared.emplace_back();
    one.actual = &outputs[i];
    if (!outputs[i].shape->is_array()) continue;
    one.expected = &expected[i];
    one.comparison = hlosim::compare(outputs[i], expected[i], tolerance(outputs[i].type()));
    within = within && one.comparison.within();
  }
  streams_.out << comparison_text(compared);
  return within ? kExitSuccess : kExitFailedCheck;
}

int Run::report(const Loaded& loaded, const std::vector<Array>& outputs, std::vector<Array> inputs) {
  if (options_.print)
    for (const Array& output : outputs) streams_.out << literal_text(output, loaded.module->shapes()) << "\n";
  std::optional<std::vector<Array>> expected;
  int64_t held = 0;
  for (const Array& output : outputs) held += data_bytes(output.shape);
  if (!options_.compare.empty())
    expected = run_other(loaded, std::move(inputs), held);
  else if (!options_.expect.empty())
    expected = read_expected(loaded);
  else if (!options_.print && options_.output.empty() && !trace_)
    streams_.out << outputs_text(outputs);
  if (options_.compare.empty() && options_.expect.empty()) return kExitSuccess;
  return expected ? compare(outputs, *expected) : kExitInput;
}

int Run::run() {
  if (!prepare()) return kExitInput;
  const std::optional<Loaded> loaded = load(options_.file, true);
  if (!loaded || !fits(*loaded, options_.file, 0)) return kExitInput;
  Result<std::vector<Array>> inputs = read_inputs(options_.inputs, parameter_leaves(*loaded->module), pool_);
  if (!inputs) {
    complain(inputs.error());
    return kExitInput;
  }
  if (!options_.output.empty()) {
    std::error_code error;
    std::filesystem::create_directories(options_.output, error);
    if (error) {
      complain(fmt::format("cannot make the folder '{}': {}", options_.output, error.message()));
      return kExitInput;
    }
  }
  std::vector<Array> kept;
  if (!options_.compare.empty()) kept = *inputs;
  const std::optional<std::vector<Array>> outputs =
      execute(*loaded, options_.file, std::move(*inputs), options_.output);
  if (!outputs || (!options_.output.empty() && !write(*outputs))) return kExitInput;
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
  app.add_option("--peers", options->peers,
                 "Devices that a module is for beside the one that runs: twins (hold the same values) or error")
      ->check(CLI::IsMember({"twins", "error"}))
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
