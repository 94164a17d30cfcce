#include "ops/op_case.h"

namespace hlosim {
namespace {

using namespace test;

TEST(Leaves, Infer) {
  EXPECT_EQ(inferred("x = s32[2,3] iota(), iota_dimension=1"), "s32[2,3]");
  EXPECT_EQ(inferred("x = partition-id()"), "u32[]");
  EXPECT_EQ(inferred("x = replica-id()"), "u32[]");
  EXPECT_EQ(inferred("x = tuple(f32[2] a, (s8[], token[]) b)"), "(f32[2], (s8[], token[]))");
  EXPECT_EQ(inferred("x = () tuple()"), "()");
  EXPECT_EQ(inferred("x = get-tuple-element((f32[2], (s8[])) a), index=1"), "(s8[])");
  EXPECT_EQ(inferred("x = f32[9] rng(f32[] a, f32[] b), distribution=rng_normal"), "f32[9]");
  EXPECT_EQ(inferred("x = bf16[9] rng(f32[] a, f32[] b), distribution=rng_normal"), "bf16[9]");
  EXPECT_EQ(inferred("x = pred[9] rng(pred[] a, pred[] b), distribution=rng_uniform"), "pred[9]");
  EXPECT_EQ(inferred("x = (u64[2], u32[9]) rng-bit-generator(u64[2] s), algorithm=rng_philox"),
            "(u64[2], u32[9])");
  EXPECT_EQ(inferred("x = u32[9] rng-bit-generator(u64[2] s), algorithm=rng_default"), "u32[9]");
  EXPECT_EQ(inferred("x = u64[2] rng-get-and-update-state(), delta=7"), "u64[2]");
}

TEST(Leaves, RefusesWithItsConstraint) {
  const Refused cases[] = {
      {"x = (s32[2]) iota(), iota_dimension=0", "iota C1: result has shape (s32[2]), expected an array"},
      {"x = s32[] iota(), iota_dimension=0", "iota C2: result has shape s32[]"},
      {"x = s32[2] iota(), iota_dimension=1", "iota C3: iota_dimension is 1, expected one of 1 dimensions"},
      {"x = s32[2] iota(), iota_dimension=-1", "iota C3: iota_dimension is -1"},
      {"x = pred[2] iota(), iota_dimension=0", "iota C4: result has shape pred[2]"},
      {"x = s32[] partition-id()", "partition-id: expected instruction to have shape equal to u32[]"},
      {"x = (f32[2], f32[2]) tuple(f32[2] a)",
       "tuple C1: 1 operands, but the declared shape (f32[2], f32[2]) has 2"},
      {"x = f32[2] tuple(f32[2] a)", "tuple C1: declared shape is f32[2], expected a tuple"},
      {"x = f32[2] get-tuple-element(f32[2] a), index=0", "get-tuple-element C1: operand has shape f32[2]"},
      {"x = f32[2] get-tuple-element((f32[2]) a), index=1", "get-tuple-element C2: index 1 is out of range"},
      {"x = f32[2] get-tuple-element((f32[2]) a), index=-1",
       "get-tuple-element C2: index -1 is out of range"},
      {"x = f32[9] rng(f32[] a, f32[] b, f32[] c), distribution=rng_normal",
       "rng C1: 3 operands, expected 2"},
      {"x = f32[9] rng(f32[] a, f32[2] b), distribution=rng_normal", "rng C2: operand 1 has shape f32[2]"},
      {"x = f32[9] rng(f32[] a, bf16[] b), distribution=rng_normal", "rng C3: operands f32[] and bf16[]"},
      {"x = s32[9] rng(f32[] a, f32[] b), distribution=rng_normal",
       "rng C3: operands f32[] and f32[], result s32[9]"},
      {"x = s32[9] rng(s32[] a, s32[] b), distribution=rng_normal", "rng C4: rng_normal of element type s32"},
      {"x = c64[9] rng(c64[] a, c64[] b), distribution=rng_uniform",
       "rng C4: rng_uniform of element type c64"},
      {"x = f32[9] rng(f32[] a, f32[] b), distribution=rng_invalid", "rng C5: distribution is rng_invalid"},
      {"x = (u64[2]) rng-bit-generator(u64[2] s), algorithm=rng_philox",
       "rng-bit-generator C1: result has shape"},
      {"x = (u64[3], u32[9]) rng-bit-generator(u64[2] s), algorithm=rng_philox",
       "rng-bit-generator C2: new state is u64[3], expected the old state's u64[2]"},
      {"x = u64[3] rng-get-and-update-state(), delta=7",
       "rng-get-and-update-state: expected instruction to have shape equal to u64[2]"},
  };
  expect_refused(cases);
}

TEST(Leaves, FreeOnesMoveNothing) {
  for (const std::string_view text : {"x = tuple(f32[2] a)", "x = get-tuple-element((f32[2]) a), index=0",
                                      "x = f32[2] bitcast(f32[2] a)"}) {
    with_work(text, [](const Work& work, const Module&) {
      EXPECT_EQ(work.result_written, nullptr);
      for (const ShapeRef read : work.operand_read) EXPECT_EQ(read, nullptr);
    });
  }
}

TEST(Leaves, RandomBitsCostByTheirAlgorithm) {
  const auto operations = [](std::string_view text) {
    double count = 0;
    with_work(text, [&](const Work& work, const Module&) { count = work.vectors.at(0).per_element; });
    return count;
  };
  const double hardware =
      operations("x = (u64[2], u32[9]) rng-bit-generator(u64[2] s), algorithm=rng_default");
  const double philox = operations("x = (u64[2], u32[9]) rng-bit-generator(u64[2] s), algorithm=rng_philox");
  const double threefry =
      operations("x = (u64[2], u32[9]) rng-bit-generator(u64[2] s), algorithm=rng_three_fry");
  EXPECT_LT(hardware, philox);
  EXPECT_LT(philox, threefry);
  EXPECT_EQ(operations("x = (u64[2], u8[9]) rng-bit-generator(u64[2] s), algorithm=rng_philox"), 4 * philox);
}

}  // namespace
}  // namespace hlosim
