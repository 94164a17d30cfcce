// What a check compares where the module itself would take too much, or rounding hides what it computes.
#include "partition_check/partition_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "partition_check/same_form.h"
#include "partition_check/wide_floats.h"
#include "support/modules.h"

namespace hlosim {
namespace {

using test::module_or_fail;
using testing::HasSubstr;

std::string product(int64_t rows, std::string_view type, std::string_view also = "") {
  return fmt::format(
      "HloModule m\nENTRY e {{\n x = {1}[{0},4096] parameter(0), sharding={{devices=[8,1]<=[8]}}\n"
      " w = {1}[4096,4096] parameter(1), sharding={{devices=[8,1]<=[8]}}\n{2}"
      " ROOT y = {1}[{0},4096] dot(x, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}},"
      " sharding={{devices=[8,1]<=[8]}}\n}}\n",
      rows, type, also);
}

TEST(PartitionCheck, LargeModulesAreComparedAtSmallerSizes) {
  const auto check = check_partition(module_or_fail(product(65536, "f32")), op_table(), {}, {});
  ASSERT_TRUE(check) << check.error().message;
  EXPECT_TRUE(check->agrees());
  ASSERT_EQ(check->notes.size(), 1u);
  EXPECT_THAT(check->notes[0], HasSubstr("compared at smaller sizes"));
  EXPECT_THAT(check->outputs[0].shape, testing::Not(HasSubstr("65536")));
}

TEST(PartitionCheck, SmallModulesAreComparedAsTheyAre) {
  const auto check =
      check_partition(module_or_fail("HloModule m\nENTRY e {\n x = f32[10,6] parameter(0),"
                                     " sharding={devices=[4,1]<=[4]}\n ROOT y = f32[10,6] negate(x),"
                                     " sharding={devices=[1,4]<=[4]}\n}\n"),
                      op_table(), {}, {});
  ASSERT_TRUE(check);
  EXPECT_TRUE(check->agrees());
  EXPECT_TRUE(check->notes.empty());
}

TEST(PartitionCheck, WhatCantBeMadeSmallerAndIsTooLargeIsRefused) {
  PartitionCheckOptions options;
  options.max_bytes = 1 << 10;
  const auto check = check_partition(
      module_or_fail("HloModule m\nENTRY e {\n x = f32[10007] parameter(0), sharding={devices=[4]<=[4]}\n"
                     " ROOT y = f32[10007] negate(x), sharding={devices=[4]<=[4]}\n}\n"),
      op_table(), {}, options);
  ASSERT_FALSE(check);
  EXPECT_THAT(check.error().message, HasSubstr("more than 1.00 KiB, and no smaller sizes"));
}

TEST(PartitionCheck, RoundingOfLongSumsIsToldFromFaults) {
  const auto check = check_partition(
      module_or_fail("HloModule m\nsum {\n a = bf16[] parameter(0)\n b = bf16[] parameter(1)\n"
                     " ROOT s = bf16[] add(a, b)\n}\n"
                     "ENTRY e {\n x = bf16[8,4] parameter(0), sharding={replicated}\n"
                     " i = s32[20000,1] parameter(1), sharding={devices=[4,1]<=[4]}\n"
                     " u = bf16[20000,4] parameter(2), sharding={devices=[4,1]<=[4]}\n"
                     " ROOT y = bf16[8,4] scatter(x, i, u), update_window_dims={1},"
                     " inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1,"
                     " to_apply=sum, sharding={replicated}\n}\n"),
      op_table(), {}, {});
  ASSERT_TRUE(check) << check.error().message;
  EXPECT_TRUE(check->agrees());
  ASSERT_EQ(check->notes.size(), 1u);
  EXPECT_THAT(check->notes[0], HasSubstr("in f64 agrees"));
}

TEST(SameForm, CountsInstructionsNotSizes) {
  const Module a = module_or_fail(product(64, "f32")), b = module_or_fail(product(128, "f32"));
  EXPECT_TRUE(same_form(a, b));
  EXPECT_FALSE(same_form(a, module_or_fail(product(64, "bf16"))));
  EXPECT_FALSE(same_form(a, module_or_fail(product(64, "f32", " n = f32[4096,4096] negate(w)\n"))));
}

TEST(WideFloats, AreF64) {
  const auto wide = with_wide_floats(module_or_fail(product(8, "bf16")), op_table());
  ASSERT_TRUE(wide);
  EXPECT_THAT(to_text(*wide, op_table()), HasSubstr("f64[8,4096]"));
  EXPECT_THAT(to_text(*wide, op_table()), testing::Not(HasSubstr("bf16")));
  EXPECT_FALSE(with_wide_floats(module_or_fail(product(8, "f64")), op_table()));
}

TEST(WideFloats, BitsAreThoseOfTheTypeThatTheyWere) {
  const auto wide = with_wide_floats(
      module_or_fail("HloModule m\nENTRY e {\n x = bf16[4] parameter(0)\n n = bf16[4] negate(x)\n"
                     " b = u16[4] bitcast-convert(n)\n s = u16[4] add(b, b)\n"
                     " f = bf16[4] bitcast-convert(s)\n ROOT y = bf16[4] multiply(f, n)\n}\n"),
      op_table());
  ASSERT_TRUE(wide);
  const std::string text = to_text(*wide, op_table());
  EXPECT_THAT(text,
              HasSubstr("%convert.1 = bf16[4]{0} convert(%n)\n  %b = u16[4]{0} bitcast-convert(%convert.1)"));
  EXPECT_THAT(text, HasSubstr("bf16[4]{0} bitcast-convert(%s)"));
  EXPECT_THAT(text,
              HasSubstr("%convert.2 = f64[4] convert(%f)\n  ROOT %y = f64[4] multiply(%convert.2, %n)"));
}

TEST(WideFloats, BitcastsThatMoveNothingAreNoBits) {
  const auto wide =
      with_wide_floats(module_or_fail("HloModule m\nENTRY e {\n x = bf16[4,6]{1,0} parameter(0)\n"
                                      " ROOT y = bf16[24]{0} bitcast(x)\n}\n"),
                       op_table());
  ASSERT_TRUE(wide);
  EXPECT_THAT(to_text(*wide, op_table()), HasSubstr("f64[24] reshape(%x)"));
}

}  // namespace
}  // namespace hlosim
