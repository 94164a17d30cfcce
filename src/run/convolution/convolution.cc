// How a convolution is computed.
//
// Places of the result (batch × spatial) are rows and output features are columns of a matrix product whose
// lhs is never built: a row of it is made of the input features at each tap of the window, and a table of
// pointers says where those are; taps on padding point to zeros. For that the input features have to be
// neighbours in memory: where they are not, or aren't f32, the input is copied first.
//
//   f32 sums         tiles over the table of pointers (convolution_float.cc)
//   a channel each   an elementwise multiply-add over all groups at once; along lines of places where these
//                    are neighbours in memory (convolution_lines.cc)
//   1x1 windows      kernel · input, image by image, where places stand in a row
//   other types      rows of lhs are gathered, and multiplied by matmul()
#include "convolution/convolution.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "convolution/convolution_geometry.h"
#include "cpu_kernels/strided_copy.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

constexpr int64_t kGatheredBytes = 4 << 20;  // of lhs rows for matmul()

// ── Other types ─────────────────────────────────────────────────

/// Rows of [tap][channel] and the kernel as a matrix of as many rows, multiplied by matmul().
void gathered_convolution(const Convolution& original, const ConvolutionLevel& level) {
  const NormalInput input(original, false);
  const Convolution& convolution = input.convolution();
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
      Geometry::Cursor place(geometry, begin);
      for (int64_t first = begin; first < end; first += at_once) {
        const int64_t count = std::min(at_once, end - first);
        for (int64_t i = 0; i < count; ++i, place.next()) {
          std::byte* row = rows.as<std::byte>() + i * steps * width;
          geometry.for_each_run(place, [&](const TapRun& run) {
            std::byte* to = row + run.tap * channels * width;
            if (!run.inside) {
              std::memset(to, 0, static_cast<size_t>(run.count * channels * width));
              return;
            }
            for (int64_t j = 0; j < run.count; ++j)
              std::memcpy(to + j * channels * width, data + (run.offset + j * run.stride) * width,
                          static_cast<size_t>(channels * width));
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

// ── Windows of one place ────────────────────────────────────────

constexpr int64_t kProductPlaces = 128;  // of an image that are worth packing the kernel for it

/// All places of an image, each with a window of itself, are neighbours in memory, and many.
bool is_product(const Convolution& convolution) {
  if (!matmul_supports(convolution.kernel_type, convolution.input_type, convolution.result_type))
    return false;
  int64_t places = 1;
  for (size_t i = convolution.spatial.size(); i-- > 0;) {
    const ConvolutionSpatial& d = convolution.spatial[i];
    if (d.kernel != 1 || d.stride != 1 || d.padding_low != 0 || d.base_dilation != 1 || d.output != d.input)
      return false;
    if (d.input == 1) continue;
    if (d.input_stride != places || d.output_stride != places) return false;
    places *= d.input;
  }
  return places >= kProductPlaces;
}

/// Kernel · input: rows of the result are its features.
void product(const Convolution& convolution, const ConvolutionLevel& level) {
  int64_t places = 1;
  for (const ConvolutionSpatial& d : convolution.spatial) places *= d.input;
  const MatmulBatch batch[] = {
      {convolution.batch, 0, convolution.input_batch_stride, convolution.output_batch_stride},
      {convolution.groups, convolution.kernel_group_stride, convolution.input_group_stride,
       convolution.output_group_stride}};
  matmul({.m = convolution.output_features,
          .n = places,
          .k = convolution.input_features,
          .lhs = {convolution.kernel, convolution.kernel_type, convolution.kernel_output_feature_stride,
                  convolution.kernel_input_feature_stride},
          .rhs = {convolution.input, convolution.input_type, convolution.input_feature_stride, 1},
          .result = {convolution.result, convolution.result_type, convolution.output_feature_stride, 1},
          .batch = batch},
         level.matmul);
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
  return {&HLOSIM_PICK_KERNELS(level, kConvolution), &HLOSIM_PICK_KERNELS(level, kConvolutionLines),
          &HLOSIM_PICK_KERNELS(level, kTranspose), matmul_level(level, vnni)};
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
  const Geometry geometry(convolution);
  if (geometry.places() == 0 || convolution.output_features == 0 || convolution.groups == 0) return;
  if (geometry.taps() == 0 || convolution.input_features == 0 || input_elements(convolution) == 0)
    return clear(convolution, level);
  const auto recipe =
      matmul_recipe(convolution.input_type, convolution.kernel_type, convolution.result_type, level.matmul);
  const bool depthwise =
      convolution.groups > 1 && convolution.input_features == 1 && convolution.output_features == 1;
  if (!depthwise && is_product(convolution)) return product(convolution, level);
  if (!recipe || recipe->kind != MatmulKind::kF32) return gathered_convolution(convolution, level);
  if (!depthwise) return float_convolution(convolution, *recipe, level);
  if (!depthwise_lines(convolution, level)) depthwise_convolution(convolution, *recipe, level);
}

void convolution(const Convolution& one) { convolution(one, convolution_level()); }

}  // namespace hlosim
