// What must hold for every module on every device.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <numeric>

#include "memory/occupancy.h"
#include "model/memory_system.h"
#include "sim/overlap.h"
#include "support/module_files.h"
#include "support/simulations.h"

namespace hlosim {
namespace {

namespace fs = std::filesystem;

/// Modules of ours, a sample of others' (every `step`-th); a synthetic one with copies, collectives, loops
/// and branches.
std::vector<Module> many_modules(size_t step) {
  std::vector<Module> modules;
  const auto add = [&](const SourcePtr& source) {
    DiagnosticList diagnostics;
    for (Module& module : read_modules(source, op_table(), diagnostics))
      if (verify(module, op_table(), diagnostics)) modules.push_back(std::move(module));
  };
  for (const fs::path& file : test::right_modules({.file_tests = 2, .others = step}))
    if (const Result<SourcePtr> source = read_source(file.string())) add(*source);
  const std::string synthetic = testing::TempDir() + "hlosim_laws_module.hlo";
  const std::string command =
      "python3 " + (test::source_folder() / "bench/make_module.py").string() + " 3000 -o " + synthetic;
  EXPECT_EQ(std::system(command.c_str()), 0);
  if (const Result<SourcePtr> source = read_source(synthetic)) add(*source);
  return modules;
}

template <class Times>
Picoseconds sum(const Times& times) {
  return std::accumulate(times.begin(), times.end(), Picoseconds(0));
}

void check_laws(const Module& module, const Device& device, const Simulation& result) {
  SCOPED_TRACE(fmt::format("{} on {}", module.name, device.config.name));
  const Totals& totals = result.totals;
  if (totals.makespan > kForever / 4) return;  // saturated
  // Nothing is lost, nothing counted twice.
  EXPECT_EQ(sum(totals.by_category) + totals.idle, totals.makespan);
  EXPECT_EQ(sum(totals.by_bound) + totals.overhead + totals.idle, totals.makespan);
  EXPECT_EQ(sum(totals.by_provenance), totals.makespan);
  // No unit works longer than the run; a picosecond of rounding per piece of work.
  const MemorySystem memory(device.config);
  int64_t pieces = 0;
  Picoseconds one_by_one{}, self{};
  for (const InstructionRecord& record : result.instructions) {
    pieces += record.executions;
    self += record.self_time;
    one_by_one += times(result.cost(record).time(), record.executions);
    EXPECT_LE(record.exposed, record.time);
  }
  for (const LoopRecord& loop : result.loops)
    for (const InstructionRecord& record : result.instructions)
      if (record.id == loop.id)
        one_by_one += times(device.config.overhead.loop_iteration, loop.trip_count * record.executions);
  Picoseconds exposed{};
  bool once = true;
  for (const TransferRecord& transfer : result.transfers) {
    pieces += 2 * transfer.executions;
    one_by_one += times(transfer.duration, transfer.executions);
    if (transfer.executions == 0) continue;
    exposed += transfer.exposed;
    once = once && transfer.executions == 1;
    const bool synchronous =
        transfer.kind == TransferKind::kCollective && transfer.done_instruction == transfer.start_instruction;
    EXPECT_EQ((synchronous ? transfer.queued : transfer.hidden) + transfer.exposed, transfer.duration);
    if (synchronous) {
      EXPECT_EQ(transfer.hidden, Picoseconds(0));
    }
    EXPECT_LE(transfer.start, transfer.end);
    EXPECT_LE(transfer.end, transfer.done);
  }
  // The TensorCore stands still for one of them at a time.
  if (once) {
    EXPECT_EQ(exposed, totals.exposed());
  }
  const double hbm = memory.busy_exactly(memory.hbm(), totals.traffic[memory.hbm()]);
  EXPECT_LE(hbm, static_cast<double>(totals.makespan.count() + pieces));
  for (const Picoseconds busy : totals.busy) EXPECT_LE(busy, totals.makespan);
  EXPECT_LE(totals.lower_bound, totals.makespan);
  EXPECT_LE(totals.makespan, one_by_one + Picoseconds(pieces));
  EXPECT_EQ(self, totals.makespan);
  EXPECT_LE(result.timeline.makespan(), totals.makespan);
  EXPECT_LE(result.timeline.busy(Lane::kTensorCore), totals.makespan);
}

TEST(Laws, HoldForEveryModuleOnEveryDevice) {
  std::vector<Module> modules = many_modules(16);
  ASSERT_FALSE(modules.empty());
  for (const char* name : {"v2", "v4", "v5e", "v7x", "unit"}) {
    const Device device = test::device_or_fail(name);
    for (const Module& given : modules) {
      const Module module = lay_out(given, device).module;
      const Result<Simulation> result = simulate(module, op_table(), device);
      if (!result) continue;  // collectives that contradict each other
      check_laws(module, device, *result);
      const Occupancy occupancy = memory_occupancy(module, device.config, result->schedule.order);
      for (const SpaceOccupancy& space : occupancy.spaces)
        EXPECT_EQ(space.peak, *std::max_element(space.at_step.begin(), space.at_step.end()));
      for (const LiveBuffer& buffer : occupancy.buffers) EXPECT_LE(buffer.first, buffer.last);
    }
  }
}

TEST(Laws, TheSameInputGivesTheSameResult) {
  std::vector<Module> modules = many_modules(64);
  const Device device = test::device_or_fail("v5e");
  for (const Module& given : modules) {
    const Module module = lay_out(given, device).module;
    const Result<Simulation> first = simulate(module, op_table(), device),
                             second = simulate(module, op_table(), device);
    if (!first) continue;
    EXPECT_EQ(first->totals.makespan, second->totals.makespan);
    EXPECT_EQ(first->totals.busy, second->totals.busy);
    EXPECT_EQ(first->totals.traffic, second->totals.traffic);
  }
}

/// A fusion of two steps between arrays in VMEM.
Module in_vmem(const std::string& inner, const std::string& outer) {
  return test::module_or_fail(
      "HloModule m, is_scheduled=true\nf {\n"
      "  a = f32[1024,1024]{1,0:T(8,128)S(1)} parameter(0)\n"
      "  b = f32[1024,1024]{1,0:T(8,128)} " +
      inner +
      "\n"
      "  ROOT c = f32[1024,1024]{1,0:T(8,128)S(1)} " +
      outer +
      "\n}\n"
      "ENTRY e {\n  p = f32[1024,1024]{1,0:T(8,128)S(1)} parameter(0)\n"
      "  ROOT r = f32[1024,1024]{1,0:T(8,128)S(1)} fusion(p), kind=kLoop, calls=f\n}\n");
}

TEST(Laws, MoreOfAnythingIsNeverSlowerAndSometimesFaster) {
  std::vector<Module> modules = many_modules(16);
  modules.push_back(in_vmem("negate(a)", "add(a, b)"));            // load and store ports
  modules.push_back(in_vmem("exponential(a)", "exponential(b)"));  // transcendental unit
  // One DMA in flight and two links, so that more of them matter; many ALUs, so that they don't hide the
  // rest.
  const std::vector<DeviceOverride> little = {
      {"dma.outstanding", "1"}, {"ici.links", "2"}, {"vpu.alus", "8"}};
  const Device base = test::device_or_fail("v5e", little);
  const std::vector<std::vector<DeviceOverride>> improvements = {
      {{"memory.hbm.bandwidth", "1638 GB/s"}, {"dma.bandwidth", "1474 GB/s"}},
      {{"memory.hbm.bandwidth", "830 GB/s"}, {"dma.bandwidth", "747 GB/s"}},
      {{"mxu.count", "8"}},
      {{"vpu.alus", "16"}},
      {{"eup.count", "2"}},
      {{"xlu.count", "4"}},
      {{"memory.vmem.read", "40960 B/cycle"}, {"memory.vmem.write", "40960 B/cycle"}},
      {{"ici.bandwidth", "90 GB/s"}},
      {{"ici.links", "4"}},
      {{"clock", "2 GHz"}},
      {{"dma.outstanding", "8"}},
      {{"dma.read_latency", "500 ns"},
       {"dma.write_latency", "200 ns"},
       {"overhead.smallest_fusion", "700 ns"}},
      {{"host.pcie.bandwidth", "26 GB/s"}},
      {{"mxu.vector_exposed", "0.2"}, {"mxu.vector_stalls", "0"}},
  };
  std::vector<Picoseconds> before(modules.size(), kForever);
  std::vector<size_t> usable;
  for (size_t i = 0; i < modules.size(); ++i)
    if (const Result<Simulation> result = simulate(lay_out(modules[i], base).module, op_table(), base)) {
      before[i] = result->totals.makespan;
      usable.push_back(i);
    }
  for (const std::vector<DeviceOverride>& improvement : improvements) {
    const std::string& what = improvement.front().path;
    std::vector<DeviceOverride> overrides = little;
    overrides.insert(overrides.end(), improvement.begin(), improvement.end());
    const Device better = test::device_or_fail("v5e", overrides);
    size_t faster = 0;
    for (const size_t i : usable) {
      const Simulation result = test::simulate_or_fail(modules[i], better);
      const Picoseconds rounding(
          static_cast<int64_t>(result.instructions.size() + 2 * result.transfers.size()));
      EXPECT_LE(result.totals.makespan, later(before[i], rounding)) << what << ": " << modules[i].name;
      faster += later(result.totals.makespan, rounding) < before[i];
    }
    EXPECT_GT(faster, 0u) << what;
  }
}

TEST(Laws, TwiceEveryRateIsHalfTheTime) {
  std::vector<Module> modules = many_modules(16);
  const Device base = test::device_or_fail("v5e");
  const std::vector<DeviceOverride> twice = {
      {"clock", "3 GHz"},
      {"memory.hbm.bandwidth", "1638 GB/s"},
      {"dma.bandwidth", "1474 GB/s"},
      {"dma.read_latency", "566500 ps"},
      {"dma.write_latency", "219500 ps"},
      {"ici.bandwidth", "90 GB/s"},
      {"ici.core_bandwidth", "90 GB/s"},
      {"ici.hop_latency", "500 ns"},
      {"ici.launch", "2500 ns"},
      {"ici.fused_done", "750 ns"},
      {"host.pcie.bandwidth", "26 GB/s"},
      {"host.pcie.latency", "1 us"},
      {"host.dcn.bandwidth", "50 GB/s"},
      {"host.dcn.latency", "5 us"},
      {"overhead.instruction", "25 ns"},
      {"overhead.smallest_fusion", "811 ns"},
      {"overhead.smallest_write", "219500 ps"},
      {"dma.short_run", "6 ns"},
      {"dma.short_run_row", "3500 ps"},
      {"overhead.loop_iteration", "150 ns"},
      {"overhead.grid_step", "175 ns"},
  };
  const Device faster = test::device_or_fail("v5e", twice);
  size_t checked = 0;
  for (Module& module : modules) {
    const Result<Simulation> before = simulate(lay_out(module, base).module, op_table(), base);
    if (!before || before->totals.makespan > kForever / 4) continue;
    // Steps of kernels have a time of their own, which is in no device file.
    if (before->totals.by_category[static_cast<size_t>(CostCategory::kCustomCall)].count() > 0) continue;
    const Simulation after = test::simulate_or_fail(module, faster);
    const double rounding = 4.0 * static_cast<double>(after.instructions.size() + 2 * after.transfers.size());
    EXPECT_NEAR(2.0 * static_cast<double>(after.totals.makespan.count()),
                static_cast<double>(before->totals.makespan.count()),
                rounding + 1e-6 * static_cast<double>(before->totals.makespan.count()))
        << module.name;
    checked += before->totals.makespan.count() > 0;
  }
  EXPECT_GT(checked, 0u);
}

TEST(Laws, BytesAreConserved) {
  std::vector<Module> modules = many_modules(16);
  for (const char* name : {"v4", "v5e", "unit"}) {
    const Device device = test::device_or_fail(name);
    for (const Module& given : modules) {
      const Module module = lay_out(given, device).module;
      const Result<Simulation> result = simulate(module, op_table(), device);
      if (!result) continue;
      SpaceTraffic sum{};
      bool saturated = false;
      for (const InstructionRecord& record : result->instructions)
        for (size_t space = 0; space < sum.size(); ++space) {
          const Traffic& once = result->cost(record).traffic[space];
          const double most =
              static_cast<double>(once.total().count()) * static_cast<double>(record.executions);
          saturated |= most > 1e18;
          if (saturated) break;
          sum[space] +=
              {Bytes(once.read.count() * record.executions), Bytes(once.written.count() * record.executions)};
        }
      // What each instruction moved, as often as it ran, is what the run moved; transfers count with their
      // starts.
      if (saturated) continue;
      EXPECT_EQ(sum, result->totals.traffic) << module.name << " on " << name;
      for (const TransferRecord& transfer : result->transfers) {
        if (transfer.kind != TransferKind::kCopy || transfer.executions == 0) continue;
        for (const InstructionRecord& record : result->instructions) {
          if (record.id != transfer.start_instruction) continue;
          Bytes moved{};
          for (const Traffic& traffic : result->cost(record).traffic)
            moved = std::max({moved, traffic.read, traffic.written});
          if (module[record.id].opcode != Opcode::kCopyStart) continue;
          EXPECT_EQ(transfer.bytes, moved);
        }
      }
    }
  }
}

}  // namespace
}  // namespace hlosim
