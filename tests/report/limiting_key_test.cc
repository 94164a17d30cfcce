// The key that a report names as the limit is the one whose doubling makes the program faster.
#include "report/limiting_key.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "input/load_modules.h"
#include "support/estimated.h"
#include "support/module_files.h"

namespace hlosim {
namespace {

constexpr std::string_view kBothWays = R"(HloModule both_ways, is_scheduled=true
ENTRY e {
  a = f32[4096,2048]{1,0:T(8,128)} parameter(0)
  ROOT b = f32[4096,2048]{1,0:T(8,128)} negate(a)
})";

constexpr std::string_view kReads = R"(HloModule reads, is_scheduled=true
add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = f32[] add(x, y)
}
ENTRY e {
  a = f32[4096,2048]{1,0:T(8,128)} parameter(0)
  z = f32[] constant(0)
  ROOT b = f32[2048]{0:T(1024)} reduce(a, z), dimensions={0}, to_apply=add
})";

constexpr std::string_view kWrites = R"(HloModule writes, is_scheduled=true
ENTRY e {
  a = f32[] parameter(0)
  ROOT b = f32[4096,2048]{1,0:T(8,128)} broadcast(a), dimensions={}
})";

/// "1474 GB/s" for "737 GB/s"
std::string doubled(const Device& device, const std::string& key) {
  const DeviceValue* value = device.value(key);
  EXPECT_TRUE(value) << key;
  if (!value) return {};
  size_t digits = 0;
  const double number = std::stod(value->text, &digits);
  return fmt::format("{}{}", 2 * number, value->text.substr(digits));
}

Picoseconds time_with(const Module& module, const std::string& device, const DeviceOverride& change) {
  const Device changed = test::device_or_fail(device, {change});
  const Result<Estimate> run = estimate(module, op_table(), changed, {{}, Lowering::kNever});
  EXPECT_TRUE(run) << render(run.error());
  return run ? run->simulation->totals.makespan : kForever;
}

TEST(LimitingKey, TwiceItsRateIsFasterOnEveryDevice) {
  for (const std::string& device : builtin_devices())
    for (const std::string_view text : {kBothWays, kReads, kWrites}) {
      const test::Estimated e = test::estimated(text, device);
      SCOPED_TRACE(
          fmt::format("{} on {}, limited by {}", e.report.module_name, device, e.report.limiting_key));
      ASSERT_EQ(e.report.unit_name(e.report.totals().bound_by), "HBM");
      ASSERT_FALSE(e.report.limiting_key.empty());
      EXPECT_THAT(e.report.limiting_rate, testing::StartsWith(e.device.value(e.report.limiting_key)->text));
      const Picoseconds before = e.report.totals().makespan;
      for (const std::string& key : {e.report.limiting_key, std::string("memory.hbm.bandwidth")})
        EXPECT_LT(time_with(*e.module, device, {key, doubled(e.device, key)}), before) << key;
    }
}

TEST(LimitingKey, TwiceItsRateMakesEveryModuleThatNamesItFaster) {
  const std::vector<std::string> devices = builtin_devices();
  size_t count = 0, named = 0;
  for (const std::filesystem::path& file : test::right_modules({.file_tests = 3, .others = 32})) {
    const Result<SourcePtr> source = read_source(file.string());
    if (!source || (*source)->text().size() > 100'000) continue;
    // The transfers of a Mosaic kernel body may be hidden by latencies that no rate shortens.
    if ((*source)->text().find("tpu_custom_call") != std::string_view::npos) continue;
    DiagnosticList problems;
    for (const Module& module : load_modules(*source, op_table(), problems)) {
      if (problems.has_errors()) break;
      const std::string& name = devices[count++ % devices.size()];
      const Device device = test::device_or_fail(name);
      const Result<Estimate> run = estimate(module, op_table(), device, {{}, Lowering::kNever});
      if (!run || run->simulation->totals.makespan > kForever / 4) continue;
      const Report report = make_report(module, op_table(), device, *run);
      if (report.limiting_key.empty()) continue;
      ++named;
      EXPECT_LT(time_with(module, name, {report.limiting_key, doubled(device, report.limiting_key)}),
                report.totals().makespan)
          << file << " on " << name << ": " << report.limiting_key;
    }
  }
  EXPECT_GT(named, 15u);
}

TEST(LimitingKey, IsTheSlowestOfThoseThatTheTrafficGoesBy) {
  const auto key = [](const std::vector<DeviceOverride>& overrides, const Traffic& traffic) {
    const Device device = test::device_or_fail("unit", overrides);
    const MemorySystem memory(device.config);
    PortLimits limits(device.config, memory.hbm());
    limits.add(traffic, memory.busy(memory.hbm(), traffic), 3);
    return limits.key();
  };
  const Traffic in{.read = Bytes(1 << 20)}, out{.written = Bytes(1 << 20)};
  const Traffic both{.read = Bytes(1 << 20), .written = Bytes(1 << 20)};
  for (const Traffic& traffic : {in, out, both}) {
    EXPECT_EQ(key({}, traffic), "memory.hbm.bandwidth");
    EXPECT_EQ(key({{"dma.bandwidth", "0.5 GB/s"}}, traffic), "dma.bandwidth");
    EXPECT_EQ(key({{"dma.bandwidth", "2 GB/s"}}, traffic), "memory.hbm.bandwidth");
  }
  const std::vector<DeviceOverride> slow_reads = {{"memory.hbm.read", "0.5 GB/s"}};
  EXPECT_EQ(key(slow_reads, in), "memory.hbm.read");
  EXPECT_EQ(key(slow_reads, out), "memory.hbm.bandwidth");
  EXPECT_EQ(key({{"memory.hbm.read", "9 GB/s"}}, in), "memory.hbm.bandwidth");
}

TEST(LimitingKey, IsNoneWhereNoRateDecides) {
  const Device device = test::device_or_fail("v2");  // as many bytes are read from VMEM a cycle as written
  const MemorySystem memory(device.config);
  PortLimits vmem(device.config, memory.space_of(1));
  EXPECT_EQ(vmem.key(), "");
  vmem.add({.read = Bytes(4096), .written = Bytes(4096)}, Picoseconds(1), 1);
  EXPECT_EQ(vmem.key(), "");
  vmem.add({.read = Bytes(1 << 20)}, Picoseconds(1), 1);
  EXPECT_EQ(vmem.key(), "memory.vmem.read");
  // Short runs take the port longer than their bytes do.
  PortLimits hbm(device.config, memory.hbm());
  hbm.add({.read = Bytes(4096)}, Picoseconds(1'000'000'000), 1);
  EXPECT_EQ(hbm.key(), "");
}

}  // namespace
}  // namespace hlosim
