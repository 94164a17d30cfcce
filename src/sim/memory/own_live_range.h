// How long each value is needed, whatever shares its memory.
#pragma once

#include "memory/live_range.h"

namespace hlosim {

/// By value, each by itself: where values that share a buffer are needed at the same time, the module lacks a
/// copy.
std::vector<LiveRange> own_live_ranges(const ModuleGraph& graph, const Places& places, const Values& values,
                                       const AliasedBuffers& buffers, const FlatSchedule& schedule);

}  // namespace hlosim
