#include "model/memory_system.h"

#include <gtest/gtest.h>

#include "support/simulations.h"

namespace hlosim {
namespace {

Picoseconds hbm_time(const Device& device, int64_t read, int64_t written) {
  const MemorySystem memory(device.config);
  return memory.busy(memory.hbm(), {Bytes(read), Bytes(written)});
}

/// 8 GB/s of HBM; copies go at 2 GB/s, reads alone at 4, writes alone at 5.
Device turning() {
  return test::device_or_fail("unit", {{"memory.hbm.bandwidth", "8 GB/s"},
                                       {"memory.hbm.read", "4 GB/s"},
                                       {"memory.hbm.write", "5 GB/s"},
                                       {"dma.bandwidth", "2 GB/s"}});
}

TEST(MemorySystem, WhatGoesOneWayAloneHasItsOwnRate) {
  const Device device = turning();
  EXPECT_EQ(hbm_time(device, 4000, 0), Picoseconds(1'000'000));
  EXPECT_EQ(hbm_time(device, 0, 4000), Picoseconds(800'000));
  EXPECT_EQ(hbm_time(device, 1000, 1000), Picoseconds(1'000'000));
  EXPECT_EQ(hbm_time(device, 3000, 1000), Picoseconds(1'000'000 + 500'000));
}

TEST(MemorySystem, OneDirectionIsNoFasterThanTheMemory) {
  const Device device = test::device_or_fail(
      "unit",
      {{"memory.hbm.bandwidth", "3 GB/s"}, {"memory.hbm.read", "9 GB/s"}, {"dma.bandwidth", "1 GB/s"}});
  EXPECT_EQ(hbm_time(device, 3000, 0), Picoseconds(1'000'000));
}

TEST(MemorySystem, WithoutRatesOfTheirOwnAllBytesAreAlike) {
  const Device device = test::device_or_fail("unit");
  EXPECT_EQ(hbm_time(device, 700, 300), hbm_time(device, 0, 1000));
  EXPECT_EQ(hbm_time(device, 700, 300), hbm_time(device, 500, 500));
}

TEST(MemorySystem, MoreBytesAreNeverFaster) {
  const Device device = turning();
  for (int64_t read = 0; read < 4000; read += 250)
    for (int64_t written = 0; written < 4000; written += 250) {
      EXPECT_LE(hbm_time(device, read, written), hbm_time(device, read + 250, written));
      EXPECT_LE(hbm_time(device, read, written), hbm_time(device, read, written + 250));
    }
}

}  // namespace
}  // namespace hlosim
