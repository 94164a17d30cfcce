#include "layout/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <numeric>

#include "base/text.h"
#include "layout/layout_map.h"
#include "layout/shape_text.h"

namespace hlosim {
namespace {

constexpr int64_t kMostOrdersTried = 720;  // 6 dimensions

std::string joined(std::span<const int64_t> values, std::string_view separator) {
  std::string out;
  for (const int64_t value : values) {
    if (!out.empty()) out += separator;
    out += fmt::format("{}", value);
  }
  return out;
}

/// The order of dimensions under which the array's own tiles pad least.
ShapeRef tighter_order(ShapePool& pool, ShapeRef array) {
  if (!array->layout || array->layout->tiles.empty() || !array->layout->splits.empty()) return nullptr;
  std::vector<int64_t> order(array->dimensions.size());
  std::iota(order.begin(), order.end(), 0);
  ShapeRef best = array;
  for (int64_t tried = 0; tried < kMostOrdersTried; ++tried) {
    Layout layout = *array->layout;
    layout.minor_to_major = order;
    const ShapeRef candidate = pool.with_layout(array, pool.layout(layout));
    if (array_size(candidate) < array_size(best)) best = candidate;
    if (!std::next_permutation(order.begin(), order.end())) break;
  }
  return best == array ? nullptr : best;
}

Result<void> check_index(ShapeRef shape, std::span<const int64_t> index) {
  if (static_cast<int64_t>(index.size()) != shape->rank())
    return failure(fmt::format("index ({}) has {} numbers, but {} has {} dimensions", joined(index, ","),
                               index.size(), to_text_without_layout(shape), shape->rank()));
  for (size_t d = 0; d < index.size(); ++d)
    if (index[d] < 0 || index[d] >= shape->dimensions[d])
      return failure(fmt::format("index ({}) is out of bounds: dimension {} of {} has {} elements",
                                 joined(index, ","), d, to_text_without_layout(shape), shape->dimensions[d]));
  return {};
}

ElementPlace place_of(ShapePool& pool, const LayoutMap& map, std::span<const int64_t> index) {
  ElementPlace place;
  place.index.assign(index.begin(), index.end());
  place.offset = map.offset(index);
  place.address = element_address(map.shape(), place.offset);
  if (!map.shape()->layout || map.shape()->layout->splits.empty()) return place;
  const SplitPlace split = locate_in_split(pool, map.shape(), index);
  place.split_piece = split.piece;
  place.split_index = split.index;
  // A piece of what could be laid out whole is no larger, so this cannot fail.
  place.split_offset = LayoutMap::make(split.shape)->offset(split.index);
  return place;
}

Result<ElementPlace> place_at(ShapePool& pool, const LayoutMap& map, int64_t offset) {
  if (offset < 0 || offset >= map.extent())
    return failure(fmt::format("offset {} is outside {}, which has {} slots", offset, to_text(map.shape()),
                               map.extent()));
  std::vector<int64_t> index(static_cast<size_t>(map.rank()));
  if (map.index(offset, index)) return place_of(pool, map, index);
  ElementPlace place;
  place.padding = true;
  place.offset = offset;
  place.address = element_address(map.shape(), offset);
  return place;
}

}  // namespace

Result<LayoutDescription> describe_layout(ShapePool& pool, ShapeRef shape, const LayoutQuery& query) {
  if (shape->is_buffer()) shape = shape->elements[0];
  if (!shape->is_array())
    return failure(fmt::format("{} is not an array and has no layout", to_text(shape)),
                   "give one array, such as f32[8,128]");
  if (std::optional<Diagnostic> problem = validate_layout(shape))
    return tl::unexpected<Diagnostic>(std::move(*problem));
  const Result<LayoutMap> map = LayoutMap::make(shape);
  if (!map) return tl::unexpected<Diagnostic>(map.error());
  LayoutDescription out;
  out.shape = shape;
  out.element_count = shape->element_count();
  out.element_bits = element_storage_bits(shape);
  out.extent = map->extent();
  out.flat = map->flat();
  for (int64_t i = 0; i < shape->rank(); ++i) {
    const int64_t minor = shape->rank() - 1 - i;
    const int64_t dimension = shape->layout ? shape->layout->minor_to_major[static_cast<size_t>(minor)] : i;
    out.order.push_back(dimension);
    out.dimensions_in_order.push_back(shape->dim(dimension));
  }
  out.tiled_dimensions.assign(map->physical_dimensions().begin(), map->physical_dimensions().end());
  out.padding = padding_of(shape);
  out.array_data_size = array_data_size(shape);
  out.metadata_prefix = metadata_prefix(shape);
  out.tighter = tighter_order(pool, shape);
  out.warning = size_warning(shape);
  if (query.index) {
    if (Result<void> valid = check_index(shape, *query.index); !valid)
      return tl::unexpected<Diagnostic>(valid.error());
    out.of_index = place_of(pool, *map, *query.index);
  }
  if (query.offset) {
    Result<ElementPlace> place = place_at(pool, *map, *query.offset);
    if (!place) return tl::unexpected<Diagnostic>(place.error());
    out.of_offset = std::move(*place);
  }
  return out;
}

namespace {

std::string bytes_text(Bytes bytes) {
  if (bytes == kTooLarge) return fmt::format("at least {} B", grouped(bytes.count()));
  const std::string exact = grouped(bytes.count()) + " B";
  return bytes < Bytes(1024) ? exact : fmt::format("{} ({})", exact, to_text(bytes));
}

std::string count_text(int64_t count, std::string_view one) {
  return fmt::format("{} {}{}", grouped(count), one, count == 1 ? "" : "s");
}

std::string padding_text(const Padding& padding) {
  if (padding.padded == kTooLarge) return "unknown, the sizes are too large";
  return fmt::format("{} ({:.1f}x expansion, {:.1f} % waste)", bytes_text(padding.extra), padding.expansion,
                     100 * padding.waste);
}

void append_row(std::string& out, std::string_view name, std::string_view value) {
  fmt::format_to(std::back_inserter(out), "  {:<29}{}\n", name, value);
}

std::string address_text(const ElementPlace& place, int64_t element_bits) {
  std::string out = fmt::format("offset {}, ", count_text(place.offset, "element"));
  if (place.address.byte == kTooLarge.count()) return out + "byte beyond 2^63-2";
  out += fmt::format("byte {}", grouped(place.address.byte));
  if (element_bits % 8 != 0) out += fmt::format(" bit {}", place.address.bit);
  return out;
}

void append_place(std::string& out, std::string_view name, const ElementPlace& place, int64_t element_bits) {
  const std::string where = address_text(place, element_bits);
  append_row(out, name,
             place.padding ? fmt::format("padding; {}", where)
                           : fmt::format("index ({}); {}", joined(place.index, ","), where));
  if (!place.split_piece.empty())
    append_row(out, "",
               fmt::format("piece ({}), index ({}) in it: offset {} there", joined(place.split_piece, ","),
                           joined(place.split_index, ","), count_text(place.split_offset, "element")));
}

}  // namespace

// The words of the padding lines are those of the TPU runtime's out-of-memory reports.
std::string to_text(const LayoutDescription& d) {
  std::string out = to_text(d.shape) + "\n";
  append_row(
      out, "elements",
      fmt::format("{}, {} each", count_text(d.element_count, "element"), count_text(d.element_bits, "bit")));
  if (!d.order.empty())
    append_row(out, "in memory order",
               fmt::format("{} (dimension{} {}, most major first)", joined(d.dimensions_in_order, " x "),
                           d.order.size() == 1 ? "" : "s", joined(d.order, ", ")));
  const bool tiled = d.shape->layout && !d.shape->layout->tiles.empty();
  if (tiled) append_row(out, "after tiling", joined(d.tiled_dimensions, " x "));
  append_row(out, "slots",
             fmt::format("{}, {} of them padding", count_text(d.extent, "element"),
                         grouped(d.extent - d.element_count)));
  append_row(out, "memory space",
             d.shape->memory_space() == kDefaultMemorySpace ? std::string("S(0), default")
                                                            : fmt::format("S({})", d.shape->memory_space()));
  append_row(out, "Size", bytes_text(d.padding.padded));
  append_row(out, "Unpadded size", bytes_text(d.padding.unpadded));
  append_row(out, "Extra memory due to padding", padding_text(d.padding));
  append_row(out, "up to the last element", bytes_text(d.array_data_size));
  if (d.metadata_prefix.count() > 0) append_row(out, "metadata in front", bytes_text(d.metadata_prefix));
  if (d.tighter)
    append_row(out, "less padding as",
               fmt::format("{}: {}", to_text(d.tighter), bytes_text(array_size(d.tighter))));
  if (d.of_index) append_place(out, "asked index", *d.of_index, d.element_bits);
  if (d.of_offset) append_place(out, "asked offset", *d.of_offset, d.element_bits);
  if (d.warning) out += fmt::format("warning: {}\n", d.warning->message);
  return out;
}

Result<std::vector<int64_t>> parse_index(std::string_view text) {
  std::vector<int64_t> index;
  if (text.empty()) return index;
  const char* p = text.data();
  const char* end = p + text.size();
  for (;;) {
    int64_t value = 0;
    const auto [next, error] = std::from_chars(p, end, value);
    if (error != std::errc() || (next != end && *next != ','))
      return failure(fmt::format("'{}' is not an index", shown(text)), "numbers and commas, as in 9,130");
    index.push_back(value);
    if (next == end) return index;
    p = next + 1;
  }
}

}  // namespace hlosim
