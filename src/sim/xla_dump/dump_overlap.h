// Placements in a dump that can't be.
#pragma once

#include <optional>

#include "xla_dump/dump.h"

namespace hlosim {

/// The first two values of one allocation with bytes in common that are needed at the same time for more than
/// the step at which one ends and the other one starts. Ranges of values that share a buffer follow one
/// another, so that this is never meant. None if the dump has no live ranges.
std::optional<Diagnostic> find_overlap(const BufferDump& dump);

}  // namespace hlosim
