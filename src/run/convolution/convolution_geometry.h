// Where a convolution's window lies for each place of the result, and operands as its kernels want them.
//
//   const Geometry geometry(convolution);
//   for (Geometry::Cursor place(geometry, 0); …; place.next())
//     geometry.for_each_run(place, [&](const TapRun& run) { … });
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "convolution/convolution.h"
#include "convolution/convolution_kernels.h"
#include "cpu_kernels/scratch.h"

namespace hlosim {

/// Elements of the input of all groups.
int64_t input_elements(const Convolution& convolution);

/// Taps of a place that are neighbours in the innermost spatial dimension.
struct TapRun {
  int64_t tap = 0, count = 0;
  int64_t offset = 0, stride = 0;  // of the input elements, from tap to tap
  bool inside = false;             // of the input; else padding or a hole
};

/// Places (batch × spatial) and taps, each counted row-major.
class Geometry {
 public:
  static constexpr size_t kMaxRank = 32;

  explicit Geometry(const Convolution& convolution);

  int64_t taps() const { return taps_; }
  int64_t places() const { return places_; }
  int64_t kernel_offset(int64_t tap) const;
  /// Positions [first, second) of the innermost dimension at which the window's taps are all inside of it.
  /// Places there differ by even steps of the input.
  std::pair<int64_t, int64_t> inside_row() const;

  /// Goes from place to place.
  class Cursor {
   public:
    Cursor(const Geometry& geometry, int64_t place);
    void next();
    int64_t output_offset() const;

   private:
    friend class Geometry;
    const Convolution& convolution_;
    int64_t batch_;
    std::array<int64_t, kMaxRank> index_;
  };

  /// Calls visit(TapRun) for all taps of a place, in order.
  template <class Visit>
  void for_each_run(const Cursor& place, Visit&& visit) const {
    visit_dimension(0, place, 0, place.batch_ * convolution_.input_batch_stride, visit);
  }

 private:
  template <class Visit>
  void visit_dimension(size_t depth, const Cursor& place, int64_t tap, int64_t offset, Visit& visit) const;

  const Convolution& convolution_;
  int64_t taps_ = 1, places_ = 1;
  std::array<int64_t, kMaxRank> inner_taps_;  // of the dimensions behind
};

template <class Visit>
void Geometry::visit_dimension(size_t depth, const Cursor& place, int64_t tap, int64_t offset,
                               Visit& visit) const {
  if (depth == convolution_.spatial.size()) return visit(TapRun{tap, 1, offset, 0, true});
  const ConvolutionSpatial& d = convolution_.spatial[depth];
  const int64_t start = place.index_[depth] * d.stride - d.padding_low, inner = inner_taps_[depth];
  if (d.base_dilation > 1) {
    for (int64_t i = 0; i < d.kernel; ++i) {
      const int64_t at = start + i * d.window_dilation;
      if (at < 0 || at % d.base_dilation != 0 || at / d.base_dilation >= d.input)
        visit(TapRun{tap + i * inner, inner, 0, 0, false});
      else
        visit_dimension(depth + 1, place, tap + i * inner, offset + at / d.base_dilation * d.input_stride,
                        visit);
    }
    return;
  }
  // Taps [first, last) are inside.
  const int64_t by = d.window_dilation;
  int64_t first = start >= 0 ? 0 : by == 1 ? -start : (-start + by - 1) / by;
  int64_t last = start >= d.input ? 0 : by == 1 ? d.input - start : (d.input - 1 - start) / by + 1;
  first = first < d.kernel ? first : d.kernel;
  last = last < first ? first : last < d.kernel ? last : d.kernel;
  if (first > 0) visit(TapRun{tap, first * inner, 0, 0, false});
  const int64_t here = offset + (start + first * by) * d.input_stride;
  if (depth + 1 == convolution_.spatial.size()) {
    if (first < last) visit(TapRun{tap + first, last - first, here, by * d.input_stride, true});
  } else {
    for (int64_t i = first; i < last; ++i)
      visit_dimension(depth + 1, place, tap + i * inner, here + (i - first) * by * d.input_stride, visit);
  }
  if (last < d.kernel) visit(TapRun{tap + last * inner, (d.kernel - last) * inner, 0, 0, false});
}

/// The convolution with its input copied so that the features of a group are neighbours, and f32 if wanted,
/// when it wasn't so.
class NormalInput {
 public:
  NormalInput(const Convolution& original, bool as_f32);
  const Convolution& convolution() const { return convolution_; }

 private:
  Convolution convolution_;
  std::vector<ConvolutionSpatial> spatial_;
  bool copied_;
  Scratch moved_, converted_;
};

/// Where rows of sums, one per place, go.
class ResultRows {
 public:
  ResultRows(const Convolution& convolution, const Geometry& geometry, const ConvolutionLevel& level);

  /// Rows have one stride and neighbouring columns: sums of the result's type can be made in place.
  bool is_matrix() const { return columns_are_neighbours_ && has_one_stride_; }
  int64_t stride() const { return stride_; }
  std::byte* at(int64_t group, int64_t place, int64_t column) const {
    return group_at(group, column) + place * stride_ * width_;
  }

  /// Writes elements [place][column], `places` from `first` and `columns` from `first_column` on.
  void store(int64_t group, int64_t first, int64_t places, int64_t first_column, int64_t columns,
             const std::byte* elements) const;
  /// The same of sums that `recipe` rounds.
  void store_sums(int64_t group, int64_t first, int64_t places, int64_t first_column, int64_t columns,
                  const float* sums, const MatmulRecipe& recipe) const;

 private:
  std::byte* group_at(int64_t group, int64_t column) const;
  bool find_stride();
  int64_t neighbours_of_image() const;

  const Convolution& convolution_;
  const Geometry& geometry_;
  int64_t width_;
  TransposeFn transpose_;
  bool columns_are_neighbours_;
  int64_t stride_ = 0;
  bool has_one_stride_;
  int64_t image_;  // places of an image, if they are neighbours; else 0
};

/// A convolution of f32 sums, by tiles over a table of pointers.
void float_convolution(const Convolution& convolution, const MatmulRecipe& recipe,
                       const ConvolutionLevel& level);
/// The same where groups have one input and one output feature.
void depthwise_convolution(const Convolution& convolution, const MatmulRecipe& recipe,
                           const ConvolutionLevel& level);
/// The same where besides many places of the innermost dimension are neighbours in memory, all of it is f32
/// and what the window reaches is small; false, and nothing is done, where that isn't so.
bool depthwise_lines(const Convolution& convolution, const ConvolutionLevel& level);

}  // namespace hlosim
