#include "mlir_bytecode/exported.h"

#include <gmock/gmock.h>

#include "mlir_bytecode/read_bytecode.h"
#include "support/artifact_writer.h"
#include "support/exported_writer.h"

namespace hlosim::mlir {
namespace {

SourcePtr source_of(std::string bytes) {
  return std::make_shared<const SourceFile>("f.exported", std::move(bytes));
}

TEST(Exported, SaysWhatTheFunctionTakesAndForHowManyDevicesItIs) {
  const SourcePtr source = source_of(test::exported(test::small_artifact(6)));
  ASSERT_TRUE(is_exported(source->text()));
  const Result<Exported> file = read_exported(source);
  ASSERT_TRUE(file.has_value()) << render(file.error());
  EXPECT_EQ(file->function, "f");
  EXPECT_EQ(file->devices, 8);
  EXPECT_THAT(file->platforms, ::testing::ElementsAre("tpu"));
  ASSERT_EQ(file->inputs.size(), 1u);
  EXPECT_EQ(file->inputs[0].type, "f32[2,b]");
  EXPECT_THAT(file->inputs[0].sizes, ::testing::ElementsAre("2", "b"));
  const ExportedSharding& sharding = file->inputs[0].sharding;
  EXPECT_THAT(sharding.mesh, ::testing::ElementsAre(::testing::Pair("x", 4), ::testing::Pair("y", 2)));
  EXPECT_THAT(sharding.dimensions,
              ::testing::ElementsAre(::testing::ElementsAre("x", "y"), ::testing::IsEmpty()));
  EXPECT_THAT(file->kept_inputs, ::testing::ElementsAre(0));
  EXPECT_TRUE(file->outputs.empty());
  const Result<File> module = read_bytecode(source, file->begin, file->size);
  ASSERT_TRUE(module.has_value()) << render(module.error());
  EXPECT_EQ(module->producer, "StableHLO_v1.13.1");
}

TEST(Exported, OtherFilesAreNone) {
  EXPECT_FALSE(is_exported(test::small_artifact(6)));
  EXPECT_FALSE(is_exported(std::string(200, '\0')));
  EXPECT_FALSE(
      is_exported("HloModule m\n\nENTRY main {\n  ROOT p = f32[] parameter(0)\n}\n" + std::string(80, ' ')));
}

TEST(Exported, CutOrChangedThereIsAnAnswer) {
  const std::string whole = test::exported(test::small_artifact(6));
  size_t refused = 0;
  const auto try_it = [&](std::string bytes) {
    const size_t size = bytes.size();
    const SourcePtr source = source_of(std::move(bytes));
    if (!is_exported(source->text())) return;
    const Result<Exported> file = read_exported(source);
    refused += !file;
    if (!file) {
      EXPECT_LE(file.error().offset, size + (size_t{1} << 33));
    } else {
      EXPECT_LE(file->begin + file->size, size);
    }
  };
  for (size_t size = 0; size < whole.size(); ++size) try_it(whole.substr(0, size));
  for (size_t at = 0; at < whole.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ 1 << bit);
      try_it(changed);
    }
  EXPECT_GT(refused, 0u);
}

}  // namespace
}  // namespace hlosim::mlir
