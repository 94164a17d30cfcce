// Whether two lowerings of a module have the same schedule and costs.
//
//   if (same_schedule(with_prefetch, without)) …  // nothing was prefetched: one simulation is enough
//
// Internal to src/compile/lower.
#pragma once

#include "hlo/module.h"

namespace hlosim {

/// Both run the same instructions in the same order, so that they take the same time on any device. May say
/// no where they do: attributes that are texts or tables are alike only where both point to the same one,
/// which what passes made and what other ways made of a module need not do. That costs a simulation, nothing
/// else. Requires: verified modules, one made from a copy of the other, compact ones
/// (modules/compact.h).
bool same_schedule(const Module& a, const Module& b);

}  // namespace hlosim
