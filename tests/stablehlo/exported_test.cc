// What files of jax.export say beside their artifacts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "mlir/ir.h"
#include "stablehlo/read_stablehlo.h"
#include "support/artifact_writer.h"
#include "support/exported_writer.h"
#include "support/modules.h"

namespace hlosim::stablehlo {
namespace {

using testing::HasSubstr;

std::vector<Module> read(const std::string& bytes, DiagnosticList& findings,
                         const ConvertOptions& options = {}) {
  EXPECT_TRUE(holds_mlir(bytes));
  const auto source = std::make_shared<const SourceFile>("f.exported", bytes);
  std::vector<Module> modules = read_modules(source, op_table(), findings, options);
  for (Module& module : modules) verify(module, op_table(), findings);
  return modules;
}

TEST(ExportedFiles, DevicesAndShardingsCountWhereTheProgramIsSilent) {
  DiagnosticList findings;
  const std::vector<Module> modules = read(test::exported(test::small_artifact(6)), findings);
  ASSERT_EQ(modules.size(), 1u) << test::rendered(findings);
  EXPECT_FALSE(findings.has_errors()) << test::rendered(findings);
  EXPECT_EQ(modules[0].num_partitions(), 8);
  const auto& parameters = modules[0].entry_computation().parameters;
  ASSERT_EQ(parameters.size(), 2u);
  // The file's input is the last argument: the first is none of the function's own.
  EXPECT_EQ(modules[0][parameters[0]].find(AttrKey::kSharding), nullptr);
  const Attr* const sharding = modules[0][parameters[1]].find(AttrKey::kSharding);
  ASSERT_NE(sharding, nullptr);
  EXPECT_EQ(sharding->text(), "{devices=[8,1]<=[8]}");
}

TEST(ExportedFiles, AnAxisThatTheMeshHasNotIsAnError) {
  DiagnosticList findings;
  EXPECT_TRUE(read(test::exported(test::small_artifact(6), "z"), findings).empty());
  EXPECT_THAT(test::rendered(findings), HasSubstr("f.exported"));
  EXPECT_THAT(test::rendered(findings),
              HasSubstr("the file around the artifact: the mesh has no axis \"z\""));
}

TEST(ExportedFiles, SizesAreGivenByTheNamesInTheFile) {
  const std::string file = test::exported(test::small_artifact(6, mlir::kDynamic));
  DiagnosticList findings;
  ConvertOptions options;
  options.dimensions = {{"b", 5}, {"arg0.1", 5}};
  const std::vector<Module> modules = read(file, findings, options);
  ASSERT_EQ(modules.size(), 1u) << test::rendered(findings);
  const auto& parameters = modules[0].entry_computation().parameters;
  EXPECT_EQ(modules[0][parameters[1]].shape->dim(1), 5);

  // A name that nothing is called by is no size of the next dimension where all have got theirs.
  DiagnosticList more;
  options.dimensions = {{"b", 5}, {"", 5}, {"", 7}};
  EXPECT_TRUE(read(file, more, options).empty());
  EXPECT_THAT(test::rendered(more), HasSubstr("2 sizes are given"));
}

}  // namespace
}  // namespace hlosim::stablehlo
