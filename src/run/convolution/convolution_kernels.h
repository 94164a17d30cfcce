// The parts of a convolution of f32 that exist once per instruction set level.
//
//   const ConvolutionKernels& kernels = *convolution_level().kernels;
//   kernels.tiles[vectors - 1][rows - 1](taps, channels, inputs, panel, result, stride, columns, false);
#pragma once

#include <array>
#include <cstdint>

#include "base/cpu.h"
#include "cpu_kernels/matmul_recipe.h"
#include "cpu_kernels/transpose.h"

namespace hlosim {

struct Convolution;

/// result[i, j] (+)= Σ_tap Σ_c row(tap, i)[c] · panel[tap][c][j] for all rows of the tile and the first
/// `columns` columns; a row is the memory of one place's input features, wherever that is: rows[tap][i], or
/// where `steps` isn't null, places following each other evenly, rows[tap] + i · steps[tap].
using ConvolutionTile = void (*)(int64_t taps, int64_t channels, const float* const* rows,
                                 const int64_t* steps, const float* panel, float* result,
                                 int64_t result_stride, int64_t columns, bool accumulate);

/// result[i, c] = Σ_tap rows[tap][i][c] · weights[tap][c]. Of `even` ones rows[tap] is that of the first
/// place, and the others follow `steps[tap]` elements apart.
using DepthwiseTile = void (*)(int64_t taps, const float* const* rows, const int64_t* steps,
                               const float* weights, float* result, int64_t result_stride, int64_t channels);

/// Lines of places that are neighbours in memory, of one channel:
///   results[i][x] = Σ_outer Σ_inner weights[outer][inner] · lines[i][outer][offsets[inner] + x], x < count.
/// Lines can be read up to the next whole vector of places.
struct DepthwiseLines {
  int64_t outer_taps = 0, inner_taps = 0;
  const float* const* lines = nullptr;  // [i][outer]
  const int64_t* offsets = nullptr;     // of inner taps
  const float* weights = nullptr;
  float* const* results = nullptr;
  int64_t count = 0;
};
using DepthwiseLinesTile = void (*)(const DepthwiseLines& lines);

/// to[i] = from[i · step].
using EveryFn = void (*)(const float* from, int64_t step, int64_t count, float* to);

struct ConvolutionKernels {
  static constexpr int kRows = 6, kMaxVectors = 4;
  int vectors = 0;  // of columns in the widest tile
  int lanes = 0;    // columns of a vector
  /// [vectors - 1][rows - 1]
  std::array<std::array<ConvolutionTile, kRows>, kMaxVectors> tiles = {};
  /// [places - 1]
  static constexpr int64_t kDepthwisePlaces = 6;
  std::array<DepthwiseTile, kDepthwisePlaces> depthwise = {}, even_depthwise = {};
  /// Places and their innermost 3 or 5 taps are one element apart. Of the positions of such a row of taps the
  /// middle ones, as many as places, follow rows[middle tap] by its step; those before and behind them are
  /// where rows[] says, before taps and behind taps of the middle one.
  static constexpr int64_t kSlidingPlaces = 8;
  std::array<DepthwiseTile, kSlidingPlaces> sliding_by_3 = {}, sliding_by_5 = {};
};
HLOSIM_KERNEL_TABLE(ConvolutionKernels, kConvolution)

struct ConvolutionLineKernels {
  /// Lines at a time that keep the processor busy, for lines of as many vectors.
  int64_t (*lines_at_once)(int64_t vectors) = nullptr;
  int64_t lanes = 0;                                                // places of a vector
  DepthwiseLinesTile one = nullptr, two = nullptr, four = nullptr;  // lines
  EveryFn every = nullptr;
};
HLOSIM_KERNEL_TABLE(ConvolutionLineKernels, kConvolutionLines)

struct ConvolutionLevel {
  const ConvolutionKernels* kernels = nullptr;
  const ConvolutionLineKernels* lines = nullptr;
  const TransposeKernels* transpose = nullptr;
  MatmulLevel matmul;
};
ConvolutionLevel convolution_level(IsaLevel level, bool vnni);
/// This process's.
const ConvolutionLevel& convolution_level();

/// convolution() with the kernels of `level`.
void convolution(const Convolution& convolution, const ConvolutionLevel& level);

}  // namespace hlosim
