// Growth of the cost of one benchmark from one size of its input to the next.
//
//   static Growth growth;
//   growth.measure(state, instructions, [&] { benchmark::DoNotOptimize(f()); });
//
// The counter `exponent` is log(time ratio) / log(size ratio): 1 is linear, 1.1 n log n. Times are the
// processor time of all threads in the cheapest round of each size, `cpu_ms`. `peak_MB` is the most memory
// that the process has had so far.
#pragma once

#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>

namespace hlosim::bench {

/// The sizes of one benchmark, which run one after the other, each more than once.
class Growth {
 public:
  template <class F>
  void measure(benchmark::State& state, double size, F&& f) {
    double fastest = std::numeric_limits<double>::max();
    for (auto _ : state) {
      const std::clock_t start = std::clock();
      f();
      fastest = std::min(fastest, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    }
    if (size != now_.size) before_ = now_;
    now_ = {size, fastest};
    if (before_.size > 0)
      state.counters["exponent"] = std::log(fastest / before_.seconds) / std::log(size / before_.size);
    state.counters["cpu_ms"] = 1000 * fastest;
    rusage use{};
    getrusage(RUSAGE_SELF, &use);
    state.counters["peak_MB"] = static_cast<double>(use.ru_maxrss) / 1024;
  }

 private:
  struct Point {
    double size = 0, seconds = 0;
  };
  Point now_, before_;
};

}  // namespace hlosim::bench
