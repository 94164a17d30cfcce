// Memory that is allocated begins to live where it is first used.
//
//   sink_allocations(module);
#pragma once

#include "hlo/module.h"

namespace hlosim {

/// Moves calls of AllocateBuffer in each computation's order to just before their first user. They take no
/// time; where a scheduler left them, what they allocate would be alive beside values of before.
void sink_allocations(Module& module);

}  // namespace hlosim
