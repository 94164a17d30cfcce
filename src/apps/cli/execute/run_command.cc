#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <ostream>

#include "array/npy.h"
#include "base/number_text.h"
#include "base/quantity_text.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/execute/run_inputs.h"
#include "cli/execute/run_results.h"
#include "cli/execute/run_session.h"
#include "cli/run.h"
#include "console/command_line.h"
#include "console/exchange.h"

namespace hlosim {
namespace {

/// One call of the command.
class Run {
 public:
  Run(const RunOptions& options, Streams streams)
      : options_(options), streams_(streams), session_(options, streams) {}

  int run();

 private:
  int run(Module module);
  bool stage(const LeafArrays& outputs, const std::string& folder);
  bool write(const Loaded& loaded, const std::vector<OutputSet>& outputs);
  bool parameters_agree(const Loaded& loaded, const Loaded& other);
  bool results_agree(const Loaded& loaded, const Loaded& other);
  std::optional<std::vector<OutputSet>> run_other(const Loaded& loaded, std::vector<LeafArrays> inputs,
                                                  int64_t held);
  std::optional<std::vector<OutputSet>> read_expected(const Loaded& loaded,
                                                      const std::vector<OutputSet>& outputs);
  std::optional<LeafArrays> read_expected(const std::string& folder, std::span<const ShapeRef> shapes);
  int compare(const std::vector<OutputSet>& outputs, const std::vector<OutputSet>& expected);
  Tolerance tolerance(ElementType type) const;
  void show(const Loaded& loaded, const std::vector<OutputSet>& outputs);
  int report(const Loaded& loaded, const std::vector<OutputSet>& outputs, std::vector<LeafArrays> inputs);
  bool complain(const Diagnostic& problem) { return session_.complain(problem); }
  bool complain(std::string message, std::string hint = {}) {
    return session_.complain(std::move(message), std::move(hint));
  }

  const RunOptions& options_;
  Streams streams_;
  RunSession session_;
  bool whole_ = false;  // --compare names the module that was partitioned
};

bool Run::stage(const LeafArrays& outputs, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return complain(fmt::format("cannot make the folder '{}': {}", folder, error.message()));
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].shape->is_array()) continue;
    const std::string path = fmt::format("{}/output{}.npy", folder, i);
    if (const Result<void> staged = stage_npy(session_.files(), path, outputs[i]); !staged)
      return complain(staged.error());
  }
  return true;
}

bool same_bits(const LeafArrays& a, const LeafArrays& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Array& x, const Array& y) {
    const int64_t bytes = data_bytes(x.shape);
    return x.data.data() == y.data.data() ||
           (!x.sizes && !y.sizes && std::memcmp(x.bytes(), y.bytes(), static_cast<size_t>(bytes)) == 0);
  });
}

/// On rank 0. All outputs, and what went to the host, appear together. Devices that got the same inputs and
/// made the same bits are written once.
bool Run::write(const Loaded& loaded, const std::vector<OutputSet>& outputs) {
  const bool once = outputs.size() > 1 && session_.same_inputs() &&
                    std::all_of(outputs.begin(), outputs.end(), [&](const OutputSet& set) {
                      return same_bits(set.values, outputs[0].values);
                    });
  for (size_t i = 0; i < outputs.size() && !(once && i > 0); ++i) {
    const std::string folder = once || options_.global
                                   ? options_.output
                                   : session_.folder_of(loaded, options_.output, static_cast<int64_t>(i));
    if (!stage(outputs[i].values, folder)) return false;
  }
  const Result<void> written = session_.files().commit();
  return written || complain(written.error());
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
    return complain(fmt::format("--compare: '{}' runs on {} devices, '{}' on {}", loaded.file,
                                loaded.grid.devices(), other.file, other.grid.devices()),
                    "--global compares what the devices of each make together");
  return true;
}

bool Run::results_agree(const Loaded& loaded, const Loaded& other) {
  const std::vector<ShapeRef> ours = session_.result_shapes(loaded), theirs = session_.result_shapes(other);
  if (ours.size() != theirs.size())
    return complain(fmt::format("--compare: the numbers of outputs differ: {1} of '{0}', {3} of '{2}'",
                                loaded.file, ours.size(), other.file, theirs.size()));
  for (size_t i = 0; i < ours.size(); ++i)
    if (!same_array(ours[i], theirs[i]))
      return complain(fmt::format("--compare: output {} is {} of '{}', {} of '{}'", i,
                                  to_text_without_layout(ours[i]), loaded.file,
                                  to_text_without_layout(theirs[i]), other.file));
  return true;
}

std::optional<std::vector<OutputSet>> Run::run_other(const Loaded& loaded, std::vector<LeafArrays> inputs,
                                                     int64_t held) {
  auto modules = session_.read_modules(options_.compare);
  if (!modules) return std::nullopt;
  if (modules->size() != 1) {
    complain(fmt::format("--compare: '{}' has {} modules, expected one", options_.compare, modules->size()));
    return std::nullopt;
  }
  const std::optional<Loaded> other =
      session_.load(options_.compare, std::move((*modules)[0]), false, whole_);
  if (!other || !parameters_agree(loaded, *other) || !results_agree(loaded, *other) ||
      !session_.fits(*other, held))
    return std::nullopt;
  if (options_.global) {
    auto own = session_.read_values(*other);
    if (!own) return std::nullopt;
    inputs = std::move(*own);
  }
  for (LeafArrays& values : inputs)
    for (size_t i = 0; i < values.size(); ++i) values[i].shape = other->program->parameters()[i];
  std::optional<std::vector<LeafArrays>> local = session_.execute(*other, std::move(inputs), "");
  if (!local) return std::nullopt;
  std::optional<std::vector<OutputSet>> sets = session_.assemble(*other, std::move(*local));
  if (!sets) return std::nullopt;
  const std::vector<ShapeRef> ours = session_.result_shapes(loaded);  // theirs go with their module
  for (OutputSet& set : *sets)
    for (size_t i = 0; i < ours.size(); ++i) set.values[i].shape = ours[i];
  return sets;
}

std::optional<LeafArrays> Run::read_expected(const std::string& folder, std::span<const ShapeRef> shapes) {
  constexpr std::string_view kPrefixes[] = {"output", "out"};
  const auto files = numbered_files(folder, kPrefixes, &streams_.files);
  if (!files) {
    complain(files.error());
    return std::nullopt;
  }
  LeafArrays expected;
  for (const ShapeRef shape : shapes) {
    const size_t i = expected.size();
    expected.push_back(Array{shape, {}, {}});
    if (!shape->is_array()) continue;
    const auto file = files->find(static_cast<int64_t>(i));
    if (file == files->end()) {
      complain(fmt::format("output {}: '{}' has no output{}.npy", i, folder, i));
      return std::nullopt;
    }
    Result<Array> array = read_numbered(file->second, shape, session_.pool());
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
  const std::vector<ShapeRef> shapes = session_.result_shapes(loaded);
  std::error_code error;
  const bool has_folders = !options_.global && std::filesystem::is_directory(
                                                   session_.folder_of(loaded, options_.expect, 0), error);
  for (const OutputSet& set : outputs) {
    if (!expected.empty() && !has_folders) {
      expected.push_back({set.name, expected[0].values});
      continue;
    }
    std::optional<LeafArrays> values = read_expected(
        has_folders ? session_.folder_of(loaded, options_.expect, static_cast<int64_t>(expected.size()))
                    : options_.expect,
        shapes);
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
    const LeafArrays& actual = outputs[k].values;
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

int Run::report(const Loaded& loaded, const std::vector<OutputSet>& outputs, std::vector<LeafArrays> inputs) {
  const bool compares = !options_.compare.empty() || !options_.expect.empty();
  const bool is_shown = !compares && options_.output.empty() && !session_.traces() && !streams_.exchange;
  if (options_.print || is_shown) show(loaded, outputs);
  if (!compares) return kExitSuccess;
  int64_t held = 0;
  for (const OutputSet& set : outputs)
    for (const Array& output : set.values) held += data_bytes(output.shape);
  const std::optional<std::vector<OutputSet>> expected =
      options_.compare.empty() ? read_expected(loaded, outputs) : run_other(loaded, std::move(inputs), held);
  return expected ? compare(outputs, *expected) : kExitInput;
}

int Run::run() {
  if (!session_.prepare()) return kExitInput;
  auto modules = session_.read_modules(options_.file);
  if (!modules) return kExitInput;
  if (modules->size() > 1 &&
      (!options_.output.empty() || !options_.expect.empty() || !options_.compare.empty())) {
    complain(fmt::format("'{}' has {} modules; -o, --expect and --compare take one", options_.file,
                         modules->size()));
    return kExitInput;
  }
  int worst = kExitSuccess;
  for (Module& module : *modules) worst = std::max(worst, run(std::move(module)));
  return worst;
}

int Run::run(Module module) {
  std::optional<Loaded> loaded = session_.load(options_.file, std::move(module), true);
  if (!loaded || !session_.fits(*loaded, 0)) return kExitInput;
  whole_ = !options_.compare.empty() && session_.is_whole_of(options_.compare, *loaded);
  std::optional<std::vector<LeafArrays>> inputs = session_.read_values(*loaded);
  if (!inputs) return kExitInput;
  if (!options_.output.empty()) {
    std::error_code error;
    std::filesystem::create_directories(options_.output, error);
    if (error) {
      complain(fmt::format("cannot make the folder '{}': {}", options_.output, error.message()));
      return kExitInput;
    }
  }
  std::vector<LeafArrays> kept;
  if (!options_.compare.empty() && !options_.global) kept = *inputs;
  std::optional<std::vector<LeafArrays>> local =
      session_.execute(*loaded, std::move(*inputs), options_.output);
  if (!local) return session_.exit_code();
  const std::optional<std::vector<OutputSet>> outputs = session_.assemble(*loaded, std::move(*local));
  if (!outputs) return kExitInput;
  if (streams_.exchange)
    for (const OutputSet& set : *outputs) streams_.exchange->outputs(set.name, set.values);
  if (!options_.output.empty() && !write(*loaded, *outputs)) return kExitInput;
  const int exit = report(*loaded, *outputs, std::move(kept));
  return session_.tell_failed_checks() ? std::max<int>(exit, kExitFailedCheck) : exit;
}

/// Checks an option's text: a number from 0 on.
std::string tolerance_problem(const std::string& text) {
  constexpr double kMost = std::numeric_limits<double>::max();
  if (is_number_beyond(text, kMost))
    return fmt::format("'{}' is out of range: expected a number from 0 to {:.2g}", shown(text), kMost);
  const Result<double> number = TextForm<double>::read(text);
  return number && *number >= 0 ? "" : fmt::format("'{}' is not a number from 0 on", shown(text));
}

void declare_values(CommandLine& line, RunOptions& options) {
  line.add_option("FILE", options.file, "HLO text file with one module; - is standard input").required();
  line.add_option("--input", options.inputs.files,
                  "The next parameter's value: a.npy, or a.npz with several; may be repeated")
      .one_value_each();
  line.add_option("--inputs", options.inputs.folder, "Folder with param0.npy, param1.npy, ...");
  line.add_option("--args", options.made, "Synthetic inputs: random, zeros or iota")
      .one_of({"random", "zeros", "iota"});
  line.add_option("--seed", options.seed, "Seed of random values").from(0).show_default();
  line.add_option("-o,--output", options.output, "Folder for output0.npy, output1.npy, ...");
  line.add_flag("--print", options.print, "Print the outputs as HLO literals");
  line.add_option("--compare", options.compare,
                  "HLO text file whose outputs for the same inputs are expected");
  line.add_option("--expect", options.expect, "Folder with the expected output0.npy, output1.npy, ...");
  line.add_option("--abs-error", options.abs_error, "Tolerated absolute error of an element")
      .check(tolerance_problem);
  line.add_option("--rel-error", options.rel_error, "Tolerated relative error of an element")
      .check(tolerance_problem);
  line.add_option("--trace-values", options.trace,
                  "Print statistics of the values of instructions whose names match this regular expression");
  line.add_option("--elided", options.elided,
                  "LeafArrays of constants written as {...}: xla (as its reader makes them up), zeros, "
                  "random or error")
      .one_of({"xla", "zeros", "random", "error"})
      .show_default();
  line.add_option("--kernel", options.custom_call_overrides.kernels,
                  "NAME=FILE: custom calls of this target, kernel or name run as the module in FILE; may be "
                  "repeated")
      .one_value_each();
  line.add_option("--custom-calls", options.custom_call_overrides.custom_calls,
                  "YAML file: which custom calls return their operand, return zeros, or do nothing");
}

void declare_devices(CommandLine& line, RunOptions& options) {
  line.add_option("--replicas", options.replicas, "Number of replicas; default: as the module specifies")
      .from(1);
  line.add_option("--partitions,--num-partitions", options.partitions,
                  "Number of partitions; default: as the module specifies")
      .from(1);
  line.add_flag("--global", options.global,
                "Inputs and outputs are global arrays, split as the sharding attributes specify");
  line.add_option(
          "--peers", options.peers,
          "Other devices of the module: execute them (run), assume equal values (twins), or report an error")
      .one_of({"run", "twins", "error"})
      .show_default();
}

void declare_physical(CommandLine& line, RunOptions& options) {
  line.add_flag(
      "--physical", options.physical.wanted,
      "Execute against the assigned buffers; detects overlapping or prematurely freed memory (exit code 1)");
  line.add_option("-d,--device", options.physical.device,
                  "With --physical: the device's capacities and, where the text has none, its tiled layouts");
  declare_device_choices(line, options.physical.choices);
  line.add_option("--schedule", options.physical.schedule,
                  "With --physical: the module's order (auto), text, list, dfs, post, or random by --seed")
      .one_of({"auto", "text", "list", "dfs", "post", "random"});
  line.add_option("--layouts", options.physical.layouts,
                  "With --physical: those of the module, or random by --seed")
      .one_of({"module", "random"})
      .show_default();
  line.add_option("--alignment", options.physical.alignment, "With --physical: alignment of offsets in bytes")
      .between(1, kMostAlignment)
      .show_default();
}

}  // namespace

std::function<int()> declare_run(CommandLine& line, Streams streams) {
  const auto options = std::make_shared<RunOptions>();
  declare_values(line, *options);
  declare_devices(line, *options);
  declare_physical(line, *options);
  line.add_option("--threads", options->threads, "Number of threads; 0: one per processor")
      .between(0, kMostThreads)
      .show_default();
  line.add_flag("--time", options->time, "Print the execution time to standard error");
  return [options, streams] {
    options->inputs.seed = static_cast<uint64_t>(options->seed);
    options->inputs.in_use = &streams.files;
    if (streams.exchange) options->inputs.at_hand = streams.exchange->arrays;
    if (options->made == "random") options->inputs.made = ArgumentKind::kRandom;
    if (options->made == "zeros") options->inputs.made = ArgumentKind::kZeros;
    if (options->made == "iota") options->inputs.made = ArgumentKind::kIota;
    return Run(*options, streams).run();
  };
}

}  // namespace hlosim
