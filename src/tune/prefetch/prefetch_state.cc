#include "prefetch/prefetch_state.h"

namespace hlosim {

int32_t start_for(const PrefetchSimulator& simulator, const PrefetchValue& value, int32_t position,
                  double needed) {
  const int32_t earliest = value.made_at + 1;
  int32_t start = position;
  for (double idle = 0; start > earliest && idle < needed;) idle += simulator.idle_of(value.region, --start);
  return start;
}

}  // namespace hlosim
