#include "convolution/convolution_geometry.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/check.h"
#include "base/rounding.h"
#include "cpu_kernels/element.h"
#include "cpu_kernels/strided_copy.h"
#include "threads/parallel.h"

namespace hlosim {

int64_t input_elements(const Convolution& c) {
  int64_t elements = c.input_features;
  for (const ConvolutionSpatial& dimension : c.spatial) elements *= dimension.input;
  return elements * c.batch * c.groups;
}

// ── Places and taps ─────────────────────────────────────────────

Geometry::Geometry(const Convolution& convolution) : convolution_(convolution) {
  HLOSIM_CHECK(convolution.spatial.size() <= kMaxRank, "{} spatial dimensions", convolution.spatial.size());
  for (size_t i = convolution.spatial.size(); i-- > 0;) {
    inner_taps_[i] = taps_;
    taps_ *= convolution.spatial[i].kernel;
    places_ *= convolution.spatial[i].output;
  }
  places_ *= convolution.batch;
}

int64_t Geometry::kernel_offset(int64_t tap) const {
  int64_t offset = 0;
  for (size_t i = convolution_.spatial.size(); i-- > 0;) {
    const ConvolutionSpatial& dimension = convolution_.spatial[i];
    const int64_t at = tap % dimension.kernel;
    offset += (dimension.reversed ? dimension.kernel - 1 - at : at) * dimension.kernel_stride;
    tap /= dimension.kernel;
  }
  return offset;
}

std::pair<int64_t, int64_t> Geometry::inside_row() const {
  if (convolution_.spatial.empty()) return {0, 0};
  const ConvolutionSpatial& d = convolution_.spatial.back();
  if (d.base_dilation > 1) return {0, 0};
  // x · stride - padding_low is at least 0, and the last tap from there below the input's size.
  const int64_t first = std::max<int64_t>(0, ceil_div(d.padding_low, d.stride));
  const int64_t room = d.input - 1 - (d.kernel - 1) * d.window_dilation + d.padding_low;
  const int64_t last = room < 0 ? 0 : std::min(d.output, room / d.stride + 1);
  return {std::min(first, last), last};
}

Geometry::Cursor::Cursor(const Geometry& geometry, int64_t place) : convolution_(geometry.convolution_) {
  for (size_t i = convolution_.spatial.size(); i-- > 0;) {
    index_[i] = place % convolution_.spatial[i].output;
    place /= convolution_.spatial[i].output;
  }
  batch_ = place;
}

void Geometry::Cursor::next() {
  for (size_t i = convolution_.spatial.size(); i-- > 0;) {
    if (++index_[i] < convolution_.spatial[i].output) return;
    index_[i] = 0;
  }
  ++batch_;
}

int64_t Geometry::Cursor::output_offset() const {
  int64_t offset = batch_ * convolution_.output_batch_stride;
  for (size_t i = 0; i < convolution_.spatial.size(); ++i)
    offset += index_[i] * convolution_.spatial[i].output_stride;
  return offset;
}

// ── The input ───────────────────────────────────────────────────

namespace {

bool needs_copy(const Convolution& c, bool as_f32) {
  return (c.input_features > 1 && c.input_feature_stride != 1) ||
         (as_f32 && c.input_type != ElementType::kF32);
}

}  // namespace

NormalInput::NormalInput(const Convolution& original, bool as_f32)
    : convolution_(original),
      spatial_(original.spatial.begin(), original.spatial.end()),
      copied_(needs_copy(original, as_f32)),
      moved_(copied_ ? input_elements(original) * byte_width(original.input_type) : 0),
      converted_(copied_ && as_f32 && original.input_type != ElementType::kF32 ? input_elements(original) * 4
                                                                               : 0) {
  convolution_.spatial = spatial_;
  if (!copied_) return;
  const int64_t width = byte_width(original.input_type);
  // [batch, spatial…, group, feature]
  std::vector<int64_t> sizes = {original.batch}, from = {original.input_batch_stride};
  for (const ConvolutionSpatial& dimension : spatial_) {
    sizes.push_back(dimension.input);
    from.push_back(dimension.input_stride);
  }
  sizes.insert(sizes.end(), {original.groups, original.input_features});
  from.insert(from.end(), {original.input_group_stride, original.input_feature_stride});
  std::vector<int64_t> to(sizes.size(), 1);
  for (size_t i = sizes.size() - 1; i-- > 0;) to[i] = to[i + 1] * sizes[i + 1];
  StridedCopy(sizes, from, to, width)
      .run(static_cast<const std::byte*>(original.input), moved_.as<std::byte>());
  convolution_.input = moved_.as<std::byte>();
  convolution_.input_batch_stride = to[0];
  for (size_t i = 0; i < spatial_.size(); ++i) spatial_[i].input_stride = to[i + 1];
  convolution_.input_group_stride = original.input_features;
  convolution_.input_feature_stride = 1;
  if (!as_f32 || original.input_type == ElementType::kF32) return;
  const ElementKernel convert = element_kernel(ElementOp::kConvert, original.input_type, ElementType::kF32);
  parallel_for(input_elements(original), 16 << 10, [&](int64_t begin, int64_t end) {
    const void* in[] = {moved_.as<std::byte>() + begin * width};
    convert.fn(converted_.as<float>() + begin, in, convert.immediate, end - begin);
  });
  convolution_.input = converted_.as<float>();
  convolution_.input_type = ElementType::kF32;
}

// ── The result ──────────────────────────────────────────────────

ResultRows::ResultRows(const Convolution& convolution, const Geometry& geometry,
                       const ConvolutionLevel& level)
    : convolution_(convolution),
      geometry_(geometry),
      width_(byte_width(convolution.result_type)),
      transpose_(level.transpose->transpose[std::countr_zero(static_cast<uint64_t>(width_))]),
      columns_are_neighbours_(convolution.output_feature_stride == 1 || convolution.output_features == 1),
      has_one_stride_(find_stride()),
      image_(neighbours_of_image()) {}

void ResultRows::store(int64_t group, int64_t first, int64_t places, int64_t first_column, int64_t columns,
                       const std::byte* elements) const {
  const int64_t row = columns * width_, feature_stride = convolution_.output_feature_stride;
  std::byte* result = group_at(group, first_column);
  if (!columns_are_neighbours_ && image_ > 0) {
    for (int64_t begin = 0, count = 0; begin < places; begin += count) {
      const int64_t in_image = (first + begin) % image_, image = (first + begin) / image_;
      count = std::min(places - begin, image_ - in_image);
      transpose_(elements + begin * row, row,
                 result + (image * convolution_.output_batch_stride + in_image) * width_,
                 feature_stride * width_, columns, count, false);
    }
    return;
  }
  Geometry::Cursor place(geometry_, first);
  int64_t offset = place.output_offset();
  for (int64_t begin = 0, end = 0; begin < places; begin = end) {
    const int64_t here = offset;
    const auto go_on = [&] {
      if (++end == places) return;
      place.next();
      offset = place.output_offset();
    };
    go_on();
    if (columns_are_neighbours_) {
      std::memcpy(result + here * width_, elements + begin * row, static_cast<size_t>(row));
      continue;
    }
    while (end < places && offset == here + end - begin) go_on();
    transpose_(elements + begin * row, row, result + here * width_, feature_stride * width_, columns,
               end - begin, false);
  }
}

void ResultRows::store_sums(int64_t group, int64_t first, int64_t places, int64_t first_column,
                            int64_t columns, const float* sums, const MatmulRecipe& recipe) const {
  if (recipe.sums_are_result)
    return store(group, first, places, first_column, columns, reinterpret_cast<const std::byte*>(sums));
  Scratch rounded(places * columns * width_);
  recipe.store({.sums = sums,
                .sums_stride = columns,
                .rows = places,
                .columns = columns,
                .result = rounded.as<std::byte>(),
                .row_stride = columns,
                .column_stride = 1});
  store(group, first, places, first_column, columns, rounded.as<std::byte>());
}

std::byte* ResultRows::group_at(int64_t group, int64_t column) const {
  return static_cast<std::byte*>(convolution_.result) +
         (group * convolution_.output_group_stride + column * convolution_.output_feature_stride) * width_;
}

int64_t ResultRows::neighbours_of_image() const {
  int64_t places = 1;
  for (size_t i = convolution_.spatial.size(); i-- > 0;) {
    const ConvolutionSpatial& d = convolution_.spatial[i];
    if (d.output > 1 && d.output_stride != places) return 0;
    places *= d.output;
  }
  return places;
}

bool ResultRows::find_stride() {
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

}  // namespace hlosim
