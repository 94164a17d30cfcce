// How a convolution is computed.
//
// Places of the result (batch × spatial) are rows and output features are columns of a matrix product whose
// lhs is never built: a row of it is made of the input features at each tap of the window, and a table of
// pointers says where those are; taps on padding point to zeros. For that the input features have to be
// neighbours in memory: where they are not, or aren't f32, the input is copied first.
//
//   f32 sums            tiles over the table of pointers
//   one channel each    an elementwise multiply-add over all groups at once
//   other types         rows of lhs are gathered, and multiplied by matmul()
#include "kernels/convolution.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "base/check.h"
#include "kernels/convolution_kernels.h"
#include "kernels/element.h"
#include "kernels/parallel.h"
#include "kernels/scratch.h"
#include "kernels/strided_copy.h"
#include "kernels/transpose.h"

namespace hlosim {
namespace {

constexpr int64_t kPanelBytes = 384 << 10;  // of a kernel panel that stays in the L2 cache
constexpr int64_t kChunkTiles = 16;         // tiles whose pointers are made at a time
constexpr int64_t kChunkPointers = 64 << 10;
constexpr int64_t kFewChannels = 16;         // below which rows are gathered to save pointers
constexpr int64_t kGatheredBytes = 4 << 20;  // of lhs rows for matmul()

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Places and taps counted row-major over all spatial dimensions (places: batch before them).
class Geometry {
 public:
  explicit Geometry(const Convolution& convolution) : convolution_(convolution) {
    for (const ConvolutionSpatial& dimension : convolution.spatial) {
      taps_ *= dimension.kernel;
      places_ *= dimension.output;
    }
    places_ *= convolution.batch;
  }

  int64_t taps() const { return taps_; }
  int64_t places() const { return places_; }

  /// Offset of an output place, in elements.
  int64_t output_offset(int64_t place) const {
    int64_t offset = 0;
    for (size_t i = convolution_.spatial.size(); i-- > 0;) {
      const ConvolutionSpatial& dimension = convolution_.spatial[i];
      offset += place % dimension.output * dimension.output_stride;
      place /= dimension.output;
    }
    return offset + place * convolution_.output_batch_stride;
  }

  int64_t kernel_offset(int64_t tap) const {
    int64_t offset = 0;
    for (size_t i = convolution_.spatial.size(); i-- > 0;) {
      const ConvolutionSpatial& dimension = convolution_.spatial[i];
      const int64_t at = tap % dimension.kernel;
      offset += (dimension.reversed ? dimension.kernel - 1 - at : at) * dimension.kernel_stride;
      tap /= dimension.kernel;
    }
    return offset;
  }

  /// Calls visit(tap, input offset, or -1 where there is padding or a hole) for all taps of a place.
  template <class Visit>
  void for_each_tap(int64_t place, Visit&& visit) const {
    std::array<int64_t, kMaxRank> start;
    for (size_t i = convolution_.spatial.size(); i-- > 0;) {
      const ConvolutionSpatial& dimension = convolution_.spatial[i];
      start[i] = place % dimension.output * dimension.stride - dimension.padding_low;
      place /= dimension.output;
    }
    int64_t tap = 0;
    visit_dimension(0, start.data(), place * convolution_.input_batch_stride, tap, visit);
  }

  static constexpr size_t kMaxRank = 32;

 private:
  template <class Visit>
  void visit_dimension(size_t depth, const int64_t* start, int64_t offset, int64_t& tap, Visit& visit) const {
    if (depth == convolution_.spatial.size()) {
      visit(tap++, offset);
      return;
    }
    const ConvolutionSpatial& dimension = convolution_.spatial[depth];
    for (int64_t i = 0; i < dimension.kernel; ++i) {
      const int64_t at = start[depth] + i * dimension.window_dilation;
      const bool inside = offset >= 0 && at >= 0 && at % dimension.base_dilation == 0 &&
                          at / dimension.base_dilation < dimension.input;
      visit_dimension(depth + 1, start,
                      inside ? offset + at / dimension.base_dilation * dimension.input_stride : -1, tap,
                      visit);
    }
  }

  const Convolution& convolution_;
  int64_t taps_ = 1, places_ = 1;
};

int64_t input_elements(const Convolution& c) {
  int64_t elements = c.input_features;
  for (const ConvolutionSpatial& dimension : c.spatial) elements *= dimension.input;
  return elements * c.batch * c.groups;
}

/// The convolution with its input copied to [group or batch…] so that the features of a group are neighbours,
/// all features of a place where groups are feature groups. The caller keeps the memory.
struct NormalInput {
  NormalInput(const Convolution& original, bool as_f32)
      : convolution(original),
        spatial(original.spatial.begin(), original.spatial.end()),
        copied(needs_copy(original, as_f32)),
        moved(copied ? input_elements(original) * byte_width(original.input_type) : 0),
        converted(copied && as_f32 && original.input_type != ElementType::kF32 ? input_elements(original) * 4
                                                                               : 0) {
    convolution.spatial = spatial;
    if (!copied) return;
    const int64_t width = byte_width(original.input_type);
    // [batch, spatial…, group, feature]
    std::vector<int64_t> sizes = {original.batch}, from = {original.input_batch_stride};
    for (const ConvolutionSpatial& dimension : spatial) {
      sizes.push_back(dimension.input);
      from.push_back(dimension.input_stride);
    }
    sizes.insert(sizes.end(), {original.groups, original.input_features});
    from.insert(from.end(), {original.input_group_stride, original.input_feature_stride});
    std::vector<int64_t> to(sizes.size(), 1);
    for (size_t i = sizes.size() - 1; i-- > 0;) to[i] = to[i + 1] * sizes[i + 1];
    StridedCopy(sizes, from, to, width)
        .run(static_cast<const std::byte*>(original.input), moved.as<std::byte>());
    convolution.input = moved.as<std::byte>();
    convolution.input_batch_stride = to[0];
    for (size_t i = 0; i < spatial.size(); ++i) spatial[i].input_stride = to[i + 1];
    convolution.input_group_stride = original.input_features;
    convolution.input_feature_stride = 1;
    if (!as_f32 || original.input_type == ElementType::kF32) return;
    const ElementKernel convert = element_kernel(ElementOp::kConvert, original.input_type, ElementType::kF32);
    parallel_for(input_elements(original), 16 << 10, [&](int64_t begin, int64_t end) {
      const void* in[] = {moved.as<std::byte>() + begin * width};
      convert.fn(converted.as<float>() + begin, in, convert.immediate, end - begin);
    });
    convolution.input = converted.as<float>();
    convolution.input_type = ElementType::kF32;
  }

  static bool needs_copy(const Convolution& c, bool as_f32) {
    return (c.input_features > 1 && c.input_feature_stride != 1) ||
           (as_f32 && c.input_type != ElementType::kF32);
  }

  Convolution convolution;
  std::vector<ConvolutionSpatial> spatial;
  bool copied;
  Scratch moved, converted;
};

// ── The result ──────────────────────────────────────────────────

/// Where rows of sums, one per place, go.
class ResultRows {
 public:
  ResultRows(const Convolution& convolution, const Geometry& geometry, const ConvolutionLevel& level)
      : convolution_(convolution),
        geometry_(geometry),
        width_(byte_width(convolution.result_type)),
        transpose_(level.transpose->transpose[width_ == 1   ? 0
                                              : width_ == 2 ? 1
                                              : width_ == 4 ? 2
                                              : width_ == 8 ? 3
                                                            : 4]),
        columns_are_neighbours_(convolution.output_feature_stride == 1 || convolution.output_features == 1),
        has_one_stride_(find_stride()) {}

  /// Rows have one stride and neighbouring columns: sums of the result's type can be made in place.
  bool is_matrix() const { return columns_are_neighbours_ && has_one_stride_; }
  int64_t stride() const { return stride_; }
  std::byte* at(int64_t group, int64_t place, int64_t column) const {
    return group_at(group, column) + place * stride_ * width_;
  }

  /// Writes elements [place][column], `places` from `first` and `columns` from `first_column` on.
  void store(int64_t group, int64_t first, int64_t places, int64_t first_column, int64_t columns,
             const std::byte* elements) const {
    const int64_t row = columns * width_, feature_stride = convolution_.output_feature_stride;
    std::byte* result = group_at(group, first_column);
    for (int64_t begin = 0, end = 0; begin < places; begin = end) {
      const int64_t offset = geometry_.output_offset(first + begin);
      end = begin + 1;
      if (columns_are_neighbours_) {
        std::memcpy(result + offset * width_, elements + begin * row, static_cast<size_t>(row));
        continue;
      }
      while (end < places && geometry_.output_offset(first + end) == offset + end - begin) ++end;
      transpose_(elements + begin * row, row, result + offset * width_, feature_stride * width_, columns,
                 end - begin, false);
    }
  }

 private:
  std::byte* group_at(int64_t group, int64_t column) const {
    return static_cast<std::byte*>(convolution_.result) +
           (group * convolution_.output_group_stride + column * convolution_.output_feature_stride) * width_;
  }

  bool find_stride() {
    int64_t expected = 0;
    const auto fits = [&](int64_t size, int64_t stride) {
      if (size == 1) return true;
      if (stride_ == 0) stride_ = expected = stride;
      if (stride != expected) return false;
      expected = stride * size;
      return true;
    };
    for (size_t i = convolution_.spatial.size(); i-- > 0;)
      if (!fits(convolution_.spatial[i].output, convolution_.spatial[i].output_stride)) return false;
    return fits(convolution_.batch, convolution_.output_batch_stride);
  }

  const Convolution& convolution_;
  const Geometry& geometry_;
  int64_t width_;
  TransposeFn transpose_;
  bool columns_are_neighbours_;
  int64_t stride_ = 0;
  bool has_one_stride_;
};

// ── Sums in f32 ─────────────────────────────────────────────────

/// The kernel as panels of columns, each [tap][channel][column], with zeros behind the last column.
class KernelPanels {
 public:
  KernelPanels(const Convolution& convolution, const Geometry& geometry, const MatmulRecipe& recipe,
               const ConvolutionKernels& kernels)
      : columns_(kernels.vectors * kernels.lanes),
        padded_(ceil_div(convolution.output_features, kernels.lanes) * kernels.lanes),
        steps_(geometry.taps() * convolution.input_features),
        packed_(convolution.groups * steps_ * padded_ * 4) {
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
        convolution_(input_.convolution),
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
    for (int64_t place = places.begin; place < places.end; ++place) {
      const int64_t index = place - places.begin, row = index % ConvolutionKernels::kRows;
      const int64_t tile_rows = std::min<int64_t>(ConvolutionKernels::kRows, places.size() - (index - row));
      const float** at = pointers.as<const float*>() + (index - row) * taps + row;
      float* to = gathered.as<float>() + index * steps_;
      geometry_.for_each_tap(place, [&](int64_t tap, int64_t offset) {
        const float* from = offset >= 0 ? input + offset : zeros_.as<float>();
        if (gathers_)
          for (int64_t c = 0; c < channels; ++c) to[tap * channels + c] = from[c];
        else
          at[tap * tile_rows] = from;
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
    if (!direct_) store(group, places, first_column, columns, own.as<float>());
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

  void store(int64_t group, Range places, int64_t first_column, int64_t columns, const float* sums) const {
    if (recipe_.sums_are_result)
      return result_.store(group, places.begin, places.size(), first_column, columns,
                           reinterpret_cast<const std::byte*>(sums));
    Scratch rounded(places.size() * columns * byte_width(convolution_.result_type));
    recipe_.store({.sums = sums,
                   .sums_stride = columns,
                   .rows = places.size(),
                   .columns = columns,
                   .result = rounded.as<std::byte>(),
                   .row_stride = columns,
                   .column_stride = 1});
    result_.store(group, places.begin, places.size(), first_column, columns, rounded.as<std::byte>());
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

// ── One channel each ────────────────────────────────────────────

/// Groups as the features of one convolution, of which each meets only its own.
Convolution with_groups_as_features(const Convolution& convolution) {
  Convolution wide = convolution;
  wide.groups = 1;
  wide.input_features = wide.output_features = convolution.groups;
  wide.input_feature_stride = convolution.input_group_stride;
  wide.output_feature_stride = convolution.output_group_stride;
  wide.kernel_output_feature_stride = convolution.kernel_group_stride;
  return wide;
}

void depthwise_convolution(const Convolution& convolution, const MatmulRecipe& recipe,
                           const ConvolutionLevel& level) {
  const Convolution wide = with_groups_as_features(convolution);
  const NormalInput input(wide, true);
  const Geometry geometry(input.convolution);
  const ResultRows result(input.convolution, geometry, level);
  const int64_t taps = geometry.taps(), channels = wide.input_features;
  Scratch weights(taps * channels * 4), zeros(channels * 4);
  std::memset(zeros.as<float>(), 0, static_cast<size_t>(channels * 4));
  for (int64_t tap = 0; tap < taps; ++tap)
    recipe.rhs.pack({.data = static_cast<const std::byte*>(convolution.kernel) +
                             geometry.kernel_offset(tap) * byte_width(convolution.kernel_type),
                     .lane_stride = wide.kernel_output_feature_stride,
                     .k_stride = 0,
                     .lanes = channels,
                     .k = 1,
                     .width = channels,
                     .values = recipe.rhs.values},
                    weights.as<float>() + tap * channels);
  const bool direct = recipe.sums_are_result && result.is_matrix();
  const int64_t places_at_once = std::clamp<int64_t>((64 << 10) / (channels * 4), 1, 64);
  const int64_t grain = std::max<int64_t>(places_at_once, (32 << 10) / (channels * taps));
  parallel_for(geometry.places(), grain, [&](int64_t begin, int64_t end) {
    Scratch rows(taps * 8), sums(direct ? 0 : places_at_once * channels * 4);
    Scratch rounded(recipe.sums_are_result ? 0 : places_at_once * channels * byte_width(wide.result_type));
    for (int64_t first = begin; first < end; first += places_at_once) {
      const int64_t count = std::min(places_at_once, end - first);
      for (int64_t place = first; place < first + count; ++place) {
        geometry.for_each_tap(place, [&](int64_t tap, int64_t offset) {
          rows.as<const float*>()[tap] =
              offset >= 0 ? static_cast<const float*>(input.convolution.input) + offset : zeros.as<float>();
        });
        float* to = direct ? reinterpret_cast<float*>(result.at(0, place, 0))
                           : sums.as<float>() + (place - first) * channels;
        level.kernels->depthwise(taps, rows.as<const float*>(), weights.as<float>(), to, channels);
      }
      if (direct) continue;
      const std::byte* elements = sums.as<std::byte>();
      if (!recipe.sums_are_result) {
        recipe.store({.sums = sums.as<float>(),
                      .sums_stride = channels,
                      .rows = count,
                      .columns = channels,
                      .result = rounded.as<std::byte>(),
                      .row_stride = channels,
                      .column_stride = 1});
        elements = rounded.as<std::byte>();
      }
      result.store(0, first, count, 0, channels, elements);
    }
  });
}

// ── Other types ─────────────────────────────────────────────────

/// Rows of [tap][channel] and the kernel as a matrix of as many rows, multiplied by matmul().
void gathered_convolution(const Convolution& original, const ConvolutionLevel& level) {
  const NormalInput input(original, false);
  const Convolution& convolution = input.convolution;
  const Geometry geometry(convolution);
  const ResultRows result(convolution, geometry, level);
  const int64_t channels = convolution.input_features, features = convolution.output_features;
  const int64_t steps = geometry.taps() * channels;
  const int64_t width = byte_width(convolution.input_type),
                kernel_width = byte_width(convolution.kernel_type);
  const int64_t result_width = byte_width(convolution.result_type);
  const int64_t at_once = std::clamp<int64_t>(kGatheredBytes / (steps * width), 16, geometry.places() + 15);
  Scratch matrix(steps * features * kernel_width);
  for (int64_t group = 0; group < convolution.groups; ++group) {
    const auto* kernel = static_cast<const std::byte*>(convolution.kernel) +
                         group * convolution.kernel_group_stride * kernel_width;
    const auto* data =
        static_cast<const std::byte*>(convolution.input) + group * convolution.input_group_stride * width;
    for (int64_t tap = 0; tap < geometry.taps(); ++tap) {
      const int64_t sizes[] = {channels, features}, to[] = {features, 1};
      const int64_t from[] = {convolution.kernel_input_feature_stride,
                              convolution.kernel_output_feature_stride};
      StridedCopy(sizes, from, to, kernel_width)
          .run(kernel + geometry.kernel_offset(tap) * kernel_width,
               matrix.as<std::byte>() + tap * channels * features * kernel_width);
    }
    parallel_for(geometry.places(), at_once, [&](int64_t begin, int64_t end) {
      Scratch rows(at_once * steps * width), sums(at_once * features * result_width);
      for (int64_t first = begin; first < end; first += at_once) {
        const int64_t count = std::min(at_once, end - first);
        for (int64_t place = first; place < first + count; ++place) {
          std::byte* row = rows.as<std::byte>() + (place - first) * steps * width;
          geometry.for_each_tap(place, [&](int64_t tap, int64_t offset) {
            std::byte* to = row + tap * channels * width;
            if (offset >= 0)
              std::memcpy(to, data + offset * width, static_cast<size_t>(channels * width));
            else
              std::memset(to, 0, static_cast<size_t>(channels * width));
          });
        }
        matmul({.m = count,
                .n = features,
                .k = steps,
                .lhs = {rows.as<std::byte>(), convolution.input_type, steps, 1},
                .rhs = {matrix.as<std::byte>(), convolution.kernel_type, features, 1},
                .result = {sums.as<std::byte>(), convolution.result_type, features, 1}},
               level.matmul);
        result.store(group, first, count, 0, features, sums.as<std::byte>());
      }
    });
  }
}

void clear(const Convolution& convolution, const ConvolutionLevel& level) {
  const Geometry geometry(convolution);
  const ResultRows result(convolution, geometry, level);
  const int64_t bytes = convolution.output_features * byte_width(convolution.result_type);
  Scratch zeros(bytes);
  std::memset(zeros.as<std::byte>(), 0, static_cast<size_t>(bytes));
  for (int64_t group = 0; group < convolution.groups; ++group)
    for (int64_t place = 0; place < geometry.places(); ++place)
      result.store(group, place, 1, 0, convolution.output_features, zeros.as<std::byte>());
}

}  // namespace

ConvolutionLevel convolution_level(IsaLevel level, bool vnni) {
  return {&HLOSIM_PICK_KERNELS(level, kConvolution), &HLOSIM_PICK_KERNELS(level, kTranspose),
          matmul_level(level, vnni)};
}

const ConvolutionLevel& convolution_level() {
  static const ConvolutionLevel level = [] {
    const Result<IsaLevel> chosen = isa_level();
    HLOSIM_CHECK(chosen.has_value(), "{}", chosen.error().message);
    return convolution_level(*chosen, supports_vnni());
  }();
  return level;
}

void convolution(const Convolution& convolution, const ConvolutionLevel& level) {
  HLOSIM_CHECK(convolution.spatial.size() <= Geometry::kMaxRank, "{} spatial dimensions",
               convolution.spatial.size());
  const Geometry geometry(convolution);
  if (geometry.places() == 0 || convolution.output_features == 0 || convolution.groups == 0) return;
  if (geometry.taps() == 0 || convolution.input_features == 0 || input_elements(convolution) == 0)
    return clear(convolution, level);
  const auto recipe =
      matmul_recipe(convolution.input_type, convolution.kernel_type, convolution.result_type, level.matmul);
  if (!recipe || recipe->kind != MatmulKind::kF32) return gathered_convolution(convolution, level);
  if (convolution.groups > 1 && convolution.input_features == 1 && convolution.output_features == 1)
    return depthwise_convolution(convolution, *recipe, level);
  FloatConvolution(convolution, *recipe, level).run();
}

void convolution(const Convolution& one) { convolution(one, convolution_level()); }

}  // namespace hlosim
