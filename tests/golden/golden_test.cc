// Modules with the outputs that XLA's own evaluator gives for them: golden/ in the folder of data of others,
// whose README.md says what is stored and how close results have to be. Skipped where that folder isn't.
//
// HLOSIM_GOLDEN=word in the environment runs the cases whose names hold it, and says which one is at work.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <limits>
#include <map>

#include "array/compare.h"
#include "cli/execute/elided.h"
#include "cli/execute/run_inputs.h"
#include "console/input.h"
#include "exec/program.h"
#include "ops/op_table.h"
#include "support/folders.h"
#include "support/owned_streams.h"

namespace hlosim {
namespace {

/// Cases whose outputs we hold to be wrong, or that don't matter.
struct HeldWrong {
  std::string_view name, why;
};
constexpr HeldWrong kHeldWrong[] = {
    {"SortRewriterTest.NoRewriteMixedKeysValues.L435",
     "the comparator compares a key with a value: no order, so any result is one"},
    {"LayoutNormalizationTest.BitcastConvertFromNonContiguousDimen",
     "the evaluator joins neighbours in memory; a bitcast-convert joins the most minor logical dimension"},
    {"rng_bit_generator_expander.006", "the module declares a state of 6 words, the output has 3"},
};

/// What outputs may differ by beside the default tolerances.
struct Closeness {
  double tolerance_factor = 1;
  double outside_of_16_bit_floats = 0;  // share of the elements
};

/// Why `actual` isn't `expected`; empty when it is.
std::string difference(const Array& actual, const Array& expected, const Closeness& closeness) {
  const ElementType type = actual.type();
  Tolerance tolerance = default_tolerance(type);
  tolerance.abs *= closeness.tolerance_factor;
  tolerance.rel *= closeness.tolerance_factor;
  const Comparison c = compare(actual, expected, tolerance);
  if (c.sizes_differ) return "other runtime sizes";
  const bool is_16_bit = type == ElementType::kBF16 || type == ElementType::kF16;
  const double allowed = is_16_bit ? closeness.outside_of_16_bit_floats * static_cast<double>(c.count) : 0;
  if (static_cast<double>(c.outside) <= allowed) return {};
  return fmt::format("{} of {} elements, first {}, off by at most {:g} ({:g} relative), {} NaN or infinite",
                     c.outside, c.count, c.first_outside, c.max_abs, c.max_rel, c.misplaced);
}

/// Subnormal floats of f32 and f64 become zeros of their sign, as processors do that flush them.
void flush_subnormals(Array& array) {
  const auto flush = [&](auto* values, auto smallest) {
    for (int64_t i = 0; i < array.count(); ++i)
      if (std::abs(values[i]) < smallest) values[i] = std::copysign(decltype(smallest){}, values[i]);
  };
  if (array.type() == ElementType::kF32) flush(array.as<float>(), std::numeric_limits<float>::min());
  if (array.type() == ElementType::kF64) flush(array.as<double>(), std::numeric_limits<double>::min());
}

Array copy_of(const Array& array, MemoryPool& pool) {
  Array copy = make_array(pool, array.shape);
  std::copy_n(array.bytes(), data_bytes(array.shape), copy.bytes());
  return copy;
}

/// Where `expected` has what a processor that flushes subnormals gives, `actual` gets it too. XLA's evaluator
/// flushes them on some of its threads: elements of one array are not alike.
void accept_flushed(const Array& flushed, const Array& expected, Array& actual) {
  const int64_t width = byte_width(actual.type());
  for (int64_t i = 0; i < actual.count(); ++i)
    if (std::equal(flushed.bytes() + i * width, flushed.bytes() + (i + 1) * width,
                   expected.bytes() + i * width))
      std::copy_n(flushed.bytes() + i * width, width, actual.bytes() + i * width);
}

/// Runs one case. What is wrong; empty when all outputs are as they should be.
std::string failure_of(const std::filesystem::path& folder, const Closeness& closeness) {
  test::OwnedStreams streams;
  ModuleInput input = read_module_input(folder / "module.hlo", false, streams.get());
  if (!input.ok || input.modules.size() != 1) return streams.errors();
  Module& module = input.modules[0];
  MemoryPool pool;
  ProgramOptions options;
  options.twins = true;
  options.graph.elided = elided_values("xla", module, 0);
  DiagnosticList problems;
  const auto program = Program::make(module, op_table(), pool, options, problems);
  if (!program) return problems.items().front().message;
  InputOptions inputs;
  inputs.folder = folder;
  Result<std::vector<Array>> arguments = read_inputs(inputs, parameter_leaves(module), pool);
  if (!arguments) return arguments.error().message;
  std::vector<Array> flushed_arguments;
  for (const Array& argument : *arguments) {
    flushed_arguments.push_back(copy_of(argument, pool));
    flush_subnormals(flushed_arguments.back());
  }
  DeviceState device(pool), flushing_device(pool);
  Result<std::vector<Array>> outputs = program->run(device, std::move(*arguments));
  if (!outputs) return outputs.error().message;
  constexpr std::string_view kPrefix[] = {"out"};
  const auto files = numbered_files(folder, kPrefix);
  if (!files) return files.error().message;
  for (const auto& [number, file] : *files) {
    const auto i = static_cast<size_t>(number);
    if (i >= outputs->size()) return fmt::format("there is no output {}", i);
    const Result<Array> expected = read_numbered(file, program->results()[i], pool);
    if (!expected) return expected.error().message;
    if (difference((*outputs)[i], *expected, closeness).empty()) continue;
    Result<std::vector<Array>> flushed = program->run(flushing_device, flushed_arguments);
    if (!flushed) return flushed.error().message;
    flush_subnormals((*flushed)[i]);
    Array accepted = copy_of((*outputs)[i], pool);
    accept_flushed((*flushed)[i], *expected, accepted);
    const std::string differs = difference(accepted, *expected, closeness);
    if (!differs.empty()) return fmt::format("output {}: {}", i, differs);
  }
  return {};
}

/// 0012-reduce_window.3 belongs to reduce_window.
std::string family(const std::string& name) {
  const size_t start = name.find('-') + 1;
  return name.substr(start, name.find('.', start) - start);
}

void run_cases(const std::string& archive, const Closeness& closeness) {
  const std::filesystem::path file = test::shared_folder() / "golden" / archive;
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "no " << file;
  std::string scratch = (std::filesystem::temp_directory_path() / "hlosim_golden.XXXXXX").string();
  ASSERT_TRUE(::mkdtemp(scratch.data()));
  ASSERT_EQ(std::system(fmt::format("tar -xJf '{}' -C '{}'", file.string(), scratch).c_str()), 0);
  std::vector<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(scratch))
    if (entry.path().filename() == "module.hlo") folders.push_back(entry.path().parent_path());
  std::sort(folders.begin(), folders.end());
  EXPECT_FALSE(folders.empty());

  const char* const only = std::getenv("HLOSIM_GOLDEN");
  std::map<std::string, int> failing;
  size_t count = 0, failed = 0;
  for (const std::filesystem::path& folder : folders) {
    const std::string name = folder.filename();
    if (only && name.find(only) == std::string::npos) continue;
    const auto* wrong =
        std::find_if(std::begin(kHeldWrong), std::end(kHeldWrong),
                     [&](const HeldWrong& held) { return name.find(held.name) != std::string::npos; });
    if (wrong != std::end(kHeldWrong)) {
      std::cout << name << " is left out: " << wrong->why << "\n";
      continue;
    }
    if (only) std::cerr << name << std::endl;
    ++count;
    const std::string why = failure_of(folder, closeness);
    if (why.empty()) continue;
    ++failed;
    ++failing[family(name)];
    ADD_FAILURE() << name << ": " << why;
  }
  std::filesystem::remove_all(scratch);
  std::cout << count - failed << " of " << count << " cases pass\n";
  for (const auto& [name, cases] : failing) std::cout << "  " << name << ": " << cases << " fail\n";
}

TEST(Golden, OneOperationEach) { run_cases("cases.tar.xz", {}); }

TEST(Golden, ModulesOfOthers) { run_cases("corpus-cases.tar.xz", {10, 0.01}); }

}  // namespace
}  // namespace hlosim
