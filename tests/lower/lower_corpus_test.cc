// Lowered modules of ours and of others take no longer than they do as they stand, and
// give the same results. A sample; HLOSIM_LOWER_ALL in the environment takes all of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "array/arguments.h"
#include "array/compare.h"
#include "exec/program.h"
#include "lower/lower.h"
#include "lower/pass.h"
#include "model/native_layouts.h"
#include "modules/compact.h"
#include "support/folders.h"
#include "support/module_files.h"
#include "support/own_modules.h"
#include "support/simulations.h"

namespace hlosim {
namespace {

constexpr const char* kCorpusDevices[] = {"v5e", "v4", "v6e"};

std::vector<std::filesystem::path> module_files() {
  const bool all = std::getenv("HLOSIM_LOWER_ALL") != nullptr;
  return test::right_modules({.file_tests = all ? size_t{1} : 4, .others = all ? size_t{1} : 20});
}

/// f(file, module, device) for each plain module.
template <class F>
size_t for_each_plain(F&& f) {
  size_t count = 0;
  for (const std::filesystem::path& file : module_files()) {
    const Result<SourcePtr> source = read_source(file);
    if (!source) continue;
    DiagnosticList problems;
    for (Module& module : read_modules(*source, op_table(), problems)) {
      if (problems.has_errors() || !verify(module, op_table(), problems) || !is_plain(module)) continue;
      f(file.filename().string(), module, kCorpusDevices[count++ % std::size(kCorpusDevices)]);
    }
  }
  return count;
}

/// The time of a run; nothing where the module needs another slice than there is.
std::optional<Picoseconds> time_if_it_runs(const Module& module, const Device& device) {
  const Result<Simulation> simulation = simulate(lay_out(module, device).module, op_table(), device);
  if (!simulation) return std::nullopt;
  return simulation->totals.makespan;
}

/// What runs, in fusions as well, stands for an instruction of the text that was given.
void expect_places(const std::string& name, const Module& given, const Module& lowered) {
  std::set<uint32_t> offsets;
  for (const Instruction& instruction : given.instructions)
    offsets.insert({instruction.offset, instruction.opcode_offset});
  std::set<ComputationId> applied;
  for (const Instruction& instruction : lowered.instructions)
    if (const Attr* to_apply = instruction.find(AttrKey::kToApply))
      applied.insert(to_apply->computations().begin(), to_apply->computations().end());
  for (const Instruction& instruction : lowered.instructions) {
    if (applied.contains(instruction.parent)) continue;
    EXPECT_TRUE(offsets.contains(instruction.offset))
        << name << ": " << instruction.name << " points to byte " << instruction.offset;
  }
}

TEST(LowerCorpus, TakesNoLonger) {
  std::map<std::string, size_t> how;
  const size_t count =
      for_each_plain([&](const std::string& name, Module& module, const std::string& device_name) {
        const Device device = test::device_or_fail(device_name);
        const auto check = [&](const Pass& pass, const Module& now) {
          EXPECT_EQ(test::difference(compacted(now, op_table()), test::read_again(now)), "")
              << name << ": " << pass.name;
        };
        const Lowered lowered = lower_as(module, op_table(), device, {}, check);
        EXPECT_EQ(test::difference(lowered.module, test::read_again(lowered.module)), "") << name;
        expect_places(name, module, lowered.module);
        ++how[std::string(lowered.how)];
        if (lowered.how == "unchanged" && std::getenv("HLOSIM_LOWER_ALL"))
          fmt::print("unchanged: {} on {}\n", name, device_name);
        // Arguments among the results are copied in either.
        const Module as_it_stands =
            run_passes(module, *parse_passes("own-results"), {op_table(), device, nullptr}, {});
        const std::optional<Picoseconds> before = time_if_it_runs(as_it_stands, device),
                                         after = time_if_it_runs(lowered.module, device);
        if (!before || !after) return;
        EXPECT_LE(after->count(), before->count()) << name << " on " << device_name;
      });
  for (const auto& [text, n] : how) fmt::print("{}: {}\n", text, n);
  EXPECT_GT(count, 20u);
}

/// Runs in a few seconds here: how often its loops run is known, and there isn't much to multiply.
bool is_small(const Module& module, const Device& device) {
  const Result<Simulation> simulation = simulate(lay_out(module, device).module, op_table(), device);
  if (!simulation || simulation->totals.flops.count() > 2'000'000'000 ||
      simulation->totals.vector_operations > 200'000'000)
    return false;
  return std::ranges::all_of(simulation->loops,
                             [](const LoopRecord& loop) { return loop.known && loop.trip_count < 10'000; });
}

/// The outputs of one run with made-up arguments; nothing where it can't be run here, with `why`.
std::optional<std::vector<Array>> outputs_of(Module& module, MemoryPool& pool, std::string& why) {
  constexpr int64_t kMostBytes = 256 << 20;
  ProgramOptions options;
  options.twins = true;
  DiagnosticList problems;
  const std::unique_ptr<const Program> program = Program::make(module, op_table(), pool, options, problems);
  if (!program) return why = test::rendered(problems), std::nullopt;
  if (program->peak_bytes() > kMostBytes) return why = "too large", std::nullopt;
  std::vector<Array> inputs;
  for (const ShapeRef shape : program->parameters()) {
    if (!shape->is_array()) return why = "a token", std::nullopt;
    inputs.push_back(random_array(shape, 1, inputs.size(), pool));
  }
  DeviceState device(pool);
  Result<std::vector<Array>> outputs = program->run(device, inputs);
  if (!outputs) return why = render(outputs.error()), std::nullopt;
  return std::move(*outputs);
}

TEST(LowerCorpus, GivesTheSame) {
  size_t compared = 0;
  const size_t count =
      for_each_plain([&](const std::string& name, Module& module, const std::string& device_name) {
        MemoryPool pool;
        const Device device = test::device_or_fail(device_name);
        Module lowered = lower(module, op_table(), device);
        if (!is_small(module, device)) return;
        std::string why;
        const std::optional<std::vector<Array>> before = outputs_of(module, pool, why);
        if (!before) return;
        const std::optional<std::vector<Array>> after = outputs_of(lowered, pool, why);
        ASSERT_TRUE(after) << name << ": " << why;
        ASSERT_EQ(before->size(), after->size()) << name;
        ++compared;
        for (size_t i = 0; i < before->size(); ++i) {
          const Array &want = (*before)[i], &got = (*after)[i];
          if (!want.shape->is_array() || !want.bytes() || !got.bytes()) continue;
          const Comparison found = compare(got, want, default_tolerance(want.shape->element_type));
          EXPECT_TRUE(found.within()) << name << ", output " << i << ": " << found.outside << " of "
                                      << found.count << " differ, by " << found.max_abs << " at most";
        }
      });
  EXPECT_GT(compared, count / 4);
}

Module example(const std::string& name) {
  const Result<SourcePtr> source = read_source(test::source_folder() / "examples" / name);
  EXPECT_TRUE(source);
  return source ? test::module_or_fail((*source)->text()) : Module();
}

TEST(LowerExamples, TransformerBlockComesNearTheOneScheduledByHand) {
  const Module plain = example("transformer_layers.hlo");
  Module by_hand = example("transformer_layers_tpu.hlo");
  for (const char* name : {"v5e", "v5p", "v6e"}) {
    const Device device = test::device_or_fail(name);
    const Module lowered = lower(plain, op_table(), device);
    const std::optional<Picoseconds> want = time_if_it_runs(by_hand, device),
                                     got = time_if_it_runs(lowered, device);
    ASSERT_TRUE(want && got);
    // By hand, values fill 128 MiB; on devices of several cores what is lowered has room in that of one.
    const double most = device.config.cores > 1 ? 1.5 : 1.15;
    EXPECT_LT(static_cast<double>(got->count()), most * static_cast<double>(want->count())) << name;
    EXPECT_GT(static_cast<double>(got->count()), 0.9 * static_cast<double>(want->count())) << name;
  }
}

TEST(LowerExamples, TransformerBlocksGiveTheSame) {
  Module plain = example("transformer_layers.hlo"), by_hand = example("transformer_layers_tpu.hlo");
  Module lowered = lower(plain, op_table(), test::device_or_fail("v6e"));
  MemoryPool pool;
  std::string why;
  const std::optional<std::vector<Array>> want = outputs_of(plain, pool, why);
  ASSERT_TRUE(want) << why;
  for (Module* module : {&by_hand, &lowered}) {
    const std::optional<std::vector<Array>> got = outputs_of(*module, pool, why);
    ASSERT_TRUE(got) << why;
    const Comparison found = compare((*got)[0], (*want)[0], default_tolerance(ElementType::kBF16));
    EXPECT_TRUE(found.within()) << found.outside << " of " << found.count;
  }
}

}  // namespace
}  // namespace hlosim
