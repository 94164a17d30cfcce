// More memory never makes a program slower, and what lowering places fits.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "estimate/estimate.h"
#include "lower/lower.h"
#include "lower/on_chip.h"
#include "lower/standard_memories.h"
#include "model/device_overrides.h"
#include "support/folders.h"
#include "support/own_modules.h"
#include "support/simulations.h"
#include "workloads/step.h"

namespace hlosim {
namespace {

/// Steps of small models as programs of several devices, and of one.
struct Step {
  std::string name;
  Module module;
  int64_t devices = 1;
};

Step step_of(const std::string& yaml, const std::string& mesh, StepOptions options) {
  const auto source = std::make_shared<const SourceFile>("model.yaml", yaml);
  const Result<ModelConfig> model = read_model_config(source);
  EXPECT_TRUE(model) << render(model.error());
  int64_t devices = 1;
  if (!mesh.empty()) {
    options.mesh = *parse_mesh(mesh);
    devices = options.mesh.devices();
  }
  Result<Module> module = make_step(*model, options);
  EXPECT_TRUE(module) << render(module.error());
  return {fmt::format("{} on {}, batch {}", model->name, mesh, options.batch), std::move(*module), devices};
}

std::vector<Step> small_steps() {
  constexpr const char* kModel =
      "name: small\nlayers: {}\nd_model: {}\nd_ff: {}\nq_heads: 8\nkv_heads: 4\nvocab: {}\n";
  std::vector<Step> steps;
  for (const auto& [layers, width, mesh, batch, scan] : {std::tuple{2, 256, "", 32, true},
                                                         {3, 1024, "fsdp=8", 16, true},
                                                         {3, 1024, "fsdp=8", 32, false},
                                                         {2, 2048, "fsdp=4,tensor=2", 8, true}}) {
    StepOptions options;
    options.batch = batch, options.sequence = 1024;
    options.scan_layers = scan;
    steps.push_back(
        step_of(fmt::format(fmt::runtime(kModel), layers, width, 3 * width, 8 * width), mesh, options));
  }
  return steps;
}

std::optional<Estimate> run(const Step& step, const Device& device) {
  EstimateOptions options;
  options.simulate.keep_timeline = false;
  if (step.devices > 1) options.mesh.emplace().partitions = step.devices;
  Result<Estimate> estimate = hlosim::estimate(step.module, op_table(), device, options);
  if (!estimate) return std::nullopt;
  return std::move(*estimate);
}

/// The device with so many times as much of one of its spaces.
std::optional<Device> with_capacity(const Device& device, const MemorySpace& space, double factor) {
  const auto bytes = static_cast<int64_t>(static_cast<double>(space.capacity->count()) * factor);
  const DeviceOverride override[] = {
      {fmt::format("memory.{}.capacity", space.name), fmt::format("{} B", bytes)}};
  DiagnosticList problems;
  return with_overrides(device, override, problems);
}

/// How many times it was looked at a step, and a difference was seen.
struct Count {
  size_t all = 0, different = 0;
};

void more_is_never_slower(const Step& step, const Device& device, Count& count) {
  for (const MemorySpace& space : device.config.memory) {
    if (!space.capacity || space.scope == MemoryScope::kHost) continue;
    Picoseconds before = kForever;
    double less = 0;
    for (const double factor : {0.3, 0.5, 0.7, 1.0, 1.4, 2.0, 3.0}) {
      const std::optional<Device> changed = with_capacity(device, space, factor);
      if (!changed) continue;
      const std::optional<Estimate> estimate = run(step, *changed);
      if (!estimate) break;
      const Picoseconds time = estimate->simulation->totals.makespan;
      EXPECT_LE(time, before) << step.name << " on " << device.config.name << ": " << factor
                              << " times as much " << space.name << " as there is, after " << less;
      count.different += before != kForever && time != before;
      ++count.all;
      before = std::min(before, time), less = factor;
    }
  }
}

constexpr const char* kDevices[] = {"v4", "v5e", "v6e", "v7x"};

TEST(MoreMemory, NeverMakesAStepOfAModelSlower) {
  Count count;
  size_t number = 0;
  for (const Step& step : small_steps())
    more_is_never_slower(step, test::device_or_fail(number++ % 2 ? "v5p" : "v6e"), count);
  EXPECT_GT(count.different, 8u);
}

TEST(MoreMemory, NeverMakesAModuleSlower) {
  Count count;
  std::vector<Device> devices;
  for (const char* name : kDevices) devices.push_back(test::device_or_fail(name));
  size_t number = 0;
  test::for_each_module(60, [&](const std::string& file, Module& module) {
    if (is_plain(module))
      more_is_never_slower({file, module.copy()}, devices[number++ % devices.size()], count);
  });
  EXPECT_GT(count.all, 500u);
  EXPECT_GT(count.different, 5u);
}

// ── standard sizes ──

std::vector<int64_t> sizes_of(const Device& device, int64_t number) {
  std::vector<int64_t> sizes;
  for (const Device& one : standard_memories(device))
    sizes.push_back(one.config.memory_space(number)->capacity->count());
  return sizes;
}

TEST(StandardMemories, ArePowersOfTwoWithoutWhatTheCompilerKeeps) {
  constexpr int64_t kMiB = 1 << 20, kKept = 64 << 10;
  const Device v6e = test::device_or_fail("v6e"), v7x = test::device_or_fail("v7x");
  const int64_t scratch = v6e.config.vmem.scoped_limit.count();
  ASSERT_EQ(scratch, 32 * kMiB);
  EXPECT_EQ(sizes_of(v6e, 1), (std::vector<int64_t>{128 * kMiB - kKept, 64 * kMiB - kKept, scratch}));
  EXPECT_EQ(v6e.config.vmem_space().capacity->count(), 128 * kMiB - kKept);
  EXPECT_EQ(sizes_of(v7x, 1)[0], v7x.config.vmem_space().capacity->count());
  const std::optional<Device> between = with_capacity(v6e, v6e.config.vmem_space(), 0.75);
  ASSERT_TRUE(between);
  EXPECT_EQ(sizes_of(*between, 1), (std::vector<int64_t>{64 * kMiB - kKept, scratch}));
}

/// What the law rests on: a device with more has all that one with less has.
TEST(StandardMemories, OfMoreMemoryHoldThoseOfLess) {
  size_t all = 0;
  for (const char* name : kDevices) {
    const Device device = test::device_or_fail(name);
    for (const MemorySpace& space : device.config.memory) {
      if (space.numbers.empty() || !is_on_chip(device.config, space.numbers[0])) continue;
      std::vector<int64_t> before;
      for (const double factor : {1.0, 1.3, 2.0, 2.9, 7.0}) {
        const std::optional<Device> more = with_capacity(device, space, factor);
        ASSERT_TRUE(more);
        const std::vector<int64_t> now = sizes_of(*more, space.numbers[0]);
        for (const int64_t size : before)
          EXPECT_NE(std::ranges::find(now, size), now.end()) << name << " " << space.name << " " << factor;
        before = now, ++all;
      }
    }
  }
  EXPECT_GE(all, 20u);
}

// ── what lowering places fits ──

using Peaks = std::map<int64_t, const SpaceOccupancy*>;

void everything_fits(const std::string& name, const Module& module, const Device& device, size_t& placed) {
  const Module given = lay_out(module, device).module;
  const Occupancy before = memory_occupancy(given, device.config, make_schedule(given, op_table()).order);
  const Module lowered = lower(module, op_table(), device);
  const Occupancy after = memory_occupancy(lowered, device.config, make_schedule(lowered, op_table()).order);
  if (!before.unknown.empty() || !after.unknown.empty()) return;
  Peaks at_first;
  for (const SpaceOccupancy& space : before.spaces) at_first[space.number] = &space;
  for (const SpaceOccupancy& space : after.spaces) {
    if (!space.capacity) continue;
    const auto old = at_first.find(space.number);
    if (old != at_first.end() && old->second->peak > *space.capacity) continue;
    EXPECT_LE(space.peak, *space.capacity) << name << " on " << device.config.name;
    if (!is_on_chip(device.config, space.number)) continue;
    const int64_t room = room_in(device.config, space.number);
    if (old == at_first.end() || old->second->peak.count() <= room) {
      EXPECT_LE(space.peak.count(), room) << name << " on " << device.config.name;
    }
    ++placed;
  }
}

TEST(Placement, FitsInEverySpace) {
  size_t placed = 0;
  for (const char* name : kDevices) {
    const Device device = test::device_or_fail(name);
    test::for_each_module(30, [&](const std::string& file, Module& module) {
      if (is_plain(module)) everything_fits(file, module, device, placed);
    });
  }
  EXPECT_GT(placed, 100u);
}

TEST(Placement, OfAStepFitsInEverySpace) {
  size_t placed = 0;
  for (const Step& step : small_steps())
    for (const char* name : {"v5p", "v5e", "v6e", "v7x"})
      for (const double factor : {0.5, 1.0}) {
        const Device device = test::device_or_fail(name);
        const std::optional<Device> changed = with_capacity(device, device.config.vmem_space(), factor);
        if (!changed) continue;
        const std::optional<Estimate> estimate = run(step, *changed);
        if (!estimate) continue;
        for (const SpaceOccupancy& space : estimate->occupancy.spaces) {
          if (!is_on_chip(changed->config, space.number)) continue;
          EXPECT_LE(space.peak.count(), room_in(changed->config, space.number))
              << step.name << " on " << name;
          ++placed;
        }
      }
  EXPECT_GT(placed, 20u);
}

}  // namespace
}  // namespace hlosim
