// Elements in another type, for evaluations that compute in one type only.
#pragma once

#include "array/array.h"
#include "layout/element_type.h"

namespace hlosim {

bool can_convert(ElementType from, ElementType to);

/// `count` elements of `data` as type `to`; `data` itself when that is `from`. Requires: can_convert(from,
/// to).
Buffer converted(MemoryPool& pool, Buffer data, ElementType from, ElementType to, int64_t count);

/// `data` if it isn't held elsewhere, else a copy of its first `bytes` bytes.
Buffer writable(MemoryPool& pool, Buffer data, int64_t bytes);

}  // namespace hlosim
