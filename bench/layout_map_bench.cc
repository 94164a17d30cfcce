// Index → offset and back, per element; what making a map, sizing and classifying cost per array.
#include <benchmark/benchmark.h>

#include <array>
#include <vector>

#include "layout/bitcast.h"
#include "layout/layout_map.h"
#include "layout/layout_oracle.h"
#include "layout/native_tiling.h"
#include "layout/shape_text.h"
#include "layout/sizes.h"

namespace hlosim {
namespace {

constexpr const char* kShapes[] = {"f32[512,512]{1,0}", "f32[512,512]{1,0:T(8,128)}",
                                   "bf16[512,512]{1,0:T(8,128)(2,1)}", "bf16[500,500]{1,0:T(8,128)(3,1)}"};

template <class F>
void over_elements(benchmark::State& state, F&& one) {
  ShapePool pool;
  const ShapeRef shape = *parse_shape(pool, kShapes[state.range(0)]);
  const LayoutMap map = *LayoutMap::make(shape);
  std::array<int64_t, 2> index{};
  for (auto _ : state) {
    for (index[0] = 0; index[0] < shape->dim(0); index[0] += 16)
      for (index[1] = 0; index[1] < shape->dim(1); ++index[1]) one(map, index);
  }
  state.SetItemsProcessed(state.iterations() * ((shape->dim(0) + 15) / 16) * shape->dim(1));
  state.SetLabel(kShapes[state.range(0)]);
}

void offset(benchmark::State& state) {
  over_elements(state,
                [](const LayoutMap& map, const auto& index) { benchmark::DoNotOptimize(map.offset(index)); });
}
BENCHMARK(offset)->DenseRange(0, 3);

void offset_literally(benchmark::State& state) {
  over_elements(state, [](const LayoutMap& map, const auto& index) {
    benchmark::DoNotOptimize(layout_oracle::offset(map.shape(), index));
  });
}
BENCHMARK(offset_literally)->DenseRange(2, 2);

void index_of_offset(benchmark::State& state) {
  over_elements(state, [](const LayoutMap& map, const auto& index) {
    std::array<int64_t, 2> back;
    benchmark::DoNotOptimize(map.index(index[0] * 512 + index[1], back));
  });
}
BENCHMARK(index_of_offset)->DenseRange(0, 2);

void make_map(benchmark::State& state) {
  ShapePool pool;
  const ShapeRef shape = *parse_shape(pool, kShapes[state.range(0)]);
  for (auto _ : state) benchmark::DoNotOptimize(LayoutMap::make(shape));
  state.SetLabel(kShapes[state.range(0)]);
}
BENCHMARK(make_map)->DenseRange(0, 3);

void array_size_of(benchmark::State& state) {
  ShapePool pool;
  const ShapeRef shape = *parse_shape(pool, kShapes[state.range(0)]);
  for (auto _ : state) benchmark::DoNotOptimize(array_size(shape));
  state.SetLabel(kShapes[state.range(0)]);
}
BENCHMARK(array_size_of)->DenseRange(0, 3);

void classify(benchmark::State& state) {
  ShapePool pool;
  const ShapeRef from = *parse_shape(pool, "f32[8,128,4096]{2,1,0:T(8,128)}");
  const ShapeRef to = *parse_shape(pool, "f32[1024,4096]{1,0:T(8,128)}");
  for (auto _ : state) benchmark::DoNotOptimize(classify_bitcast(from, to));
}
BENCHMARK(classify);

void native_tiling(benchmark::State& state) {
  ShapePool pool;
  const ShapeRef shape = *parse_shape(pool, "bf16[512,512]{1,0}");
  for (auto _ : state) benchmark::DoNotOptimize(with_native_tiling(pool, shape, TilingPolicy::newer()));
}
BENCHMARK(native_tiling);

}  // namespace
}  // namespace hlosim

BENCHMARK_MAIN();
