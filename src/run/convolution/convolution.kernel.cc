#include "convolution/convolution_kernels.h"
#include "cpu_kernels/isa_partial.h"
#include "cpu_kernels/isa_vector.h"

namespace hlosim::HLOSIM_ISA {
namespace {

constexpr int kRows = ConvolutionKernels::kRows;
#if defined(__AVX512F__)
constexpr int kVectors = 4;  // 24 sums, 4 of the panel and 1 of the input: 29 of 32 registers
#else
constexpr int kVectors = 2;  // 12 sums, 2 of the panel and 1 of the input: 15 of 16 registers
#endif

template <int kTileRows, int kTileVectors>
void tile(int64_t taps, int64_t channels, const float* const* rows, const int64_t* steps, const float* panel,
          float* result, int64_t result_stride, int64_t columns, bool accumulate) {
  constexpr int kColumns = kTileVectors * kFloatLanes;
  constexpr int kPrefetchSteps = 6;
  FloatVector sums[kTileRows][kTileVectors];
  HLOSIM_UNROLL
  for (int i = 0; i < kTileRows; ++i) {
    HLOSIM_UNROLL
    for (int j = 0; j < kTileVectors; ++j) sums[i][j] = FloatVector{};
  }
  if (columns == kColumns) {
    HLOSIM_UNROLL
    for (int i = 0; i < kTileRows; ++i) {
      HLOSIM_UNROLL
      for (int j = 0; j < kTileVectors; ++j)
        if (j * kVectorBytes % 64 == 0) __builtin_prefetch(result + i * result_stride + j * kFloatLanes, 1);
    }
  }
  for (int64_t tap = 0; tap < taps; ++tap) {
    const float* row[kTileRows];
    HLOSIM_UNROLL
    for (int i = 0; i < kTileRows; ++i)
      row[i] = steps ? rows[tap] + i * steps[tap] : rows[tap * kTileRows + i];
    for (int64_t c = 0; c < channels; ++c) {
      FloatVector weights[kTileVectors];
      HLOSIM_UNROLL
      for (int j = 0; j < kTileVectors; ++j) {
        weights[j] = load<FloatVector>(panel + j * kFloatLanes);
        __builtin_prefetch(panel + kPrefetchSteps * kColumns + j * kFloatLanes);
      }
      HLOSIM_UNROLL
      for (int i = 0; i < kTileRows; ++i) {
        const FloatVector value = splat(row[i][c]);
        HLOSIM_UNROLL
        for (int j = 0; j < kTileVectors; ++j) sums[i][j] = multiply_add(value, weights[j], sums[i][j]);
      }
      panel += kColumns;
    }
  }
  if (columns == kColumns) {
    HLOSIM_UNROLL
    for (int i = 0; i < kTileRows; ++i) {
      HLOSIM_UNROLL
      for (int j = 0; j < kTileVectors; ++j) {
        float* at = result + i * result_stride + j * kFloatLanes;
        store(at, accumulate ? load<FloatVector>(at) + sums[i][j] : sums[i][j]);
      }
    }
    return;
  }
  float buffer[kColumns];
  HLOSIM_UNROLL
  for (int i = 0; i < kTileRows; ++i) {
    HLOSIM_UNROLL
    for (int j = 0; j < kTileVectors; ++j) store(buffer + j * kFloatLanes, sums[i][j]);
    float* at = result + i * result_stride;
    for (int64_t j = 0; j < columns; ++j) at[j] = accumulate ? at[j] + buffer[j] : buffer[j];
  }
}

template <int kTileRows, int kTileVectors>
constexpr void fill(ConvolutionKernels& kernels) {
  kernels.tiles[kTileVectors - 1][kTileRows - 1] = tile<kTileRows, kTileVectors>;
  if constexpr (kTileRows > 1)
    fill<kTileRows - 1, kTileVectors>(kernels);
  else if constexpr (kTileVectors > 1)
    fill<kRows, kTileVectors - 1>(kernels);
}

// `lanes` are those of the last vector. Place i of a tap is at rows[tap · kPlaces + i], or, where places
// follow each other evenly, at rows[tap] + i · steps[tap].
template <int kPlaces, int kTileVectors, bool kEven>
void depthwise_tile(int64_t taps, const float* const* rows, const int64_t* steps, const float* weights,
                    float* result, int64_t result_stride, int64_t channels, int64_t first, Lanes lanes) {
  constexpr int kLast = (kTileVectors - 1) * kFloatLanes;
  FloatVector sums[kPlaces][kTileVectors];
  HLOSIM_UNROLL
  for (int i = 0; i < kPlaces; ++i) {
    HLOSIM_UNROLL
    for (int j = 0; j < kTileVectors; ++j) sums[i][j] = FloatVector{};
  }
  if constexpr (kEven && kVectorBytes < 64) {
    // What the next places read that is new, and where they go: a cache line of each, which vectors of
    // AVX-512 gained nothing by.
    const float* ahead = rows[taps - 1] + kPlaces * steps[taps - 1] + first;
    HLOSIM_UNROLL
    for (int i = 0; i < kPlaces; ++i) {
      __builtin_prefetch(ahead + i * steps[taps - 1]);
      __builtin_prefetch(result + (kPlaces + i) * result_stride + first, 1);
    }
  }
  for (int64_t tap = 0; tap < taps; ++tap) {
    const float* weight = weights + tap * channels + first;
    FloatVector factors[kTileVectors];
    HLOSIM_UNROLL
    for (int j = 0; j + 1 < kTileVectors; ++j) factors[j] = load<FloatVector>(weight + j * kFloatLanes);
    factors[kTileVectors - 1] = load_first(weight + kLast, lanes);
    HLOSIM_UNROLL
    for (int i = 0; i < kPlaces; ++i) {
      const float* row = kEven ? rows[tap] + i * steps[tap] + first : rows[tap * kPlaces + i] + first;
      HLOSIM_UNROLL
      for (int j = 0; j + 1 < kTileVectors; ++j)
        sums[i][j] = multiply_add(load<FloatVector>(row + j * kFloatLanes), factors[j], sums[i][j]);
      sums[i][kTileVectors - 1] =
          multiply_add(load_first(row + kLast, lanes), factors[kTileVectors - 1], sums[i][kTileVectors - 1]);
    }
  }
  HLOSIM_UNROLL
  for (int i = 0; i < kPlaces; ++i) {
    float* at = result + i * result_stride + first;
    HLOSIM_UNROLL
    for (int j = 0; j + 1 < kTileVectors; ++j) store(at + j * kFloatLanes, sums[i][j]);
    store_first(at + kLast, sums[i][kTileVectors - 1], lanes);
  }
}

template <int kPlaces, bool kEven>
void depthwise(int64_t taps, const float* const* rows, const int64_t* steps, const float* weights,
               float* result, int64_t result_stride, int64_t channels) {
  // Enough sums for the processor to go on while it waits for one: few places have many vectors.
  constexpr int kMany = kPlaces == 1 ? 8 : kPlaces <= 3 ? 4 : 2;
  int64_t c = 0;
  for (; c + kMany * kFloatLanes <= channels; c += kMany * kFloatLanes)
    depthwise_tile<kPlaces, kMany, kEven>(taps, rows, steps, weights, result, result_stride, channels, c,
                                          Lanes(kFloatLanes));
  for (; c + 2 * kFloatLanes <= channels; c += 2 * kFloatLanes)
    depthwise_tile<kPlaces, 2, kEven>(taps, rows, steps, weights, result, result_stride, channels, c,
                                      Lanes(kFloatLanes));
  for (; c < channels; c += kFloatLanes)
    depthwise_tile<kPlaces, 1, kEven>(taps, rows, steps, weights, result, result_stride, channels, c,
                                      Lanes(channels - c < kFloatLanes ? channels - c : kFloatLanes));
}

#if defined(__AVX512F__)
constexpr int kSlidingVectors = 2;
#else
constexpr int kSlidingVectors = 1;
#endif

// Places one element of the input apart: it is read once for all of a row's taps that meet it, instead of
// once for each. `lanes` are those of the last vector, which are all if it is kWhole.
template <int kPlaces, int kInnerTaps, int kTileVectors, bool kWhole>
inline void slide(int64_t taps, const float* const* rows, const int64_t* steps, const float* weights,
                  float* result, int64_t result_stride, int64_t channels, int64_t first, Lanes lanes) {
  constexpr int kMiddle = kInnerTaps / 2;
  const auto read = [&](const float* from) {
    return kWhole ? load<FloatVector>(from) : load_first(from, lanes);
  };
  FloatVector sums[kPlaces][kTileVectors];
  HLOSIM_UNROLL
  for (int i = 0; i < kPlaces; ++i) {
    HLOSIM_UNROLL
    for (int v = 0; v < kTileVectors; ++v) sums[i][v] = FloatVector{};
  }
  for (int64_t tap = 0; tap < taps; tap += kInnerTaps) {
    FloatVector factors[kInnerTaps][kTileVectors];
    HLOSIM_UNROLL
    for (int j = 0; j < kInnerTaps; ++j) {
      HLOSIM_UNROLL
      for (int v = 0; v < kTileVectors; ++v)
        factors[j][v] = read(weights + (tap + j) * channels + first + v * kFloatLanes);
    }
    const float* even = rows[tap + kMiddle] + first;
    HLOSIM_UNROLL
    for (int at = 0; at < kPlaces + kInnerTaps - 1; ++at) {
      const float* from = even;
      if (at < kMiddle)
        from = rows[tap + at] + first;
      else if (at >= kMiddle + kPlaces)
        from = rows[tap + at - kPlaces + 1] + first;
      else
        even += steps[tap];
      HLOSIM_UNROLL
      for (int v = 0; v < kTileVectors; ++v) {
        const FloatVector value = read(from + v * kFloatLanes);
        HLOSIM_UNROLL
        for (int j = 0; j < kInnerTaps; ++j)
          if (at >= j && at - j < kPlaces)
            sums[at - j][v] = multiply_add(value, factors[j][v], sums[at - j][v]);
      }
    }
  }
  HLOSIM_UNROLL
  for (int i = 0; i < kPlaces; ++i) {
    HLOSIM_UNROLL
    for (int v = 0; v < kTileVectors; ++v) {
      float* to = result + i * result_stride + first + v * kFloatLanes;
      kWhole ? store(to, sums[i][v]) : store_first(to, sums[i][v], lanes);
    }
  }
}

template <int kPlaces, int kInnerTaps>
void sliding_depthwise(int64_t taps, const float* const* rows, const int64_t* steps, const float* weights,
                       float* result, int64_t result_stride, int64_t channels) {
  int64_t c = 0;
  for (; c + kSlidingVectors * kFloatLanes <= channels; c += kSlidingVectors * kFloatLanes) {
    // What the next places read that is new, and where they go, by cache lines.
    const int64_t step = steps[taps - kInnerTaps];
    const float* ahead = rows[taps - 1 - kInnerTaps / 2] + kPlaces * step;
    for (int64_t line = c + (-c & 15); line < c + kSlidingVectors * kFloatLanes; line += 16) {
      HLOSIM_UNROLL
      for (int i = 0; i < kPlaces; ++i) {
        __builtin_prefetch(ahead + i * step + line);
        __builtin_prefetch(result + (kPlaces + i) * result_stride + line, 1);
      }
    }
    slide<kPlaces, kInnerTaps, kSlidingVectors, true>(taps, rows, steps, weights, result, result_stride,
                                                      channels, c, Lanes(kFloatLanes));
  }
  for (; c < channels; c += kFloatLanes)
    slide<kPlaces, kInnerTaps, 1, false>(taps, rows, steps, weights, result, result_stride, channels, c,
                                         Lanes(channels - c < kFloatLanes ? channels - c : kFloatLanes));
}

template <int kPlaces, int kInnerTaps>
constexpr void fill_sliding(std::array<DepthwiseTile, ConvolutionKernels::kSlidingPlaces>& tiles) {
  tiles[kPlaces - 1] = sliding_depthwise<kPlaces, kInnerTaps>;
  if constexpr (kPlaces > 1) fill_sliding<kPlaces - 1, kInnerTaps>(tiles);
}

template <int kPlaces>
constexpr void fill_depthwise(ConvolutionKernels& kernels) {
  kernels.depthwise[kPlaces - 1] = depthwise<kPlaces, false>;
  kernels.even_depthwise[kPlaces - 1] = depthwise<kPlaces, true>;
  if constexpr (kPlaces > 1) fill_depthwise<kPlaces - 1>(kernels);
}

constexpr ConvolutionKernels kernels() {
  ConvolutionKernels all;
  all.vectors = kVectors;
  all.lanes = kFloatLanes;
  fill<kRows, kVectors>(all);
  fill_depthwise<ConvolutionKernels::kDepthwisePlaces>(all);
  fill_sliding<ConvolutionKernels::kSlidingPlaces, 3>(all.sliding_by_3);
  fill_sliding<ConvolutionKernels::kSlidingPlaces, 5>(all.sliding_by_5);
  return all;
}

constexpr ConvolutionKernels kTable = kernels();

}  // namespace

const ConvolutionKernels kConvolution = kTable;

}  // namespace hlosim::HLOSIM_ISA
