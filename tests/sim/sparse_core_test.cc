// Collectives that a module hands to the SparseCores, in closed forms on the unit device: links of a byte a
// nanosecond, one SparseCore of one lane, which adds four bytes a nanosecond.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "support/simulations.h"

namespace hlosim {
namespace {

constexpr int64_t kTileBytes = 4096;  // bytes of f32[8,128]

/// A reduce-scatter among four; `thread`: of the wrapped computation; `attributes`: of its start; `config`:
/// of itself.
std::string reduce_scatter(const std::string& thread, const std::string& attributes,
                           const std::string& config) {
  return R"(HloModule m, is_scheduled=true, replica_count=4
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
})" + thread +
         R"(
wrapped {
  p = f32[32,128]{1,0:T(8,128)} parameter(0)
  ROOT r = f32[8,128]{1,0:T(8,128)} reduce-scatter(p), replica_groups={}, dimensions={0}, to_apply=add)" +
         config + "\n}" + thread + R"(
ENTRY e {
  x = f32[32,128]{1,0:T(8,128)} parameter(0)
  y = f32[8,128]{1,0:T(8,128)S(1)} parameter(1)
  s = ((f32[32,128]{1,0:T(8,128)}), f32[8,128]{1,0:T(8,128)}, u32[]) async-start(x), calls=wrapped)" +
         attributes + R"(
  work = f32[8,128]{1,0:T(8,128)S(1)} negate(y)
  ROOT d = f32[8,128]{1,0:T(8,128)} async-done(s)
}
)";
}

const std::string kThread = ", execution_thread=\"sparsecore\"",
                  kStart = ", async_execution_thread=\"sparsecore\"";

Simulation on_unit(const std::string& text, const std::vector<DeviceOverride>& overrides = {}) {
  return test::simulate_or_fail(text, test::device_or_fail("unit", overrides));
}

bool assumes_no_sparse_cores(const Simulation& result) {
  const std::vector<Assumption>& all = result.assumptions.items();
  return std::any_of(all.begin(), all.end(), [](const Assumption& one) {
    return one.text.find("no SparseCores") != std::string::npos;
  });
}

Picoseconds busy(const Simulation& result) { return result.totals.busy[index_of(Unit::kSparseCore)]; }

TEST(SparseCore, DrivesACollectiveBesideTheTensorCore) {
  const Simulation mine = on_unit(reduce_scatter("", "", "")),
                   theirs = on_unit(reduce_scatter(kThread, kStart, ""));
  EXPECT_EQ(busy(mine), Picoseconds(0));
  ASSERT_EQ(mine.transfers.size(), 1u);
  ASSERT_EQ(theirs.transfers.size(), 1u);
  ASSERT_TRUE(theirs.transfers[0].collective);
  const CollectiveCost& cost = *theirs.transfers[0].collective;
  EXPECT_EQ(mine.transfers[0].collective->driver, Unit::kNone);
  EXPECT_EQ(cost.driver, Unit::kSparseCore);
  EXPECT_THAT(cost.algorithm, testing::HasSubstr("driven by 1 SparseCore"));
  // Additions, 3/4 of 16,384 bytes at 4 a nanosecond, go on while 3/4 of them pass the links.
  EXPECT_EQ(busy(theirs), cost.network);
  EXPECT_EQ(theirs.totals.makespan, mine.totals.makespan);
  EXPECT_EQ(theirs.totals.busy[index_of(Unit::kIci)], mine.totals.busy[index_of(Unit::kIci)]);
}

TEST(SparseCore, AddsUpAsFastAsItsLanes) {
  const std::string text = reduce_scatter(kThread, kStart, "");
  const Simulation slow = on_unit(text, {{"sparsecore.cadence", "16 cycles"}});
  EXPECT_EQ(busy(slow), Picoseconds(3 * kTileBytes / 4 * 16 * 1000));
  const Simulation wide = on_unit(text, {{"sparsecore.cadence", "16 cycles"}, {"sparsecore.lanes", "2"}}),
                   tiled = on_unit(text, {{"sparsecore.cadence", "16 cycles"}, {"sparsecore.subcores", "2"}}),
                   more = on_unit(text, {{"sparsecore.cadence", "16 cycles"}, {"sparsecore.count", "2"}});
  EXPECT_EQ(busy(wide), Picoseconds(3 * kTileBytes / 4 * 8 * 1000));
  EXPECT_EQ(busy(tiled), busy(wide));
  EXPECT_EQ(busy(more), busy(wide));
  EXPECT_LT(wide.totals.makespan, slow.totals.makespan);
}

TEST(SparseCore, HasALaunchOfItsOwn) {
  const std::string text = reduce_scatter(kThread, kStart, "");
  const Simulation soon = on_unit(text), late = on_unit(text, {{"sparsecore.launch", "9 ns"}}),
                   links = on_unit(text, {{"ici.launch", "9 ns"}});
  EXPECT_EQ(late.totals.makespan - soon.totals.makespan, Picoseconds(8000));
  EXPECT_EQ(links.totals.makespan, soon.totals.makespan);
}

TEST(SparseCore, TheModuleSaysSoInOneOfSeveralWays) {
  for (const std::string& text :
       {reduce_scatter(kThread, kStart, ""), reduce_scatter("", kStart, ""),
        reduce_scatter("", ", frontend_attributes={_scheduling_group=\"sparsecore\"}", ""),
        reduce_scatter("", ", backend_config={\"device_type\":\"DEVICE_TYPE_SPARSECORE\"}", ""),
        reduce_scatter("", "", ", backend_config={\"device_type\":\"DEVICE_TYPE_SPARSECORE\"}")})
    EXPECT_GT(busy(on_unit(text)), Picoseconds(0)) << text;
  EXPECT_EQ(
      busy(on_unit(reduce_scatter("", "", ", backend_config={\"device_type\":\"DEVICE_TYPE_INVALID\"}"))),
      Picoseconds(0));
}

TEST(SparseCore, OneAloneWhereTheModuleSaysSo) {
  const std::vector<DeviceOverride> two = {{"sparsecore.cadence", "16 cycles"}, {"sparsecore.count", "2"}};
  const Simulation all = on_unit(reduce_scatter(kThread, kStart, ""), two),
                   one = on_unit(
                       reduce_scatter(kThread, kStart, ", backend_config={\"use_single_sparse_core\":true}"),
                       two);
  EXPECT_EQ(busy(one), busy(all) * 2);
}

TEST(SparseCore, WithoutAnyTheTensorCoreDrives) {
  Module module = test::module_or_fail(reduce_scatter(kThread, kStart, ""));
  const Simulation result = test::simulate_or_fail(module, test::device_or_fail("v5e"));
  EXPECT_EQ(busy(result), Picoseconds(0));
  EXPECT_TRUE(assumes_no_sparse_cores(result));
  EXPECT_FALSE(assumes_no_sparse_cores(on_unit(reduce_scatter(kThread, kStart, ""))));
}

/// 64 rows of a table in HBM, on the thread of the SparseCores.
std::string gather(const std::string& type, int64_t width, const std::string& tiles) {
  const std::string table = type + "[4096," + std::to_string(width) + "]{1,0:" + tiles + "}",
                    rows = type + "[64," + std::to_string(width) + "]{1,0:" + tiles + "}";
  return "HloModule m, is_scheduled=true\nwrapped {\n  t = " + table +
         " parameter(0)\n  i = s32[64]{0:T(128)} parameter(1)\n  ROOT g = " + rows +
         " gather(t, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, "
         "slice_sizes={1," +
         std::to_string(width) + "}\n}" + kThread + "\nENTRY e {\n  t = " + table +
         " parameter(0)\n  i = s32[64]{0:T(128)} parameter(1)\n  s = ((" + table + ", s32[64]{0:T(128)}), " +
         rows + ", u32[]) async-start(t, i), calls=wrapped" + kStart + "\n  ROOT d = " + rows +
         " async-done(s)\n}\n";
}

// A row of 256 floats is two runs of 512 bytes; in and out, four bytes a nanosecond. HBM moves a byte.
TEST(SparseCore, GathersRowsVectorByVector) {
  const std::string text = gather("f32", 256, "T(8,128)");
  const Simulation result = on_unit(text);
  EXPECT_EQ(busy(result), Picoseconds(1000) * ((64 * 1024 + 64 * 1024) / 4));
  ASSERT_EQ(result.transfers.size(), 1u);
  EXPECT_EQ(result.transfers[0].kind, TransferKind::kComputation);
  EXPECT_EQ(busy(on_unit(text, {{"sparsecore.subcores", "4"}})), busy(result) / 4);
  EXPECT_EQ(busy(on_unit(text, {{"sparsecore.cadence", "3 cycles"}})), busy(result) * 3);
  const auto& assumed = result.assumptions.items();
  EXPECT_TRUE(std::any_of(assumed.begin(), assumed.end(), [](const Assumption& one) {
    return one.text.find("SparseCores gather rows") != std::string::npos;
  }));
}

// Rows of bf16 share their words with another row each, which comes along.
TEST(SparseCore, ARowOfHalfWordsComesWithItsNeighbour) {
  const Simulation result = on_unit(gather("bf16", 256, "T(8,128)(2,1)"));
  EXPECT_EQ(busy(result), Picoseconds(1000) * ((64 * 1024 + 64 * 512) / 4));
}

// Not SparseCores' work: a table that VMEM has room for comes there once, and its rows move on the chip.
TEST(SparseCore, RowsOfASmallTableMoveOnTheChip) {
  const std::string text = R"(HloModule m, is_scheduled=true
ENTRY e {
  t = bf16[128,2048]{1,0:T(8,128)(2,1)} parameter(0)
  i = s32[16384]{0:T(1024)} parameter(1)
  ROOT g = bf16[16384,2048]{1,0:T(8,128)(2,1)} gather(t, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,2048}
})";
  const auto read_from_hbm = [](const Simulation& result) {
    int64_t bytes = 0;
    for (const Traffic& traffic : result.totals.traffic) bytes += traffic.read.count();
    return bytes;
  };
  const Simulation here = test::simulate_or_fail(text, test::device_or_fail("v5p"));
  EXPECT_EQ(read_from_hbm(here), 128 * 2048 * 2 + 16384 * 4);
  const Simulation row_by_row = test::simulate_or_fail(
      text, test::device_or_fail("v5p", {{"vmem.scoped_limit", "512 KiB"}}));  // less some scratch
  EXPECT_EQ(read_from_hbm(row_by_row), 16384 * 2048 * 2 + 16384 * 4);
  EXPECT_LT(here.totals.makespan, row_by_row.totals.makespan);
}

}  // namespace
}  // namespace hlosim
