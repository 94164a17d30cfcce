// Shapes from text: `bf16[8,<=128]{1,0:T(8,128)(2,1)S(1)}`, `(f32[], (s32[2], token[]))`, `b(f32[4])`.
//
//   shape  := type [ dim,.. ] layout? | ( shape,.. ) | b ( shape )      dim := n | <=n | ?
//   layout := { n,.. : D(..) T(..)(..).. L(n) #(utype) *(utype) E(n) S(n) SC(d:i,..).. M(n) }
//
// Blanks and comments may stand between any two tokens. The items of a layout come in this order,
// each at most once. `{` opens a layout only before an integer or `:`, so that the brace of
// `-> f32[42] {` is left alone.
//
// Only the form is checked here; whether a layout makes sense for its array is validate_layout's
// question.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "layout/shape.h"

namespace hlosim {

inline constexpr int64_t kAnyRank = std::numeric_limits<int64_t>::max();

/// How deep tuples may nest.
inline constexpr size_t kMaxShapeDepth = 8192;

/// Reads shapes at given places of one text. Shapes that occur again, letter for letter, are
/// recognised by their text and not taken apart a second time.
class ShapeReader {
 public:
  /// Requires: pool and the bytes of `text` outlive the reader. Arrays of more than `most_dimensions` are an
  /// error.
  ShapeReader(ShapePool& pool, std::string_view text, int64_t most_dimensions = kAnyRank);

  /// The shape at `position` (leading blanks allowed); moves `position` behind its last character.
  /// On failure: null, `position` unchanged, and the three functions below say why.
  ShapeRef read(size_t& position);

  int64_t most_dimensions() const { return most_dimensions_; }
  /// "expected primitive type, saw 'g32'"
  const std::string& error() const { return error_; }
  /// What would be right; may be empty.
  const std::string& hint() const { return hint_; }
  /// Byte in `text` the error is about.
  size_t error_position() const { return error_position_; }

 private:
  struct LayoutParts;
  struct Known {
    uint32_t position = 0;  // of an earlier occurrence in text_
    uint32_t size = 0;
    ShapeRef shape = nullptr;
  };

  ShapeRef read_nested();
  ShapeRef read_array();
  ShapeRef read_new_array();
  size_t obvious_array_size() const;
  bool read_layout(size_t rank, const Layout*& layout);
  bool read_layout_items(LayoutParts& parts);
  bool read_level_types();
  bool read_tiles(LayoutParts& parts);
  bool read_splits(LayoutParts& parts);
  bool read_parenthesised(const char* what, int64_t& value);
  bool read_parenthesised_type(const char* what, ElementType& type);

  void skip_blanks();
  bool at(char c);
  bool eat(char c);
  bool eat_item(std::string_view word);
  bool need(char c, const char* where);
  bool read_integer(const char* what, int64_t& value);
  std::string_view word_here() const;
  std::string seen() const;
  bool fail(std::string message, std::string hint = {});

  ShapePool& pool_;
  const char* begin_;
  const char* end_;
  const char* p_;
  int64_t most_dimensions_;
  std::vector<ShapeRef> pending_;  // elements of the tuples that are still open
  std::vector<Known> known_;       // direct-mapped by hash of the text
  size_t arrays_read_ = 0;
  std::string error_;
  std::string hint_;
  size_t error_position_ = 0;
};

/// What is wrong with an array of more than `most` dimensions, and how to read it nevertheless.
std::string too_many_dimensions(int64_t most);
inline constexpr const char* kMoreDimensions = "--max-rank=N takes arrays of up to N";

/// Whether a shape can start at `position`: `(`, a primitive type word that is not followed by `:`
/// or `=` (then it is a name), or `b` before `(`.
bool looks_like_shape(std::string_view text, size_t position);

/// The one shape that `text` consists of. Errors: anything else, with its place in the text.
Result<ShapeRef> parse_shape(ShapePool& pool, std::string_view text);

/// The first thing wrong with the layouts inside `shape`, if any: minor_to_major is a permutation;
/// tiles are not empty, sizes positive or `*`, the last never `*`; L >= 1; E, M >= 0; S fits eight
/// bits; no sparse properties; splits name distinct dimensions in range by strictly increasing
/// indices inside the dimension.
std::optional<Diagnostic> validate_layout(ShapeRef shape);

}  // namespace hlosim
