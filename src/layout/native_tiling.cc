#include "layout/native_tiling.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/check.h"
#include "layout/sizes.h"

namespace hlosim {
namespace {

/// Bits of one element in a tiled array: sub-byte integers and f4 are packed, f6 and pred are not.
int64_t native_bits(ShapeRef array) {
  const int bits = bit_width(array->element_type);
  const bool packed = bits == 1 || bits == 2 || bits == 4;
  const bool chosen = array->layout && array->layout->element_bits != 0;
  return packed && !chosen ? bits : element_storage_bits(array);
}

/// Elements a 32-bit word holds; 1 for wider types, which are split into words. Widths that do not
/// divide a word are not packed.
int64_t elements_per_word(int64_t bits) { return bits < 32 && 32 % bits == 0 ? 32 / bits : 1; }

int64_t compact_rows(int64_t size, int64_t per_word, const TilingPolicy& policy) {
  const int64_t most = std::max(policy.sublanes, per_word);
  if (policy.compact_rows == CompactRows::kOff || size == Shape::kUnbounded) return most;
  if (policy.compact_rows == CompactRows::kF32Rule && per_word > 1) return most;
  int64_t words = policy.compact_rows == CompactRows::kF32Rule ? 2 : 1;
  while (words < policy.sublanes && words * per_word < size) words *= 2;
  return std::min(words * per_word, most);
}

int64_t matrix_rows(int64_t size, int64_t per_word, const TilingPolicy& policy) {
  const int64_t large = policy.sublanes * per_word;
  if (policy.large_rows && per_word > 1 && size > 0 && size % large == 0) return large;
  return compact_rows(size, per_word, policy);
}

/// Smallest power-of-two multiple of the granule that holds `count`, up to 1024 elements.
int64_t vector_tile(int64_t count, int64_t bits, const TilingPolicy& policy) {
  const int64_t most = policy.sublanes * policy.lanes;
  const int64_t unit = std::max<int64_t>(1, policy.granule.count() * 8 / std::min<int64_t>(bits, 32));
  int64_t tile = unit;
  while (tile < most && (count == Shape::kUnbounded || tile < count)) tile *= 2;
  return tile;
}

ShapeRef with_tiles(ShapePool& pool, ShapeRef array, const TilingPolicy& policy) {
  Layout layout = array->layout ? *array->layout : *pool.default_layout(array->rank());
  const int64_t bits = native_bits(array);
  const int64_t per_word = elements_per_word(bits);
  if (bits < 8) layout.element_bits = bits;
  std::array<int64_t, 2> first{}, word = {per_word, 1};
  const std::array<int64_t, 1> row = {policy.lanes};
  std::vector<Tile> tiles;
  if (array->rank() >= 2) {
    first = {matrix_rows(array->dim(layout.minor_to_major[1]), per_word, policy), policy.lanes};
    tiles.push_back({first});
    if (per_word > 1) tiles.push_back({word});
  } else {
    const int64_t count = array->rank() == 0 ? 1 : array->dim(0);
    first[0] = vector_tile(count, bits, policy);
    tiles.push_back({std::span<const int64_t>(first).first(1)});
    const bool words = policy.packed_1d && array->rank() == 1 && per_word > 1;
    if (words && first[0] % (policy.lanes * per_word) == 0) {
      tiles.push_back({row});
      tiles.push_back({word});
    }
  }
  layout.tiles = tiles;
  return pool.with_layout(array, pool.layout(layout));
}

}  // namespace

bool carries_tiles(ShapeRef shape) {
  if (shape->is_array()) return shape->layout && !shape->layout->tiles.empty();
  return std::any_of(shape->elements.begin(), shape->elements.end(), carries_tiles);
}

ShapeRef with_native_tiling(ShapePool& pool, ShapeRef shape, const TilingPolicy& policy) {
  switch (shape->kind) {
    case ShapeKind::kToken:
    case ShapeKind::kOpaque:
      return shape;
    case ShapeKind::kBuffer:
      return pool.buffer(with_native_tiling(pool, shape->elements[0], policy));
    case ShapeKind::kTuple: {
      std::vector<ShapeRef> elements;
      for (const ShapeRef element : shape->elements)
        elements.push_back(with_native_tiling(pool, element, policy));
      return pool.tuple(elements);
    }
    case ShapeKind::kArray:
      break;
  }
  if (carries_tiles(shape) || shape->memory_space() == kHostSpace) return shape;
  return with_tiles(pool, shape, policy);
}

}  // namespace hlosim
