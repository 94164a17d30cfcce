// Convolutions of f32 sums with one channel in each group: groups are the features of one convolution, of
// which each meets only its own.
#include <algorithm>
#include <cstring>

#include "base/rounding.h"
#include "convolution/convolution_geometry.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

constexpr int64_t kPlaces = ConvolutionKernels::kDepthwisePlaces;
constexpr int64_t kSumBytes = 64 << 10;  // of sums that aren't made in the result

Convolution with_groups_as_features(const Convolution& convolution) {
  Convolution wide = convolution;
  wide.groups = 1;
  wide.input_features = wide.output_features = convolution.groups;
  wide.input_feature_stride = convolution.input_group_stride;
  wide.output_feature_stride = convolution.output_group_stride;
  wide.kernel_output_feature_stride = convolution.kernel_group_stride;
  return wide;
}

class DepthwiseConvolution {
 public:
  DepthwiseConvolution(const Convolution& convolution, const MatmulRecipe& recipe,
                       const ConvolutionLevel& level)
      : wide_(with_groups_as_features(convolution)),
        input_(wide_, true),
        recipe_(recipe),
        kernels_(*level.kernels),
        geometry_(input_.convolution()),
        result_(input_.convolution(), geometry_, level),
        direct_(recipe.sums_are_result && result_.is_matrix()),
        taps_(geometry_.taps()),
        channels_(wide_.input_features),
        row_(wide_.spatial.empty() ? 1 : wide_.spatial.back().output),
        inside_(geometry_.inside_row()),
        sliding_(sliding_tiles()),
        weights_(taps_ * channels_ * 4),
        zeros_(channels_ * 4) {
    std::memset(zeros_.as<float>(), 0, static_cast<size_t>(channels_ * 4));
    for (int64_t tap = 0; tap < taps_; ++tap)
      recipe.rhs.pack({.data = static_cast<const std::byte*>(wide_.kernel) +
                               geometry_.kernel_offset(tap) * byte_width(wide_.kernel_type),
                       .lane_stride = wide_.kernel_output_feature_stride,
                       .k_stride = 0,
                       .lanes = channels_,
                       .k = 1,
                       .width = channels_,
                       .values = recipe.rhs.values},
                      weights_.as<float>() + tap * channels_);
  }

  void run() const {
    const int64_t at_once = std::clamp<int64_t>(kSumBytes / (channels_ * 4), 1, 16) * kPlaces;
    const int64_t grain = std::max(at_once, (32 << 10) / (channels_ * taps_) / at_once * at_once);
    parallel_for(geometry_.places(), grain, [&](int64_t begin, int64_t end) {
      if (direct_) return run_places(begin, end, reinterpret_cast<float*>(result_.at(0, begin, 0)));
      Scratch sums(at_once * channels_ * 4);
      for (int64_t first = begin; first < end; first += at_once) {
        const int64_t count = std::min(at_once, end - first);
        run_places(first, first + count, sums.as<float>());
        result_.store_sums(0, first, count, 0, channels_, sums.as<float>(), recipe_);
      }
    });
  }

 private:
  /// Tiles of places whose window slides by one element, or none. In the middle of all windows is input.
  std::span<const DepthwiseTile> sliding_tiles() const {
    if (wide_.spatial.empty()) return {};
    const ConvolutionSpatial& d = wide_.spatial.back();
    const int64_t middle = d.kernel / 2;
    if (d.base_dilation != 1 || d.window_dilation != 1 || d.stride != 1 || d.padding_low > middle ||
        d.output - 1 - d.padding_low + middle >= d.input)
      return {};
    if (d.kernel == 3) return kernels_.sliding_by_3;
    if (d.kernel == 5) return kernels_.sliding_by_5;
    return {};
  }
  int64_t to_stride() const { return direct_ ? result_.stride() : channels_; }

  void run_places(int64_t begin, int64_t end, float* to) const {
    Scratch rows(taps_ * kPlaces * 8), steps(taps_ * 8);
    for (int64_t place = begin; place < end;) {
      const int64_t x = place % row_, left = end - place;
      int64_t count = 0;
      if (!sliding_.empty())
        count =
            run_sliding(place, std::min(left, row_ - x), rows.as<const float*>(), steps.as<int64_t>(), to);
      else if (x >= inside_.first && x < inside_.second)
        count = run_even(place, std::min(left, inside_.second - x), rows.as<const float*>(),
                         steps.as<int64_t>(), to);
      else
        count = run_any(place, std::min({left, kPlaces, (x < inside_.first ? inside_.first : row_) - x}),
                        rows.as<const float*>(), to);
      place += count;
      to += count * to_stride();
    }
  }

  /// Places of one row whose taps are all inside of it.
  int64_t run_even(int64_t place, int64_t count, const float** rows, int64_t* steps, float* to) const {
    const ConvolutionSpatial& d = input_.convolution().spatial.back();
    geometry_.for_each_run(Geometry::Cursor(geometry_, place), [&](const TapRun& run) {
      for (int64_t j = 0; j < run.count; ++j) {
        rows[run.tap + j] = at(run, j);
        steps[run.tap + j] = run.inside ? d.stride * d.input_stride : 0;
      }
    });
    for (int64_t done = 0; done < count; done += kPlaces) {
      const int64_t now = std::min(kPlaces, count - done);
      kernels_.even_depthwise[static_cast<size_t>(now - 1)](taps_, rows, steps, weights_.as<float>(),
                                                            to + done * to_stride(), to_stride(), channels_);
      for (int64_t tap = 0; tap < taps_; ++tap) rows[tap] += now * steps[tap];
    }
    return count;
  }

  /// Places of one row whose window slides by one element.
  int64_t run_sliding(int64_t place, int64_t count, const float** rows, int64_t* steps, float* to) const {
    const ConvolutionSpatial& d = input_.convolution().spatial.back();
    const int64_t inner = d.kernel, first = place % row_ - d.padding_low, middle = inner / 2;
    Scratch own(taps_ * 8);  // where tap 0 of each row of taps is for the first place; zeros of rows outside
    const auto** lines = own.as<const float*>();
    std::fill_n(lines, taps_ / inner, zeros_.as<float>());
    std::fill_n(steps, taps_, 0);
    geometry_.for_each_run(Geometry::Cursor(geometry_, place), [&](const TapRun& run) {
      if (!run.inside) return;
      lines[run.tap / inner] = at(run, -(run.tap % inner));
      steps[run.tap / inner * inner] = d.input_stride;
    });
    for (int64_t done = 0, tiles = ceil_div(count, ConvolutionKernels::kSlidingPlaces); tiles > 0; --tiles) {
      const int64_t now = ceil_div(count - done, tiles);
      for (int64_t j = 0; j < inner; ++j) {
        const int64_t position = done + (j > middle ? j + now - 1 : j);
        const bool inside = first + position >= 0 && first + position < d.input;
        for (int64_t line = 0, tap = j; tap < taps_; tap += inner, ++line)
          rows[tap] = inside ? lines[line] + position * steps[tap - j] : zeros_.as<float>();
      }
      sliding_[static_cast<size_t>(now - 1)](taps_, rows, steps, weights_.as<float>(),
                                             to + done * to_stride(), to_stride(), channels_);
      done += now;
    }
    return count;
  }

  int64_t run_any(int64_t first, int64_t count, const float** rows, float* to) const {
    Geometry::Cursor place(geometry_, first);
    for (int64_t i = 0; i < count; ++i, place.next())
      geometry_.for_each_run(place, [&](const TapRun& run) {
        for (int64_t j = 0; j < run.count; ++j) rows[(run.tap + j) * count + i] = at(run, j);
      });
    kernels_.depthwise[static_cast<size_t>(count - 1)](taps_, rows, nullptr, weights_.as<float>(), to,
                                                       to_stride(), channels_);
    return count;
  }

  const float* at(const TapRun& run, int64_t tap) const {
    if (!run.inside) return zeros_.as<float>();
    return static_cast<const float*>(input_.convolution().input) + run.offset + tap * run.stride;
  }

  Convolution wide_;
  NormalInput input_;
  const MatmulRecipe& recipe_;
  const ConvolutionKernels& kernels_;
  Geometry geometry_;
  ResultRows result_;
  bool direct_;
  int64_t taps_, channels_, row_;
  std::pair<int64_t, int64_t> inside_;
  std::span<const DepthwiseTile> sliding_;
  Scratch weights_, zeros_;
};

}  // namespace

void depthwise_convolution(const Convolution& convolution, const MatmulRecipe& recipe,
                           const ConvolutionLevel& level) {
  DepthwiseConvolution(convolution, recipe, level).run();
}

}  // namespace hlosim
