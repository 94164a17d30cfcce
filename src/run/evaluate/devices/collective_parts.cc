#include "evaluate/devices/collective_parts.h"

#include <cstring>

#include "base/saturating.h"

namespace hlosim {

Parts Parts::along(ShapeRef shape, int64_t dimension, int64_t count) {
  Parts parts{1, count, byte_width(shape->element_type)};
  for (int64_t d = 0; d < shape->rank(); ++d) {
    int64_t& product = d < dimension ? parts.rows : parts.bytes;
    product = saturating_multiply(product, shape->dim(d));
  }
  parts.bytes /= count;
  return parts;
}

int64_t Parts::total() const { return saturating_multiply(saturating_multiply(rows, count), bytes); }

void copy_piece(const Piece& piece, const PieceView& from, std::byte* to, int64_t stride) {
  if (piece.bytes == 0) return;
  if (from.stride == piece.bytes && stride == piece.bytes) {
    std::memcpy(to, from.data, static_cast<size_t>(piece.total()));
    return;
  }
  for (int64_t row = 0; row < piece.rows; ++row)
    std::memcpy(to + row * stride, from.data + row * from.stride, static_cast<size_t>(piece.bytes));
}

}  // namespace hlosim
