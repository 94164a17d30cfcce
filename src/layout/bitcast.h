// What a bitcast does. A bitcast reads the same bytes under another shape, so its value is
//
//   out[i] = in[ place_in⁻¹( place_out(i) ) ]
//
// which usually is something simpler: the same array, a reshape (row-major order kept), or a
// transpose. Whether it is follows from comparing the two layouts as functions, here in closed form:
//
//   f32[8,128,4096]{2,1,0:T(8,128)} -> f32[1024,4096]{1,0:T(8,128)}   tiled reshape: 8 divides 128
//   f32[8,100,4096]{2,1,0:T(8,128)} -> f32[ 800,4096]{1,0:T(8,128)}   re-read: 100 rows are padded to 104
//
// HOW. Number the elements k = 0, 1, .. in row-major order of the logical dimensions. Dimension d
// with n values and weight W (the product of the dimensions after it) has index k / W mod n, and the
// layout's digits (see layout_map.h) take (index / v) mod m of it times a stride. Where v·m divides
// n this is just (k / (W·v)) mod m: a *pure* digit, in which the dimension itself no longer occurs.
// Written with pure digits, neighbours merged and trivial ones dropped, equal functions of k look
// alike however the dimensions were grouped. A digit of a dimension that its tile pads stays as
// it is, as a function of that dimension.
//
// The comparison never calls different functions equal. It may miss an equality where a layout is
// not flat (LayoutMap::flat) or `*` merges dimensions that are no neighbours: the answer is then
// kReread, which is always right, only less telling.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "layout/layout_map.h"
#include "layout/shape.h"

namespace hlosim {

enum class BitcastKind : uint8_t {
  kIdentity,        // same dimensions, same layout but for the memory space
  kReshape,         // no tiles; row-major order is kept
  kTranspose,       // same physical dimensions and tiles, logical ones permuted
  kTiledReshape,    // as kReshape, through different tilings
  kTiledTranspose,  // as kTranspose, through different tilings
  kReread,          // none of these: only the offsets show which element goes where
};

std::string_view to_text(BitcastKind kind);

struct BitcastClass {
  BitcastKind kind = BitcastKind::kReread;
  /// Transposes: dimension i of the output is dimension permutation[i] of the input.
  std::vector<int64_t> permutation;

  /// Every element stays what and where it is; at most its index is written differently.
  bool is_no_op() const { return kind != BitcastKind::kReread; }
};

/// The first kind of the list above that fits. Requires: shapes of one pool with valid layouts;
/// other shapes than arrays are kIdentity if the same, else kReread.
BitcastClass classify_bitcast(ShapeRef from, ShapeRef to);

/// Why `to` cannot be a bitcast of `from`, if so: the array sizes must be equal (or, when
/// `allow_different_tail`, both be static with equal array data sizes), and both or neither lie in
/// host memory, S(5).
std::optional<Diagnostic> bitcast_problem(ShapeRef from, ShapeRef to, bool allow_different_tail = false);

/// The element of `from` that element `index` of `to` re-reads: false for padding, whose value is
/// undefined. Requires: equal storage bits.
bool bitcast_source(const LayoutMap& from, const LayoutMap& to, std::span<const int64_t> index,
                    std::span<int64_t> source);

/// The slow answer to "is it a reshape that moves nothing": compares the place of every element.
/// nullopt above 2^20 elements.
std::optional<bool> is_reshape_by_exhaustion(ShapeRef from, ShapeRef to);

}  // namespace hlosim
