#include "hlo/module_builder.h"

#include <gtest/gtest.h>

#include "hlo/printer.h"
#include "hlo/verifier.h"
#include "ops/op_table.h"
#include "support/modules.h"

namespace hlosim {
namespace {

class Building : public testing::Test {
 protected:
  DiagnosticList findings_;
  ModuleBuilder builder_{test::source_of("one\ntwo\nthree"), op_table(), findings_};
  ModuleBuilder::Body body_;

  ShapeRef vector(int64_t size) {
    const int64_t dimensions[] = {size};
    return builder_.module().shapes().array(ElementType::kF32, dimensions);
  }
  std::string message() const { return findings_.items().empty() ? "" : findings_.items()[0].message; }
};

TEST_F(Building, InfersShapesAndVerifies) {
  const InstructionId x = builder_.parameter(body_, vector(4), "x", {4, {}});
  const InstructionId operands[] = {x, x};
  const InstructionId sum = builder_.add(body_, Opcode::kAdd, operands, {}, nullptr, {8, "{op_name=\"s\"}"});
  const ComputationId main = builder_.close(body_, "main", sum, 0);
  ASSERT_FALSE(builder_.failed());
  Module module = builder_.finish("m", main, {});
  EXPECT_TRUE(verify(module, op_table(), findings_));
  EXPECT_EQ(to_text(module, op_table()),
            "HloModule m\n\nENTRY %main.1 (x.1: f32[4]) -> f32[4]{0} {\n  %x.1 = f32[4]{0} parameter(0)\n"
            "  ROOT %add.1 = f32[4]{0} add(%x.1, %x.1), metadata={op_name=\"s\"}\n}\n");
}

TEST_F(Building, ReportsTheFirstFaultWhereItComesFrom) {
  const InstructionId x = builder_.parameter(body_, vector(4), "x", {0, {}});
  const InstructionId y = builder_.parameter(body_, vector(5), "y", {0, {}});
  const InstructionId operands[] = {x, y};
  EXPECT_FALSE(builder_.add(body_, Opcode::kAdd, operands, {}, nullptr, {4, {}}).valid());
  EXPECT_FALSE(builder_.add(body_, Opcode::kAdd, operands, {}, nullptr, {8, {}}).valid());
  ASSERT_EQ(findings_.error_count(), 1U);
  EXPECT_EQ(findings_.items()[0].offset, 4U);
}

TEST_F(Building, CountsOperandsAndKnowsWords) {
  const InstructionId x = builder_.parameter(body_, vector(4), "x", {0, {}});
  const InstructionId one[] = {x};
  builder_.add(body_, Opcode::kAdd, one, {}, nullptr, {0, {}});
  EXPECT_EQ(message(), "add expects 2 operands, but has 1");
}

TEST_F(Building, RefusesWordsThatTheAttributeHasNot) {
  const InstructionId x = builder_.parameter(body_, vector(4), "x", {0, {}});
  const InstructionId two[] = {x, x};
  const Attr attrs[] = {builder_.text(AttrKey::kDirection, "XY")};
  builder_.add(body_, Opcode::kCompare, two, attrs, nullptr, {0, {}});
  EXPECT_EQ(message(), "compare: direction can't be XY");
}

TEST_F(Building, NamesAreWordsAndOneOfAKind) {
  const InstructionId a = builder_.parameter(body_, vector(1), "params['w']", {0, {}});
  const InstructionId b = builder_.parameter(body_, vector(1), "params['w']", {0, {}});
  const InstructionId c = builder_.parameter(body_, vector(1), "9", {0, {}});
  EXPECT_EQ(builder_.module()[a].name, "params__w__.1");
  EXPECT_EQ(builder_.module()[b].name, "params__w__.2");
  EXPECT_EQ(builder_.module()[c].name, "_9.1");
  const ComputationId main = builder_.close(body_, "main", a, 0);
  EXPECT_EQ(builder_.finish("f32", main, {}).name, "f32_");
}

TEST(Escaped, TextOfQuotes) { EXPECT_EQ(escaped("a\"b\\\n\x01"), "a\\\"b\\\\\\n\\001"); }

}  // namespace
}  // namespace hlosim
