#include "model/device_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "model/device_text_form.h"
#include "support/folders.h"

namespace hlosim {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// "v5p 4x4x4": the built-in device and the slice that a name leads to.
std::string device_and_slice(const std::string& name) {
  DiagnosticList problems;
  const std::optional<Device> device = load_device(name, {}, {}, problems);
  if (!device) return "error: " + problems.items().front().message;
  return device->file.substr(0, device->file.find('.')) + " " + device->topology;
}

std::string hint(const std::string& name) {
  DiagnosticList problems;
  load_device(name, {}, {}, problems);
  return problems.items().empty() ? "" : problems.items().front().hint;
}

std::string nearest_generation(std::string_view name) { return hlosim::nearest_generation(name, {}); }

TEST(DeviceNames, CountsCoresWhereTheTypeDoes) {
  EXPECT_EQ(device_and_slice("v2-8"), "v2 2x2");
  EXPECT_EQ(device_and_slice("v3-32"), "v3 4x4");
  EXPECT_EQ(device_and_slice("v4-32"), "v4 2x2x4");
  EXPECT_EQ(device_and_slice("v4-384"), "v4 4x4x12");
  EXPECT_EQ(device_and_slice("v5p-128"), "v5p 4x4x4");
  EXPECT_EQ(device_and_slice("v5p-8"), "v5p 2x2x1");
  EXPECT_EQ(device_and_slice("v5p-12288"), "v5p 16x16x24");
  EXPECT_EQ(device_and_slice("tpu7x-128"), "v7x 4x4x4");
  EXPECT_EQ(device_and_slice("tpu7x-8"), "v7x 2x2x1");
}

TEST(DeviceNames, CountsChipsWhereTheTypeDoes) {
  EXPECT_EQ(device_and_slice("v5litepod-8"), "v5e 2x4");
  EXPECT_EQ(device_and_slice("v5e-256"), "v5e 16x16");
  EXPECT_EQ(device_and_slice("v6e-256"), "v6e 16x16");
  EXPECT_EQ(device_and_slice("v6e-1"), "v6e 1x1");
}

TEST(DeviceNames, TakesAShapeInPlaceOfTheNumber) {
  EXPECT_EQ(device_and_slice("tpu7x-4x4x4"), "v7x 4x4x4");
  EXPECT_EQ(device_and_slice("v4-4x4x8_twisted"), "v4 4x4x8_twisted");
  EXPECT_EQ(device_and_slice("v5p-4x4"), "error: \"v5p-4x4\" has 2 sides, slices of v5p have 3");
}

TEST(DeviceNames, KnowsDeviceKindsAndMarketingNames) {
  EXPECT_EQ(device_and_slice("TPU v2"), "v2 ");
  EXPECT_EQ(device_and_slice("TPU v3"), "v3 ");
  EXPECT_EQ(device_and_slice("TPU v4"), "v4 ");
  EXPECT_EQ(device_and_slice("TPU v5 lite"), "v5e ");
  EXPECT_EQ(device_and_slice("TPU v5"), "v5p ");
  EXPECT_EQ(device_and_slice("TPU v5p"), "v5p ");
  EXPECT_EQ(device_and_slice("TPU v6 lite"), "v6e ");
  EXPECT_EQ(device_and_slice("TPU7x"), "v7x ");
  EXPECT_EQ(device_and_slice("Trillium"), "v6e ");
  EXPECT_EQ(device_and_slice("IRONWOOD"), "v7x ");
}

TEST(DeviceNames, SizesThatNobodyOffersNameTheNearest) {
  EXPECT_EQ(device_and_slice("v5p-100"), "error: there is no slice v5p-100: v5p has none of 100 TensorCores");
  EXPECT_THAT(hint("v5p-100"), HasSubstr("v5p-64 (2x4x4) and v5p-128 (4x4x4)"));
  EXPECT_THAT(hint("v6e-512"), HasSubstr("nearest: v6e-256 (16x16);"));
  EXPECT_THAT(hint("v4-4"), HasSubstr("nearest: v4-8 (2x2x1);"));
  EXPECT_EQ(device_and_slice("v5p-"),
            "error: \"v5p-\": expected a number of TensorCores or a shape after \"v5p-\"");
  EXPECT_EQ(
      device_and_slice("v5p-99999999999999999999"),
      "error: \"v5p-99999999999999999999\": expected a number of TensorCores or a shape after \"v5p-\"");
}

TEST(DeviceNames, OtherNamesAreNone) {
  for (const std::string_view name :
       {"", "v44", "my.yaml", "v9p.yaml", "tpu4", "a/v5p-8", "-", "v4_8", "TPU v4 lite"})
    EXPECT_FALSE(find_named_file(name, {})) << name;
  EXPECT_THAT(device_and_slice("TPU v4 lite"), HasSubstr("error: no device file \"TPU v4 lite\": tried"));
}

TEST(DeviceNames, AFilesNameIsNoSlice) {
  EXPECT_EQ(device_and_slice("v5p"), "v5p ");
  EXPECT_EQ(device_and_slice("unit"), "unit ");
}

TEST(DeviceNames, ASlipNamesTheNearestGeneration) {
  EXPECT_THAT(nearest_generation("v6"), StartsWith("did you mean \"v6e\"?"));
  EXPECT_THAT(nearest_generation("v6-256"), StartsWith("did you mean \"v6e-256\"?"));
  EXPECT_THAT(nearest_generation("v6-250"), StartsWith("did you mean \"v6e\"?"));
  EXPECT_THAT(nearest_generation("v5"), StartsWith("did you mean \"v5e\" or \"v5p\"?"));
  EXPECT_THAT(nearest_generation("v5ee"), StartsWith("did you mean \"v5e\"?"));
  EXPECT_THAT(nearest_generation("TPU v8"), StartsWith("did you mean \"v7x\"?"));
  EXPECT_THAT(nearest_generation("v1"), StartsWith("did you mean \"v2\"?"));
  EXPECT_EQ(nearest_generation("v44"), "");
  EXPECT_EQ(nearest_generation("v4_fast"), "");
  EXPECT_EQ(nearest_generation(""), "");
}

// Every size and every name of a device leads back to it, and to no other.
TEST(DeviceNames, EveryNameIsFound) {
  std::set<std::string> all;
  for (const std::string& name : builtin_devices()) {
    DiagnosticList problems;
    const DeviceConfig device = load_device(name, {}, {}, problems)->config;
    if (!device.names) continue;
    for (const auto& list : {device.names->accelerators, device.names->kinds})
      for (const std::string& one : list) {
        EXPECT_TRUE(all.insert(one).second) << one << " is there twice";
        EXPECT_EQ(device_and_slice(one), name + " ");
        EXPECT_EQ(device_of_name(one, {}), name);
      }
    for (const std::string& one : device.names->profiler) EXPECT_EQ(device_of_name(one, {}), name);
    EXPECT_EQ(device_of_name(profiler_name(device), {}), name);
    for (const Topology& slice : device.ici.slices)
      EXPECT_EQ(slice_of_name(device, device.names->accelerators.back() + "-" +
                                          std::to_string(slice.chips() * device.cores_per_chip))
                    .value(),
                TextForm<Topology>::write(slice));
  }
  EXPECT_GE(all.size(), 30u);
}

TEST(DeviceNames, ProfilersNames) {
  EXPECT_EQ(device_of_name("TPU v6 Lite", {}), "v6e");
  EXPECT_EQ(device_of_name("TPU v5 lite", {}), "v5e");
  EXPECT_EQ(device_of_name("TPU v5", {}), "v5p");
  EXPECT_EQ(device_of_name("Tesla", {}), "");
  EXPECT_EQ(device_of_name("v5p-128", {}), "");
  DiagnosticList problems;
  EXPECT_EQ(profiler_name(load_device("v5e", {}, {}, problems)->config), "TPU v5 Lite");
  EXPECT_EQ(profiler_name(load_device("unit", {}, {}, problems)->config), "unit");
}

TEST(DeviceNames, TheDocumentedTableIsTheRealOne) {
  EXPECT_THAT(test::file_text(test::source_folder() / "docs/devices.md"), HasSubstr(names_markdown()))
      << "docs/devices.md: replace the table of names by `hlosim devices --format=markdown`";
}

}  // namespace
}  // namespace hlosim
