// What a dump says that the analysis of a module doesn't, and the other way round.
#pragma once

#include "xla_dump/dump.h"

namespace hlosim {

/// One finding per difference, each at its place in the dump, in words that say what either side has. Numbers
/// of values and addresses don't matter. `ours` was made from a module by dump_of().
std::vector<Diagnostic> differences(const BufferDump& theirs, const BufferDump& ours);

}  // namespace hlosim
