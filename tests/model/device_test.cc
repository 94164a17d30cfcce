#include "model/device.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <set>

#include "base/quantity_text.h"
#include "layout/native_tiling.h"
#include "ops/work.h"
#include "support/folders.h"

namespace hlosim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;

std::string rendered(const DiagnosticList& problems) {
  std::string out;
  for (const Diagnostic& problem : problems.items()) out += render(problem);
  return out;
}

Device loaded(const std::string& name, const std::vector<DeviceOverride>& overrides = {},
              const DeviceSearch& search = {}) {
  DiagnosticList problems;
  std::optional<Device> device = load_device(name, overrides, search, problems);
  EXPECT_TRUE(device) << rendered(problems);
  return device.value_or(Device{});
}

Device loaded_text(std::string text, const std::vector<DeviceOverride>& overrides = {}) {
  DiagnosticList problems;
  std::optional<Device> device =
      load_device(std::make_shared<const SourceFile>("text.yaml", std::move(text)), overrides, {}, problems);
  EXPECT_TRUE(device) << rendered(problems);
  return device.value_or(Device{});
}

std::string refused_text(std::string text) {
  DiagnosticList problems;
  EXPECT_FALSE(
      load_device(std::make_shared<const SourceFile>("text.yaml", std::move(text)), {}, {}, problems));
  return rendered(problems);
}

/// A folder of its own for each test that needs files.
class DeviceFiles : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path.string();
  }
  std::filesystem::path folder_;
};

// ── the built-in devices ──

TEST(BuiltinDevices, AllGenerationsAndTheUnitDevice) {
  EXPECT_THAT(builtin_devices(),
              testing::UnorderedElementsAre("unit", "v2", "v3", "v4", "v5e", "v5p", "v6e", "v7x"));
}

TEST(BuiltinDevices, LoadUnderBothSpellings) {
  for (const std::string& name : builtin_devices()) {
    const Device device = loaded(name);
    EXPECT_EQ(device.config.generation, name);
    EXPECT_EQ(device.file, name + ".yaml (built-in)");
    EXPECT_EQ(loaded(name + ".yaml").fingerprint(), device.fingerprint());
    EXPECT_TRUE(device.changes.empty());
  }
}

// What a file extends has another memory: its usable part is not inherited.
TEST(BuiltinDevices, MostOfHbmIsUsable) {
  for (const std::string& name : builtin_devices()) {
    const Device device = loaded(name);
    const MemorySpace& hbm = device.config.hbm();
    if (!hbm.usable || !hbm.capacity) continue;
    EXPECT_GE(static_cast<double>(hbm.usable->count()), 0.9 * static_cast<double>(hbm.capacity->count()))
        << name;
  }
}

TEST(BuiltinDevices, EveryNumberHasASourceThatSaysSomething) {
  for (const std::string& name : builtin_devices()) {
    for (const DeviceValue& value : loaded(name).values) {
      if (!value.has_source) continue;
      EXPECT_THAT(value.source, testing::StartsWith(std::string(to_text(value.source_class)) + ": "))
          << name << " " << value.path;
      EXPECT_NE(value.source_class, SourceClass::kOverride);
      EXPECT_FALSE(value.doc.empty());
    }
  }
}

TEST(BuiltinDevices, DumpedConfigurationLoadsToTheSameDevice) {
  for (const std::string& name : builtin_devices()) {
    const Device device = loaded(name, {{"clock", "1.25 GHz"}});
    const Device again = loaded_text(to_yaml(device));
    EXPECT_EQ(again.fingerprint(), device.fingerprint()) << name;
    ASSERT_EQ(again.values.size(), device.values.size());
    for (size_t i = 0; i < device.values.size(); ++i) {
      EXPECT_EQ(again.values[i].path, device.values[i].path);
      EXPECT_EQ(again.values[i].text, device.values[i].text);
      EXPECT_EQ(again.values[i].source, device.values[i].source);
    }
    EXPECT_EQ(to_yaml(again), to_yaml(device));
  }
}

TEST(BuiltinDevices, FingerprintsDiffer) {
  std::set<std::string> seen;
  for (const std::string& name : builtin_devices())
    EXPECT_TRUE(seen.insert(loaded(name).fingerprint()).second);
}

struct Peak {
  const char* device;
  ElementType type;
  double tera;  // published, per device
};

TEST(BuiltinDevices, PeaksAreThePublishedOnes) {
  using enum ElementType;
  const Peak rows[] = {{"v2", kBF16, 46.0 / 2}, {"v3", kBF16, 123.0 / 2}, {"v4", kBF16, 275},
                       {"v4", kS8, 275},        {"v5e", kBF16, 197},      {"v5e", kS8, 394},
                       {"v5e", kS4, 788},       {"v5e", kF8E5M2, 197},    {"v5p", kBF16, 459},
                       {"v5p", kS8, 918},       {"v5p", kS4, 1840},       {"v6e", kBF16, 918},
                       {"v6e", kS8, 1836},      {"v6e", kS4, 3680},       {"v6e", kF8E5M2, 918},
                       {"v7x", kBF16, 996},     {"v7x", kF8E4M3FN, 1992}};
  for (const Peak& row : rows) {
    const double peak = peak_flops(loaded(row.device).config, row.type).count() / 1e12;
    EXPECT_NEAR(peak / row.tera, 1.0, 0.02) << row.device << " " << to_text(row.type) << ": " << peak;
  }
  // Quoted for the chip at its highest clock.
  const DeviceConfig fast = loaded("v7x", {{"clock", "2.2 GHz"}}).config;
  EXPECT_NEAR(peak_flops(fast, kBF16).count() * 2 / 2307e12, 1.0, 0.02);
  EXPECT_NEAR(peak_flops(fast, kF8E4M3FN).count() * 2 / 4614e12, 1.0, 0.02);
}

TEST(BuiltinDevices, VectorPeaks) {
  EXPECT_NEAR(peak_vector_flops(loaded("v6e").config).count(), 7.2e12, 0.1e12);
  EXPECT_EQ(peak_vector_flops(loaded("v4").config).count(), 2 * 2048 * 1.05e9);
}

TEST(BuiltinDevices, PrecisionDividesTheF32Peak) {
  for (const char* name : {"v2", "v3", "v4", "v5e", "v5p", "v6e", "v7x"}) {
    const DeviceConfig config = loaded(name).config;
    const double full = peak_flops(config, ElementType::kF32).count();
    EXPECT_EQ(full, peak_flops(config, ElementType::kBF16).count()) << name;
    EXPECT_DOUBLE_EQ(peak_flops(config, ElementType::kF32, MatmulPrecision::kHigh).count(), full / 3);
    EXPECT_DOUBLE_EQ(peak_flops(config, ElementType::kF32, MatmulPrecision::kHighest).count(), full / 6);
  }
}

TEST(BuiltinDevices, EveryTypeIsMultipliedSomehow) {
  for (const char* name : {"v2", "v3", "v4", "v5e", "v5p", "v6e", "v7x"}) {
    const DeviceConfig config = loaded(name).config;
    for (const ElementType type :
         {ElementType::kF16, ElementType::kBF16, ElementType::kF32, ElementType::kF64, ElementType::kS4,
          ElementType::kU8, ElementType::kS8, ElementType::kS32, ElementType::kPred, ElementType::kC64,
          ElementType::kF8E4M3FN})
      EXPECT_TRUE(matmul_rate(config.mxu, type, type, MatmulPrecision::kDefault))
          << name << " " << to_text(type);
  }
  EXPECT_FALSE(matmul_rate(loaded("unit").config.mxu, ElementType::kF16, ElementType::kF16,
                           MatmulPrecision::kDefault));
}

TEST(BuiltinDevices, LatchesHideBehindThePublishedRowCounts) {
  // Rows that must stream through an array to hide the load of the next weights.
  const auto rows_to_hide = [](const char* name) {
    const DeviceConfig config = loaded(name).config;
    const auto rate =
        matmul_rate(config.mxu, ElementType::kBF16, ElementType::kBF16, MatmulPrecision::kDefault);
    const int64_t latch = rate->latch_cadence.count() * (config.mxu.rows / rate->latch_rows);
    return latch * rate->rows / rate->cadence.count();
  };
  EXPECT_EQ(rows_to_hide("v5e"), 32);
  EXPECT_EQ(rows_to_hide("v5p"), 32);
  EXPECT_EQ(rows_to_hide("v6e"), 128);
  EXPECT_EQ(rows_to_hide("v7x"), 128);
}

TEST(BuiltinDevices, MemorySpacesByNumber) {
  const DeviceConfig v4 = loaded("v4").config;
  EXPECT_EQ(v4.memory_space(int64_t{0})->name, "hbm");
  EXPECT_EQ(v4.memory_space(int64_t{1})->name, "vmem");
  EXPECT_EQ(v4.memory_space(int64_t{3})->name, "cmem");
  EXPECT_EQ(v4.memory_space(int64_t{4}), v4.memory_space("smem"));
  EXPECT_EQ(v4.memory_space(int64_t{6}), v4.memory_space("smem"));
  EXPECT_EQ(v4.memory_space(int64_t{77}), nullptr);
  EXPECT_EQ(loaded("v5e").config.memory_space(int64_t{3}), nullptr);
  EXPECT_EQ(device_capacity(v4, v4.vmem_space()), Bytes(32 << 20));     // two cores
  EXPECT_EQ(device_capacity(v4, v4.hbm()), Bytes(int64_t{123} << 28));  // 30.75 GiB are usable
  EXPECT_FALSE(device_capacity(v4, *v4.memory_space("sync")));
}

TEST(BuiltinDevices, RatesAreThoseOfTheWholeDevice) {
  const DeviceConfig v4 = loaded("v4").config;
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_EQ(device_rates(v4, v4.hbm()).total.count(), 1228e9);
  EXPECT_EQ(device_rates(v4, v4.hbm()).read.count(), infinite);
  EXPECT_NEAR(device_rates(v4, v4.vmem_space()).read.count(), 2 * 1074.8e9, 1e9);
  EXPECT_NEAR(device_rates(v4, *v4.memory_space("cmem")).read.count(), 2 * 2150.7e9, 1e9);
  EXPECT_EQ(device_rates(v4, *v4.memory_space("host")).write.count(), v4.host.pcie.bandwidth.count());
  EXPECT_EQ(device_rates(v4, *v4.memory_space("sync")).total.count(), infinite);
}

TEST(BuiltinDevices, MemoryRatesPerCycleFollowTheClock) {
  const DeviceConfig slow = loaded("v7x", {{"clock", "1.6 GHz"}}).config;
  EXPECT_EQ(device_rates(slow, slow.vmem_space()).read.count(), 8192 * 1.6e9);
  EXPECT_EQ(device_rates(slow, slow.hbm()).total.count(), 3690e9);
}

TEST(BuiltinDevices, DmaStaysBelowTheMemoryItReads) {
  for (const char* name : {"v2", "v3", "v4", "v5e", "v6e", "v7x"}) {
    const DeviceConfig config = loaded(name).config;
    EXPECT_LE(config.dma.bandwidth.count() * static_cast<double>(config.cores),
              device_rates(config, config.hbm()).total.count())
        << name;
  }
}

TEST(BuiltinDevices, OneDevicePerCoreOrPerChip) {
  for (const char* name : {"v2", "v3", "v7x"}) EXPECT_EQ(loaded(name).config.devices_per_chip(), 2) << name;
  for (const char* name : {"v4", "v5e", "v5p", "v6e"})
    EXPECT_EQ(loaded(name).config.devices_per_chip(), 1) << name;
}

TEST(BuiltinDevices, UnitDeviceCostsOne) {
  const DeviceConfig unit = loaded("unit").config;
  EXPECT_EQ(duration(Bytes(7), device_rates(unit, unit.hbm()).total), Picoseconds(7000));
  EXPECT_EQ(duration(Cycles(3), unit.clock), Picoseconds(3000));
  const auto rate = matmul_rate(unit.mxu, ElementType::kF32, ElementType::kF32, MatmulPrecision::kHighest);
  EXPECT_EQ(rate->rows, 1);
  EXPECT_EQ(rate->cadence, Cycles(1));
  EXPECT_EQ(rate->passes, 1);
}

TEST(BuiltinDevices, TilingPolicies) {
  const TilingPolicy v2 = tiling_policy(loaded("v2").config);
  EXPECT_EQ(v2.granule, Bytes(1024));
  EXPECT_EQ(v2.compact_rows, CompactRows::kF32Rule);
  EXPECT_FALSE(v2.packed_1d);
  const TilingPolicy v7x = tiling_policy(loaded("v7x").config);
  EXPECT_EQ(v7x.granule, Bytes(512));
  EXPECT_EQ(v7x.compact_rows, CompactRows::kPackedRule);
  EXPECT_TRUE(v7x.large_rows);
  EXPECT_FALSE(tiling_policy(loaded("v6e").config).large_rows);
}

// ── rates of element types ──

TEST(MatmulRates, MixedOperandsTakeRowsFromTheLeftAndWeightsFromTheRight) {
  const MxuConfig mxu = loaded("v5e").config.mxu;
  const auto rate = matmul_rate(mxu, ElementType::kBF16, ElementType::kS8, MatmulPrecision::kDefault);
  EXPECT_EQ(rate->rows, 16);
  EXPECT_EQ(rate->latch_rows, 32);
  EXPECT_EQ(rate->latency, Cycles(131));
  EXPECT_FALSE(rate->emulated);
}

TEST(MatmulRates, EmulatedTypesAreConvertedOrTakeMorePasses) {
  const MxuConfig mxu = loaded("v4").config.mxu;
  const auto rate = matmul_rate(mxu, ElementType::kF16, ElementType::kF16, MatmulPrecision::kDefault);
  EXPECT_EQ(rate->lhs, ElementType::kBF16);
  EXPECT_EQ(rate->passes, 1);
  EXPECT_GT(rate->lhs_convert, 0);
  EXPECT_TRUE(rate->emulated);
  EXPECT_EQ(matmul_rate(mxu, ElementType::kBF16, ElementType::kF32, MatmulPrecision::kDefault)->rhs_convert,
            0);
  EXPECT_EQ(matmul_rate(mxu, ElementType::kC64, ElementType::kC64, MatmulPrecision::kHighest)->passes, 24);
}

TEST(VectorCosts, OneRowPerClass) {
  const VpuConfig vpu = loaded("v4").config.vpu;
  EXPECT_EQ(op_cost(vpu, VectorOp::kSimple).alu, 1);
  EXPECT_EQ(op_cost(vpu, VectorOp::kTranscendental).eup, 1);
  EXPECT_EQ(op_cost(vpu, VectorOp::kCrossLane).xlu, 1);
  EXPECT_GT(op_cost(vpu, VectorOp::kExpensive).alu, op_cost(vpu, VectorOp::kDivide).alu);
}

TEST(VectorCosts, Conversions) {
  const VpuConfig v4 = loaded("v4").config.vpu;
  EXPECT_EQ(conversion_slots(v4, ElementType::kF32), 0);
  EXPECT_EQ(conversion_slots(v4, ElementType::kBF16), 2);
  EXPECT_EQ(conversion_slots(loaded("v6e").config.vpu, ElementType::kBF16), 0);
  EXPECT_EQ(conversion_slots(v4, ElementType::kF8E3M4), 8);  // the dearest listed type of 8 bits
  EXPECT_EQ(conversion_slots(v4, ElementType::kS2), 24);     // no type of 2 bits is listed
}

// ── files ──

TEST_F(DeviceFiles, SectionsMergeKeyByKey) {
  const std::string path =
      write("mine.yaml",
            "extends: v4.yaml\nname: mine\nsource: \"guess: what if\"\n"
            "memory:\n  hbm: {bandwidth: 2 TB/s}\n  extra: {numbers: [9], scope: core}\n");
  const Device device = loaded(path);
  EXPECT_EQ(device.config.name, "mine");
  EXPECT_EQ(device.config.generation, "v4");
  EXPECT_EQ(device.value("memory.hbm.bandwidth")->text, "2 TB/s");
  EXPECT_EQ(device.value("memory.hbm.bandwidth")->source, "guess: what if");
  EXPECT_EQ(device.value("memory.hbm.capacity")->source_class, SourceClass::kPublished);
  EXPECT_EQ(device.config.memory_space(int64_t{9})->name, "extra");
}

TEST_F(DeviceFiles, AnEmptyValueTakesAKeyAway) {
  const Device device = loaded(write("mine.yaml", "extends: v4.yaml\nmemory:\n  cmem: ~\n"));
  EXPECT_EQ(device.config.memory_space("cmem"), nullptr);
  EXPECT_NE(device.config.memory_space("smem"), nullptr);
}

TEST_F(DeviceFiles, SourcesComeFromTheNearestSection) {
  const Device device = loaded(write("mine.yaml",
                                     "extends: v4.yaml\nsource: \"guess: outer\"\nclock: 1 GHz\nmxu:\n"
                                     "  source: \"published: middle\"\n  count: 2\n"
                                     "  rows: {value: 64, source: \"inferred: inner\"}\n"));
  EXPECT_EQ(device.value("clock")->source, "guess: outer");
  EXPECT_EQ(device.value("mxu.count")->source, "published: middle");
  EXPECT_EQ(device.value("mxu.rows")->source, "inferred: inner");
}

TEST_F(DeviceFiles, ExtendsIsRelativeToTheFile) {
  write("base/a.yaml", "extends: v4.yaml\nclock: {value: 1 GHz, source: \"guess: a\"}\n");
  const std::string path = write("b.yaml", "extends: base/a.yaml\n");
  EXPECT_EQ(loaded(path).config.clock, Hertz(1e9));
}

TEST_F(DeviceFiles, AFileMayExtendTheBuiltInOneOfItsName) {
  const std::string path =
      write("v4.yaml", "extends: v4.yaml\nclock: {value: 2 GHz, source: \"guess: faster\"}\n");
  EXPECT_EQ(loaded(path).config.clock, Hertz(2e9));
  EXPECT_EQ(loaded(path).config.mxu.count, 4);
}

TEST_F(DeviceFiles, SearchPathComesBeforeBuiltInDevices) {
  write("one/v4.yaml", "extends: v4.yaml\nclock: {value: 2 GHz, source: \"guess: one\"}\n");
  write("two/v4.yaml", "extends: v4.yaml\nclock: {value: 3 GHz, source: \"guess: two\"}\n");
  write("two/special.yaml", "extends: v5e.yaml\n");
  const DeviceSearch search{{(folder_ / "one").string(), (folder_ / "two").string()}};
  EXPECT_EQ(loaded("v4", {}, search).config.clock, Hertz(2e9));
  EXPECT_EQ(loaded("v4.yaml", {}, search).config.clock, Hertz(2e9));
  EXPECT_EQ(loaded("v4", {}, search).value("clock")->source, "guess: one");
  EXPECT_EQ(loaded((folder_ / "two" / "v4.yaml").string(), {}, search).config.clock, Hertz(3e9));
  EXPECT_EQ(loaded("special", {}, search).config.generation, "v5e");
  DiagnosticList problems;
  EXPECT_FALSE(load_device("specal", {}, search, problems));
  EXPECT_THAT(rendered(problems), HasSubstr("did you mean \"special\"?"));
  EXPECT_THAT(rendered(problems), HasSubstr((folder_ / "two" / "specal.yaml").string()));
}

TEST(DeviceSearchPath, IsSplitAtColons) {
  ::setenv("HLOSIM_CONFIG_PATH", "/a:/b/c::d", 1);
  EXPECT_THAT(DeviceSearch::from_environment().directories, ElementsAre("/a", "/b/c", "d"));
  ::unsetenv("HLOSIM_CONFIG_PATH");
  EXPECT_TRUE(DeviceSearch::from_environment().directories.empty());
}

TEST(DeviceText, AnchorsAndAliases) {
  const Device device = loaded_text(
      "extends: v4.yaml\nsource: \"guess: x\"\nmxu:\n  types:\n    s8: &t {rows: 32, cadence: 16 cycles, "
      "latch_rows: 32, "
      "latch_cadence: 4 cycles, latency: 9 cycles, passes: 1, passes_high: 1, passes_highest: 1}\n    u8: "
      "*t\n"
      "  emulated: {s8: ~, u8: ~}\n");
  EXPECT_FALSE(matmul_rate(device.config.mxu, ElementType::kU8, ElementType::kS8, MatmulPrecision::kDefault)
                   ->emulated);
}

TEST(DeviceText, OneMistakeDoesNotHideTheNext) {
  const std::string all = refused_text(
      "extends: v4.yaml\nsource: \"guess: x\"\nclock: 1\nmxu: {count: 0, row: 3}\nici: {wrap: no}\n");
  EXPECT_THAT(all, HasSubstr("text.yaml:3:8: error: clock:"));
  EXPECT_THAT(all, HasSubstr("text.yaml:4:14: error: mxu.count:"));
  EXPECT_THAT(all, HasSubstr("text.yaml:4:17: error: unknown key \"row\" in mxu"));
  EXPECT_THAT(all, HasSubstr("text.yaml:5:13: error: ici.wrap:"));
}

/// Every required key is missed when it isn't there, every key is known when it is misspelt.
TEST(DeviceText, EveryKeyOfTheSchemaIsGuarded) {
  const std::string whole = to_yaml(loaded("v4"));
  size_t keys = 0;
  for (size_t line = 0; line < whole.size(); line = whole.find('\n', line) + 1) {
    const size_t key = whole.find_first_not_of(' ', line);
    const size_t colon = whole.find(':', key);
    if (whole[colon + 1] == '\n') continue;  // a section
    const std::string name = whole.substr(key, colon - key);
    std::string misspelt = whole;
    misspelt.insert(colon, "_");
    EXPECT_THAT(refused_text(misspelt), HasSubstr("unknown key \"" + name + "_\"")) << name;
    ++keys;
  }
  EXPECT_GT(keys, 150u);
}

TEST(DeviceText, DamagedFilesAreAnsweredOrRefused) {
  const std::string whole = to_yaml(loaded("v5e"));
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) {
    std::string text = whole;
    for (int edit = 0; edit < 3; ++edit) {
      const size_t at = random() % text.size();
      constexpr std::string_view kPieces[] = {"",   " ",  "\n",   "{", "]", ": ", "&a ",
                                              "*a", "\"", "1e99", "-", "~", "#",  "\xff"};
      text.replace(at, random() % 4, kPieces[random() % std::size(kPieces)]);
    }
    DiagnosticList problems;
    const auto device = load_device(std::make_shared<const SourceFile>("text.yaml", text), {}, {}, problems);
    EXPECT_NE(device.has_value(), problems.has_errors()) << rendered(problems);
  }
}

// ── overrides, provenance, changes ──

TEST(Overrides, ReplaceValuesInOrder) {
  const Device device = loaded("v4", {{"mxu.count", "2"},
                                      {"memory.hbm.bandwidth", "1000 GB/s"},
                                      {"mxu.count", "8"},
                                      {"vpu.native_types", "[f32, bf16]"},
                                      {"ici.default_slice", "4x4x4"}});
  EXPECT_EQ(device.config.mxu.count, 8);
  EXPECT_EQ(device.value("mxu.count")->source, "override: --set");
  EXPECT_EQ(device.value("mxu.count")->source_class, SourceClass::kOverride);
  EXPECT_EQ(device_rates(device.config, device.config.hbm()).total.count(), 1e12);
  EXPECT_THAT(device.config.vpu.native_types, ElementsAre(ElementType::kF32, ElementType::kBF16));
  EXPECT_EQ(device.config.ici.default_slice.chips(), 64);
}

TEST(Overrides, MayGiveWhatTheFileLeavesOut) {
  const Device device = loaded("v4", {{"memory.vmem.bandwidth", "3 TB/s"}});
  EXPECT_EQ(device_rates(device.config, device.config.vmem_space()).total.count(), 6e12);
  ASSERT_EQ(device.changes.size(), 1u);
  EXPECT_FALSE(device.changes[0].previous);
  EXPECT_FALSE(device.without_change(0)->value("memory.vmem.bandwidth"));
}

TEST(Overrides, ChangeTheFingerprintOnlyWhenTheyChangeAValue) {
  const std::string plain = loaded("v4").fingerprint();
  EXPECT_EQ(loaded("v4", {{"clock", "1050 MHz"}}).fingerprint(), plain);
  EXPECT_NE(loaded("v4", {{"clock", "1051 MHz"}}).fingerprint(), plain);
}

TEST(Overrides, Parse) {
  const auto fine = parse_override(" mxu.count = 8 ");
  ASSERT_TRUE(fine);
  EXPECT_EQ(fine->path, "mxu.count");
  EXPECT_EQ(fine->value, "8");
  EXPECT_EQ(parse_override("a=b=c")->value, "b=c");
  EXPECT_FALSE(parse_override("mxu.count"));
  EXPECT_FALSE(parse_override("=8"));
}

TEST(Provenance, WeakestSourceOfPathsAndSections) {
  const Device device = loaded("v4", {{"vpu.alus", "3"}});
  EXPECT_EQ(device.weakest_source({"clock"}), SourceClass::kPublished);
  EXPECT_EQ(device.weakest_source({"clock", "mxu.types.bf16"}), SourceClass::kInferred);
  EXPECT_EQ(device.weakest_source({"mxu.emulated.f16"}), SourceClass::kCalibrated);
  EXPECT_EQ(device.weakest_source({"dma"}), SourceClass::kGuess);
  EXPECT_EQ(device.weakest_source({"vpu.alus", "dma"}), SourceClass::kOverride);
  EXPECT_EQ(device.weakest_source({"mxu.co"}), SourceClass::kPublished);  // no path, and no section
}

TEST(Changes, WithoutAnOverrideTheFileCounts) {
  const Device device = loaded("v4", {{"mxu.count", "8"}, {"clock", "2 GHz"}});
  ASSERT_EQ(device.changes.size(), 2u);
  EXPECT_EQ(device.changes[0].path, "clock");
  EXPECT_EQ(device.changes[0].previous, "1.05 GHz");
  EXPECT_TRUE(device.changes[0].from_set);
  const Device without = *device.without_change(0);
  EXPECT_EQ(without.config.clock, Hertz(1.05e9));
  EXPECT_EQ(without.config.mxu.count, 8);
}

TEST(Changes, WithoutAValueOfAFileItsBaseCounts) {
  const Device device = loaded_text("extends: v4.yaml\nsource: \"guess: x\"\nmxu: {count: 8}\nclock: 2 GHz\n",
                                    {{"clock", "3 GHz"}});
  ASSERT_EQ(device.changes.size(), 2u);
  EXPECT_EQ(device.changes[0].path, "clock");
  EXPECT_EQ(device.changes[0].previous, "2 GHz");
  EXPECT_EQ(device.changes[1].path, "mxu.count");
  EXPECT_EQ(device.changes[1].previous, "4");
  EXPECT_FALSE(device.changes[1].from_set);
  EXPECT_EQ(device.without_change(0)->config.clock, Hertz(2e9));
  EXPECT_EQ(device.without_change(1)->config.mxu.count, 4);
  EXPECT_EQ(device.without_change(1)->config.clock, Hertz(3e9));
}

TEST(Changes, WithoutABaseAnotherValueIsTried) {
  const Device device = loaded_text(to_yaml(loaded("v4")));
  EXPECT_GT(device.changes.size(), 150u);
  size_t tried = 0;
  for (size_t i = 0; i < device.changes.size(); ++i) {
    const DeviceChange& change = device.changes[i];
    EXPECT_FALSE(change.previous);
    const std::optional<Device> other = device.without_change(i);
    if (!other) continue;
    ++tried;
    EXPECT_NE(other->value(change.path)->text, change.text) << change.path;
    // Names, slices and errors change nothing that a module costs.
    const bool is_about_costs = !change.path.starts_with("names.") && !change.path.starts_with("errors.") &&
                                change.path != "ici.slices";
    EXPECT_EQ(other->fingerprint() != device.fingerprint(), is_about_costs) << change.path;
  }
  EXPECT_GT(tried, 100u);
  const auto doubled = [&](std::string_view path) {
    for (size_t i = 0; i < device.changes.size(); ++i)
      if (device.changes[i].path == path) return device.without_change(i)->value(path)->text;
    return std::string();
  };
  EXPECT_EQ(doubled("memory.hbm.bandwidth"), "2456 GB/s");
  EXPECT_EQ(doubled("vmem.scoped_limit"), "8 MiB");  // no more than the VMEM
  EXPECT_EQ(doubled("tiling.large_second_minor"), "true");
}

// ── text ──

TEST(DeviceTables, ShowEveryValueWithItsSource) {
  const Device device = loaded("v5e");
  const std::string text = to_text(device);
  EXPECT_THAT(text, HasSubstr("TPU v5e (v5e.yaml (built-in))\nthe chip (one TensorCore)\n"));
  EXPECT_THAT(text, HasSubstr("196.6 TFLOP/s (bf16 f32 f8e5m2 f8e4m3b11fnuz)"));
  for (const DeviceValue& value : device.values) {
    if (!value.has_source) continue;
    EXPECT_THAT(text, HasSubstr("\n" + value.path + " "));
  }
  EXPECT_THAT(text, HasSubstr("inferred: 90 % of the HBM bandwidth; platform_info.py has 1459 GB/s"));
}

// v6e's HBM reads at 1550 of 1638 GB/s, and TensorCores drive a link at what it has.
TEST(DeviceOverrides, RatesKeepTheirShareOfABandwidthThatIsSet) {
  const auto read = [](const Device& device) { return device.value("memory.hbm.read")->text; };
  const auto by_cores = [](const Device& device) { return device.value("ici.core_bandwidth")->text; };
  EXPECT_EQ(read(loaded("v6e")), "1.55 TB/s");
  EXPECT_EQ(read(loaded("v6e", {{"hbm.bandwidth", "3276 GB/s"}})), "3.1 TB/s");
  EXPECT_EQ(by_cores(loaded("v6e", {{"ici.bandwidth", "45 GB/s"}})), "45 GB/s");
  const std::string file = "extends: v6e\nname: twice\nsource: \"guess: what if\"\n";
  EXPECT_EQ(read(loaded_text(file + "memory:\n  hbm:\n    bandwidth: 3276 GB/s\n")), "3.1 TB/s");
  const auto dma = [](const Device& device) { return device.value("dma.bandwidth")->text; };
  EXPECT_EQ(dma(loaded("v6e", {{"hbm.bandwidth", "3276 GB/s"}})), "2.66 TB/s");
  EXPECT_EQ(dma(loaded("v6e", {{"hbm.bandwidth", "3276 GB/s"}, {"dma.bandwidth", "1330 GB/s"}})),
            "1.33 TB/s");
  EXPECT_EQ(dma(loaded_text(file + "memory:\n  hbm:\n    bandwidth: 3276 GB/s\n")), "2.66 TB/s");
  for (const std::string& name : builtin_devices()) {
    const double before = loaded(name).config.dma.bandwidth.count();
    const double bandwidth = loaded(name).config.hbm().bandwidth->amount;
    const Device twice = loaded(name, {{"hbm.bandwidth", fmt::format("{} B/s", 2 * bandwidth)}});
    EXPECT_NEAR(twice.config.dma.bandwidth.count() / before, 2, 1e-9) << name;
  }
  // Who states both means both, in either order.
  EXPECT_EQ(read(loaded("v6e", {{"hbm.read", "1 TB/s"}, {"hbm.bandwidth", "2 TB/s"}})), "1 TB/s");
  EXPECT_EQ(read(loaded("v6e", {{"hbm.bandwidth", "2 TB/s"}, {"hbm.read", "1 TB/s"}})), "1 TB/s");
}

TEST(DeviceTables, TheDocumentedSchemaIsTheRealOne) {
  const std::string text = test::file_text(test::source_folder() / "docs/devices.md");
  EXPECT_THAT(text, HasSubstr(schema_markdown())) << "docs/devices.md: replace what follows \"## Keys\" by "
                                                     "the output of `hlosim devices --format=markdown`";
}

}  // namespace
}  // namespace hlosim
