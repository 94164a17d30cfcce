#include "ops/op_case.h"

namespace hlosim {
namespace {

using namespace test;

TEST(LinearAlgebra, Infer) {
  EXPECT_EQ(inferred("x = cholesky(f32[2,3,3] a), lower=true"), "f32[2,3,3]");
  EXPECT_EQ(inferred("x = triangular-solve(f32[2,3,3] a, f32[2,3,5] b), left_side=true"), "f32[2,3,5]");
  EXPECT_EQ(inferred("x = triangular-solve(c64[3,3] a, c64[5,3] b)"), "c64[5,3]");
  EXPECT_EQ(inferred("x = fft(c64[2,8] a), fft_type=FFT, fft_length={8}"), "c64[2,8]");
  EXPECT_EQ(inferred("x = fft(c128[4,8] a), fft_type=IFFT, fft_length={4,8}"), "c128[4,8]");
  EXPECT_EQ(inferred("x = fft(f32[<=2,8] a), fft_type=RFFT, fft_length={8}"), "c64[<=2,5]");
  EXPECT_EQ(inferred("x = fft(f64[2,7] a), fft_type=RFFT, fft_length={7}"), "c128[2,4]");
  EXPECT_EQ(inferred("x = fft(f32[0] a), fft_type=RFFT, fft_length={0}"), "c64[0]");
  EXPECT_EQ(inferred("x = fft(c64[2,5] a), fft_type=IRFFT, fft_length={8}"), "f32[2,8]");
  EXPECT_EQ(inferred("x = fft(c64[0] a), fft_type=IRFFT, fft_length={0}"), "f32[0]");
}

TEST(LinearAlgebra, RefusesWithItsConstraint) {
  const Refused cases[] = {
      {"x = f32[3,3] cholesky(token[] a)", "cholesky C1: operand 0"},
      {"x = s32[3,3] cholesky(s32[3,3] a)", "cholesky C2: operand 0 has shape s32[3,3]"},
      {"x = f32[3] cholesky(f32[3] a)", "cholesky C3: operand 0 has shape f32[3]"},
      {"x = f32[3,4] cholesky(f32[3,4] a)", "cholesky C3: operand 0 has shape f32[3,4]"},
      {"x = f32[3,4] triangular-solve(f32[3,3] a, token[] b)", "triangular-solve C1: operand 1"},
      {"x = pred[3,4] triangular-solve(pred[3,3] a, pred[3,4] b)", "triangular-solve C2: operand 0"},
      {"x = f32[3,4] triangular-solve(f32[3,2] a, f32[3,4] b)", "triangular-solve C3: operand 0"},
      {"x = f32[3,4] triangular-solve(f32[3,3] a, f64[3,4] b), left_side=true",
       "triangular-solve C4: a is f32[3,3]"},
      {"x = f32[3] triangular-solve(f32[3,3] a, f32[3] b)", "triangular-solve C5: a is f32[3,3], b f32[3]"},
      {"x = f32[4,3,3] triangular-solve(f32[2,3,3] a, f32[4,3,3] b)", "triangular-solve C6: a is f32[2,3,3]"},
      {"x = f32[3,4] triangular-solve(f32[3,3] a, f32[3,4] b)",
       "triangular-solve C7: a is f32[3,3], b f32[3,4], expected 3 elements in dimension 1 of b"},
      {"x = f32[3,3] triangular-solve(f32[3,3] a, f32[3,3] b), transpose_a=TRANSPOSE_INVALID",
       "triangular-solve C8"},
      {"x = c64[8] fft((c64[8]) a), fft_type=FFT, fft_length={8}", "fft C1: operand 0"},
      {"x = f32[8] fft(f32[8] a), fft_type=FFT, fft_length={8}", "fft C2: FFT of f32[8]"},
      {"x = c64[8] fft(bf16[8] a), fft_type=RFFT, fft_length={8}", "fft C2: RFFT of bf16[8]"},
      {"x = c64[8] fft(c64[8] a), fft_type=FFT, fft_length={}", "fft C3: fft_length has 0 entries"},
      {"x = c64[1,1,1,8] fft(c64[1,1,1,8] a), fft_type=FFT, fft_length={1,1,1,8}",
       "fft C3: fft_length has 4 entries"},
      {"x = c64[8] fft(c64[8] a), fft_type=FFT, fft_length={1,8}", "fft C4: operand c64[8] has 1 dimensions"},
      {"x = c64[5] fft(f32[8] a), fft_type=RFFT, fft_length={9}",
       "fft C5: dimension 0 of f32[8] has 8 elements"},
      {"x = f32[8] fft(c64[8] a), fft_type=IRFFT, fft_length={8}",
       "fft C5: dimension 0 of c64[8] has 8 elements, expected 5"},
      {"x = f32[4,8] fft(c64[3,5] a), fft_type=IRFFT, fft_length={4,8}", "fft C5: dimension 0 of c64[3,5]"},
      {"x = f32[] fft(c64[1] a), fft_type=IRFFT, fft_length={-2}", "fft C3: fft_length is {-2}"},
  };
  expect_refused(cases);
}

TEST(LinearAlgebra, FlopsAreThoseOfTheAlgorithm) {
  with_work("x = cholesky(f32[2,96,96] a)", [](const Work& work, const Module&) {
    const MatmulWork& product = work.matmuls.at(0);
    EXPECT_EQ(2 * product.batch * product.m * product.n * product.k, 2 * 96 * 96 * 96 / 3);
  });
  with_work("x = triangular-solve(f32[96,96] a, f32[96,10] b), left_side=true",
            [](const Work& work, const Module&) {
              const MatmulWork& product = work.matmuls.at(0);
              EXPECT_EQ(2 * product.batch * product.m * product.n * product.k, 96 * 96 * 10);
            });
}

}  // namespace
}  // namespace hlosim
