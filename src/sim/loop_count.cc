#include "sim/loop_count.h"

#include "ops/trip_count.h"

namespace hlosim {

std::optional<int64_t> loop_count(const OpContext& loop) {
  const TripCount count = trip_count(loop.module(), loop.instruction());
  return count.known() ? std::optional(count.count) : std::nullopt;
}

}  // namespace hlosim
