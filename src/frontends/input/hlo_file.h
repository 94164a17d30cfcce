// HLO text from whatever a file holds.
#pragma once

#include <string>

#include "base/source.h"

namespace hlosim {

/// The same input as text: unpacked where gzip or Zstandard packed it, printed where it is a binary proto.
/// Its name stays. Errors: damaged, too large (packed.h); a name that ends in .gz or .zst, and bytes that are
/// neither; a proto that is not understood whole (proto_text.h). `was_printed` says whether it was a proto:
/// then the lines are those of a text that nobody but us has seen.
Result<SourcePtr> as_text(SourcePtr source, bool* was_printed = nullptr);

/// as_text() of a file, or of standard input for `-`.
Result<SourcePtr> read_text_source(const std::string& path);

}  // namespace hlosim
