// Convolutions of images whose places are neighbours in memory: vectors along a line of places.
#include "convolution/convolution_kernels.h"
#include "cpu_kernels/isa_partial.h"
#include "cpu_kernels/isa_vector.h"

namespace hlosim::HLOSIM_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int kSums = 16;
#else
constexpr int kSums = 8;
#endif

// Vectors from place `first` on; the last one has `lanes`.
template <int kLines, int kVectors>
inline void line_tile(const DepthwiseLines& work, int64_t first, Lanes lanes) {
  FloatVector sums[kLines][kVectors];
  HLOSIM_UNROLL
  for (int i = 0; i < kLines; ++i) {
    HLOSIM_UNROLL
    for (int v = 0; v < kVectors; ++v) sums[i][v] = FloatVector{};
  }
  const float* weight = work.weights;
  for (int64_t outer = 0; outer < work.outer_taps; ++outer) {
    const float* line[kLines];
    HLOSIM_UNROLL
    for (int i = 0; i < kLines; ++i) line[i] = work.lines[i * work.outer_taps + outer] + first;
    for (int64_t inner = 0; inner < work.inner_taps; ++inner) {
      const FloatVector factor = splat(*weight++);
      const int64_t offset = work.offsets[inner];
      HLOSIM_UNROLL
      for (int i = 0; i < kLines; ++i) {
        HLOSIM_UNROLL
        for (int v = 0; v < kVectors; ++v)
          sums[i][v] =
              multiply_add(load<FloatVector>(line[i] + offset + v * kFloatLanes), factor, sums[i][v]);
      }
    }
  }
  HLOSIM_UNROLL
  for (int i = 0; i < kLines; ++i) {
    float* to = work.results[i] + first;
    HLOSIM_UNROLL
    for (int v = 0; v + 1 < kVectors; ++v) store(to + v * kFloatLanes, sums[i][v]);
    store_first(to + (kVectors - 1) * kFloatLanes, sums[i][kVectors - 1], lanes);
  }
}

template <int kLines, int kVectors>
inline void tile_of(int64_t vectors, const DepthwiseLines& work, int64_t first, Lanes lanes) {
  if constexpr (kVectors > 1)
    if (vectors < kVectors) return tile_of<kLines, kVectors - 1>(vectors, work, first, lanes);
  line_tile<kLines, kVectors>(work, first, lanes);
}

// Lines in equal pieces, as far as they go.
template <int kLines>
void lines(const DepthwiseLines& work) {
  constexpr int kMost = kSums / kLines < 8 ? kSums / kLines : 8;
  const int64_t vectors = (work.count + kFloatLanes - 1) / kFloatLanes,
                pieces = (vectors + kMost - 1) / kMost;
  for (int64_t piece = 0, done = 0; piece < pieces; ++piece) {
    const int64_t now = (vectors - done + pieces - piece - 1) / (pieces - piece), first = done * kFloatLanes;
    const int64_t left = work.count - first - (now - 1) * kFloatLanes;
    tile_of<kLines, kMost>(now, work, first, Lanes(left < kFloatLanes ? left : kFloatLanes));
    done += now;
  }
}

int64_t lines_at_once(int64_t vectors) { return 4 * vectors <= kSums ? 4 : 2 * vectors <= kSums ? 2 : 1; }

void every(const float* from, int64_t step, int64_t count, float* to) {
  if (step == 1) {
    // Lines are too short for a call of memcpy(); the last vector overlaps the one before it.
    if (count < kFloatLanes) {
      for (int64_t i = 0; i < count; ++i) to[i] = from[i];
      return;
    }
    for (int64_t i = 0; i + kFloatLanes <= count; i += kFloatLanes)
      store(to + i, load<FloatVector>(from + i));
    store(to + count - kFloatLanes, load<FloatVector>(from + count - kFloatLanes));
  } else if (step == 2) {
    for (int64_t i = 0; i < count; ++i) to[i] = from[2 * i];
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = from[i * step];
  }
}

}  // namespace

const ConvolutionLineKernels kConvolutionLines = {lines_at_once, kFloatLanes, lines<1>,
                                                  lines<2>,      lines<4>,    every};

}  // namespace hlosim::HLOSIM_ISA
