// Work on all processors. The only door to oneTBB.
#pragma once

#include <cstdint>
#include <type_traits>

namespace hlosim {

/// Threads that parallel_for() uses, the caller's included.
int thread_count();

/// Sets the number of threads of this process, at least 1; 0: one per processor this process may use.
/// Not while a parallel_for() runs.
void set_thread_count(int threads);

namespace internal {
using RangeFunction = void (*)(void* context, int64_t begin, int64_t end);
void parallel_ranges(int64_t count, int64_t grain, RangeFunction function, void* context);
}  // namespace internal

/// Calls f(begin, end) for ranges that make up [0, count), on several threads when count > grain. Every range
/// but the last is a multiple of `grain` long, begins at one, and where the cuts lie may depend on the
/// number of threads: f must give the same results for any cut at a multiple of `grain`. May be nested.
/// Parallelism pays from about 50 µs of work: choose the grain so that one is at least 10 µs.
template <class F>
void parallel_for(int64_t count, int64_t grain, F&& f) {
  if (count <= grain) {
    if (count > 0) f(int64_t{0}, count);
    return;
  }
  internal::parallel_ranges(
      count, grain,
      [](void* context, int64_t begin, int64_t end) {
        (*static_cast<std::remove_reference_t<F>*>(context))(begin, end);
      },
      const_cast<void*>(static_cast<const void*>(&f)));
}

}  // namespace hlosim
