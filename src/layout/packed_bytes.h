// What elements take on a wire, or in a layout that packs them: their bits, rounded up once for all.
//
//   packed_bytes(5, ElementType::kS4)              // 3
//   packed_bytes(*module[id].shape)                // of an array without padding
#pragma once

#include <cstdint>

#include "layout/shape.h"

namespace hlosim {

/// Tokens and the like take nothing.
inline int64_t packed_bytes(int64_t elements, ElementType type) {
  const int64_t bits = bit_width(type);
  return elements / 8 * bits + (elements % 8 * bits + 7) / 8;
}

/// Requires: an array, or a leaf that is none.
inline int64_t packed_bytes(const Shape& shape) {
  return shape.is_array() ? packed_bytes(shape.element_count(), shape.element_type) : 0;
}

}  // namespace hlosim
