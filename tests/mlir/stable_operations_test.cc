// The one table of StableHLO's operations: its order, and that each reader can rely on it.
#include "mlir/stable_operations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace hlosim::mlir {
namespace {

using testing::ElementsAre;

TEST(StableOperations, AreFoundByNameAndOpcode) {
  const std::span<const StableOperation> all = stable_operations();
  ASSERT_GT(all.size(), 100u);
  EXPECT_TRUE(std::ranges::is_sorted(all, std::ranges::less_equal{}, &StableOperation::name));
  std::set<Opcode> written;
  for (const StableOperation& operation : all) {
    EXPECT_EQ(stable_operation(operation.name), &operation) << operation.name;
    if (operation.form == StableForm::kNone) continue;
    ASSERT_TRUE(operation.opcode) << operation.name;
    EXPECT_TRUE(written.insert(*operation.opcode).second) << operation.name;
    EXPECT_EQ(stable_operation(*operation.opcode), &operation) << operation.name;
  }
  EXPECT_EQ(stable_operation("stablehlo.nothing"), nullptr);
  EXPECT_EQ(stable_operation(""), nullptr);
  EXPECT_EQ(stable_operation(Opcode::kFusion), nullptr);
}

TEST(StableOperations, AttributesOfAVersionAreInAlphabeticalOrder) {
  for (const StableOperation& operation : stable_operations())
    for (int version = 1; version <= operation.newest; ++version)
      EXPECT_TRUE(std::ranges::is_sorted(operation.vhlo_attributes(version))) << operation.name;
  EXPECT_THAT(stable_operation("stablehlo.cbrt")->vhlo_attributes(1), ElementsAre());
  EXPECT_THAT(stable_operation("stablehlo.cbrt")->vhlo_attributes(2), ElementsAre("result_accuracy"));
  const StableOperation& convolution = *stable_operation("stablehlo.dynamic_conv");
  EXPECT_THAT(convolution.vhlo_attributes(1), testing::Contains("padding"));
  EXPECT_THAT(convolution.vhlo_attributes(2), testing::Not(testing::Contains("padding")));
}

}  // namespace
}  // namespace hlosim::mlir
