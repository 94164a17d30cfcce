// Traces in Chrome's format, as XProf writes them (*.trace.json.gz).
#pragma once

#include <string>
#include <string_view>

#include "base/source.h"
#include "profile/profile.h"

namespace hlosim {

/// Does the text begin as a trace does: an object or array in which events stand?
bool looks_like_trace(std::string_view text);

/// What ran on TPUs: the complete events of the threads "XLA Modules", "XLA Ops", "Async XLA Ops" and "Steps"
/// of processes "/device:TPU:n". One event at a time, a few words of memory each. Errors have their place.
Result<Profile> read_trace(const SourcePtr& source);

}  // namespace hlosim
