#include "threads/parallel.h"

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/check.h"
#include "base/rounding.h"

namespace hlosim {
namespace {

// oneTBB's limit is an object that lives as long as the limit holds.
struct Threads {
  std::atomic<int> count = tbb::this_task_arena::max_concurrency();
  std::mutex setting;  // programs that run several modules at once set it from several threads
  std::unique_ptr<tbb::global_control> control;
};

Threads& threads() {
  static Threads instance;
  return instance;
}

#ifdef __SANITIZE_THREAD__
// ThreadSanitizer sees nothing of what the packaged oneTBB orders, so there a thread runs each piece.
template <class F>
void run_pieces(int64_t count, F&& piece) {
  std::vector<std::thread> running;
  for (int64_t i = 1; i < count; ++i) running.emplace_back(piece, i);
  piece(0);
  for (std::thread& thread : running) thread.join();
}
#else
template <class F>
void run_pieces(int64_t count, F&& piece) {
  tbb::parallel_for(int64_t{0}, count, piece, tbb::simple_partitioner());
}
#endif

}  // namespace

int thread_count() { return threads().count; }

void set_thread_count(int count) {
  HLOSIM_CHECK(count >= 0, "{} threads", count);
  Threads& state = threads();
  const std::lock_guard lock(state.setting);
  const int wanted = count > 0 ? count : tbb::info::default_concurrency();
  if (state.control && state.count == wanted) return;
  state.control.reset();
  state.count = wanted;
  state.control = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism,
                                                        static_cast<size_t>(wanted));
}

namespace internal {

void parallel_ranges(int64_t count, int64_t grain, RangeFunction function, void* context) {
  HLOSIM_CHECK(grain > 0, "grain {}", grain);
  if (thread_count() == 1) return function(context, 0, count);
  // A few more pieces than threads: a neighbour that takes a processor
  // away delays one piece, not half of the work.
  const int64_t grains = ceil_div(count, grain);
  const int64_t pieces = std::min<int64_t>(grains, int64_t{thread_count()} * 4);
  // Lengths differ by at most one grain, so that the threads' shares do, too.
  const auto cut = [&](int64_t piece) { return std::min(count, piece * grains / pieces * grain); };
  run_pieces(pieces, [&](int64_t piece) { function(context, cut(piece), cut(piece + 1)); });
}

}  // namespace internal
}  // namespace hlosim
