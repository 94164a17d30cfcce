#include "base/quantity_text.h"

#include <gmock/gmock.h>

#include <random>

namespace hlosim {
namespace {

using testing::HasSubstr;

struct Reading {
  const char* text;
  double base;          // in base units
  const char* written;  // what write() makes of it
};

template <class T>
void expect_readings(std::initializer_list<Reading> rows) {
  for (const Reading& row : rows) {
    const Result<T> value = TextForm<T>::read(row.text);
    ASSERT_TRUE(value) << row.text << ": " << value.error().message;
    EXPECT_EQ(TextForm<T>::number(*value), row.base) << row.text;
    EXPECT_EQ(TextForm<T>::write(*value), row.written) << row.text;
  }
}

TEST(QuantityText, Frequencies) {
  expect_readings<Hertz>({{"1.05 GHz", 1.05e9, "1.05 GHz"},
                          {"1.05GHz", 1.05e9, "1.05 GHz"},
                          {"  940  MHz ", 940e6, "940 MHz"},
                          {"+1e3 MHz", 1e9, "1 GHz"},
                          {"32768 Hz", 32768, "32768 Hz"},
                          {"700000 kHz", 700e6, "700 MHz"}});
}

TEST(QuantityText, Rates) {
  expect_readings<BytesPerSecond>({{"1228 GB/s", 1228e9, "1228 GB/s"},
                                   {"1.2288 TB/s", 1228.8e9, "1.2288 TB/s"},
                                   {"1525.5 GiB/s", 1525.5 * 1073741824, "1637993152512 B/s"},
                                   {"800 Gbps", 100e9, "100 GB/s"},
                                   {"4.8 Tbps", 600e9, "600 GB/s"},
                                   {"1000 GB/s", 1e12, "1 TB/s"}});
}

TEST(QuantityText, Sizes) {
  expect_readings<Bytes>({{"16 MiB", 16777216, "16 MiB"},
                          {"16 MB", 16e6, "16 MB"},
                          {"1.5 KiB", 1536, "1536 B"},
                          {"96 GiB", 103079215104.0, "96 GiB"},
                          {"67043328 B", 67043328, "65472 KiB"},
                          {"0 B", 0, "0 B"},
                          {"1 kB", 1000, "1 kB"}});
}

TEST(QuantityText, Times) {
  expect_readings<Picoseconds>({{"667 ns", 667e3, "667 ns"},
                                {"0.85 us", 850e3, "850 ns"},
                                {"4.35 us", 4350e3, "4.35 us"},
                                {"6.5 µs", 6500e3, "6.5 us"},
                                {"1 ps", 1, "1 ps"},
                                {"2 ms", 2e9, "2 ms"},
                                {"0 s", 0, "0 ns"}});
}

TEST(QuantityText, CountsAndCycles) {
  expect_readings<Cycles>({{"32 cycles", 32, "32 cycles"}, {"1 cycle", 1, "1 cycles"}});
  expect_readings<int64_t>({{"128", 128, "128"}, {"1e3", 1000, "1000"}});
  expect_readings<double>({{"1.5", 1.5, "1.5"}, {"0", 0, "0"}});
}

TEST(QuantityText, Energies) {
  expect_readings<PicojoulesPerByte>({{"43.75 pJ/B", 43.75, "43.75 pJ/B"}, {"1.5 nJ/B", 1500, "1.5 nJ/B"}});
  expect_readings<PicojoulesPerFlop>(
      {{"295 fJ/FLOP", 0.295, "0.295 pJ/FLOP"}, {"0 pJ/FLOP", 0, "0 pJ/FLOP"}});
  EXPECT_EQ(to_text(Picojoules(56.2)), "56.2 pJ");
  EXPECT_EQ(to_text(Picojoules(1234e6)), "1.234 mJ");
  EXPECT_EQ(to_text(Bytes(4) * PicojoulesPerByte(2.5)), "10 pJ");
}

struct Refusal {
  const char* text;
  const char* message;
  const char* hint;
};

template <class T>
void expect_refusals(std::initializer_list<Refusal> rows) {
  for (const Refusal& row : rows) {
    const Result<T> value = TextForm<T>::read(row.text);
    ASSERT_FALSE(value) << row.text;
    EXPECT_EQ(value.error().message, row.message);
    EXPECT_EQ(value.error().hint, row.hint) << row.text;
  }
}

TEST(QuantityText, Refusals) {
  expect_refusals<Hertz>({
      {"1.05", "\"1.05\" has no unit; expected a frequency in Hz, kHz, MHz or GHz", ""},
      {"", "\"\" is not a number; expected a frequency in Hz, kHz, MHz or GHz", ""},
      {"GHz", "\"GHz\" is not a number; expected a frequency in Hz, kHz, MHz or GHz", ""},
      {"1 ghz", "\"1 ghz\" has the unknown unit \"ghz\"; expected a frequency in Hz, kHz, MHz or GHz",
       "did you mean \"GHz\"?"},
      {"1 GB/s", "\"1 GB/s\" is a bandwidth; expected a frequency in Hz, kHz, MHz or GHz", ""},
      {"nan GHz", "\"nan GHz\" is not a finite number; expected a frequency in Hz, kHz, MHz or GHz", ""},
      {"inf GHz", "\"inf GHz\" is out of range; expected a frequency in Hz, kHz, MHz or GHz", ""},
      {"++1 GHz", "\"++1 GHz\" is not a number; expected a frequency in Hz, kHz, MHz or GHz", ""},
      {"-.inf", "\"-.inf\" is out of range; expected a frequency in Hz, kHz, MHz or GHz", ""},
      {"1e999 GHz", "\"1e999 GHz\" is out of range; expected a frequency in Hz, kHz, MHz or GHz", ""},
      {"1_000 MHz",
       "\"1_000 MHz\" has a separator among its digits; expected a frequency in Hz, kHz, MHz or GHz", ""},
  });
  expect_refusals<Bytes>(
      {{"1.5 B", "\"1.5 B\" is not a whole number of bytes", ""},
       {"0.1 KiB", "\"0.1 KiB\" is not a whole number of bytes", ""},
       {"16 kb",
        "\"16 kb\" has the unknown unit \"kb\"; expected a size in B, kB, MB, GB, TB, KiB, MiB, GiB or "
        "TiB",
        "1 kB is 1000 bytes, 1 KiB is 1024"}});
  expect_refusals<int64_t>(
      {{"8 GHz", "\"8 GHz\" is a frequency; expected a plain number", ""},
       {"8 arrays", "\"8 arrays\" has the unknown unit \"arrays\"; expected a plain number", ""},
       {"0.5", "\"0.5\" is not a whole number", ""},
       {"1e19", "\"1e19\" is out of range; expected a whole number below 9.2e18", ""},
       {"1e400", "\"1e400\" is out of range; expected a plain number", ""}});
  expect_refusals<bool>({{"yes", "\"yes\" is neither true nor false", ""}});
}

/// write() is exact, whatever the value.
TEST(QuantityText, WrittenTextReadsBack) {
  std::mt19937_64 random(20240607);
  for (int i = 0; i < 20000; ++i) {
    const int bits = static_cast<int>(random() % 50) + 1;
    const auto whole = static_cast<int64_t>(random() >> (64 - bits));
    EXPECT_EQ(TextForm<Bytes>::read(TextForm<Bytes>::write(Bytes(whole)))->count(), whole);
    EXPECT_EQ(TextForm<Picoseconds>::read(TextForm<Picoseconds>::write(Picoseconds(whole)))->count(), whole);
    const double rate = static_cast<double>(whole) * 1.0000001;
    EXPECT_EQ(TextForm<BytesPerSecond>::read(TextForm<BytesPerSecond>::write(BytesPerSecond(rate)))->count(),
              rate);
    EXPECT_EQ(TextForm<Hertz>::read(TextForm<Hertz>::write(Hertz(rate)))->count(), rate);
  }
}

}  // namespace
}  // namespace hlosim
