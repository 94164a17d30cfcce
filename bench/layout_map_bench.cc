// Index → offset and back, per element; and what making a map costs.
#include <benchmark/benchmark.h>

#include <array>
#include <vector>

#include "layout/layout_map.h"
#include "layout/layout_oracle.h"
#include "layout/shape_text.h"

namespace hlosim {
namespace {

constexpr const char* kShapes[] = {"f32[512,512]{1,0}", "f32[512,512]{1,0:T(8,128)}", "bf16[512,512]{1,0:T(8,128)(2,1)}",
                                   "bf16[500,500]{1,0:T(8,128)(3,1)}"};

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
  over_elements(state, [](const LayoutMap& map, const auto& index) { benchmark::DoNotOptimize(map.offset(index)); });
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

}  // namespace
}  // namespace hlosim

BENCHMARK_MAIN();
