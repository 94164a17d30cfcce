// Convolutions on raw memory, over any number of spatial dimensions:
//
//   result[b, o, y…] = Σ_c Σ_t… input[b, c, (y·stride - padding_low + t·window_dilation) / base_dilation …]
//                              · kernel[o, c, t…]
//
// where positions outside of the input, or between its elements when they are base_dilation apart, count as
// 0. Where the dimensions of the operands lie is a matter of strides.
#pragma once

#include <cstdint>
#include <span>

#include "layout/element_type.h"

namespace hlosim {

/// One spatial dimension. Strides of memory in elements.
struct ConvolutionSpatial {
  int64_t input = 1, kernel = 1, output = 1;  // sizes
  int64_t stride = 1, padding_low = 0;        // padding may be negative
  int64_t base_dilation = 1, window_dilation = 1;
  bool reversed = false;  // the kernel is read backwards
  int64_t input_stride = 0, kernel_stride = 0, output_stride = 0;
};

struct Convolution {
  const void* input = nullptr;
  const void* kernel = nullptr;
  void* result = nullptr;
  ElementType input_type = ElementType::kInvalid, kernel_type = ElementType::kInvalid,
              result_type = ElementType::kInvalid;
  int64_t batch = 1;  // of the result
  int64_t input_batch_stride = 0, output_batch_stride = 0;
  /// Independent convolutions of `input_features` to `output_features` each: feature groups, or batch groups,
  /// by what the strides between groups are.
  int64_t groups = 1;
  int64_t input_group_stride = 0, kernel_group_stride = 0, output_group_stride = 0;
  int64_t input_features = 1, output_features = 1;  // of a group
  int64_t input_feature_stride = 0, output_feature_stride = 0;
  int64_t kernel_input_feature_stride = 0, kernel_output_feature_stride = 0;
  std::span<const ConvolutionSpatial> spatial;
};

/// Computes it, with the types of matmul_supports() and rounding as there: floats of up to 32 bits are summed
/// in f32 and rounded once; integers wrap. The order of an element's sum depends on the sizes, strides, types
/// and the instruction set only, never on the number of threads.
void convolution(const Convolution& convolution);

}  // namespace hlosim
