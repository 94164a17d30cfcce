#include "ops/op_case.h"

namespace hlosim {
namespace {

using namespace test;

TEST(DataMovement, Infer) {
  EXPECT_EQ(inferred("x = f32[8] bitcast(bf16[4,4] a)"), "f32[8]");  // any re-reading of the bytes
  EXPECT_EQ(inferred("x = u16[3,2] bitcast-convert(f32[3] a)"), "u16[3,2]");
  EXPECT_EQ(inferred("x = f32[3] bitcast-convert(u16[3,2] a)"), "f32[3]");
  EXPECT_EQ(inferred("x = u8[10] bitcast-convert(pred[10] a)"), "u8[10]");
  EXPECT_EQ(inferred("x = s4[] bitcast-convert(u4[] a)"), "s4[]");
  EXPECT_EQ(inferred("x = f32[3,2] broadcast(f32[2] a), dimensions={1}"), "f32[3,2]");
  EXPECT_EQ(inferred("x = f32[3,2] broadcast(f32[2,3] a), dimensions={1,0}"), "f32[3,2]");
  EXPECT_EQ(inferred("x = f32[3] broadcast(f32[] a)"), "f32[3]");
  EXPECT_EQ(inferred("x = concatenate(f32[2,3] a, f32[2,<=4] b), dimensions={1}"), "f32[2,<=7]");
  EXPECT_EQ(inferred("x = copy((f32[2], token[]) a)"), "(f32[2], token[])");
  EXPECT_EQ(inferred("x = pad(f32[4,0] a, f32[] v), padding=1_2_3x5_-1"), "f32[16,4]");
  EXPECT_EQ(inferred("x = pad(f32[<=4] a, f32[] v), padding=-1_-3"), "f32[<=0]");
  EXPECT_EQ(inferred("x = f32[2,6] reshape(f32[3,4] a)"), "f32[2,6]");
  EXPECT_EQ(inferred("x = reverse(f32[3,4] a), dimensions={1}"), "f32[3,4]");
  EXPECT_EQ(inferred("x = f32[2,4] slice(f32[3,9] a), slice={[0:2],[1:8:2]}"), "f32[2,4]");
  EXPECT_EQ(inferred("x = f32[0] slice(f32[3] a), slice={[3:3]}"), "f32[0]");
  EXPECT_EQ(inferred("x = transpose(f32[3,<=4,5] a), dimensions={2,0,1}"), "f32[5,3,<=4]");
}

// Against a slow count of what a slice and a padding leave.
TEST(DataMovement, SizesAreThoseOfCounting) {
  for (int size = 0; size <= 5; ++size) {
    for (int start = 0; start <= size; ++start)
      for (int limit = start; limit <= size; ++limit)
        for (int stride = 1; stride <= 3; ++stride) {
          int count = 0;
          for (int i = start; i < limit; i += stride) ++count;
          EXPECT_EQ(inferred(fmt::format("x = s8[{}] slice(s8[{}] a), slice={{[{}:{}:{}]}}", count, size,
                                         start, limit, stride)),
                    fmt::format("s8[{}]", count));
        }
    for (int low = -2; low <= 2; ++low)
      for (int high = -2; high <= 2; ++high)
        for (int interior = 0; interior <= 2; ++interior) {
          int count = low + high;
          for (int i = 0; i < size; ++i) count += i == 0 ? 1 : 1 + interior;
          const std::string shape =
              inferred(fmt::format("x = pad(s8[{}] a, s8[] v), padding={}_{}_{}", size, low, high, interior));
          if (count >= 0)
            EXPECT_EQ(shape, fmt::format("s8[{}]", count));
          else
            EXPECT_TRUE(shape.starts_with("pad C5")) << shape;
        }
  }
}

TEST(DataMovement, RefusesWithItsConstraint) {
  const Refused cases[] = {
      {"x = f32[2] bitcast-convert((f32[2]) a)", "bitcast-convert C1: operand 0"},
      {"x = (f32[2]) bitcast-convert(f32[2] a)", "bitcast-convert C1: result has shape (f32[2])"},
      {"x = c64[2] bitcast-convert(f64[2] a)", "bitcast-convert C2: f64[2] to c64[2]"},
      {"x = s4[2,2] bitcast-convert(f6e2m3fn[2] a)", "bitcast-convert C3: f6e2m3fn[2] to s4[2,2]"},
      {"x = f32[2] bitcast-convert(u16[2,3] a)",
       "bitcast-convert C4: u16[2,3] to f32[2], expected a last dimension of 2"},
      {"x = f32[] bitcast-convert(u16[] a)", "bitcast-convert C4: u16[] to f32[]"},
      {"x = u16[3] bitcast-convert(f32[3] a)",
       "bitcast-convert: expected instruction to have shape equal to u16[3,2]"},
      {"x = f32[3] broadcast(f32[3] a)", "broadcast C1: attribute dimensions is missing"},
      {"x = broadcast(f32[3] a), dimensions={0}", "broadcast C1: the shape of the result has to be written"},
      {"x = (f32[3]) broadcast(f32[3] a), dimensions={0}", "broadcast C1: result has shape (f32[3])"},
      {"x = s32[3] broadcast(f32[] a), dimensions={}", "broadcast C2: operand f32[] and result s32[3]"},
      {"x = f32[3] broadcast(f32[3] a), dimensions={}", "broadcast C3: dimensions has 0 entries, expected 1"},
      {"x = f32[3] broadcast(f32[3] a), dimensions={1}",
       "broadcast C3: dimensions holds 1, expected values in [0, 1)"},
      {"x = f32[3] broadcast(f32[3] a), dimensions={-9223372036854775808}",
       "broadcast C3: dimensions holds -9223"},
      {"x = f32[3] broadcast(f32[1] a), dimensions={0}",
       "broadcast C4: dimension 0 of f32[1] becomes dimension 0"},
      {"x = f32[3] concatenate(), dimensions={0}", "concatenate C1: no operands, expected at least one"},
      {"x = f32[3] concatenate(f32[3] a, token[] b), dimensions={0}", "concatenate C1: operand 1"},
      {"x = f32[3] concatenate(f32[3] a), dimensions={1}",
       "concatenate C2: dimension to concatenate along is 1"},
      {"x = f32[] concatenate(f32[] a), dimensions={0}",
       "concatenate C2: dimension to concatenate along is 0"},
      {"x = f32[3] concatenate(f32[3] a, f32[3,1] b), dimensions={0}", "concatenate C3: f32[3] and f32[3,1]"},
      {"x = f32[6] concatenate(f32[3] a, s32[3] b), dimensions={0}", "concatenate C4: f32[3] and s32[3]"},
      {"x = f32[3,2] concatenate(f32[2,1] a, f32[3,1] b), dimensions={1}",
       "concatenate C5: f32[2,1] and f32[3,1] differ in dimension 0"},
      {"x = f32[3] copy(f32[4] a)", "copy: expected instruction to have shape equal to f32[4]"},
      {"x = f32[3] pad(f32[3] a, f32[1] v), padding=0_0",
       "pad C1: operand 1 has shape f32[1], expected a scalar"},
      {"x = f32[3] pad(f32[3] a, s32[] v), padding=0_0", "pad C2: operand f32[3] and padding value s32[]"},
      {"x = f32[3] pad(f32[3] a, f32[] v), padding=0_0x0_0", "pad C3: padding has 2 entries, expected 1"},
      {"x = f32[3] pad(f32[3] a, f32[] v), padding=0_0_-1", "pad C4: interior padding of dimension 0 is -1"},
      {"x = f32[3] pad(f32[3] a, f32[] v), padding=-2_-2",
       "pad C5: padding -2_-2_0 leaves -1 of the 3 elements"},
      {"x = f32[2,5] reshape(f32[3,4] a)", "reshape C1: 12 elements in f32[3,4] become 10 in f32[2,5]"},
      {"x = f32[1] reshape(token[] a)", "reshape C1: token[] becomes f32[1]"},
      {"x = s32[12] reshape(f32[3,4] a)", "reshape C2: f32[3,4] becomes s32[12]"},
      {"x = f32[3] reverse((f32[3]) a), dimensions={0}", "reverse C1: operand 0"},
      {"x = f32[3] reverse(f32[3] a), dimensions={3}", "reverse C2: dimensions holds 3"},
      {"x = f32[3] reverse(f32[3] a), dimensions={0,0}", "reverse C2: dimensions holds 0 more than once"},
      {"x = f32[3] slice(token[] a), slice={[0:3]}", "slice C1: operand 0"},
      {"x = f32[3] slice(f32[3] a), slice={}", "slice C2: slice has 0 entries, expected 1"},
      {"x = f32[3] slice(f32[3] a), slice={[-1:2]}", "slice C3: [-1:2] of dimension 0 of f32[3]"},
      {"x = f32[3] slice(f32[3] a), slice={[2:1]}", "slice C3: [2:1] of dimension 0"},
      {"x = f32[3] slice(f32[3] a), slice={[0:4]}",
       "slice C3: [0:4] of dimension 0 of f32[3], expected 0 <= start <= "
       "limit <= 3"},
      {"x = f32[3] slice(f32[3] a), slice={[0:3:0]}", "slice C4: stride of dimension 0 is 0"},
      {"x = f32[3] transpose((f32[3]) a), dimensions={0}", "transpose C1: operand 0"},
      {"x = f32[3] transpose(f32[3] a), dimensions={0,1}",
       "transpose C2: dimensions has 2 entries, expected 1"},
      {"x = f32[3,3] transpose(f32[3,3] a), dimensions={1,1}",
       "transpose C2: dimensions holds 1 more than once"},
  };
  expect_refused(cases);
}

TEST(DataMovement, HugeNumbersEndInAMessage) {
  const std::string_view huge = "9223372036854775807";
  EXPECT_FALSE(refusal(fmt::format("x = f32[3] pad(f32[3] a, f32[] v), padding={0}_{0}_{0}", huge)).empty());
  EXPECT_FALSE(refusal(fmt::format("x = f32[3] slice(f32[3] a), slice={{[0:{0}:{0}]}}", huge)).empty());
  EXPECT_EQ(refusal(fmt::format("x = f32[1] slice(f32[3] a), slice={{[0:3:{}]}}", huge)), "");
}

/// The shuffle units that an instruction keeps busy.
std::string shuffles(std::string_view text) {
  std::string units;
  with_work(text, [&](const Work& work, const Module&) {
    for (const VectorWork& vector : work.vectors) {
      if (vector.op == VectorOp::kCrossLane) units += "lanes ";
      if (vector.op == VectorOp::kCrossSublane) units += "sublanes ";
      if (vector.op == VectorOp::kTranspose) units += "turned ";
    }
  });
  return units;
}

TEST(DataMovement, OnlyWhatLeavesItsRegisterIsShuffled) {
  EXPECT_EQ(shuffles("x = f32[8,4,128] transpose(f32[4,8,128] a), dimensions={1,0,2}"), "sublanes ");
  EXPECT_EQ(shuffles("x = f32[4,128,8] transpose(f32[4,8,128] a), dimensions={0,2,1}"), "turned ");
  EXPECT_EQ(shuffles("x = f32[5,4,8,128] transpose(f32[4,5,8,128] a), dimensions={1,0,2,3}"), "");
  // A layout that the text leaves out keeps the elements in place.
  EXPECT_EQ(shuffles("x = transpose(f32[4,8,128] a), dimensions={0,2,1}"), "");
  EXPECT_EQ(shuffles("x = f32[128,8]{0,1} transpose(f32[8,128]{1,0} a), dimensions={1,0}"), "");
  EXPECT_EQ(shuffles("x = f32[8,128]{0,1} copy(f32[8,128]{1,0} a)"), "turned ");
  EXPECT_EQ(shuffles("x = f32[8,128]{1,0:S(1)} copy(f32[8,128]{1,0} a)"), "");
  EXPECT_EQ(shuffles("x = f32[8,128]{1,0:T(8,128)} copy(f32[8,128]{1,0:T(4,128)} a)"), "sublanes ");
  EXPECT_EQ(shuffles("x = concatenate(f32[8,128] a, f32[8,5] b), dimensions={1}"), "");
  EXPECT_EQ(shuffles("x = concatenate(f32[8,100] a, f32[8,5] b), dimensions={1}"), "lanes ");
  EXPECT_EQ(shuffles("x = concatenate(f32[4,128] a, f32[5,128] b), dimensions={0}"), "sublanes ");
  EXPECT_EQ(shuffles("x = f32[4,128] slice(f32[8,128] a), slice={[3:7],[0:128]}"), "sublanes ");
  EXPECT_EQ(shuffles("x = f32[8,100] slice(f32[8,256] a), slice={[0:8],[128:228]}"), "");
  EXPECT_EQ(shuffles("x = pad(f32[8,128] a, f32[] v), padding=0_0x0_7"), "");
  EXPECT_EQ(shuffles("x = pad(f32[8,128] a, f32[] v), padding=0_0x1_0"), "lanes ");
  EXPECT_EQ(shuffles("x = reverse(f32[2,8,128] a), dimensions={0}"), "");
  EXPECT_EQ(shuffles("x = reverse(f32[2,8,128] a), dimensions={2}"), "lanes ");
  EXPECT_EQ(shuffles("x = f32[16,128] reshape(f32[2,8,128] a)"), "");
  EXPECT_EQ(shuffles("x = f32[14,128] reshape(f32[2,7,128] a)"), "sublanes ");
  EXPECT_EQ(shuffles("x = f32[8,64] reshape(f32[4,128] a)"), "turned ");
  EXPECT_EQ(shuffles("x = f32[8,128]{1,0} reshape(f32[1024]{0} a)"), "sublanes ");
  EXPECT_EQ(shuffles("x = f32[8,128]{1,0:T(8,128)} reshape(f32[1024]{0:T(1024)} a)"), "");
  EXPECT_EQ(shuffles("x = f32[8,128] broadcast(f32[128] a), dimensions={1}"), "");
  EXPECT_EQ(shuffles("x = f32[8,128] broadcast(f32[8] a), dimensions={0}"), "lanes ");
}

TEST(DataMovement, SliceReadsItsPart) {
  with_work(
      "x = f32[2,8,30] slice(f32[9,8,128] a), slice={[1:5:2],[0:8],[3:123:4]}",
      [](const Work& work, const Module&) { EXPECT_EQ(text_of_part(work.operand_read[0]), "f32[2,8,120]"); });
}

}  // namespace
}  // namespace hlosim
