// Synchronous copies and slices that a DMA could as well do beside other work, with its result on the chip.
#pragma once

#include "prefetch/prefetch_model.h"

namespace hlosim {

/// Finds them among what makes the model's values: PrefetchValue::replace_from, replaced_bit. A DMA moves
/// whole tiles, and its source has to be in HBM whatever is decided, until the copy is done. Requires: steps,
/// values and sites, but no costs yet.
void mark_replaceable(const Module& module, const OpTable& table, const PrefetchLimits& limits,
                      PrefetchModel& model);

}  // namespace hlosim
