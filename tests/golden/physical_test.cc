// Modules of ours and of others run on real bytes: the bits are those of a plain run, whatever the layouts
// and the order. Archives of others are skipped where they aren't.
//
// A part of them each time. HLOSIM_PHYSICAL=all in the environment runs every one, in every way; any other
// word those whose path has it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "cli/execute/elided.h"
#include "cli/execute/run_inputs.h"
#include "console/input.h"
#include "modules/trip_count.h"
#include "support/folders.h"
#include "support/module_files.h"
#include "support/owned_streams.h"
#include "support/physical.h"

namespace hlosim::test {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMostBytes = int64_t{16} << 20;

std::string_view chosen() {
  const char* const word = std::getenv("HLOSIM_PHYSICAL");
  return word ? word : "";
}

/// Modules that don't run: most are wrong by themselves, so that no memory can hold what they mean.
constexpr std::string_view kWrong[] = {
    // A bitcast of 32 bytes to 64.
    "BitcastMixedTypesInWhileBody",
    // Two results are updates in place of one parameter.
    "HandlesMultiOutputFusionSharedParameter",
    // Three chains of async instructions share one wrapped computation, and an update in place is under way
    // from
    // one turn of a loop to the next: its operand and its result would each need memory of their own.
    "LoopCrossingAsyncDynamicUpdateSliceExplicit",
    // A bitcast between tiles in which the same bytes are other elements: plain runs don't mind.
    "movement/bitcast.hlo",
    // A fusion whose second result only a library that isn't here could make. Runs where it isn't asked for;
    // but memory is written by every kernel, asked for or not.
    "CompilerSupportsFusionsWithWorkspace",
};

std::optional<Module> module_of(const fs::path& file) {
  test::OwnedStreams streams;
  ModuleInput input = read_module_input(file, false, streams.get());
  if (!input.ok || input.modules.size() != 1) return std::nullopt;
  return std::move(input.modules[0]);
}

/// It ends, and soon.
bool is_small(const Module& module) {
  return std::all_of(module.instructions.begin(), module.instructions.end(),
                     [&](const Instruction& instruction) {
                       if (dataflow(instruction.opcode).value != ValueRule::kLoop) return true;
                       const TripCount trips = trip_count(module, instruction);
                       return trips.source == TripCount::Source::kDerived && trips.count <= 100;
                     });
}

ProgramOptions options_of(const Module& module) {
  ProgramOptions options;
  options.twins = true;
  options.graph.elided = elided_values("zeros", module, 0);
  return options;
}

struct Tally {
  int ran = 0, failed = 0;
};

void run_one(const fs::path& file, const PreparationOptions& options, uint64_t seed, Tally& tally) {
  std::optional<Module> plain = module_of(file), physical = module_of(file);
  if (!plain || !physical || !is_small(*plain)) return;
  const auto inputs = [&](const Module& module, MemoryPool& pool) {
    InputOptions from;
    from.folder = file.parent_path();
    if (fs::exists(file.parent_path() / "out0.npy"))
      if (Result<std::vector<Array>> given = read_inputs(from, parameter_leaves(module), pool)) return *given;
    return random_arguments(module, seed, pool);
  };
  const BothWays ways =
      run_both_ways(std::move(*plain), std::move(*physical), options, inputs, options_of, kMostBytes);
  tally.ran += ways.ran;
  if (ways.problem.empty()) return;
  ++tally.failed;
  if (tally.failed <= 10) ADD_FAILURE() << file << ": " << ways.problem;
}

void run_all(std::vector<fs::path> files, size_t every) {
  std::sort(files.begin(), files.end());
  ASSERT_FALSE(files.empty());
  Tally tally[4];
  const char* const names[] = {"as they are", "random layouts", "random order", "both"};
  for (size_t i = 0; i < files.size(); ++i) {
    const std::string text = files[i].string();
    if (std::any_of(std::begin(kWrong), std::end(kWrong),
                    [&](std::string_view word) { return text.find(word) != std::string::npos; }))
      continue;
    if (!chosen().empty() && chosen() != "all" && text.find(chosen()) == std::string::npos) continue;
    for (size_t which = 0; which < 4; ++which) {
      if (chosen().empty() && (i + which * (every / 4)) % every != 0) continue;
      PreparationOptions options;
      if (which == 1 || which == 3) options.random_layouts = i;
      if (which == 2 || which == 3) options.random_order = i;
      run_one(files[i], options, i, tally[which]);
    }
  }
  if (chosen().empty()) {
    for (const Tally& one : tally) EXPECT_GT(one.ran, 0);
  }
  for (size_t which = 0; which < 4; ++which)
    std::cout << names[which] << ": " << tally[which].ran - tally[which].failed << " of " << tally[which].ran
              << "\n";
}

void run_archive(const std::string& name) {
  const fs::path file = shared_folder() / "golden" / name;
  if (!fs::exists(file)) GTEST_SKIP() << "no " << file;
  std::string scratch = (fs::temp_directory_path() / "hlosim_physical.XXXXXX").string();
  ASSERT_TRUE(::mkdtemp(scratch.data()));
  ASSERT_EQ(std::system(fmt::format("tar -xJf '{}' -C '{}'", file.string(), scratch).c_str()), 0);
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(scratch))
    if (entry.path().filename() == "module.hlo") files.push_back(entry.path());
  run_all(files, 8);
  fs::remove_all(scratch);
}

TEST(PhysicalGolden, OneOperationEach) { run_archive("cases.tar.xz"); }

TEST(PhysicalGolden, ModulesOfOthers) { run_archive("corpus-cases.tar.xz"); }

TEST(PhysicalModules, OursAndThoseOfTheCorpus) {
  run_all(right_modules({.file_tests = 1, .others = 0}), 4);
  if (fs::exists(shared_folder() / "corpus")) run_all(right_modules({.file_tests = 0, .others = 1}), 32);
}

}  // namespace
}  // namespace hlosim::test
