#include "base/units.h"

#include <gtest/gtest.h>

namespace hlosim {
namespace {

TEST(Units, QuantitiesAddAndScale) {
  Bytes sum = Bytes(3) + 2 * Bytes(4);
  sum += Bytes(1);
  sum -= Bytes(2);
  EXPECT_EQ(sum.count(), 10);
  EXPECT_LT(Bytes(1), Bytes(2));
  EXPECT_EQ(Bytes(1) / Bytes(4), 0.25);
}

TEST(Units, DurationsRoundUp) {
  // 1000 bytes at 1 TB/s are 1 ns exactly; one byte more is another picosecond.
  EXPECT_EQ(duration(Bytes(1000), BytesPerSecond(1e12)).count(), 1000);
  EXPECT_EQ(duration(Bytes(1001), BytesPerSecond(1e12)).count(), 1001);
  EXPECT_EQ(duration(Bytes(1), BytesPerSecond(3e12)).count(), 1);
  EXPECT_EQ(duration(Cycles(3), Hertz(1e9)).count(), 3000);
  EXPECT_EQ(duration(Cycles(1), Hertz(0.94e9)).count(), 1064);  // 1063.83
  EXPECT_EQ(duration(Bytes(0), BytesPerSecond(0)).count(), 0);
  EXPECT_EQ(duration(Bytes(1), BytesPerSecond(0)), kForever);
  EXPECT_EQ(duration(Cycles(std::numeric_limits<int64_t>::max()), Hertz(1)), kForever);
}

TEST(Units, ExactDivisionsStayExact) {
  for (int64_t cycles = 1; cycles < 2000; ++cycles) {
    EXPECT_EQ(duration(Cycles(cycles), Hertz(1e9)).count(), cycles * 1000);
    EXPECT_EQ(duration(Cycles(cycles * 7), Hertz(0.7e9)).count(), cycles * 10000) << cycles;
    EXPECT_EQ(cycles_in(Picoseconds(cycles * 1000), Hertz(1e9)).count(), cycles);
  }
}

TEST(Units, CeilPicosecondsSaturates) {
  EXPECT_EQ(ceil_picoseconds(0.2).count(), 1);
  EXPECT_EQ(ceil_picoseconds(0).count(), 0);
  EXPECT_EQ(ceil_picoseconds(1e30), kForever);
  EXPECT_EQ(ceil_picoseconds(std::nan("")), kForever);
}

TEST(Units, BytesText) {
  EXPECT_EQ(to_text(Bytes(0)), "0 B");
  EXPECT_EQ(to_text(Bytes(1023)), "1023 B");
  EXPECT_EQ(to_text(Bytes(1024)), "1.00 KiB");
  EXPECT_EQ(to_text(Bytes(58720256)), "56.00 MiB");
  EXPECT_EQ(to_text(Bytes((1 << 20) - 1)), "1.00 MiB");  // never "1024.00 KiB"
  EXPECT_EQ(to_text(Bytes(-2048)), "-2.00 KiB");
  EXPECT_EQ(to_text(Bytes(std::numeric_limits<int64_t>::max())), "8192.00 PiB");
}

TEST(Units, TimeText) {
  EXPECT_EQ(to_text(Picoseconds(12)), "12 ps");
  EXPECT_EQ(to_text(Picoseconds(850000)), "850 ns");
  EXPECT_EQ(to_text(Picoseconds(12340000)), "12.34 us");
  EXPECT_EQ(to_text(Picoseconds(1234000000)), "1.234 ms");
  EXPECT_EQ(to_text(Picoseconds(int64_t{5} * 1000000000000)), "5 s");
  EXPECT_EQ(to_text(kForever), "unbounded");
}

TEST(Units, RateText) {
  EXPECT_EQ(to_text(Hertz(1.05e9)), "1.05 GHz");
  EXPECT_EQ(to_text(BytesPerSecond(819e9)), "819 GB/s");
  EXPECT_EQ(to_text(FlopsPerSecond(197e12)), "197 TFLOP/s");
  EXPECT_EQ(to_text(BytesPerSecond(12)), "12 B/s");
}

TEST(Units, Grouped) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(grouped(-1234567), "-1,234,567");
  EXPECT_EQ(grouped(-123), "-123");
  EXPECT_EQ(grouped(std::numeric_limits<int64_t>::min()), "-9,223,372,036,854,775,808");
}

}  // namespace
}  // namespace hlosim
