// Convolutions of f32 sums with one channel in each group: groups are the features of one convolution, of
// which each meets only its own.
#include <algorithm>
#include <cstring>

#include "kernels/convolution_geometry.h"
#include "kernels/parallel.h"

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
  int64_t to_stride() const { return direct_ ? result_.stride() : channels_; }

  void run_places(int64_t begin, int64_t end, float* to) const {
    Scratch rows(taps_ * kPlaces * 8), steps(taps_ * 8);
    for (int64_t place = begin; place < end;) {
      const int64_t x = place % row_, left = end - place;
      int64_t count = 0;
      if (x >= inside_.first && x < inside_.second)
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
  Scratch weights_, zeros_;
};

}  // namespace

void depthwise_convolution(const Convolution& convolution, const MatmulRecipe& recipe,
                           const ConvolutionLevel& level) {
  DepthwiseConvolution(convolution, recipe, level).run();
}

}  // namespace hlosim
