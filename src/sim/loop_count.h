// How often a while loop runs.
#pragma once

#include <cstdint>
#include <optional>

#include "hlo/op_def.h"

namespace hlosim {

/// The compiler's "known_trip_count":{"n":"5"} in backend_config, else what the loop itself tells
/// (ops/trip_count.h); nullopt when neither does.
std::optional<int64_t> loop_count(const OpContext& loop);

}  // namespace hlosim
