// What the buffer assignment says that lies beside a dumped module.
#pragma once

#include <optional>

#include "base/units.h"
#include "cli/commands.h"
#include "input/dump_folder.h"

namespace hlosim {

/// What XLA allocates by the buffer assignment beside the module; a dump that can't be read is a warning.
std::optional<Bytes> xla_allocates(const DumpedModule& dumped, Streams streams);

}  // namespace hlosim
