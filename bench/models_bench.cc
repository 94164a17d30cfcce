// Growth of what it takes to write the step of a model, layers written out: each size has twice the layers of
// the one before it. `exponent` is that of the instructions: 1 is linear, 2 is quadratic.
//
//   $ build/bench/bench/models_bench
//   train_step_unrolled/64  …  instructions=47k exponent=1.02
//
// The same for a pattern of layers that is spelled out and repeats nowhere, which is as much work in loops.
#include <benchmark/benchmark.h>

#include <cmath>
#include <ctime>
#include <map>
#include <string>

#include "workloads/step.h"

namespace {

using namespace hlosim;

ModelConfig small_model(int64_t layers) {
  ModelConfig model;
  model.name = "m";
  model.layers = layers;
  model.d_model = 64, model.d_ff = 128;
  model.q_heads = model.kv_heads = 4, model.head_dim = 16;
  model.vocab = 256;
  return model;
}

/// Letters in an order that repeats nowhere: those of the Thue-Morse sequence.
std::string letters(int64_t count) {
  std::string text;
  for (int64_t i = 0; i < count; ++i) text += __builtin_popcountll(static_cast<uint64_t>(i)) % 2 ? 'G' : 'L';
  return text;
}

struct Last {
  double instructions = 0, seconds = 0;
};

/// Writes the step, and says how its time has grown since the size before it.
void write(benchmark::State& state, const std::string& name, const ModelConfig& model,
           const StepOptions& options) {
  static std::map<std::string, Last> last;
  size_t instructions = 0;
  double least = 1e300;
  for (auto _ : state) {
    const auto begin = std::clock();
    const Result<Module> made = make_step(model, options);
    if (!made) {
      state.SkipWithError(made.error().message.c_str());
      return;
    }
    instructions = made->instructions.size();
    least = std::min(least, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  Last& before = last[name];
  const Last now{static_cast<double>(instructions), least};
  state.counters["instructions"] = now.instructions;
  if (before.seconds > 0 && before.instructions < now.instructions)
    state.counters["exponent"] =
        std::log(now.seconds / before.seconds) / std::log(now.instructions / before.instructions);
  before = now;
}

StepOptions options_of(StepKind kind, bool loops) {
  StepOptions options;
  options.kind = kind;
  options.batch = 2, options.sequence = 128;
  options.scan_layers = loops;
  return options;
}

void train_step_unrolled(benchmark::State& state) {
  write(state, "train", small_model(state.range(0)), options_of(StepKind::kTrain, false));
}

void decode_step_unrolled(benchmark::State& state) {
  write(state, "decode", small_model(state.range(0)), options_of(StepKind::kDecode, false));
}

void train_step_without_a_period(benchmark::State& state) {
  ModelConfig model = small_model(state.range(0));
  model.attention.window = 16;
  model.attention.pattern = letters(model.layers);
  write(state, "pattern", model, options_of(StepKind::kTrain, true));
}

}  // namespace

BENCHMARK(train_step_unrolled)->RangeMultiplier(2)->Range(64, 1024)->Unit(benchmark::kMillisecond);
BENCHMARK(decode_step_unrolled)->RangeMultiplier(2)->Range(64, 1024)->Unit(benchmark::kMillisecond);
BENCHMARK(train_step_without_a_period)->RangeMultiplier(2)->Range(64, 1024)->Unit(benchmark::kMillisecond);

BENCHMARK_MAIN();
