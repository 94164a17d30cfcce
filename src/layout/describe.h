// Everything there is to say about one array's layout: what `hlosim layout SHAPE` prints.
//
//   const auto layout = describe_layout(pool, shape, {.index = {{9, 130}}});  // f32[16,256]{1,0:T(8,128)}
//   layout->of_index->offset;                 // 3,202
//   std::string text = to_text(*layout);
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "base/units.h"
#include "layout/shape.h"
#include "layout/sizes.h"

namespace hlosim {

/// What to look up besides the sizes.
struct LayoutQuery {
  std::optional<std::vector<int64_t>> index{};  // where is this element?
  std::optional<int64_t> offset{};              // which element is in this slot?
};

/// One element and its slot, or a slot of padding.
struct ElementPlace {
  bool padding = false;
  std::vector<int64_t> index;        // empty for padding
  int64_t offset = 0;                // [elements]
  ElementAddress address;            // from the start of the data
  std::vector<int64_t> split_piece;  // which piece holds it, if the layout splits the array
  std::vector<int64_t> split_index;  // where in that piece
  int64_t split_offset = 0;          // [elements] from the start of the piece
};

struct LayoutDescription {
  ShapeRef shape = nullptr;
  int64_t element_count = 0;
  int64_t element_bits = 0;                  // in memory
  int64_t extent = 0;                        // slots, padding included
  bool flat = true;                          // see layout_map.h
  std::vector<int64_t> order;                // logical dimensions, most major first
  std::vector<int64_t> dimensions_in_order;  // their sizes
  std::vector<int64_t> tiled_dimensions;     // after all tiles, most major first
  Padding padding;
  Bytes array_data_size{};
  Bytes metadata_prefix{};
  /// The same tiles over the dimensions in another order that pads less; null if there is none.
  ShapeRef tighter = nullptr;
  std::optional<Diagnostic> warning;
  std::optional<ElementPlace> of_index;  // answers to the query
  std::optional<ElementPlace> of_offset;
};

/// Errors: not an array; invalid layout; `?` dimensions; too large; an index of the wrong length or
/// out of bounds; an offset outside the array's slots.
Result<LayoutDescription> describe_layout(ShapePool& pool, ShapeRef shape, const LayoutQuery& query = {});

/// Several lines, each ending in '\n'; every number has its unit.
std::string to_text(const LayoutDescription& description);

/// "9,130" -> {9, 130}; "" -> {} (a scalar's index).
Result<std::vector<int64_t>> parse_index(std::string_view text);

}  // namespace hlosim
