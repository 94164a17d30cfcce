// Sharded modules are partitioned before they are estimated, once and by default.
#include "estimate/unpartitioned.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hlo/printer.h"
#include "partition/partition_mark.h"
#include "report/report.h"
#include "support/estimated.h"
#include "support/own_modules.h"

namespace hlosim {
namespace {

using testing::HasSubstr;

int64_t devices_of(const std::string& header, const std::string& body) {
  return unpartitioned_devices(
      test::module_or_fail("HloModule m" + header + "\nENTRY e {\n" + body + "\n}\n"), op_table());
}

constexpr const char* kRows = "x = f32[8,128] parameter(0), sharding={devices=[4,1]<=[4]}\n";

TEST(Unpartitioned, CountsTheDevicesOfTheHeaderElseOfTheShardings) {
  const std::string rows = kRows + std::string("ROOT y = f32[8,128] tanh(x)");
  EXPECT_EQ(devices_of("", rows), 4);
  EXPECT_EQ(devices_of(", num_partitions=4", rows), 4);
  EXPECT_EQ(devices_of("",
                       "ROOT x = f32[8,128] parameter(0), sharding={devices=[2,1,4]<=[8] "
                       "last_tile_dim_replicate}"),
            8);
  EXPECT_EQ(devices_of("",
                       "x = (f32[8], f32[4]) parameter(0), sharding={{replicated}, {devices=[2]1,0}}\n"
                       "ROOT y = f32[8] get-tuple-element(x), index=0"),
            2);
}

TEST(Unpartitioned, NothingIsCut) {
  for (const char* sharding :
       {"{replicated}", "{maximal device=1}", "{manual}", "{devices=[1,1,4]<=[4] last_tile_dim_replicate}"}) {
    const std::string x = fmt::format("ROOT x = f32[8,128] parameter(0), sharding={}", sharding);
    EXPECT_EQ(devices_of(", num_partitions=4", x), 0) << sharding;
  }
  EXPECT_EQ(devices_of(", num_partitions=4", "ROOT x = f32[8,128] parameter(0)"), 0);
}

TEST(Unpartitioned, WhatACompilerOrAPartitionerMadeStays) {
  const std::string rows = kRows + std::string("ROOT y = f32[8,128] tanh(x)");
  EXPECT_EQ(devices_of(", num_partitions=4, is_scheduled=true", rows), 0);
  EXPECT_EQ(devices_of(", num_partitions=4, frontend_attributes={hlosim.partitioned=\"true\"}", rows), 0);
  EXPECT_EQ(devices_of(", num_partitions=4",
                       "x = f32[8,128]{1,0:T(8,128)} parameter(0), sharding={devices=[4,1]<=[4]}\n"
                       "ROOT y = f32[8,128]{1,0:T(8,128)} tanh(x)"),
            0);
  const std::string gathered =
      kRows + std::string(
                  "ROOT y = f32[32,128] all-gather(x), channel_id=1, replica_groups={{0,1,2,3}}, "
                  "dimensions={0}, use_global_device_ids=true");
  EXPECT_EQ(devices_of(", num_partitions=4", gathered), 0);
  EXPECT_EQ(devices_of("", kRows + std::string("ROOT y = u32[] partition-id()")), 0);
}

TEST(Unpartitioned, CollectivesOfManualRegionsAreNoPartitioners) {
  const Module module = test::module_or_fail(test::own_module("sharded_region"));
  EXPECT_TRUE(exchanges_data(module, op_table()));
  EXPECT_EQ(unpartitioned_devices(module, op_table()), 2);
}

struct Told {
  Picoseconds time{};
  std::string text;
  std::vector<std::string> assumptions;
  bool has_range = false;
};

Result<Told> told(const Module& module, const EstimateOptions& options) {
  const Device device = test::device_or_fail("v5e");
  const Result<Estimate> run = estimate(module, op_table(), device, options);
  if (!run) return tl::unexpected(run.error());
  const Report report = make_report(module, op_table(), device, *run);
  Told all{
      run->simulation->totals.makespan, to_text(*run->module, op_table()), {}, report.time_range.has_value()};
  for (const ReportAssumption& one : report.assumptions) all.assumptions.push_back(one.text);
  return all;
}

TEST(Unpartitioned, TheDefaultIsAsManyPartitionsAsTheShardingsName) {
  for (const auto& [name, devices] :
       {std::pair("sharded_step", 4), {"sharded_rows", 8}, {"sharded_region", 2}}) {
    SCOPED_TRACE(name);
    const Module module = test::module_or_fail(test::own_module(name));
    EstimateOptions asked;
    asked.mesh.emplace().partitions = devices;
    const Result<Told> by_default = told(module, {}), by_request = told(module, asked);
    ASSERT_TRUE(by_default && by_request);
    EXPECT_EQ(by_default->time, by_request->time);
    EXPECT_EQ(by_default->text, by_request->text);
    EXPECT_EQ(by_default->assumptions, by_request->assumptions);
    EXPECT_TRUE(by_default->has_range);
    EXPECT_EQ(
        by_default->assumptions[0],
        fmt::format(
            "hlosim partitioned the module over {} devices, as its shardings specify, by rules like XLA's",
            devices));
    EstimateOptions never;
    never.partitioning = Partitioning::kNever;
    const Result<Told> whole = told(module, never);
    ASSERT_TRUE(whole);
    EXPECT_NE(whole->text, by_default->text);
    EXPECT_FALSE(whole->has_range);
    EXPECT_THAT(whole->assumptions[0],
                HasSubstr(fmt::format("sharded over {} devices and not partitioned", devices)));
  }
}

// Otherwise what a tuner or `partition` wrote would be cut once more.
TEST(Unpartitioned, WhatWasPartitionedIsNotPartitionedAgain) {
  size_t count = 0;
  const Device device = test::device_or_fail("v5e");
  test::for_each_module(20, [&](const std::string& file, Module& module) {
    const std::optional<MeshRequest> request = default_request(module, op_table());
    if (!request) return;
    const Result<PartitionedProgram> spread = partition_over_mesh(module, op_table(), device, {}, *request);
    if (!spread) return;
    ++count;
    EXPECT_FALSE(default_request(spread->module, op_table())) << file;
    EXPECT_FALSE(default_request(test::read_again(spread->module), op_table())) << file;
    EXPECT_TRUE(is_partitioned(spread->module, op_table())) << file;
  });
  EXPECT_GT(count, 5u);
}

TEST(Unpartitioned, TheSliceHasToHaveTheDevices) {
  const Module module = test::module_or_fail(test::own_module("sharded_step"));
  EstimateOptions options;
  options.simulate.slice.devices = 2;
  const Result<Told> few = told(module, options);
  ASSERT_FALSE(few);
  EXPECT_THAT(few.error().message, HasSubstr("2 devices were given, the module runs on 4"));
  EXPECT_THAT(few.error().hint, HasSubstr("--no-partition"));
  options.simulate.slice.devices = 16;
  const Result<Told> many = told(module, options);
  ASSERT_TRUE(many);
  EXPECT_THAT(many->assumptions[0], HasSubstr("over 4 devices, as its shardings specify, by rules like "
                                              "XLA's; the slice has 16, of which 12 are idle"));
  const Module rows = test::module_or_fail(test::own_module("sharded_rows"));  // its header has no partitions
  options.simulate.slice.devices = 2;
  EXPECT_FALSE(told(rows, options));
  options.partitioning = Partitioning::kNever;
  EXPECT_TRUE(told(rows, options));
}

}  // namespace
}  // namespace hlosim
