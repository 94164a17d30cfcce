// Results are the same for any number of threads.
#include <gtest/gtest.h>

#include <cstring>

#include "support/execution.h"
#include "threads/parallel.h"

namespace hlosim::test {
namespace {

constexpr std::string_view kText = R"(HloModule m
ENTRY e {
  state = u64[2] constant({1, 2})
  low = f32[] constant(-1)
  high = f32[] constant(1)
  bits = (u64[2], u32[301,333]) rng-bit-generator(state), algorithm=rng_three_fry
  philox = (u64[2], u8[100003]) rng-bit-generator(state), algorithm=rng_philox
  x = f32[301,333] rng(low, high), distribution=rng_uniform
  y = f64[60001] rng(a, b), distribution=rng_normal
  scale = f32[333] rng(low, high), distribution=rng_uniform
  scales = f32[301] rng(low, high), distribution=rng_uniform
  by_column = (f32[301,333], f32[333], f32[333]) batch-norm-training(x, scale, scale), epsilon=0.1, feature_index=1
  by_row = (f32[301,333], f32[301], f32[301]) batch-norm-training(x, scales, scales), epsilon=0.1, feature_index=0
  gradient = (f32[301,333], f32[333], f32[333]) batch-norm-grad(x, scale, scale, variance, x), epsilon=0.1, feature_index=1
  transform = c64[301,167] fft(x), fft_type=RFFT, fft_length={301,333}
  matrices = f32[300,8,8] reshape(part)
  factors = f32[300,8,8] cholesky(matrices), lower=true
  solutions = f32[300,8,8] triangular-solve(matrices, matrices), left_side=true, lower=true, transpose_a=NO_TRANSPOSE
  top = (f32[301,7], s32[301,7]) custom-call(x), custom_call_target="TopK"
  ROOT r = ((u64[2], u32[301,333]), (u64[2], u8[100003]), f32[301,333], f64[60001],
      (f32[301,333], f32[333], f32[333]), (f32[301,333], f32[301], f32[301]), (f32[301,333], f32[333], f32[333]),
      c64[301,167], f32[300,8,8], f32[300,8,8], (f32[301,7], s32[301,7]))
      tuple(bits, philox, x, y, by_column, by_row, gradient, transform, factors, solutions, top)
})";

TEST(ThreadCount, DoesNotMatter) {
  std::string text(kText);
  const auto insert = [&](std::string_view before, std::string_view line) {
    text.insert(text.find(before), std::string(line) + "\n  ");
  };
  insert("y = f64", "a = f64[] constant(0)");
  insert("y = f64", "b = f64[] constant(1)");
  insert("gradient =", "variance = f32[333] abs(scale)");
  insert("matrices =", "part = f32[19200] slice(flat), slice={[0:19200]}");
  insert("part =", "flat = f32[100233] reshape(x)");
  std::vector<std::unique_ptr<Execution>> executions;
  std::vector<std::vector<Array>> runs;
  for (const int threads : {1, 2, 5}) {
    set_thread_count(threads);
    executions.push_back(std::make_unique<Execution>(text));
    runs.push_back(executions.back()->arrays());
    ASSERT_EQ(runs.back().size(), 20u) << executions.back()->problems();
  }
  set_thread_count(0);
  for (size_t run = 1; run < runs.size(); ++run)
    for (size_t i = 0; i < runs[0].size(); ++i)
      EXPECT_EQ(std::memcmp(runs[0][i].bytes(), runs[run][i].bytes(),
                            static_cast<size_t>(data_bytes(runs[0][i].shape))),
                0)
          << "leaf " << i;
}

}  // namespace
}  // namespace hlosim::test
