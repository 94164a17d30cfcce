// Without threads: everything runs on the caller's.
#include "threads/parallel.h"
#include "base/check.h"

namespace hlosim {

int thread_count() { return 1; }

void set_thread_count(int count) { HLOSIM_CHECK(count >= 0, "{} threads", count); }

namespace internal {

void parallel_ranges(int64_t count, int64_t grain, RangeFunction function, void* context) {
  HLOSIM_CHECK(grain > 0, "grain {}", grain);
  function(context, 0, count);
}

}  // namespace internal
}  // namespace hlosim
