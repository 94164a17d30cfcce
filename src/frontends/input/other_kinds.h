// Files that hold no program but that users give by mistake: Python sources, notebooks, saved reports,
// traces.
//
//   if (std::optional<Diagnostic> other = other_kind(source)) return tl::unexpected(*other);
//   // error: 'train.py' is Python source, not a compiled program
//   //   hint: dump what it compiles: XLA_FLAGS=--xla_dump_to=dump python train.py && …
#pragma once

#include <optional>
#include <string_view>

#include "base/source.h"

namespace hlosim {

/// An error that names the kind of the file and the command that reads it; null: the text may be HLO. A kind
/// is recognised by its content. Requires: text that is no MLIR.
std::optional<Diagnostic> other_kind(const SourcePtr& source);

/// Do the bytes begin as a profile of XLA's profiler (*.xplane.pb) does?
bool looks_like_xplane(std::string_view bytes);

/// The error of looks_like_xplane() bytes.
Diagnostic xplane_as_module(std::string_view name);

}  // namespace hlosim
