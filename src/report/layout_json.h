// `hlosim layout --format=json`: everything of a LayoutDescription, integers in base units.
#pragma once

#include <string>

#include "layout/describe.h"

namespace hlosim {

/// One JSON object, ending in '\n'. Sizes in bytes, offsets and extents in elements.
std::string to_json(const LayoutDescription& description);

}  // namespace hlosim
