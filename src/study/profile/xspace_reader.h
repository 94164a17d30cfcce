// XSpace files, as the profiler of XLA writes them (*.xplane.pb).
#pragma once

#include <string>
#include <string_view>

#include "base/source.h"
#include "profile/profile.h"

namespace hlosim {

/// Do the bytes begin as an XSpace does: a plane whose name can be read?
bool looks_like_xspace(std::string_view bytes);

/// What ran on TPUs. Planes of hosts and of other devices are read over, the latter with a note. Memory
/// beyond the bytes themselves: a few words per event. Errors name `name`, the offset and what was expected
/// there.
Result<Profile> read_xspace(std::string_view bytes, const std::string& name);

}  // namespace hlosim
