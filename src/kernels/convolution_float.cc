// Convolutions with sums in f32.
#include <algorithm>
#include <cstring>
#include <optional>

#include "kernels/convolution_geometry.h"
#include "kernels/parallel.h"
#include "kernels/strided_copy.h"

namespace hlosim {
namespace {

constexpr int64_t kPanelBytes = 384 << 10;  // of a kernel panel that stays in the L2 cache
constexpr int64_t kChunkTiles = 16;         // tiles whose pointers are made at a time
constexpr int64_t kChunkPointers = 64 << 10;
constexpr int64_t kFewChannels = 16;  // below which rows are gathered to save pointers

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// The kernel's elements as [group][tap][channel][feature] where neither channels nor features are
/// neighbours.
class NormalKernel {
 public:
  NormalKernel(const Convolution& original, const Geometry& geometry)
      : convolution_(original),
        spatial_(original.spatial.begin(), original.spatial.end()),
        copied_(original.kernel_input_feature_stride != 1 && original.kernel_output_feature_stride != 1),
        moved_(copied_ ? original.groups * original.output_features * original.input_features *
                             geometry.taps() * byte_width(original.kernel_type)
                       : 0) {
    convolution_.spatial = spatial_;
    if (!copied_) return;
    std::vector<int64_t> sizes = {original.groups}, from = {original.kernel_group_stride};
    for (const ConvolutionSpatial& dimension : spatial_) {
      sizes.push_back(dimension.kernel);
      from.push_back(dimension.kernel_stride);
    }
    sizes.insert(sizes.end(), {original.input_features, original.output_features});
    from.insert(from.end(), {original.kernel_input_feature_stride, original.kernel_output_feature_stride});
    std::vector<int64_t> to(sizes.size(), 1);
    for (size_t i = sizes.size() - 1; i-- > 0;) to[i] = to[i + 1] * sizes[i + 1];
    StridedCopy(sizes, from, to, byte_width(original.kernel_type))
        .run(static_cast<const std::byte*>(original.kernel), moved_.as<std::byte>());
    convolution_.kernel = moved_.as<std::byte>();
    convolution_.kernel_group_stride = to[0];
    for (size_t i = 0; i < spatial_.size(); ++i) spatial_[i].kernel_stride = to[i + 1];
    convolution_.kernel_input_feature_stride = original.output_features;
    convolution_.kernel_output_feature_stride = 1;
  }
  const Convolution& convolution() const { return convolution_; }

 private:
  Convolution convolution_;
  std::vector<ConvolutionSpatial> spatial_;
  bool copied_;
  Scratch moved_;
};

/// The kernel as panels of columns, each [tap][channel][column], with zeros behind the last column.
class KernelPanels {
 public:
  KernelPanels(const Convolution& original, const Geometry& original_geometry, const MatmulRecipe& recipe,
               const ConvolutionKernels& kernels)
      : columns_(kernels.vectors * kernels.lanes),
        padded_(ceil_div(original.output_features, kernels.lanes) * kernels.lanes),
        steps_(original_geometry.taps() * original.input_features),
        packed_(original.groups * steps_ * padded_ * 4) {
    const NormalKernel kernel(original, original_geometry);
    const Convolution& convolution = kernel.convolution();
    const Geometry geometry(convolution);
    const int64_t width = byte_width(convolution.kernel_type), features = convolution.output_features;
    const int64_t panels = count(features), taps = geometry.taps();
    const int64_t grain = std::max<int64_t>(1, (16 << 10) / (convolution.input_features * columns_));
    parallel_for(convolution.groups * panels * taps, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t tap = i % taps, panel = i / taps % panels, group = i / taps / panels;
        const int64_t column = panel * columns_, lanes = std::min(columns_, features - column);
        const int64_t offset = group * convolution.kernel_group_stride + geometry.kernel_offset(tap) +
                               column * convolution.kernel_output_feature_stride;
        recipe.rhs.pack({.data = static_cast<const std::byte*>(convolution.kernel) + offset * width,
                         .lane_stride = convolution.kernel_output_feature_stride,
                         .k_stride = convolution.kernel_input_feature_stride,
                         .lanes = lanes,
                         .k = convolution.input_features,
                         .width = panel_width(panel),
                         .values = recipe.rhs.values},
                        data(group, panel) + tap * convolution.input_features * panel_width(panel));
      }
    });
  }

  int64_t count(int64_t features) const { return ceil_div(features, columns_); }
  int64_t columns() const { return columns_; }  // of all panels but the last
  int64_t panel_width(int64_t panel) const { return std::min(columns_, padded_ - panel * columns_); }
  float* data(int64_t group, int64_t panel) const {
    return packed_.as<float>() + (group * padded_ + panel * columns_) * steps_;
  }

 private:
  int64_t columns_, padded_, steps_;
  Scratch packed_;
};

struct Range {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
};

class FloatConvolution {
 public:
  FloatConvolution(const Convolution& convolution, const MatmulRecipe& recipe, const ConvolutionLevel& level)
      : input_(convolution, true),
        convolution_(input_.convolution()),
        recipe_(recipe),
        kernels_(*level.kernels),
        geometry_(convolution_),
        result_(convolution_, geometry_, level),
        direct_(recipe.sums_are_result && result_.is_matrix()),
        panels_(convolution_, geometry_, recipe, kernels_),
        zeros_(convolution_.input_features * 4),
        gathers_(convolution_.input_features < kFewChannels && geometry_.taps() > 1) {
    std::memset(zeros_.as<float>(), 0, static_cast<size_t>(convolution_.input_features * 4));
    steps_ = geometry_.taps() * convolution_.input_features;
    // Blocks of k, of whole taps unless rows are gathered.
    block_ = std::max<int64_t>(1, kPanelBytes / (panels_.columns() * 4));
    if (!gathers_)
      block_ = std::max<int64_t>(1, block_ / convolution_.input_features) * convolution_.input_features;
  }

  void run() const {
    constexpr int64_t kRows = ConvolutionKernels::kRows;
    const int64_t threads = thread_count(), tiles = ceil_div(geometry_.places(), kRows);
    const int64_t affordable = kChunkPointers / (kRows * (gathers_ ? ceil_div(steps_, 2) : geometry_.taps()));
    const int64_t chunk_tiles =
        std::clamp<int64_t>(std::min(tiles / (4 * threads), affordable), 1, kChunkTiles);
    const int64_t chunks = ceil_div(tiles, chunk_tiles), panels = panels_.count(convolution_.output_features);
    const int64_t parts =
        threads == 1 ? 1 : std::clamp<int64_t>(4 * threads / (chunks * convolution_.groups), 1, panels);
    const int64_t part = ceil_div(panels, parts);
    parallel_for(convolution_.groups * chunks * parts, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t chunk = i / parts % chunks, first = chunk * chunk_tiles * kRows;
        run_chunk(i / parts / chunks, {first, std::min(geometry_.places(), first + chunk_tiles * kRows)},
                  {i % parts * part, std::min(panels, (i % parts + 1) * part)});
      }
    });
  }

 private:
  /// The input rows of a chunk: for each tile [tap][row], or rows of all taps one after another.
  struct Rows {
    const float* const* pointers;
    const float* gathered;
  };

  void run_chunk(int64_t group, Range places, Range panels) const {
    if (panels.begin >= panels.end) return;
    const int64_t taps = geometry_.taps(), channels = convolution_.input_features;
    Scratch pointers(gathers_ ? 0 : places.size() * taps * 8),
        gathered(gathers_ ? places.size() * steps_ * 4 : 0);
    const auto* input =
        static_cast<const float*>(convolution_.input) + group * convolution_.input_group_stride;
    Geometry::Cursor place(geometry_, places.begin);
    for (int64_t index = 0; index < places.size(); ++index, place.next()) {
      const int64_t row = index % ConvolutionKernels::kRows;
      const int64_t tile_rows = std::min<int64_t>(ConvolutionKernels::kRows, places.size() - (index - row));
      const float** at = pointers.as<const float*>() + (index - row) * taps + row;
      float* to = gathered.as<float>() + index * steps_;
      geometry_.for_each_run(place, [&](const TapRun& run) {
        if (gathers_)
          gather(run, input, to + run.tap * channels);
        else
          for (int64_t i = 0; i < run.count; ++i)
            at[(run.tap + i) * tile_rows] =
                run.inside ? input + run.offset + i * run.stride : zeros_.as<float>();
      });
    }
    const int64_t first_column = panels.begin * panels_.columns();
    const int64_t columns =
        std::min(convolution_.output_features, panels.end * panels_.columns()) - first_column;
    Scratch own(direct_ ? 0 : places.size() * columns * 4);
    float* sums =
        direct_ ? reinterpret_cast<float*>(result_.at(group, places.begin, first_column)) : own.as<float>();
    const int64_t stride = direct_ ? result_.stride() : columns;
    for (int64_t step = 0; step < steps_; step += block_)
      for (int64_t panel = panels.begin; panel < panels.end; ++panel)
        multiply(group, panel, {step, std::min(steps_, step + block_)}, places.size(),
                 {pointers.as<const float*>(), gathered.as<float>()},
                 sums + panel * panels_.columns() - first_column, stride);
    if (!direct_)
      result_.store_sums(group, places.begin, places.size(), first_column, columns, own.as<float>(), recipe_);
  }

  void gather(const TapRun& run, const float* input, float* to) const {
    const int64_t channels = convolution_.input_features;
    if (!run.inside) {
      std::memset(to, 0, static_cast<size_t>(run.count * channels * 4));
    } else if (run.stride == channels) {
      std::memcpy(to, input + run.offset, static_cast<size_t>(run.count * channels * 4));
    } else {
      for (int64_t i = 0; i < run.count; ++i)
        for (int64_t c = 0; c < channels; ++c) to[i * channels + c] = input[run.offset + i * run.stride + c];
    }
  }

  void multiply(int64_t group, int64_t panel, Range steps, int64_t places, Rows rows, float* sums,
                int64_t stride) const {
    const int64_t width = panels_.panel_width(panel), channels = convolution_.input_features;
    const int64_t columns = std::min(width, convolution_.output_features - panel * panels_.columns());
    const float* weights = panels_.data(group, panel) + steps.begin * width;
    const auto& tiles = kernels_.tiles[static_cast<size_t>(width / kernels_.lanes - 1)];
    for (int64_t place = 0; place < places; place += ConvolutionKernels::kRows) {
      const int64_t count = std::min<int64_t>(ConvolutionKernels::kRows, places - place);
      const ConvolutionTile tile = tiles[static_cast<size_t>(count - 1)];
      if (gathers_) {
        const float* at[ConvolutionKernels::kRows];
        for (int64_t i = 0; i < count; ++i) at[i] = rows.gathered + (place + i) * steps_ + steps.begin;
        tile(1, steps.size(), at, weights, sums + place * stride, stride, columns, steps.begin > 0);
      } else {
        tile(steps.size() / channels, channels,
             rows.pointers + place * geometry_.taps() + steps.begin / channels * count, weights,
             sums + place * stride, stride, columns, steps.begin > 0);
      }
    }
  }

  NormalInput input_;
  const Convolution& convolution_;
  const MatmulRecipe& recipe_;
  const ConvolutionKernels& kernels_;
  Geometry geometry_;
  ResultRows result_;
  bool direct_;
  KernelPanels panels_;
  Scratch zeros_;
  bool gathers_;
  int64_t steps_ = 0, block_ = 0;
};

}  // namespace

void float_convolution(const Convolution& convolution, const MatmulRecipe& recipe,
                       const ConvolutionLevel& level) {
  FloatConvolution(convolution, recipe, level).run();
}

}  // namespace hlosim
