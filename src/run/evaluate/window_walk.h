// Walking a window over an array, a row of places at a time.
//
//   const WindowWalk walk(base, window);
//   for (int64_t piece = 0; piece < walk.piece_count(); ++piece)
//     walk.for_each_tap(piece, [&](const RowTap& tap) { … });
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "hlo/op_def.h"
#include "ops/window.h"

namespace hlosim {

/// Places first, first + step, … of a row, and the elements of the array that a window position shows there.
struct RowTap {
  int64_t first, step, count;
  int64_t element, element_step;
};

/// Places are cut into pieces of rows along the last dimension; each piece sees its window positions in
/// row-major order. Neighbouring dimensions that the window doesn't touch are one.
class WindowWalk {
 public:
  /// Requires: require_window().
  WindowWalk(std::span<const int64_t> base, std::span<const WindowDimension> window);

  int64_t piece_count() const { return rows_ * cuts_; }
  /// Window positions seen at all places of a piece together, about.
  int64_t piece_work() const { return piece_work_; }
  /// Number of a piece's first place among all places, and how many places it has.
  int64_t first_place(int64_t piece) const { return piece / cuts_ * row_ + piece % cuts_ * kPiece; }
  int64_t place_count(int64_t piece) const { return std::min(kPiece, row_ - piece % cuts_ * kPiece); }

  /// Calls f(RowTap) for each window position that sees elements; places count from the piece's first.
  template <class F>
  void for_each_tap(int64_t piece, F&& f) const {
    // Where each outer dimension's place is, and the window positions that lie on elements there.
    std::vector<OuterState> outer(outer_.size());
    int64_t row = piece / cuts_;
    for (size_t d = outer_.size(); d-- > 0;) {
      outer[d] = start_outer(d, row % outer_[d].places);
      row /= outer_[d].places;
      if (outer[d].tap < 0) return;
    }
    const int64_t begin = piece % cuts_ * kPiece, end = begin + place_count(piece);
    for (;;) {
      int64_t offset = 0;
      for (size_t d = 0; d < outer_.size(); ++d) offset += outer[d].element * outer_[d].stride;
      for (const TapPlaces& tap : row_taps_) {
        RowTap seen{};
        if (clip(tap, begin, end, offset, seen)) f(seen);
      }
      size_t d = outer_.size();
      while (d > 0 && !next_tap(d - 1, outer[d - 1])) {
        --d;
        outer[d] = start_outer(d, outer[d].place);
      }
      if (d == 0) return;
    }
  }

 private:
  static constexpr int64_t kPiece = 2048;
  struct Dimension {
    int64_t base, places, stride;  // stride of the array, in elements
    WindowDimension window;
  };
  struct OuterState {
    int64_t place = 0, tap = -1, element = 0;
  };
  OuterState start_outer(size_t d, int64_t place) const;
  /// The next position that lies on an element; false when there is none.
  bool next_tap(size_t d, OuterState& state) const;
  bool find_tap(size_t d, OuterState& state, int64_t from) const;
  static bool clip(const TapPlaces& tap, int64_t begin, int64_t end, int64_t offset, RowTap& seen);

  std::vector<Dimension> outer_;     // all but the last
  std::vector<TapPlaces> row_taps_;  // of the last dimension, those that see something
  int64_t rows_ = 1, row_ = 1, cuts_ = 1, piece_work_ = 1;
};

/// Window positions beyond which a window is refused.
inline constexpr int64_t kMostWindowPositions = int64_t{1} << 28;

}  // namespace hlosim
