// Arrays cut along a dimension.
//
//   const Parts parts = Parts::along(shape, 0, 4);                         // f32[8,2]: 4 parts of 16 bytes
//   Piece::part(device, 0, parts, 1).offset        // 16
#pragma once

#include <cstddef>
#include <cstdint>

#include "array/array.h"

namespace hlosim {

/// A dense array as `rows` rows of `count` parts, each `bytes` long, along one of its dimensions.
struct Parts {
  int64_t rows = 1, count = 1, bytes = 0;

  /// `count` parts along `dimension`; a rest is cut off.
  static Parts along(ShapeRef shape, int64_t dimension, int64_t count);
  int64_t total() const;
};

/// Bytes of one operand leaf of one device: `rows` times `bytes`, the first at `offset`, `stride` apart.
struct Piece {
  int64_t device = 0;
  size_t leaf = 0;
  int64_t offset = 0, rows = 1, bytes = 0, stride = 0;

  static Piece whole(int64_t device, size_t leaf, int64_t bytes) {
    return {device, leaf, 0, 1, bytes, bytes};
  }
  static Piece part(int64_t device, size_t leaf, const Parts& parts, int64_t i) {
    return {device, leaf, i * parts.bytes, parts.rows, parts.bytes, parts.count * parts.bytes};
  }
  int64_t total() const { return rows * bytes; }
};

/// Where the bytes of a piece are in memory.
struct PieceView {
  const std::byte* data = nullptr;
  int64_t stride = 0;
};

/// Writes the rows of a piece, `stride` apart.
void copy_piece(const Piece& piece, const PieceView& from, std::byte* to, int64_t stride);

}  // namespace hlosim
