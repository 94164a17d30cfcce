// Views of memory written out densely.
#pragma once

#include <cstddef>
#include <cstdint>

#include "layout/strided_view.h"

namespace hlosim {

/// Copies the elements of `view` of `source`, `width` bytes each, to dense `destination`; on several
/// threads when it is worth it.
void copy_strided(const StridedView& view, int64_t width, const std::byte* source, std::byte* destination);

}  // namespace hlosim
