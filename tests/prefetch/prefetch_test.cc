// Modules tuned as a whole: what they compute, how long they take, what the table says of them.
#include "prefetch/prefetch.h"

#include <gmock/gmock.h>
#include <map>

#include <cstdlib>
#include <filesystem>

#include "buffers/buffer_analysis.h"
#include "buffers/space_use.h"
#include "hlo/module_editor.h"
#include "lower/lower.h"
#include "lower/on_chip.h"
#include "memory/occupancy.h"
#include "model/native_layouts.h"
#include "oracle/execute.h"
#include "oracle/random_module.h"
#include "prefetch/prefetch_strip.h"
#include "support/module_files.h"
#include "support/physical.h"
#include "support/simulations.h"

namespace hlosim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string seed_text() { return test::shared_text("seeds/003_54e5854892ee064a.txt"); }

/// What is tuned: lowered, if no compiler has touched it.
Module prepared(const Module& module, const Device& device) {
  return is_plain(module) ? lower(module, op_table(), device) : module.copy();
}

PrefetchResult tuned(const Module& module, const Device& device, const PrefetchOptions& options = {}) {
  Result<PrefetchResult> result = tune_prefetch(module, op_table(), device, options);
  EXPECT_TRUE(result) << (result ? "" : render(result.error()));
  return result ? std::move(*result) : PrefetchResult();
}

/// Rows overlap in time and space, or lie outside of what there is.
std::string fault_of_rows(const PrefetchResult& result) {
  for (size_t i = 0; i < result.rows.size(); ++i) {
    const PrefetchRow& a = result.rows[i];
    if (a.offset < 0 || a.offset + a.size > result.capacity) return a.value + " lies outside";
    for (size_t k = 0; k < i; ++k) {
      const PrefetchRow& b = result.rows[k];
      const bool in_time = a.first <= b.last && b.first <= a.last;
      if (in_time && a.offset < b.offset + b.size && b.offset < a.offset + a.size)
        return a.value + " lies over " + b.value;
    }
  }
  return {};
}

/// What holds of every result.
void check(const PrefetchResult& result, const Device& device) {
  EXPECT_EQ(fault_of_rows(result), "");
  EXPECT_LE(result.peak, result.capacity);
  EXPECT_LE(result.tuned.time, result.input.time);
  EXPECT_LE(result.tuned.time, result.stripped.time);
  EXPECT_LE(result.bound, result.tuned.time);
  for (const PrefetchCandidate& one : result.candidates)
    EXPECT_LE(result.tuned.time, one.times.time) << one.name;
  // Read again, it takes the same time and room, and every done follows its start.
  Module again = test::module_or_fail(to_text(result.module, op_table()));
  EXPECT_TRUE(again.is_scheduled());
  const Simulation simulation = test::simulate_or_fail(again, device);
  EXPECT_EQ(simulation.totals.makespan, result.tuned.time);
  for (const TransferRecord& transfer : simulation.transfers) EXPECT_LE(transfer.start, transfer.done);
  const Occupancy occupancy = memory_occupancy(again, device.config, simulation.schedule.order);
  const OnChip chip = on_chip_memory(device.config);
  for (const SpaceOccupancy& space : occupancy.spaces)
    if (space.number == chip.space && result.chosen != "input") {
      EXPECT_LE(space.peak.count(), result.capacity);
    }
}

TEST(TunePrefetch, TpuBlockStrippedIsAllInHbm) {
  PrefetchOptions options;
  options.algorithm = PrefetchAlgorithm::kStrip;
  const PrefetchResult result =
      tuned(test::module_or_fail(test::own_module("tpu_block")), test::device_or_fail("v5e"), options);
  EXPECT_EQ(result.removed_copies, 2);
  const std::string text = to_text(result.module, op_table());
  EXPECT_THAT(text, Not(HasSubstr("copy-start")));
  EXPECT_THAT(text, Not(HasSubstr("S(1)")));
}

TEST(TunePrefetch, TpuBlockHasItsWeightsAndWhatLiesBetweenOnTheChip) {
  const Module module = test::module_or_fail(test::own_module("tpu_block"));
  BufferOptions options;
  options.padded = true;
  const auto analysis = analyse_buffers(module, op_table(), options);
  ASSERT_TRUE(analysis);
  constexpr int64_t kWeights = 8 << 20, kHidden = 4 << 20;
  for (const SpaceUse& use : space_use(**analysis)) {
    if (use.space != kVmemSpace) continue;
    EXPECT_THAT(std::vector<int64_t>(use.at_step.begin(), use.at_step.begin() + 10),
                ElementsAre(0, 0, 0, kWeights, kWeights, 2 * kWeights, 2 * kWeights + kHidden,
                            kWeights + kHidden, kWeights + kHidden, 0));
    EXPECT_EQ(use.peak, 2 * kWeights + kHidden);
  }
}

TEST(TunePrefetch, TpuBlockIsNeverSlowerAndMovesNoMore) {
  for (const std::string name : {"v5e", "v6e"}) {
    const Device device = test::device_or_fail(name);
    const PrefetchResult result = tuned(test::module_or_fail(test::own_module("tpu_block")), device);
    check(result, device);
    EXPECT_EQ(result.input.hbm_bytes, 24 << 20) << name;
    EXPECT_LE(result.tuned.hbm_bytes, result.input.hbm_bytes) << name;
    EXPECT_GT(result.stripped.hbm_bytes, result.input.hbm_bytes) << name;
  }
}

TEST(TunePrefetch, TpuSeedStrippedIsAllInHbm) {
  if (seed_text().empty()) GTEST_SKIP() << test::no_shared("seeds");
  PrefetchOptions options;
  options.algorithm = PrefetchAlgorithm::kStrip;
  const PrefetchResult result =
      tuned(test::module_or_fail(seed_text()), test::device_or_fail("v5e"), options);
  EXPECT_EQ(result.removed_copies, 2);
  EXPECT_EQ(result.tuned.hbm_bytes, 318767104);
  const std::string text = to_text(result.module, op_table());
  EXPECT_THAT(text, Not(HasSubstr("copy-start")));
  EXPECT_THAT(text, Not(HasSubstr("S(1)")));
}

TEST(TunePrefetch, TpuSeedHasThePublishedBytesOnTheChip) {
  if (seed_text().empty()) GTEST_SKIP() << test::no_shared("seeds");
  const Module module = test::module_or_fail(seed_text());
  BufferOptions options;
  options.padded = true;
  const auto analysis = analyse_buffers(module, op_table(), options);
  ASSERT_TRUE(analysis);
  for (const SpaceUse& use : space_use(**analysis)) {
    if (use.space != kVmemSpace) continue;
    constexpr int64_t kA = 58720256, kAB = 75497472, kMost = 90177536;
    EXPECT_THAT(
        std::vector<int64_t>(use.at_step.begin(), use.at_step.begin() + 15),
        ElementsAre(0, kA, kA, kA, kA, kA, kAB, kMost, kMost, kMost, 73400320, kMost, 16777216, 0, 0));
    EXPECT_EQ(use.peak, kMost);
  }
}

TEST(TunePrefetch, TpuSeedGetsFasterAndMovesLess) {
  if (seed_text().empty()) GTEST_SKIP() << test::no_shared("seeds");
  // On v5e the blocks of a product read 16 MiB of an operand twice.
  const std::map<std::string, int64_t> twice = {{"v5e", 16777216}, {"v6e", 0}};
  for (const auto& [name, again] : twice) {
    const Device device = test::device_or_fail(name);
    PrefetchOptions options;
    options.knobs.scoped_vmem_limit_kib = 16384;
    const PrefetchResult result = tuned(test::module_or_fail(seed_text()), device, options);
    check(result, device);
    EXPECT_EQ(result.input.hbm_bytes, 255852544 + again) << name;
    EXPECT_LE(result.tuned.hbm_bytes, 226492416 + again) << name;
    EXPECT_LT(result.tuned.time, result.input.time) << name;
    // On v5e the bound stays below the best plan that is found.
    if (name == "v6e") {
      EXPECT_TRUE(result.proven);
    }
    EXPECT_FALSE(result.cut) << name;
    // With the device's own scratch, which is more.
    const PrefetchResult own = tuned(test::module_or_fail(seed_text()), device);
    check(own, device);
    EXPECT_LE(own.tuned.hbm_bytes, own.input.hbm_bytes) << name;
    EXPECT_LT(own.tuned.time, own.input.time) << name;
  }
}

TEST(TunePrefetch, BytesAreAnObjectiveOfTheirOwn) {
  // Products hide their traffic behind the matrix unit; the passes over the smaller array wait for HBM.
  const std::string text = R"(
HloModule weights, is_scheduled=true
product {
  a = bf16[4096,2048]{1,0:T(8,128)(2,1)} parameter(0)
  b = bf16[2048,2048]{1,0:T(8,128)(2,1)} parameter(1)
  ROOT dot = bf16[4096,2048]{1,0:T(8,128)(2,1)} dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
ENTRY e {
  x = bf16[4096,2048]{1,0:T(8,128)(2,1)} parameter(0)
  w = bf16[2048,2048]{1,0:T(8,128)(2,1)} parameter(1)
  v = bf16[3072,2048]{1,0:T(8,128)(2,1)} parameter(2)
  small = bf16[3072,2048]{1,0:T(8,128)(2,1)} negate(v)
  first = bf16[4096,2048]{1,0:T(8,128)(2,1)} fusion(x, w), kind=kOutput, calls=product
  second = bf16[4096,2048]{1,0:T(8,128)(2,1)} fusion(first, w), kind=kOutput, calls=product
  third = bf16[4096,2048]{1,0:T(8,128)(2,1)} fusion(second, w), kind=kOutput, calls=product
  other = bf16[3072,2048]{1,0:T(8,128)(2,1)} negate(small)
  ROOT results = (bf16[4096,2048]{1,0:T(8,128)(2,1)}, bf16[3072,2048]{1,0:T(8,128)(2,1)}) tuple(third, other)
}
)";
  const Device device = test::device_or_fail("v5e");
  bool differs = false;
  for (const int64_t mebibytes : {8, 12, 16, 20, 24, 32}) {
    PrefetchOptions options;
    options.knobs.max_size_in_bytes = mebibytes << 20;
    const PrefetchResult shortest = tuned(prepared(test::module_or_fail(text), device), device, options);
    options.objective = PrefetchObjective::kBytes;
    const PrefetchResult least = tuned(prepared(test::module_or_fail(text), device), device, options);
    EXPECT_EQ(fault_of_rows(least), "");
    EXPECT_LE(least.tuned.time, least.input.time) << mebibytes;
    EXPECT_LE(least.tuned.hbm_bytes, shortest.tuned.hbm_bytes) << mebibytes;
    EXPECT_LE(shortest.tuned.time, least.tuned.time) << mebibytes;
    EXPECT_FALSE(least.proven);
    for (const PrefetchCandidate& one : least.candidates)
      if (one.times.time <= least.input.time) {
        EXPECT_LE(least.tuned.hbm_bytes, one.times.hbm_bytes) << one.name;
      }
    differs |= least.tuned.hbm_bytes < shortest.tuned.hbm_bytes;
  }
  EXPECT_TRUE(differs);
}

constexpr std::string_view kSliced = R"(
HloModule sliced, is_scheduled=true
ENTRY e {
  p = f32[16,128]{1,0:T(8,128)} parameter(0)
  q = f32[16,128]{1,0:T(8,128)} parameter(1)
  a = (( f32[16,128]{1,0:T(8,128)} ), f32[8,128]{1,0:T(8,128)S(1)}, u32[]) slice-start(p), slice={[0:8],[0:128]}
  b = (( f32[16,128]{1,0:T(8,128)} ), f32[8,128]{1,0:T(8,128)S(1)}, u32[]) slice-start(p), slice={[8:16],[0:128]}
  m = f32[16,128]{1,0:T(8,128)} multiply(q, q)
  a.done = f32[8,128]{1,0:T(8,128)S(1)} slice-done(a)
  b.done = f32[8,128]{1,0:T(8,128)S(1)} slice-done(b)
  c = f32[16,128]{1,0:T(8,128)S(1)} custom-call(a.done, b.done), custom_call_target="ConcatBitcast"
  ROOT r = f32[16,128]{1,0:T(8,128)} add(c, m)
}
)";

TEST(StripPrefetches, TakesOutSlicedOnes) {
  Module module = test::module_or_fail(kSliced);
  ModuleEditor editor(module);
  const StripSummary summary = strip_prefetches(editor, op_table(), test::device_or_fail("v5e").config);
  EXPECT_EQ(summary.copies, 2);
  const std::string text = to_text(test::module_or_fail(to_text(module, op_table())), op_table());
  EXPECT_THAT(text, Not(HasSubstr("slice-")));
  EXPECT_THAT(text, Not(HasSubstr("ConcatBitcast")));
  EXPECT_THAT(text, HasSubstr("add(%p, %m)"));
}

TEST(StripPrefetches, LeavesSlicesThatAreNotAllOfIt) {
  std::string text(kSliced);
  text.replace(text.find("[8:16]"), 6, "[0:8]");
  Module module = test::module_or_fail(text);
  ModuleEditor editor(module);
  EXPECT_EQ(strip_prefetches(editor, op_table(), test::device_or_fail("v5e").config).copies, 0);
  EXPECT_THAT(to_text(module, op_table()), HasSubstr("ConcatBitcast"));
}

/// The first difference between two results, empty if they agree.
std::string difference(const test::Outputs& a, const test::Outputs& b) {
  if (a.error != b.error) return a.error + " and " + b.error;
  if (a.leaves.size() != b.leaves.size()) return "number of leaves";
  for (size_t k = 0; k < a.leaves.size(); ++k)
    for (size_t i = 0; i < a.leaves[k]->data.size(); ++i)
      if (!test::agrees(a.leaves[k]->type(), a.leaves[k]->data[i], b.leaves[k]->data[i]))
        return fmt::format("leaf {}, element {}", k, i);
  return {};
}

/// Small on-chip memory and slow HBM, so that there is something to decide.
Device tight_device(int64_t bytes) {
  return test::device_or_fail("v5e", {{"memory.vmem.capacity", fmt::format("{} B", bytes + 16384)},
                                      {"vmem.scoped_limit", "16384 B"},
                                      {"vmem.internal_scratch", "0 B"},
                                      {"memory.hbm.bandwidth", "1 GB/s"},
                                      {"dma.bandwidth", "0.9 GB/s"},
                                      {"dma.read_latency", "10 ns"},
                                      {"dma.write_latency", "10 ns"}});
}

TEST(TunePrefetch, RandomModulesComputeTheSame) {
  size_t compared = 0, changed = 0, copies = 0;
  for (uint64_t seed = 0; seed < 150; ++seed) {
    const std::string text = test::random_module(seed, false);
    Module module = test::module_or_fail(text);
    const Device device = tight_device(8192 + static_cast<int64_t>(seed % 8) * 8192);
    PrefetchOptions options;
    options.moves = 300;
    options.most_exact_sites = 0;
    options.algorithm = seed % 3 == 0 ? PrefetchAlgorithm::kXla : PrefetchAlgorithm::kStrong;
    if (seed % 2 == 0) {
      options.knobs.max_repacks = 5;
      options.knobs.loop_optimizer = true;
      options.knobs.loop_min_num_iterations = 2;
      options.knobs.enable_sync_copy_replacement = options.knobs.enable_sync_slice_replacement = true;
    }
    Result<PrefetchResult> result = tune_prefetch(module, op_table(), device, options);
    ASSERT_TRUE(result) << "seed " << seed << ": " << render(result.error()) << text;
    if (options.algorithm == PrefetchAlgorithm::kStrong) check(*result, device);
    const std::vector<test::ValuePtr> inputs = test::random_inputs(module, seed);
    const test::Outputs before = test::execute(module, inputs);
    if (!before.error.empty()) continue;
    const std::string found = difference(before, test::execute(result->module, inputs));
    EXPECT_EQ(found, "") << "seed " << seed << "\n" << text << "\n" << to_text(result->module, op_table());
    if (!found.empty()) return;
    ++compared;
    changed += !result->rows.empty();
    const std::string rewritten = to_text(result->module, op_table());
    copies += rewritten.find("copy-start") != std::string::npos;
  }
  EXPECT_GT(compared, 80u);
  EXPECT_GT(changed, 30u);
  EXPECT_GT(copies, 10u);
}

/// Right modules: ours, and a sample of others, or all of them with HLOSIM_WHOLE_CORPUS=1.
template <class F>
void for_each_right_module(size_t every, F&& f) {
  const bool all = std::getenv("HLOSIM_WHOLE_CORPUS") != nullptr;
  for (const std::filesystem::path& file :
       test::right_modules({.file_tests = 3, .others = all ? 1 : every})) {
    const Result<SourcePtr> source = read_source(file);
    ASSERT_TRUE(source);
    DiagnosticList problems;
    for (Module& module : read_modules(*source, op_table(), problems))
      if (verify(module, op_table(), problems)) f(file.filename().string(), module);
  }
}

TEST(TunePrefetch, ModulesAreNeverSlowerAndKeepTheRules) {
  const Device devices[] = {test::device_or_fail("v5e"), tight_device(65536)};
  size_t tuned_ones = 0, faster = 0, faster_than_xla = 0, refused = 0;
  for_each_right_module(37, [&](const std::string& name, Module& module) {
    for (const Device& device : devices) {
      PrefetchOptions options;
      options.moves = 500;
      const Result<PrefetchResult> result =
          tune_prefetch(prepared(module, device), op_table(), device, options);
      if (!result) {
        // What can't be simulated at all can't be tuned.
        const Result<Simulation> plain = simulate(lay_out(module, device).module, op_table(), device, {});
        EXPECT_FALSE(plain) << name << ": " << render(result.error());
        ++refused;
        continue;
      }
      SCOPED_TRACE(name + " on " + device.config.name);
      check(*result, device);
      ++tuned_ones;
      faster += result->tuned.time < result->input.time;
      for (const PrefetchCandidate& one : result->candidates)
        if (one.name == "xla") faster_than_xla += result->tuned.time < one.times.time;
    }
  });
  EXPECT_GT(tuned_ones, 100u);
  EXPECT_GT(faster, 0u);
  std::printf("%zu tuned, %zu faster than given, %zu than XLA's assigner, %zu can't be simulated\n",
              tuned_ones, faster, faster_than_xla, refused);
}

TEST(TunePrefetch, BitcastsThatMoveSomethingInTilesAreWork) {
  const Module module = test::module_or_fail(R"(
HloModule rows, is_scheduled=true
ENTRY e {
  p = f32[16,24]{1,0} parameter(0)
  flat = f32[384]{0} bitcast(p)
  a = f32[384]{0} negate(flat)
  b = f32[384]{0} add(a, flat)
  ROOT r = f32[384]{0} multiply(b, a)
}
)");
  PrefetchOptions options;
  for (const PrefetchAlgorithm algorithm : {PrefetchAlgorithm::kGreedy, PrefetchAlgorithm::kStrong}) {
    options.algorithm = algorithm;
    PrefetchResult result = tuned(module, tight_device(65536), options);
    EXPECT_FALSE(result.rows.empty());
    const auto random = [](const Module& m, MemoryPool& pool) { return test::random_arguments(m, 1, pool); };
    const test::BothWays outcome =
        test::run_both_ways(test::module_or_fail(to_text(module, op_table())), std::move(result.module), {},
                            random, test::twins, 1 << 22);
    EXPECT_EQ(outcome.problem, "");
    EXPECT_TRUE(outcome.ran);
  }
  // Only taking out copies writes no work.
  options.algorithm = PrefetchAlgorithm::kStrip;
  EXPECT_THAT(to_text(tuned(module, tight_device(65536), options).module, op_table()), HasSubstr("bitcast("));
}

TEST(TunePrefetch, RunsOnRealBytes) {
  const Device device = tight_device(65536);
  size_t ran = 0, with_rows = 0;
  for_each_right_module(23, [&](const std::string& name, Module& module) {
    if (module.instructions.size() > 300) return;
    PrefetchOptions options;
    options.moves = 300;
    Result<PrefetchResult> result = tune_prefetch(module, op_table(), device, options);
    if (!result || result->rows.empty()) return;
    const auto random = [](const Module& m, MemoryPool& pool) { return test::random_arguments(m, 1, pool); };
    const auto both_ways = [&](Module tuned_one) {
      Module plain = test::module_or_fail(to_text(module, op_table()));
      return test::run_both_ways(std::move(plain), std::move(tuned_one), {}, random, test::twins, 1 << 22);
    };
    // Some modules can't run on any memory, or not without the copies that a schedule promises.
    options.algorithm = PrefetchAlgorithm::kStrip;
    Result<PrefetchResult> stripped = tune_prefetch(module, op_table(), device, options);
    if (!stripped || !both_ways(std::move(stripped->module)).problem.empty()) return;
    ++with_rows;
    const test::BothWays outcome = both_ways(std::move(result->module));
    // What writes in place over a constant needs a copy of it, which is not for the tuner to make; whether it
    // is the last that reads the constant rests on the order.
    if (outcome.problem.ends_with("a constant") ||
        outcome.problem.find(", a constant\n") != std::string::npos)
      return;
    EXPECT_EQ(outcome.problem, "") << name;
    ran += outcome.ran;
  });
  EXPECT_GT(with_rows, 5u);
  EXPECT_GE(ran, with_rows / 2);
}

}  // namespace
}  // namespace hlosim
