#include "layout/shape_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "base/hash.h"
#include "base/text.h"
#include "layout/inline_list.h"

namespace hlosim {
namespace {

using internal::InlineList;

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
constexpr bool starts_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
constexpr bool in_word(char c) { return starts_word(c) || is_digit(c) || c == '.' || c == '-'; }

/// First byte at or after `p` that is no blank and not in a comment; an unterminated `/*` is
/// left in place.
const char* after_blanks(const char* p, const char* end) {
  while (p != end) {
    if (is_blank(*p)) {
      ++p;
    } else if (*p == '/' && end - p >= 2 && p[1] == '/') {
      while (p != end && *p != '\n' && *p != '\r') ++p;
    } else if (*p == '/' && end - p >= 2 && p[1] == '*') {
      const std::string_view rest(p + 2, static_cast<size_t>(end - p - 2));
      const size_t close = rest.find("*/");
      if (close == std::string_view::npos) return p;
      p += 2 + close + 2;
    } else {
      return p;
    }
  }
  return p;
}

const char* after_word(const char* p, const char* end) {
  if (p == end || !starts_word(*p)) return p;
  while (p != end && in_word(*p)) ++p;
  return p;
}

/// `{` opens a layout only if an integer or `:` follows.
bool opens_layout(const char* p, const char* end) {
  if (p == end || *p != '{') return false;
  p = after_blanks(p + 1, end);
  if (p == end) return false;
  return is_digit(*p) || *p == ':' || (*p == '-' && end - p >= 2 && is_digit(p[1]));
}

bool is_shape_word(std::string_view word) {
  return parse_element_type(word) != ElementType::kInvalid || word == "token" || word == "opaque";
}

constexpr size_t kKnownSlots = 1024;
constexpr size_t kReadsBeforeTable = 16;
constexpr size_t kLongestKnown = 120;  // bytes; longer texts are rare and not worth hashing

}  // namespace

/// The parts of a layout as they are read; the spans of Layout are made when all are in place.
struct ShapeReader::LayoutParts {
  InlineList<int64_t, 16> order;
  InlineList<int64_t, 16> tile_sizes;
  InlineList<size_t, 8> tile_ends;  // into tile_sizes
  InlineList<int64_t, 8> split_dimensions;
  InlineList<int64_t, 8> split_indices;
  InlineList<size_t, 8> split_ends;  // into split_indices
  Layout layout;
};

ShapeReader::ShapeReader(ShapePool& pool, std::string_view text, int64_t most_dimensions)
    : pool_(pool),
      begin_(text.data()),
      end_(text.data() + text.size()),
      p_(begin_),
      most_dimensions_(most_dimensions) {}

ShapeRef ShapeReader::read(size_t& position) {
  p_ = begin_ + std::min(position, static_cast<size_t>(end_ - begin_));
  skip_blanks();
  const bool plain = p_ != end_ && *p_ != '(' && *p_ != 'b';
  const ShapeRef shape = plain ? read_array() : read_nested();
  if (shape) position = static_cast<size_t>(p_ - begin_);
  return shape;
}

// Tuples and buffers, without recursion: a nesting deeper than the machine's stack is text too.
ShapeRef ShapeReader::read_nested() {
  struct Open {
    uint32_t first = 0;  // into pending_
    bool is_buffer = false;
  };
  InlineList<Open, 8> open;
  pending_.clear();
  for (;;) {
    skip_blanks();
    ShapeRef value = nullptr;
    const bool buffer = p_ != end_ && *p_ == 'b' && word_here() == "b";
    if (buffer) ++p_;
    if (buffer ? at('(') : (p_ != end_ && *p_ == '(')) {
      if (open.size() == kMaxShapeDepth)
        return fail(fmt::format("shape nested deeper than {} levels", kMaxShapeDepth)), nullptr;
      ++p_;
      open.push_back({static_cast<uint32_t>(pending_.size()), buffer});
      if (buffer || !eat(')')) continue;
      value = pool_.tuple({});
      open.pop_back();
    } else if (buffer) {
      return fail(fmt::format("expected '(' after 'b' of a buffer shape, saw {}", seen())), nullptr;
    } else {
      value = read_array();
      if (!value) return nullptr;
    }
    // `value` is complete: close every tuple that ends here.
    for (;;) {
      if (open.empty()) return value;
      const Open top = open[open.size() - 1];
      if (top.is_buffer) {
        if (!value->is_array()) return fail("a buffer b(...) holds one array"), nullptr;
        if (!need(')', "at the end of buffer shape")) return nullptr;
        value = pool_.buffer(value);
        open.pop_back();
        continue;
      }
      pending_.push_back(value);
      if (eat(',')) break;
      if (!need(')', "at the end of tuple")) return nullptr;
      value = pool_.tuple(std::span<const ShapeRef>(pending_).subspan(top.first));
      pending_.resize(top.first);
      open.pop_back();
    }
  }
}

/// Bytes from p_ to the end of the array shape there, if that can be seen without taking it apart
/// (no blanks before the layout); 0 if not.
size_t ShapeReader::obvious_array_size() const {
  const size_t room = std::min(static_cast<size_t>(end_ - p_), kLongestKnown);
  const auto* bracket = static_cast<const char*>(std::memchr(p_, ']', room));
  if (!bracket) return 0;
  const char* next = bracket + 1;
  if (next == end_) return static_cast<size_t>(next - p_);
  if (*next == '{') {
    if (!opens_layout(next, end_)) return static_cast<size_t>(next - p_);
    const auto* brace =
        static_cast<const char*>(std::memchr(next, '}', room - static_cast<size_t>(next - p_)));
    return brace ? static_cast<size_t>(brace + 1 - p_) : 0;
  }
  if ((is_blank(*next) || *next == '/') && opens_layout(after_blanks(next, end_), end_)) return 0;
  return static_cast<size_t>(next - p_);
}

ShapeRef ShapeReader::read_array() {
  const char* start = p_;
  const size_t position = static_cast<size_t>(start - begin_);
  const size_t size = obvious_array_size();
  if (size == 0 || position > UINT32_MAX || ++arrays_read_ < kReadsBeforeTable) return read_new_array();
  if (known_.empty()) known_.resize(kKnownSlots);
  Known& known = known_[text_hash({start, size}) % kKnownSlots];
  if (known.size == size && std::memcmp(begin_ + known.position, start, size) == 0) {
    p_ = start + size;
    return known.shape;
  }
  const ShapeRef shape = read_new_array();
  // A comment may hide the bracket that was taken for the end.
  if (shape && p_ == start + size)
    known = {static_cast<uint32_t>(position), static_cast<uint32_t>(size), shape};
  return shape;
}

ShapeRef ShapeReader::read_new_array() {
  const std::string_view word = word_here();
  const ElementType type = parse_element_type(word);
  const bool token = word == "token", opaque = word == "opaque";
  if (type == ElementType::kInvalid && !token && !opaque) {
    std::vector<std::string_view> types = {"token", "opaque"};
    for (int i = 1; i < kElementTypeCount; ++i) types.push_back(to_text(static_cast<ElementType>(i)));
    fail(fmt::format("expected primitive type, saw {}", seen()), did_you_mean(word, types));
    return nullptr;
  }
  p_ += word.size();
  if (!need('[', "after primitive type")) return nullptr;
  InlineList<int64_t, 16> dimensions;
  InlineList<bool, 16> dynamic;
  bool any_dynamic = false;
  if (!eat(']')) {
    if (type == ElementType::kInvalid)
      return fail(fmt::format("{}[] has no dimensions, saw {}", word, seen())), nullptr;
    do {
      if (static_cast<int64_t>(dimensions.size()) >= most_dimensions_)
        return fail(too_many_dimensions(most_dimensions_), kMoreDimensions), nullptr;
      int64_t size = Shape::kUnbounded;
      bool is_dynamic = true;
      if (!eat('?')) {
        is_dynamic = at('<') && end_ - p_ >= 2 && p_[1] == '=';
        if (is_dynamic) p_ += 2;
        skip_blanks();
        const char* number = p_;
        if (!read_integer("dimension", size)) return nullptr;
        if (size < 0) {
          p_ = number;
          return fail(fmt::format("negative dimension {}", size)), nullptr;
        }
      }
      dimensions.push_back(size);
      dynamic.push_back(is_dynamic);
      any_dynamic |= is_dynamic;
    } while (eat(','));
    if (!need(']', "to end the dimensions")) return nullptr;
  }
  if (token) return pool_.token();
  if (opaque) return pool_.opaque();
  const Layout* layout = nullptr;
  const char* brace = after_blanks(p_, end_);
  if (opens_layout(brace, end_)) {
    p_ = brace;
    if (!read_layout(dimensions.size(), layout)) return nullptr;
  }
  return pool_.array(type, dimensions.span(), layout, any_dynamic ? dynamic.span() : std::span<const bool>());
}

// -- layouts ----------------------------------------------------------------------------------------

bool ShapeReader::read_layout(size_t rank, const Layout*& layout) {
  const char* brace = p_++;
  LayoutParts parts;
  bool descending = true;
  if (!at(':')) {
    do {
      int64_t dimension = 0;
      if (!read_integer("minor_to_major dimension", dimension)) return false;
      parts.order.push_back(dimension);
      descending &= dimension == static_cast<int64_t>(rank - parts.order.size());
    } while (eat(','));
  }
  const bool has_items = eat(':');
  if (has_items && !read_layout_items(parts)) return false;
  if (!need('}', has_items ? "to end the layout" : "or ':' after minor_to_major")) return false;
  if (parts.order.size() != rank) {
    p_ = brace;
    return fail(
        fmt::format("Dimensions size is {}, but minor to major size is {}.", rank, parts.order.size()),
        fmt::format("the layout must order exactly {} dimension{}", rank, rank == 1 ? "" : "s"));
  }
  if (!has_items && descending) {
    layout = pool_.default_layout(static_cast<int64_t>(rank));
    return true;
  }
  InlineList<Tile, 8> tiles;
  for (size_t i = 0, from = 0; i < parts.tile_ends.size(); from = parts.tile_ends[i++])
    tiles.push_back({parts.tile_sizes.span(from, parts.tile_ends[i])});
  InlineList<SplitConfig, 4> splits;
  for (size_t i = 0, from = 0; i < parts.split_ends.size(); from = parts.split_ends[i++])
    splits.push_back({parts.split_dimensions[i], parts.split_indices.span(from, parts.split_ends[i])});
  parts.layout.minor_to_major = parts.order.span();
  parts.layout.tiles = tiles.span();
  parts.layout.splits = splits.span();
  layout = pool_.layout(parts.layout);
  return true;
}

bool ShapeReader::read_layout_items(LayoutParts& parts) {
  Layout& layout = parts.layout;
  if (eat_item("D") && !read_level_types()) return false;
  if (eat_item("T") && !read_tiles(parts)) return false;
  if (eat_item("L") && !read_parenthesised("tail padding alignment", layout.tail_padding_alignment))
    return false;
  if (eat('#') && !read_parenthesised_type("index type", layout.index_type)) return false;
  if (eat('*') && !read_parenthesised_type("pointer type", layout.pointer_type)) return false;
  if (eat_item("E") && !read_parenthesised("element size in bits", layout.element_bits)) return false;
  if (eat_item("S") && !read_parenthesised("memory space", layout.memory_space)) return false;
  if (eat_item("SC") && !read_splits(parts)) return false;
  skip_blanks();
  const std::string_view word = word_here();
  if (word == "P") return fail("Layout has physical shape, but is not for a sparse array");
  if (eat_item("M") && !read_parenthesised("metadata prefix bytes", layout.metadata_prefix_bytes))
    return false;
  if (at('}')) return true;
  static constexpr std::string_view kItems[] = {"D", "T", "L", "#", "*", "E", "S", "SC", "M"};
  const std::string_view rest =
      p_ != end_ && (*p_ == '#' || *p_ == '*') ? std::string_view(p_, 1) : word_here();
  if (std::find(std::begin(kItems), std::end(kItems), rest) != std::end(kItems))
    return fail(fmt::format("layout property '{}' is repeated or out of order", rest),
                "the order is D, T, L, #, *, E, S, SC, M");
  return fail(fmt::format("expected a layout property or '}}', saw {}", seen()),
              "the properties are D, T, L, #, *, E, S, SC, M");
}

// D(D,C+~,...): one letter a dimension, `+` not unique, `~` not ordered. The arrays of this program
// are all dense, so nothing of it is kept.
bool ShapeReader::read_level_types() {
  if (!need('(', "after 'D'")) return false;
  while (!eat(')')) {
    skip_blanks();
    if (p_ == end_ || std::string_view("DCSH").find(*p_) == std::string_view::npos)
      return fail(fmt::format("expected a dimension level type (D, C, S or H), saw {}", seen()));
    ++p_;
    eat('+');
    eat('~');
    if (!eat(',') && !at(')'))
      return fail(fmt::format("expected ',' or ')' after a dimension level type, saw {}", seen()));
  }
  return true;
}

bool ShapeReader::read_tiles(LayoutParts& parts) {
  do {
    if (!need('(', "after 'T'")) return false;
    if (!eat(')')) {
      do {
        int64_t size = Tile::kCombine;
        if (!eat('*') && !read_integer("tile size or '*'", size)) return false;
        parts.tile_sizes.push_back(size);
      } while (eat(','));
      if (!need(')', "to end the tile")) return false;
    }
    parts.tile_ends.push_back(parts.tile_sizes.size());
  } while (at('('));
  return true;
}

bool ShapeReader::read_splits(LayoutParts& parts) {
  do {
    int64_t dimension = 0;
    if (!need('(', "after 'SC'") || !read_integer("split dimension", dimension) ||
        !need(':', "after the split dimension"))
      return false;
    parts.split_dimensions.push_back(dimension);
    if (!eat(')')) {
      do {
        int64_t index = 0;
        if (!read_integer("split index", index)) return false;
        parts.split_indices.push_back(index);
      } while (eat(','));
      if (!need(')', "to end the split")) return false;
    }
    parts.split_ends.push_back(parts.split_indices.size());
  } while (at('('));
  return true;
}

bool ShapeReader::read_parenthesised(const char* what, int64_t& value) {
  return need('(', "after a layout property") && read_integer(what, value) &&
         need(')', "to end a layout property");
}

bool ShapeReader::read_parenthesised_type(const char* what, ElementType& type) {
  if (!need('(', "after a layout property")) return false;
  skip_blanks();
  const std::string_view word = word_here();
  type = parse_element_type(word);
  if (!is_unsigned_integer(type))
    return fail(fmt::format("expected an unsigned integer type as {}, saw {}", what, seen()));
  p_ += word.size();
  return need(')', "to end a layout property");
}

// -- tokens -----------------------------------------------------------------------------------------

inline void ShapeReader::skip_blanks() {
  if (p_ != end_ && (is_blank(*p_) || *p_ == '/')) p_ = after_blanks(p_, end_);
}

inline bool ShapeReader::at(char c) {
  skip_blanks();
  return p_ != end_ && *p_ == c;
}

inline bool ShapeReader::eat(char c) {
  if (!at(c)) return false;
  ++p_;
  return true;
}

/// Eats the word `item` if it stands here as a whole word.
bool ShapeReader::eat_item(std::string_view item) {
  skip_blanks();
  if (p_ == end_ || *p_ != item[0] || word_here() != item) return false;
  p_ += item.size();
  return true;
}

bool ShapeReader::need(char c, const char* where) {
  if (eat(c)) return true;
  return fail(fmt::format("expected '{}' {}, saw {}", c, where, seen()));
}

// Non-negative numbers are read as unsigned and kept as the same 64 bits, so that
// 18446744073709551615 is -1, as it is for every reader of this format.
bool ShapeReader::read_integer(const char* what, int64_t& value) {
  skip_blanks();
  const char* digits = p_ != end_ && *p_ == '-' ? p_ + 1 : p_;
  const bool negative = digits != p_;
  const char* p = digits;
  uint64_t number = 0;
  bool overflow = false;
  for (; p != end_ && is_digit(*p); ++p) {
    const auto digit = static_cast<uint64_t>(*p - '0');
    if (p - digits < 19) [[likely]]
      number = number * 10 + digit;
    else
      overflow |= __builtin_mul_overflow(number, uint64_t{10}, &number) ||
                  __builtin_add_overflow(number, digit, &number);
  }
  if (p == digits) return fail(fmt::format("expected {}, saw {}", what, seen()));
  if (overflow || (negative && number > uint64_t{1} << 63))
    return fail(fmt::format("{} {} does not fit 64 bits", what, shown({p_, static_cast<size_t>(p - p_)})));
  value = static_cast<int64_t>(negative ? uint64_t{0} - number : number);
  p_ = p;
  return true;
}

std::string_view ShapeReader::word_here() const {
  return {p_, static_cast<size_t>(after_word(p_, end_) - p_)};
}

/// The text at p_ for a message.
std::string ShapeReader::seen() const {
  const char* p = after_blanks(p_, end_);
  if (p == end_) return "the end of the text";
  if (end_ - p >= 2 && p[0] == '/' && p[1] == '*') return "an unterminated comment";
  const char* after = after_word(p, end_);
  if (after == p)
    for (after = p + 1; is_digit(*p) && after != end_ && is_digit(*after); ++after) {
    }
  return fmt::format("'{}'", shown({p, static_cast<size_t>(after - p)}));
}

bool ShapeReader::fail(std::string message, std::string hint) {
  error_ = std::move(message);
  hint_ = std::move(hint);
  error_position_ = static_cast<size_t>(p_ - begin_);
  return false;
}

// -- free functions ---------------------------------------------------------------------------------

std::string too_many_dimensions(int64_t most) {
  return fmt::format("an array of more than {} dimensions", most);
}

bool looks_like_shape(std::string_view text, size_t position) {
  const char* end = text.data() + text.size();
  const char* p = after_blanks(text.data() + std::min(position, text.size()), end);
  if (p == end) return false;
  if (*p == '(') return true;
  const char* after = after_word(p, end);
  const std::string_view word(p, static_cast<size_t>(after - p));
  if (after != end && (*after == ':' || *after == '=')) return false;
  if (is_shape_word(word)) return true;
  if (word != "b") return false;
  const char* next = after_blanks(after, end);
  return next != end && *next == '(';
}

Result<ShapeRef> parse_shape(ShapePool& pool, std::string_view text) {
  const auto refuse = [&](std::string message, std::string hint, size_t offset) {
    Diagnostic diagnostic;
    diagnostic.message = std::move(message);
    diagnostic.hint = std::move(hint);
    diagnostic.source = std::make_shared<const SourceFile>("<shape>", std::string(text));
    diagnostic.offset = static_cast<uint32_t>(offset);
    return tl::unexpected<Diagnostic>(std::move(diagnostic));
  };
  ShapeReader reader(pool, text);
  size_t position = 0;
  const ShapeRef shape = reader.read(position);
  if (!shape) return refuse(reader.error(), reader.hint(), reader.error_position());
  const char* rest = after_blanks(text.data() + position, text.data() + text.size());
  if (rest != text.data() + text.size()) {
    const auto offset = static_cast<size_t>(rest - text.data());
    const bool brace = *rest == '{' && shape->is_array();
    return refuse(fmt::format("unexpected '{}' after the shape", shown(text.substr(offset), 20)),
                  brace ? "a layout begins with an integer or ':', as in f32[2]{0} or f32[]{:T(128)}" : "",
                  offset);
  }
  return shape;
}

namespace {

std::string order_problem(const Shape& shape) {
  const std::span<const int64_t> order = shape.layout->minor_to_major;
  const int64_t rank = shape.rank();
  if (static_cast<int64_t>(order.size()) != rank)
    return fmt::format("minor_to_major has {} entries for {} dimensions", order.size(), rank);
  std::vector<bool> seen(order.size(), false);
  for (const int64_t dimension : order) {
    if (dimension < 0 || dimension >= rank)
      return fmt::format("minor_to_major entry {} is out of range 0..{}", dimension, rank - 1);
    if (seen[static_cast<size_t>(dimension)])
      return fmt::format("minor_to_major is not a permutation: {} appears twice", dimension);
    seen[static_cast<size_t>(dimension)] = true;
  }
  return {};
}

std::string tile_problem(const Tile& tile) {
  if (tile.dimensions.empty()) return "a tile is empty";
  for (const int64_t size : tile.dimensions)
    if (size <= 0 && size != Tile::kCombine) return fmt::format("tile size {} is not positive", size);
  if (tile.dimensions.back() == Tile::kCombine)
    return "a tile ends in '*', which has no next more minor dimension to merge into";
  return {};
}

std::string split_problem(const Shape& shape) {
  const Layout& layout = *shape.layout;
  const int64_t rank = shape.rank();
  std::vector<int64_t> seen;
  for (const SplitConfig& split : layout.splits) {
    if (split.dimension < 0 || split.dimension >= rank)
      return fmt::format("split dimension {} is out of range for {} dimensions", split.dimension, rank);
    if (std::find(seen.begin(), seen.end(), split.dimension) != seen.end())
      return fmt::format("physical dimension {} is split twice", split.dimension);
    seen.push_back(split.dimension);
    const int64_t size = shape.dim(layout.minor_to_major[static_cast<size_t>(rank - 1 - split.dimension)]);
    int64_t before = 0;
    for (const int64_t index : split.indices) {
      if (index <= before)
        return fmt::format("split indices must be positive and strictly increasing: {} after {}", index,
                           before);
      if (size != Shape::kUnbounded && index >= size)
        return fmt::format("split index {} is not inside physical dimension {} of size {}", index,
                           split.dimension, size);
      before = index;
    }
  }
  return {};
}

std::string layout_problem(const Shape& shape) {
  const Layout& layout = *shape.layout;
  if (std::string problem = order_problem(shape); !problem.empty()) return problem;
  for (const Tile& tile : layout.tiles)
    if (std::string problem = tile_problem(tile); !problem.empty()) return problem;
  if (layout.tail_padding_alignment < 1)
    return fmt::format("tail padding alignment L({}) must be at least 1", layout.tail_padding_alignment);
  if (layout.index_type != ElementType::kInvalid || layout.pointer_type != ElementType::kInvalid)
    return "a dense array has no index or pointer type";
  if (layout.element_bits < 0) return fmt::format("element size E({}) is negative", layout.element_bits);
  if (layout.memory_space < -128 || layout.memory_space > 127)
    return fmt::format("memory space S({}) does not fit eight bits", layout.memory_space);
  if (layout.metadata_prefix_bytes < 0)
    return fmt::format("metadata prefix M({}) is negative", layout.metadata_prefix_bytes);
  return split_problem(shape);
}

}  // namespace

std::optional<Diagnostic> validate_layout(ShapeRef shape) {
  if (!shape->is_array()) {
    for (const ShapeRef element : shape->elements)
      if (std::optional<Diagnostic> problem = validate_layout(element)) return problem;
    return std::nullopt;
  }
  if (!shape->layout) return std::nullopt;
  std::string problem = layout_problem(*shape);
  if (problem.empty()) return std::nullopt;
  Diagnostic diagnostic;
  diagnostic.message = fmt::format("layout of {} is invalid: {}", to_text(shape), problem);
  return diagnostic;
}

}  // namespace hlosim
