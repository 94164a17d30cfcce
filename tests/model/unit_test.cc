#include "model/unit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "support/simulations.h"

namespace hlosim {
namespace {

TEST(Units, EveryRowStandsAtItsPlaceAndHasItsOwnName) {
  std::set<std::string_view> names;
  for (size_t i = 0; i < unit_rows().size(); ++i) {
    const UnitRow& row = unit_rows()[i];
    EXPECT_EQ(index_of(row.unit), i) << row.name;
    EXPECT_EQ(&unit_row(row.unit), &row) << row.name;
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(row.words.empty()) << row.name;
  }
  const DeviceConfig& config = test::device_or_fail("unit").config;
  EXPECT_EQ(unit_name(config, Unit::kMxu), "MXU");
  EXPECT_EQ(unit_name(config, memory_unit(0)), "HBM");
  EXPECT_EQ(unit_name(config, Unit::kWait), "wait");
  EXPECT_EQ(unit_name(config, memory_unit(kMaxMemorySpaces - 1)), "none");
}

// A path that names nothing would count as published.
TEST(Units, SectionsAndNumbersAreInDeviceFiles) {
  const Device device = test::device_or_fail("unit");
  const auto exists = [&](std::string_view path) {
    return std::any_of(device.values.begin(), device.values.end(), [&](const DeviceValue& value) {
      return value.path == path || value.path.starts_with(std::string(path) + ".");
    });
  };
  for (const UnitRow& row : unit_rows()) {
    EXPECT_TRUE(row.section.empty() || exists(row.section)) << row.section;
    for (const std::string_view path : row.numbers)
      EXPECT_TRUE(path.empty() || exists(path)) << row.name << ": " << path;
  }
}

TEST(Units, ASectionThatADeviceLacksCanBeAbsent) {
  EXPECT_FALSE(test::device_or_fail("v5e").config.sparsecore);
  EXPECT_FALSE(has_cores_beside(test::device_or_fail("v5e").config));
  const Device v6e = test::device_or_fail("v6e", {{"sparsecore.lanes", "16"}});
  ASSERT_TRUE(v6e.config.sparsecore);
  EXPECT_TRUE(has_cores_beside(v6e.config));
  EXPECT_EQ(v6e.config.sparsecore->lanes, 16);
  DiagnosticList problems;
  const auto source = std::make_shared<const SourceFile>("my.yaml", "extends: v6e.yaml\nsparsecore: ~\n");
  const std::optional<Device> without = load_device(SourcePtr(source), {}, DeviceSearch{}, problems);
  ASSERT_TRUE(without);
  EXPECT_FALSE(without->config.sparsecore);
  const auto half = std::make_shared<const SourceFile>(
      "my.yaml", "extends: v5e.yaml\nsource: \"guess: half\"\nsparsecore: {count: 2}\n");
  EXPECT_FALSE(load_device(SourcePtr(half), {}, DeviceSearch{}, problems));
  EXPECT_THAT(test::rendered(problems), testing::HasSubstr("missing keys in sparsecore"));
}

}  // namespace
}  // namespace hlosim
