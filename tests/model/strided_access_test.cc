#include "model/strided_access.h"

#include <gtest/gtest.h>

#include "model/core.h"
#include "model/instruction_cost.h"
#include "ops/work.h"
#include "support/simulations.h"

namespace hlosim {
namespace {

InstructionCost root_cost(const std::string& body, const Device& device) {
  Module module = test::module_or_fail("HloModule m\n" + body);
  AssumptionList assumptions;
  const auto costs = cost_instructions(module, op_table(), device, {}, assumptions);
  EXPECT_TRUE(costs);
  return (*costs)[module.entry_computation().root];
}

InstructionCost unit_cost(const std::string& body) { return root_cost(body, test::device_or_fail("unit")); }

Picoseconds nanoseconds(int64_t count) { return Picoseconds(count * 1000); }

std::string update(const std::string& array, const std::string& part) {
  return "ENTRY e {\n  a = " + array + " parameter(0)\n  u = " + part +
         " parameter(1)\n  i = s32[] parameter(2)\n  ROOT r = " + array +
         " dynamic-update-slice(a, u, i, i, i)\n}\n";
}

/// On the unit device a byte, a short run and a row of them take 1 ns each: short runs never decide there.
TEST(StridedAccess, RowsInsideOfTilesTakeTheirRuns) {
  const std::string row = update("f32[16,4,1024]{2,0,1:T(8,128)}", "f32[1,4,1024]{2,0,1:T(1,128)}");
  EXPECT_EQ(unit_cost(row).busy[index_of(memory_unit(0))], nanoseconds(2 * 4 * 1024 * 4));
  const Device slow =
      test::device_or_fail("unit", {{"dma.short_run", "10 us"}, {"dma.short_run_row", "1 us"}});
  EXPECT_EQ(root_cost(row, slow).busy[index_of(memory_unit(0))], nanoseconds(4 * 8 * 10'000 + 4 * 1000));
  // Eight rows are whole tiles.
  const std::string tiles = update("f32[16,4,1024]{2,0,1:T(8,128)}", "f32[8,4,1024]{2,0,1:T(8,128)}");
  EXPECT_EQ(root_cost(tiles, slow).busy[index_of(memory_unit(0))], nanoseconds(2 * 8 * 4 * 1024 * 4));
}

std::string fusion(const std::string& root) {
  return "f {\n  a = f32[16,1024]{1,0:T(8,128)} parameter(0)\n  i = s32[] parameter(1)\n"
         "  s = f32[1,1024]{1,0:T(8,128)} dynamic-slice(a, i, i), dynamic_slice_sizes={1,1024}\n"
         "  n = f32[1,1024]{1,0:T(8,128)} negate(s)\n  ROOT r = " +
         root +
         "\n}\nENTRY e {\n  a = f32[16,1024]{1,0:T(8,128)} parameter(0)\n  i = s32[] parameter(1)\n  ROOT r "
         "= " +
         root.substr(0, root.find(' ')) + " fusion(a, i), kind=kLoop, calls=f\n}\n";
}

TEST(StridedAccess, WindowsOfFusionsTakeTheirRunsToo) {
  const Device slow =
      test::device_or_fail("unit", {{"dma.short_run", "10 us"}, {"dma.short_run_row", "1 us"}});
  const auto hbm = [&](const std::string& root) {
    return root_cost(fusion(root), slow).busy[index_of(memory_unit(0))];
  };
  // What is read comes in by whole tiles, which is faster here: 8 of 4096 bytes. What is written can't go out
  // so.
  EXPECT_EQ(hbm("f32[1,1024]{1,0:T(8,128)} copy(n)"), nanoseconds(2 * 8 * 4096));
  EXPECT_EQ(hbm("f32[16,1024]{1,0:T(8,128)} dynamic-update-slice(a, n, i, i)"),
            nanoseconds(8 * 4096 + 8 * 10'000 + 1000));
}

TEST(StridedAccess, MoreRowsAreNeverFaster) {
  const Device v5p = test::device_or_fail("v5p");
  Picoseconds before{};
  for (const int rows : {1, 2, 4}) {
    const InstructionCost cost =
        root_cost(update("f32[16,64,7168]{2,0,1:T(8,128)}",
                         "f32[" + std::to_string(rows) + ",64,7168]{2,0,1:T(8,128)}"),
                  v5p);
    EXPECT_GE(cost.time(), before) << rows;
    before = cost.time();
  }
}

/// A tile takes a cycle on the unit device, its bytes 4096: the clock of this one's ports is so fast that
/// tiles decide.
TEST(StridedAccess, TilesChangePlacesInVmemOneByOne) {
  const Device ports = test::device_or_fail(
      "unit", {{"memory.vmem.read", "1000000 B/cycle"}, {"memory.vmem.write", "1000000 B/cycle"}});
  const auto vmem = [&](const std::string& from, const std::string& to) {
    return root_cost("ENTRY e {\n  a = " + from + " parameter(0)\n  ROOT r = " + to + " copy(a)\n}\n", ports)
        .busy[index_of(memory_unit(1))];
  };
  EXPECT_EQ(vmem("f32[64,256]{1,0:T(8,128)S(1)}", "f32[64,256]{1,0:T(8,128)S(1)}"), nanoseconds(16));
  EXPECT_EQ(vmem("f32[64,256]{1,0:T(8,128)S(1)}", "f32[64,256]{1,0:T(2,128)S(1)}"), nanoseconds(64));
  EXPECT_EQ(vmem("f32[64,256]{1,0:T(1,128)S(1)}", "f32[64,256]{1,0:T(8,128)S(1)}"), nanoseconds(128));
  // DMA moves whole tiles between HBM and VMEM, but regroups none.
  EXPECT_LT(vmem("f32[64,256]{1,0:T(8,128)}", "f32[64,256]{1,0:T(8,128)S(1)}"), nanoseconds(16));
  EXPECT_EQ(vmem("f32[64,256]{1,0:T(8,128)}", "f32[64,256]{1,0:T(1,128)S(1)}"), nanoseconds(128));
}

std::string gather(const std::string& table) {
  return "ENTRY e {\n  t = f32[64,256]{1,0:T(8,128)" + table +
         "} parameter(0)\n  i = s32[32,1]{1,0:T(8,128)} parameter(1)\n"
         "  ROOT r = f32[32,256]{1,0:T(8,128)} gather(t, i), offset_dims={1}, collapsed_slice_dims={0}, "
         "start_index_map={0}, index_vector_dim=1, slice_sizes={1,256}\n}\n";
}

TEST(StridedAccess, RowsOfATableInVmemPayNoLatencyOfHbm) {
  const Device slow = test::device_or_fail("unit", {{"dma.read_latency", "100 us"}});
  EXPECT_GT(root_cost(gather(""), slow).fixed, nanoseconds(31 * 100'000));
  EXPECT_LT(root_cost(gather("S(1)"), slow).fixed, nanoseconds(2 * 100'000));
  const Device ports = test::device_or_fail(
      "unit", {{"memory.vmem.read", "1000000 B/cycle"}, {"memory.vmem.write", "1000000 B/cycle"}});
  EXPECT_EQ(root_cost(gather("S(1)"), ports).busy[index_of(memory_unit(1))], nanoseconds(32 * 2));
}

TEST(SmallestTimes, WritesAlonePayOneLatency) {
  const Device device = test::device_or_fail("v5p");
  const auto time = [&](const std::string& shape) {
    return root_cost("ENTRY e {\n  ROOT r = " + shape + " iota(), iota_dimension=0\n}\n", device).time();
  };
  const Picoseconds least = device.config.overhead.smallest_write;
  EXPECT_GE(time("s32[1024]{0:T(1024)}"), least);
  EXPECT_LT(time("s32[1024]{0:T(1024)}"), least + nanoseconds(10));
  // Latencies grow to those of a loaded memory, and never shrink.
  Picoseconds before{};
  for (const int rows : {8, 64, 512, 1024, 2048, 4096, 16384}) {
    const Picoseconds now = time("s32[" + std::to_string(rows) + ",128]{1,0:T(8,128)}");
    EXPECT_GT(now, before) << rows;
    before = now;
  }
}

}  // namespace
}  // namespace hlosim
