// The memory form of every array.
#pragma once

#include "hlo/module.h"
#include "layout/native_tiling.h"

namespace hlosim {

/// Native tiles (layout/native_tiling.h) for every array that has none. The header's layout of the entry
/// goes: it is no longer true.
void tile(Module& module, const TilingPolicy& policy);

}  // namespace hlosim
