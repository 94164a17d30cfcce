// Moving and folding arrays against what the memory allows.
//
//   build/release/bench/movement_bench --benchmark_enable_random_interleaving=true --benchmark_repetitions=7
//
// The argument is the number of threads. Compare the best repetitions of one run: transposes with Copy, folds
// with Read.
#include <benchmark/benchmark.h>

#include <cstring>
#include <random>
#include <vector>

#include "algorithms/sort_keys.h"
#include "array/memory_pool.h"
#include "cpu_kernels/fold.h"
#include "cpu_kernels/strided_copy.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

constexpr int64_t kSide = 4096, kCount = kSide * kSide;

// Two arrays of 16 Mi f32 from the pool that runs use.
struct Arrays {
  MemoryPool pool;
  Buffer in = pool.allocate(4 * kCount), out = pool.allocate(4 * kCount);
  Arrays() {
    std::mt19937 random(1);
    std::uniform_real_distribution<float> uniform(-1, 1);
    float* values = reinterpret_cast<float*>(in.data());
    for (int64_t i = 0; i < kCount; ++i) values[i] = uniform(random);
    std::memset(out.data(), 0, 4 * kCount);
  }
};

Arrays& arrays() {
  static Arrays instance;
  return instance;
}

void finish(benchmark::State& state, int64_t bytes) {
  state.SetBytesProcessed(state.iterations() * bytes);
  set_thread_count(0);
}

// Both memories are gone through once: the limit of every copy.
void Copy(benchmark::State& state) {
  set_thread_count(static_cast<int>(state.range(0)));
  Arrays& a = arrays();
  for (auto _ : state)
    parallel_for(4 * kCount, 1 << 20, [&](int64_t begin, int64_t end) {
      std::memcpy(a.out.data() + begin, a.in.data() + begin, static_cast<size_t>(end - begin));
    });
  finish(state, 8 * kCount);
}

// The cheapest thing that looks at every byte: the limit of every fold.
void Read(benchmark::State& state) {
  set_thread_count(static_cast<int>(state.range(0)));
  Arrays& a = arrays();
  const FoldKernel kernel = fold_kernel(FoldOp::kXor, ElementType::kU64);
  uint64_t total = 0;
  for (auto _ : state) {
    const int64_t dimensions[] = {kCount / 2}, strides[] = {1};
    const uint8_t reduced[] = {1};
    fold(kernel, dimensions, strides, reduced, a.in.data(), reinterpret_cast<const std::byte*>(&total),
         reinterpret_cast<std::byte*>(&total));
    benchmark::DoNotOptimize(total);
  }
  finish(state, 4 * kCount);
}

void Transpose(benchmark::State& state, int64_t width) {
  set_thread_count(static_cast<int>(state.range(0)));
  Arrays& a = arrays();
  const int64_t side = width == 1 ? 2 * kSide : kSide, rows = 4 * kCount / width / side;
  const int64_t dimensions[] = {side, rows}, from[] = {1, side}, to[] = {rows, 1};
  const StridedCopy copy(dimensions, from, to, width);
  for (auto _ : state) copy.run(a.in.data(), a.out.data());
  finish(state, 8 * kCount);
}

// [64, 32, 128, 64] → [64, 128, 32, 64]: heads of attention.
void TransposeHeads(benchmark::State& state) {
  set_thread_count(static_cast<int>(state.range(0)));
  Arrays& a = arrays();
  const int64_t dimensions[] = {64, 128, 32, 64}, from[] = {262144, 64, 8192, 1},
                to[] = {262144, 2048, 64, 1};
  const StridedCopy copy(dimensions, from, to, 4);
  for (auto _ : state) copy.run(a.in.data(), a.out.data());
  finish(state, 8 * kCount);
}

void BroadcastRow(benchmark::State& state) {
  set_thread_count(static_cast<int>(state.range(0)));
  Arrays& a = arrays();
  const int64_t dimensions[] = {kSide, kSide}, from[] = {0, 1}, to[] = {kSide, 1};
  const StridedCopy copy(dimensions, from, to, 4);
  for (auto _ : state) copy.run(a.in.data(), a.out.data());
  finish(state, 4 * kCount);
}

void Fold(benchmark::State& state, FoldOp op, ElementType type, std::vector<int64_t> dimensions,
          std::vector<uint8_t> reduced) {
  set_thread_count(static_cast<int>(state.range(0)));
  Arrays& a = arrays();
  const FoldKernel kernel = fold_kernel(op, type);
  std::vector<int64_t> strides(dimensions.size(), 1);
  for (size_t i = dimensions.size(); i-- > 1;) strides[i - 1] = strides[i] * dimensions[i];
  const uint64_t init = 0;
  for (auto _ : state)
    fold(kernel, dimensions, strides, reduced, a.in.data(), reinterpret_cast<const std::byte*>(&init),
         a.out.data());
  finish(state, 4 * kCount);
}

void Sort(benchmark::State& state) {
  Arrays& a = arrays();
  constexpr int64_t kSorted = 1 << 20;
  std::vector<uint32_t> permutation(kSorted);
  for (auto _ : state)
    sorted_order({ElementType::kF32, false, false}, a.in.data(), kSorted, permutation.data());
  state.SetItemsProcessed(state.iterations() * kSorted);
}

using List = std::vector<int64_t>;
using Flags = std::vector<uint8_t>;

#define HLOSIM_THREADS ->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond)
BENCHMARK(Copy) HLOSIM_THREADS;
BENCHMARK(Read) HLOSIM_THREADS;
BENCHMARK_CAPTURE(Transpose, f32, 4) HLOSIM_THREADS;
BENCHMARK_CAPTURE(Transpose, bf16, 2) HLOSIM_THREADS;
BENCHMARK_CAPTURE(Transpose, s8, 1) HLOSIM_THREADS;
BENCHMARK_CAPTURE(Transpose, f64, 8) HLOSIM_THREADS;
BENCHMARK(TransposeHeads) HLOSIM_THREADS;
BENCHMARK(BroadcastRow) HLOSIM_THREADS;
BENCHMARK_CAPTURE(Fold, sum_f32_all, FoldOp::kAdd, ElementType::kF32, List{kCount}, Flags{1}) HLOSIM_THREADS;
BENCHMARK_CAPTURE(Fold, sum_f32_rows, FoldOp::kAdd, ElementType::kF32, List{kSide, kSide}, Flags{0, 1})
HLOSIM_THREADS;
BENCHMARK_CAPTURE(Fold, sum_f32_columns, FoldOp::kAdd, ElementType::kF32, List{kSide, kSide}, Flags{1, 0})
HLOSIM_THREADS;
BENCHMARK_CAPTURE(Fold, max_f32_rows, FoldOp::kMaximum, ElementType::kF32, List{kSide, kSide}, Flags{0, 1})
HLOSIM_THREADS;
BENCHMARK_CAPTURE(Fold, max_f32_columns, FoldOp::kMaximum, ElementType::kF32, List{kSide, kSide}, Flags{1, 0})
HLOSIM_THREADS;
BENCHMARK_CAPTURE(Fold, sum_bf16_rows, FoldOp::kAdd, ElementType::kBF16, List{2 * kSide, kSide}, Flags{0, 1})
HLOSIM_THREADS;
BENCHMARK_CAPTURE(Fold, sum_s8_columns, FoldOp::kAdd, ElementType::kS8, List{4 * kSide, kSide}, Flags{1, 0})
HLOSIM_THREADS;
BENCHMARK_CAPTURE(Fold, sum_f32_narrow, FoldOp::kAdd, ElementType::kF32, List{kCount / 4, 4}, Flags{1, 0})
HLOSIM_THREADS;
BENCHMARK_CAPTURE(Fold, sum_f32_short_rows, FoldOp::kAdd, ElementType::kF32, List{kCount / 16, 16},
                  Flags{0, 1})
HLOSIM_THREADS;
BENCHMARK(Sort)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hlosim

BENCHMARK_MAIN();
