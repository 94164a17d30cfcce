#include "ops/op_case.h"

namespace hlosim {
namespace {

using namespace test;

TEST(Dynamic, Infer) {
  EXPECT_EQ(inferred("x = f32[1,4] dynamic-slice(f32[3,<=4] a, s32[] i, s32[] j), dynamic_slice_sizes={1,4}"),
            "f32[1,4]");
  EXPECT_EQ(inferred("x = f32[1,4] dynamic-slice(f32[3,4] a, u8[2] i), dynamic_slice_sizes={1,4}"),
            "f32[1,4]");
  EXPECT_EQ(inferred("x = f32[] dynamic-slice(f32[] a), dynamic_slice_sizes={}"), "f32[]");
  EXPECT_EQ(inferred("x = f32[3,4] dynamic-update-slice(f32[3,4] a, f32[1,4] u, s32[] i, s32[] j)"),
            "f32[3,4]");
  EXPECT_EQ(inferred("x = f32[3,4] dynamic-update-slice(f32[3,4] a, bf16[0,4] u, s64[2] i)"), "f32[3,4]");
  EXPECT_EQ(inferred("x = f32[<=2,6] dynamic-reshape(f32[12] a, s32[] m, s32[] n)"), "f32[<=2,6]");
  EXPECT_EQ(inferred("x = get-dimension-size(f32[<=7] a), dimensions={0}"), "s32[]");
  EXPECT_EQ(inferred("x = set-dimension-size(f32[3,7] a, s32[] n), dimensions={1}"), "f32[3,<=7]");
}

TEST(Dynamic, RefusesWithItsConstraint) {
  const Refused cases[] = {
      {"x = f32[1] dynamic-slice(), dynamic_slice_sizes={1}", "dynamic-slice C1: no operands"},
      {"x = f32[1] dynamic-slice((f32[3]) a, s32[] i), dynamic_slice_sizes={1}",
       "dynamic-slice C1: operand 0"},
      {"x = f32[1] dynamic-slice(f32[3] a), dynamic_slice_sizes={1}",
       "dynamic-slice C2: 0 start indices, expected 1"},
      {"x = f32[1] dynamic-slice(f32[3] a, f32[] i), dynamic_slice_sizes={1}",
       "dynamic-slice C2: operand 1 has shape f32[], expected an integer type"},
      {"x = f32[1] dynamic-slice(f32[3] a, s32[2] i), dynamic_slice_sizes={1}",
       "dynamic-slice C2: start indices are 1 operands, the first one s32[2], expected one vector of 1 "
       "elements"},
      {"x = f32[1,1] dynamic-slice(f32[3,3] a, s32[] i, s32[2] j), dynamic_slice_sizes={1,1}",
       "dynamic-slice C2: operand 2 has shape s32[2], expected a scalar"},
      {"x = f32[1,1] dynamic-slice(f32[3,3] a, s32[] i, s64[] j), dynamic_slice_sizes={1,1}",
       "dynamic-slice C2: start indices s32[] and s64[] differ"},
      {"x = f32[1] dynamic-slice(f32[3] a, token[] i), dynamic_slice_sizes={1}",
       "dynamic-slice C2: operand 1"},
      {"x = f32[1] dynamic-slice(f32[3] a, s32[] i), dynamic_slice_sizes={}",
       "dynamic-slice C3: dynamic_slice_sizes"},
      {"x = f32[1] dynamic-slice(f32[3] a, s32[] i), dynamic_slice_sizes={4}",
       "dynamic-slice C4: slice size 4"},
      {"x = f32[1] dynamic-slice(f32[3] a, s32[] i), dynamic_slice_sizes={-1}",
       "dynamic-slice C4: slice size -1"},
      {"x = f32[3] dynamic-update-slice(f32[3] a)", "dynamic-update-slice C1: 1 operands"},
      {"x = f32[3] dynamic-update-slice(f32[3] a, token[] u, s32[] i)", "dynamic-update-slice C1: operand 1"},
      {"x = f32[3] dynamic-update-slice(f32[3] a, f32[1] u)", "dynamic-update-slice C2: 0 start indices"},
      {"x = f32[3] dynamic-update-slice(f32[3] a, f32[] u, s32[] i)",
       "dynamic-update-slice C3: f32[3] is updated by"},
      {"x = f32[3] dynamic-update-slice(f32[3] a, s32[1] u, s32[] i)",
       "dynamic-update-slice C4: f32[3] is updated by"},
      {"x = f32[3] dynamic-update-slice(f32[3] a, f32[4] u, s32[] i)",
       "dynamic-update-slice C5: f32[3] is updated by"},
      {"x = bf16[3] dynamic-update-slice(f32[3] a, f32[1] u, s32[] i)",
       "dynamic-update-slice: expected instruction to have shape equal to f32[3], actual shape is bf16[3]"},
      {"x = (f32[2]) dynamic-reshape(f32[2] a, s32[] n)", "dynamic-reshape C1: declared shape is (f32[2])"},
      {"x = f32[2,6] dynamic-reshape(f32[12] a, s32[] n)", "dynamic-reshape C1: 1 size operands, expected 2"},
      {"x = f32[5] dynamic-reshape(f32[12] a, s32[] n)",
       "dynamic-reshape C2: 12 elements in f32[12] become 5"},
      {"x = s32[12] dynamic-reshape(f32[12] a, s32[] n)", "dynamic-reshape C3: f32[12] becomes s32[12]"},
      {"x = f32[12] dynamic-reshape(f32[12] a, s64[] n)",
       "dynamic-reshape C4: size operand 1 has shape s64[]"},
      {"x = s32[] get-dimension-size(token[] a), dimensions={0}", "get-dimension-size C1: operand 0"},
      {"x = s32[] get-dimension-size(f32[7] a), dimensions={1}", "get-dimension-size C2: dimension is 1"},
      {"x = s32[] get-dimension-size(s8[2147483648] a), dimensions={0}",
       "get-dimension-size C3: dimension 0"},
      {"x = s64[] get-dimension-size(f32[7] a), dimensions={0}",
       "get-dimension-size: expected instruction to have shape equal to s32[], actual shape is s64[]"},
      {"x = f32[<=7] set-dimension-size(f32[7] a, s32[1] n), dimensions={0}",
       "set-dimension-size C4: the size has"},
      {"x = f32[<=7] set-dimension-size(f32[7] a, u32[] n), dimensions={0}",
       "set-dimension-size C4: the size has"},
  };
  expect_refused(cases);
}

TEST(Dynamic, SlicesTouchTheirPart) {
  with_work("x = f32[1,4] dynamic-slice(f32[3,4] a, s32[] i, s32[] j), dynamic_slice_sizes={1,4}",
            [](const Work& work, const Module&) {
              EXPECT_EQ(text_of_part(work.operand_read[0]), "f32[1,4]");
              EXPECT_EQ(text_of_part(work.operand_read[1]), "s32[]");
              EXPECT_EQ(work.scattered_accesses, 1);
            });
  with_work("x = f32[3,4] dynamic-update-slice(f32[3,4] a, f32[1,4] u, s32[] i, s32[] j)",
            [](const Work& work, const Module&) {
              EXPECT_EQ(text_of_part(work.operand_read[0]), "nothing");
              EXPECT_EQ(text_of_part(work.operand_read[1]), "f32[1,4]");
              EXPECT_EQ(text_of_part(work.result_written), "f32[1,4]");
            });
  with_work("x = f32[<=7] set-dimension-size(f32[7] a, s32[] n), dimensions={0}",
            [](const Work& work, const Module&) {
              EXPECT_EQ(text_of_part(work.operand_read[0]), "nothing");
              EXPECT_EQ(text_of_part(work.result_written), "s32[]");
            });
}

}  // namespace
}  // namespace hlosim
