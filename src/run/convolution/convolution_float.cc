// Convolutions with sums in f32.
#include <algorithm>
#include <cstring>
#include <vector>

#include "base/rounding.h"
#include "convolution/convolution_geometry.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

constexpr int64_t kPanelBytes = 384 << 10;  // of a kernel panel that stays in the L2 cache
constexpr int64_t kChunkTiles = 16;         // tiles whose pointers are made at a time
constexpr int64_t kChunkPointers = 64 << 10;
constexpr int64_t kTaskWork = 1 << 19;  // multiplications that are worth a thread
constexpr int64_t kFewChannels = 16;    // below which taps go together to save pointers

/// The kernel as panels of columns, each [tap][channel][column], with zeros behind the last column.
class KernelPanels {
 public:
  KernelPanels(const Convolution& convolution, const Geometry& geometry, const MatmulRecipe& recipe,
               const ConvolutionKernels& kernels)
      : convolution_(convolution),
        recipe_(recipe),
        columns_(kernels.vectors * kernels.lanes),
        padded_(ceil_div(convolution.output_features, kernels.lanes) * kernels.lanes),
        taps_(geometry.taps()),
        steps_(taps_ * convolution.input_features),
        packed_(convolution.groups * steps_ * padded_ * 4) {
    std::vector<int64_t> offsets;  // of the taps
    for (int64_t tap = 0; tap < taps_; ++tap) offsets.push_back(geometry.kernel_offset(tap));
    // Where the taps of a channel lie together (OIHW), they are packed together and then sorted by tap.
    const bool together = taps_ > 1 && convolution.kernel_input_feature_stride == taps_ &&
                          convolution.kernel_output_feature_stride != 1 &&
                          std::all_of(offsets.begin(), offsets.end(),
                                      [&](int64_t offset) { return offset >= 0 && offset < taps_; });
    const int64_t channels = convolution.input_features, panels = count(convolution.output_features);
    const int64_t at_once = together ? 32 : channels, parts = ceil_div(channels, at_once);
    const int64_t grain = std::max<int64_t>(1, (16 << 10) / (at_once * taps_ * columns_));
    parallel_for(convolution.groups * panels * parts, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t panel = i / parts % panels, group = i / parts / panels, first = i % parts * at_once;
        if (together)
          pack_together(group, panel, first, std::min(channels, first + at_once), offsets);
        else
          for (int64_t tap = 0; tap < taps_; ++tap)
            pack(group, panel, offsets[static_cast<size_t>(tap)], channels,
                 convolution.kernel_input_feature_stride,
                 data(group, panel) + tap * channels * panel_width(panel));
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
  /// `depth` elements from `offset` on for all columns of a panel, as [depth][column].
  void pack(int64_t group, int64_t panel, int64_t offset, int64_t depth, int64_t stride,
            float* packed) const {
    const int64_t column = panel * columns_, column_stride = convolution_.kernel_output_feature_stride;
    const auto* kernel = static_cast<const std::byte*>(convolution_.kernel);
    recipe_.rhs.pack(
        {.data = kernel + (group * convolution_.kernel_group_stride + column * column_stride + offset) *
                              byte_width(convolution_.kernel_type),
         .lane_stride = column_stride,
         .k_stride = stride,
         .lanes = std::min(columns_, convolution_.output_features - column),
         .k = depth,
         .width = panel_width(panel),
         .values = recipe_.rhs.values},
        packed);
  }

  void pack_together(int64_t group, int64_t panel, int64_t first, int64_t last,
                     const std::vector<int64_t>& offsets) const {
    const int64_t width = panel_width(panel);
    Scratch together((last - first) * taps_ * width * 4);
    pack(group, panel, first * taps_, (last - first) * taps_, 1, together.as<float>());
    for (int64_t tap = 0; tap < taps_; ++tap)
      for (int64_t c = first; c < last; ++c)
        std::memcpy(data(group, panel) + (tap * convolution_.input_features + c) * width,
                    together.as<float>() + ((c - first) * taps_ + offsets[static_cast<size_t>(tap)]) * width,
                    static_cast<size_t>(width * 4));
  }

  const Convolution& convolution_;
  const MatmulRecipe& recipe_;
  int64_t columns_, padded_, taps_, steps_;
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
        together_(taps_together()),
        zeros_(unit() * 4),
        gathers_(together_ == 1 && convolution_.input_features < kFewChannels && geometry_.taps() > 1) {
    std::memset(zeros_.as<float>(), 0, static_cast<size_t>(unit() * 4));
    steps_ = geometry_.taps() * convolution_.input_features;
    // Blocks of k, of whole taps unless rows are gathered.
    block_ = std::max<int64_t>(1, kPanelBytes / (panels_.columns() * 4));
    if (!gathers_) block_ = std::max<int64_t>(1, block_ / unit()) * unit();
  }

  void run() const {
    constexpr int64_t kRows = ConvolutionKernels::kRows;
    const int64_t threads = thread_count(), tiles = ceil_div(geometry_.places(), kRows);
    const int64_t affordable = kChunkPointers / (kRows * (fills() ? ceil_div(steps_, 2) : geometry_.taps()));
    const int64_t chunk_tiles =
        std::clamp<int64_t>(std::min(tiles / (4 * threads), affordable), 1, kChunkTiles);
    const int64_t chunks = ceil_div(tiles, chunk_tiles), panels = panels_.count(convolution_.output_features);
    const int64_t parts =
        threads == 1 ? 1 : std::clamp<int64_t>(4 * threads / (chunks * convolution_.groups), 1, panels);
    const int64_t part = ceil_div(panels, parts);
    const int64_t work =
        chunk_tiles * kRows * steps_ * std::min(part * panels_.columns(), convolution_.output_features);
    parallel_for(convolution_.groups * chunks * parts, std::max<int64_t>(1, kTaskWork / work),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) {
                     const int64_t chunk = i / parts % chunks, first = chunk * chunk_tiles * kRows;
                     run_chunk(i / parts / chunks,
                               {first, std::min(geometry_.places(), first + chunk_tiles * kRows)},
                               {i % parts * part, std::min(panels, (i % parts + 1) * part)});
                   }
                 });
  }

 private:
  /// Taps of the innermost dimension whose features follow each other in memory, where these are few: they
  /// are read as one with all their features. Else 1.
  int64_t taps_together() const {
    const auto& spatial = convolution_.spatial;
    if (spatial.empty() || convolution_.input_features >= kFewChannels) return 1;
    const ConvolutionSpatial& d = spatial.back();
    const bool follow =
        d.base_dilation == 1 && d.window_dilation * d.input_stride == convolution_.input_features;
    return follow ? d.kernel : 1;
  }
  /// Steps that one pointer is for.
  int64_t unit() const { return together_ * convolution_.input_features; }
  /// Rows of some places are copied.
  bool fills() const { return gathers_ || together_ > 1; }

  int64_t units() const { return geometry_.taps() / together_; }

  /// The input rows of a chunk, by tiles.
  struct Rows {
    Rows(int64_t places, int64_t units, int64_t gathered_floats)
        : pointers(places * units * 8),
          steps(ceil_div(places, ConvolutionKernels::kRows) * units * 8),
          even(units > 0 ? ceil_div(places, ConvolutionKernels::kRows) : 0),
          gathered(gathered_floats * 4) {}
    Scratch pointers;  // [unit][row], or of even tiles, whose places follow each other evenly, [unit] of the
                       // first
    Scratch steps;     // [unit] from place to place of even tiles
    Scratch even;
    Scratch gathered;  // rows of all taps one after another
  };

  void run_chunk(int64_t group, Range places, Range panels) const {
    if (panels.begin >= panels.end) return;
    const Rows rows(places.size(), gathers_ ? 0 : units(), fills() ? places.size() * steps_ : 0);
    find_rows(group, places, rows);
    const int64_t first_column = panels.begin * panels_.columns();
    const int64_t columns =
        std::min(convolution_.output_features, panels.end * panels_.columns()) - first_column;
    Scratch own(direct_ ? 0 : places.size() * columns * 4);
    float* sums =
        direct_ ? reinterpret_cast<float*>(result_.at(group, places.begin, first_column)) : own.as<float>();
    const int64_t stride = direct_ ? result_.stride() : columns;
    for (int64_t step = 0; step < steps_; step += block_)
      for (int64_t panel = panels.begin; panel < panels.end; ++panel)
        multiply(group, panel, {step, std::min(steps_, step + block_)}, places.size(), rows,
                 sums + panel * panels_.columns() - first_column, stride);
    if (!direct_)
      result_.store_sums(group, places.begin, places.size(), first_column, columns, own.as<float>(), recipe_);
  }

  void find_rows(int64_t group, Range places, const Rows& found) const {
    constexpr int64_t kRows = ConvolutionKernels::kRows;
    const int64_t row_places = convolution_.spatial.empty() ? 1 : convolution_.spatial.back().output;
    const auto* input =
        static_cast<const float*>(convolution_.input) + group * convolution_.input_group_stride;
    const Range inside{geometry_.inside_row().first, geometry_.inside_row().second};
    Scratch own_rows(units() * 8), own_steps(units() * 8);  // of the place, and from there to the next one
    const float** rows = own_rows.as<const float*>();
    int64_t* steps = own_steps.as<int64_t>();
    Geometry::Cursor place(geometry_, places.begin);
    for (int64_t first = 0; first < places.size(); first += kRows) {
      const int64_t count = std::min(kRows, places.size() - first), x = (places.begin + first) % row_places;
      const bool even = !gathers_ && x >= inside.begin && x + count <= inside.end;
      const float** at = gathers_ ? nullptr : found.pointers.as<const float*>() + first * units();
      for (int64_t i = 0; i < count; ++i, place.next()) {
        const int64_t here = (x + i) % row_places;
        if (even && i > 0) continue;
        if (!gathers_ && first + i > 0 && here > inside.begin && here < inside.end)
          go_on(1, rows, steps);
        else
          find_row(place, input, fills() ? found.gathered.as<float>() + (first + i) * steps_ : nullptr, rows,
                   steps);
        if (gathers_) continue;
        for (int64_t unit = 0; unit < units(); ++unit) at[even ? unit : unit * count + i] = rows[unit];
      }
      if (gathers_) continue;
      found.even.as<uint8_t>()[first / kRows] = even;
      if (!even) continue;
      std::copy_n(steps, units(), found.steps.as<int64_t>() + first / kRows * units());
      go_on(count - 1, rows, steps);
    }
  }

  void go_on(int64_t places, const float** rows, const int64_t* steps) const {
    for (int64_t unit = 0; unit < units(); ++unit) rows[unit] += places * steps[unit];
  }

  /// Rows of a place's units, some of them made at `own`, and by how much they differ from the next place's
  /// if both are inside of a row.
  void find_row(const Geometry::Cursor& place, const float* input, float* own, const float** rows,
                int64_t* steps) const {
    const int64_t channels = convolution_.input_features;
    const int64_t step = convolution_.spatial.empty()
                             ? 0
                             : convolution_.spatial.back().stride * convolution_.spatial.back().input_stride;
    geometry_.for_each_run(place, [&](const TapRun& run) {
      if (gathers_) return gather(run, input, own + run.tap * channels);
      if (run.tap % together_ > 0 || run.count % together_ > 0) {  // partly on padding
        gather(run, input, own + run.tap * channels);
        rows[run.tap / together_] = own + run.tap / together_ * unit();
      } else {
        for (int64_t tap = run.tap; tap < run.tap + run.count; tap += together_) {
          rows[tap / together_] =
              run.inside ? input + run.offset + (tap - run.tap) * run.stride : zeros_.as<float>();
          steps[tap / together_] = run.inside ? step : 0;
        }
      }
    });
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

  void multiply(int64_t group, int64_t panel, Range steps, int64_t places, const Rows& rows, float* sums,
                int64_t stride) const {
    const int64_t width = panels_.panel_width(panel);
    const int64_t columns = std::min(width, convolution_.output_features - panel * panels_.columns());
    const float* weights = panels_.data(group, panel) + steps.begin * width;
    const auto& tiles = kernels_.tiles[static_cast<size_t>(width / kernels_.lanes - 1)];
    for (int64_t place = 0; place < places; place += ConvolutionKernels::kRows) {
      const int64_t count = std::min<int64_t>(ConvolutionKernels::kRows, places - place);
      const ConvolutionTile tile = tiles[static_cast<size_t>(count - 1)];
      float* to = sums + place * stride;
      if (gathers_) {
        const float* at[ConvolutionKernels::kRows];
        for (int64_t i = 0; i < count; ++i)
          at[i] = rows.gathered.as<float>() + (place + i) * steps_ + steps.begin;
        tile(1, steps.size(), at, nullptr, weights, to, stride, columns, steps.begin > 0);
        continue;
      }
      const int64_t number = place / ConvolutionKernels::kRows, first = steps.begin / unit();
      const bool even = rows.even.as<uint8_t>()[number] != 0;
      tile(steps.size() / unit(), unit(),
           rows.pointers.as<const float*>() + place * units() + first * (even ? 1 : count),
           even ? rows.steps.as<int64_t>() + number * units() + first : nullptr, weights, to, stride, columns,
           steps.begin > 0);
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
  int64_t together_;  // taps
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
