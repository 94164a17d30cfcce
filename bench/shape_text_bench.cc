// Reading shapes: what one costs when its text is new to the reader, and when it is not.
#include <benchmark/benchmark.h>

#include <string>

#include "layout/shape_text.h"

namespace hlosim {
namespace {

constexpr const char* kTexts[] = {"f32[]", "f32[8,128]{1,0}", "f32[8,128]{1,0:T(8,128)}",
                                  "bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)S(1)}"};

std::string repeated(const std::string& text, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += text + ",";
  return out;
}

// Every shape of the text after the first few is found by its text.
void known(benchmark::State& state) {
  constexpr size_t kTimes = 1000;
  const std::string text = repeated(kTexts[state.range(0)], kTimes);
  ShapePool pool;
  for (auto _ : state) {
    ShapeReader reader(pool, text);
    for (size_t position = 0; position < text.size(); ++position)
      benchmark::DoNotOptimize(reader.read(position));
  }
  state.SetItemsProcessed(state.iterations() * kTimes);
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(text.size()));
  state.SetLabel(kTexts[state.range(0)]);
}
BENCHMARK(known)->DenseRange(0, 3);

// A blank before every shape's layout hides its end, so each is taken apart.
void taken_apart(benchmark::State& state) {
  constexpr size_t kTimes = 1000;
  std::string one = kTexts[state.range(0)];
  if (const size_t brace = one.find('{'); brace != std::string::npos)
    one.insert(brace, " ");
  else
    one.insert(one.find('[') + 1, " /*]*/");
  const std::string text = repeated(one, kTimes);
  ShapePool pool;
  for (auto _ : state) {
    ShapeReader reader(pool, text);
    for (size_t position = 0; position < text.size(); ++position)
      benchmark::DoNotOptimize(reader.read(position));
  }
  state.SetItemsProcessed(state.iterations() * kTimes);
  state.SetLabel(one);
}
BENCHMARK(taken_apart)->DenseRange(0, 3);

}  // namespace
}  // namespace hlosim

BENCHMARK_MAIN();
