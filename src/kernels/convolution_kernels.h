// The parts of a convolution of f32 that exist once per instruction set level.
//
//   const ConvolutionKernels& kernels = *convolution_level().kernels;
//   kernels.tiles[vectors - 1][rows - 1](taps, channels, inputs, panel, result, stride, columns, false);
#pragma once

#include <array>
#include <cstdint>

#include "base/cpu.h"
#include "kernels/matmul_recipe.h"
#include "kernels/transpose.h"

namespace hlosim {

struct Convolution;

/// result[i, j] (+)= Σ_tap Σ_c rows[tap][i][c] · panel[tap][c][j] for all rows of the tile and the first
/// `columns` columns; a row is the memory of one place's input features, wherever that is.
using ConvolutionTile = void (*)(int64_t taps, int64_t channels, const float* const* rows, const float* panel,
                                 float* result, int64_t result_stride, int64_t columns, bool accumulate);

/// result[i, c] = Σ_tap rows[tap][i][c] · weights[tap][c]. Of `even` ones rows[tap] is that of the first
/// place, and the others follow `steps[tap]` elements apart.
using DepthwiseTile = void (*)(int64_t taps, const float* const* rows, const int64_t* steps,
                               const float* weights, float* result, int64_t result_stride, int64_t channels);

struct ConvolutionKernels {
  static constexpr int kRows = 6, kMaxVectors = 4;
  int vectors = 0;  // of columns in the widest tile
  int lanes = 0;    // columns of a vector
  /// [vectors - 1][rows - 1]
  std::array<std::array<ConvolutionTile, kRows>, kMaxVectors> tiles = {};
  /// [places - 1]
  static constexpr int64_t kDepthwisePlaces = 6;
  std::array<DepthwiseTile, kDepthwisePlaces> depthwise = {}, even_depthwise = {};
};
HLOSIM_KERNEL_TABLE(ConvolutionKernels, kConvolution)

struct ConvolutionLevel {
  const ConvolutionKernels* kernels = nullptr;
  const TransposeKernels* transpose = nullptr;
  MatmulLevel matmul;
};
ConvolutionLevel convolution_level(IsaLevel level, bool vnni);
/// This process's.
const ConvolutionLevel& convolution_level();

/// convolution() with the kernels of `level`.
void convolution(const Convolution& convolution, const ConvolutionLevel& level);

}  // namespace hlosim
