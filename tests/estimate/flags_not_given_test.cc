// Times with flags that nobody gave are the times of runs that were given them.
#include "estimate/flags_not_given.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "flags/xla_flags.h"
#include "support/module_files.h"
#include "support/modules.h"

namespace hlosim {
namespace {

Module module_of(const std::string& name) { return test::module_or_fail(test::own_module(name)); }

Device device_of(const std::string& name, const std::vector<DeviceOverride>& overrides = {}) {
  DiagnosticList problems;
  std::optional<Device> device = load_device(name, overrides, {}, problems);
  EXPECT_TRUE(device);
  return std::move(*device);
}

std::vector<FlagNotGiven> flags_of(const Module& module, const Device& device) {
  const Result<Estimate> run = estimate(module, op_table(), device, {});
  EXPECT_TRUE(run);
  return flags_not_given(module, op_table(), device, {}, *run);
}

/// The device when `flag` is given with its other end.
Device given(const std::string& name, const FlagNotGiven& flag) {
  DiagnosticList problems;
  const auto flags = read_xla_flags(test::source_of(fmt::format("--{}={}", flag.name, flag.other)), problems);
  const Device plain = device_of(name);
  return device_of(name, xla_flag_overrides(flags, plain.config, problems));
}

TEST(FlagsNotGiven, TimesAreThoseOfRunsWithThem) {
  size_t tried = 0;
  for (const char* device : {"v5e", "v6e", "v7x"})
    for (const char* name : {"tpu_block", "partitions_step", "adam_step"}) {
      const Module module = module_of(name);
      for (const FlagNotGiven& flag : flags_of(module, device_of(device))) {
        const Result<Estimate> run = estimate(module, op_table(), given(device, flag), {});
        ASSERT_EQ(run.has_value(), flag.time.has_value()) << name << " " << flag.name;
        if (!run) continue;
        EXPECT_EQ(run->simulation->totals.makespan, *flag.time) << device << " " << name << " " << flag.name;
        ++tried;
      }
    }
  EXPECT_GE(tried, 18u);
}

TEST(FlagsNotGiven, WhatIsGivenIsNotTried) {
  const Module module = module_of("tpu_block");
  const auto has = [&](const Device& device, std::string_view key) {
    const auto flags = flags_of(module, device);
    return std::any_of(flags.begin(), flags.end(), [&](const FlagNotGiven& flag) { return flag.key == key; });
  };
  EXPECT_TRUE(has(device_of("v6e"), "vmem.scoped_limit"));
  EXPECT_FALSE(has(device_of("v6e", {{"vmem.scoped_limit", "96 MiB"}}), "vmem.scoped_limit"));
  EXPECT_FALSE(has(device_of("v6e"), "clock"));  // one clock only
  EXPECT_TRUE(has(device_of("v7x"), "clock"));
}

}  // namespace
}  // namespace hlosim
