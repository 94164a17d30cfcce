#include "accelerators/accelerator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "support/folders.h"

namespace hlosim {
namespace {

using testing::HasSubstr;

std::string found(std::string_view name) {
  const Result<std::optional<Accelerator>> one = find_accelerator(name);
  if (!one) return "error: " + one.error().message;
  return *one ? (*one)->device + " " + (*one)->topology : "none";
}

TEST(Accelerator, CountsCoresWhereTheTypeDoes) {
  EXPECT_EQ(found("v2-8"), "v2 2x2");
  EXPECT_EQ(found("v3-32"), "v3 4x4");
  EXPECT_EQ(found("v4-32"), "v4 2x2x4");
  EXPECT_EQ(found("v4-384"), "v4 4x4x12");
  EXPECT_EQ(found("v5p-128"), "v5p 4x4x4");
  EXPECT_EQ(found("v5p-8"), "v5p 2x2x1");
  EXPECT_EQ(found("v5p-12288"), "v5p 16x16x24");
  EXPECT_EQ(found("tpu7x-128"), "v7x 4x4x4");
  EXPECT_EQ(found("tpu7x-8"), "v7x 2x2x1");
}

TEST(Accelerator, CountsChipsWhereTheTypeDoes) {
  EXPECT_EQ(found("v5litepod-8"), "v5e 2x4");
  EXPECT_EQ(found("v5e-256"), "v5e 16x16");
  EXPECT_EQ(found("v6e-256"), "v6e 16x16");
  EXPECT_EQ(found("v6e-1"), "v6e 1x1");
}

TEST(Accelerator, TakesAShapeInPlaceOfTheNumber) {
  EXPECT_EQ(found("tpu7x-4x4x4"), "v7x 4x4x4");
  EXPECT_EQ(found("v4-4x4x8_twisted"), "v4 4x4x8_twisted");
  EXPECT_EQ(found("v5p-4x4"), "error: \"v5p-4x4\" has 2 sides, slices of v5p have 3");
}

TEST(Accelerator, KnowsDeviceKindsAndMarketingNames) {
  EXPECT_EQ(found("TPU v2"), "v2 ");
  EXPECT_EQ(found("TPU v3"), "v3 ");
  EXPECT_EQ(found("TPU v4"), "v4 ");
  EXPECT_EQ(found("TPU v5 lite"), "v5e ");
  EXPECT_EQ(found("TPU v5"), "v5p ");
  EXPECT_EQ(found("TPU v5p"), "v5p ");
  EXPECT_EQ(found("TPU v6 lite"), "v6e ");
  EXPECT_EQ(found("TPU7x"), "v7x ");
  EXPECT_EQ(found("Trillium"), "v6e ");
  EXPECT_EQ(found("IRONWOOD"), "v7x ");
}

TEST(Accelerator, SizesThatNobodyOffersNameTheNearest) {
  const Result<std::optional<Accelerator>> one = find_accelerator("v5p-100");
  ASSERT_FALSE(one);
  EXPECT_EQ(one.error().message, "there is no slice v5p-100: v5p has none of 100 TensorCores");
  EXPECT_THAT(one.error().hint, HasSubstr("v5p-64 (2x4x4) and v5p-128 (4x4x4)"));
  EXPECT_THAT(find_accelerator("v6e-512").error().hint, HasSubstr("nearest: v6e-256 (16x16);"));
  EXPECT_THAT(find_accelerator("v4-4").error().hint, HasSubstr("nearest: v4-8 (2x2x1);"));
  EXPECT_EQ(found("v5p-"), "error: \"v5p-\": expected a number of TensorCores or a shape after \"v5p-\"");
  EXPECT_EQ(
      found("v5p-99999999999999999999"),
      "error: \"v5p-99999999999999999999\": expected a number of TensorCores or a shape after \"v5p-\"");
}

TEST(Accelerator, OtherNamesAreNone) {
  for (const std::string_view name :
       {"", "v44", "unit", "my.yaml", "v5p.yaml", "tpu", "a/v5p-8", "-", "v4_8"})
    EXPECT_EQ(found(name), "none") << name;
  EXPECT_EQ(found("TPU v4 lite"), "error: there is no device file for \"TPU v4 lite\"");
}

TEST(Accelerator, ASlipNamesTheNearestGeneration) {
  EXPECT_EQ(nearest_generation("v6"), "did you mean \"v6e\"?");
  EXPECT_EQ(nearest_generation("v6-256"), "did you mean \"v6e-256\"?");
  EXPECT_EQ(nearest_generation("v6-250"), "did you mean \"v6e\"?");
  EXPECT_EQ(nearest_generation("v5"), "did you mean \"v5e\" or \"v5p\"?");
  EXPECT_EQ(nearest_generation("v5ee"), "did you mean \"v5e\"?");
  EXPECT_EQ(nearest_generation("TPU v8"), "did you mean \"v7x\"?");
  EXPECT_EQ(nearest_generation("v1"), "did you mean \"v2\"?");
  EXPECT_EQ(nearest_generation("v44"), "");
  EXPECT_EQ(nearest_generation("v4_fast"), "");
  EXPECT_EQ(nearest_generation(""), "");
}

// Every size and every name of the table leads back to its own row.
TEST(Accelerator, EveryRowIsFound) {
  std::set<std::string_view> names;
  for (const AcceleratorFamily& family : accelerator_families()) {
    for (const auto& list : {family.names, family.kinds})
      for (const std::string_view name : list) {
        EXPECT_TRUE(names.insert(name).second) << name << " is there twice";
        EXPECT_EQ(found(name), std::string(family.device) + " ");
      }
    int64_t before = 0;
    for (const std::string_view slice : family.slices) {
      int64_t chips = 1, side = 0;
      for (const char c : std::string(slice) + "x")
        if (c == 'x')
          chips *= side, side = 0;
        else
          side = side * 10 + (c - '0');
      EXPECT_GT(chips, before) << slice << " isn't larger than the one before";
      before = chips;
      const std::string number = std::to_string(chips * family.counted_per_chip);
      const std::string expected = std::string(family.device) + " " + std::string(slice);
      for (const std::string_view name : family.names)
        EXPECT_EQ(found(std::string(name) + "-" + number), expected);
    }
    EXPECT_THAT(accelerators_markdown(), HasSubstr("`" + std::string(family.names[0]) + "`"));
  }
}

TEST(Accelerator, TheDocumentedTableIsTheRealOne) {
  EXPECT_THAT(test::file_text(test::source_folder() / "docs/devices.md"), HasSubstr(accelerators_markdown()));
}

}  // namespace
}  // namespace hlosim
