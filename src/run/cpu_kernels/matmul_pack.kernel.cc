// Panels of operands, converted and laid out as tiles read them (matmul_kernels.h).
//
// Two arrangements of memory are fast: neighbouring lanes (rhs row-major, lhs transposed), which is copying,
// and neighbouring k (lhs row-major, rhs transposed), which is transposing blocks of 4 lanes × 4 steps.
#include "cpu_kernels/float_bits.h"
#include "cpu_kernels/isa_vector.h"
#include "cpu_kernels/matmul_kernels.h"

namespace hlosim::HLOSIM_ISA {
namespace {

// ── Sources: what one step of 4 bytes is made of ────────────────
// Element   as stored
// kGroup    elements of k in a step
// one()     `count` <= kGroup elements, k_stride apart, the missing ones 0
// four()    four steps of elements that are next to each other in k

struct FromF32 {
  using Element = uint32_t;
  static constexpr int kGroup = 1;
  explicit FromF32(const MatmulPanel&) {}
  uint32_t one(const Element* from, int64_t, int64_t) const { return *from; }
  __m128i four(const Element* from) const { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)); }
};

struct FromBf16 {
  using Element = uint16_t;
  static constexpr int kGroup = 1;
  explicit FromBf16(const MatmulPanel&) {}
  uint32_t one(const Element* from, int64_t, int64_t) const { return uint32_t{*from} << 16; }
  __m128i four(const Element* from) const {
    return _mm_slli_epi32(_mm_cvtepu16_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))), 16);
  }
};

struct FromF16 {
  using Element = uint16_t;
  static constexpr int kGroup = 1;
  explicit FromF16(const MatmulPanel&) {}
#ifdef __F16C__
  uint32_t one(const Element* from, int64_t, int64_t) const { return bits_of(_cvtsh_ss(*from)); }
  __m128i four(const Element* from) const {
    return _mm_castps_si128(_mm_cvtph_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
  }
#else
  uint32_t one(const Element* from, int64_t, int64_t) const { return bits_of(f32_of_f16(*from)); }
  __m128i four(const Element* from) const {
    return _mm_castps_si128(
        _mm_setr_ps(f32_of_f16(from[0]), f32_of_f16(from[1]), f32_of_f16(from[2]), f32_of_f16(from[3])));
  }
#endif
};

struct FromCodes {
  using Element = uint8_t;
  static constexpr int kGroup = 1;
  const float* values;
  explicit FromCodes(const MatmulPanel& panel) : values(panel.values) {}
  uint32_t one(const Element* from, int64_t, int64_t) const { return bits_of(values[*from]); }
  __m128i four(const Element* from) const {
    return _mm_castps_si128(_mm_setr_ps(values[from[0]], values[from[1]], values[from[2]], values[from[3]]));
  }
};

template <class T>
struct ToS16 {
  using Element = T;
  static constexpr int kGroup = 2;
  explicit ToS16(const MatmulPanel&) {}
  uint32_t one(const Element* from, int64_t k_stride, int64_t count) const {
    const uint32_t low = static_cast<uint16_t>(from[0]);
    const uint32_t high = count > 1 ? static_cast<uint16_t>(from[k_stride]) : 0u;
    return low | high << 16;
  }
  __m128i four(const Element* from) const {
    if constexpr (sizeof(T) == 2) return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
    return T(-1) < T(0) ? _mm_cvtepi8_epi16(bytes) : _mm_cvtepu8_epi16(bytes);
  }
};

struct Bytes4 {
  using Element = uint8_t;
  static constexpr int kGroup = 4;
  uint32_t mask;
  explicit Bytes4(const MatmulPanel& panel) : mask(panel.flip ? 0x80808080 : 0) {}
  uint32_t one(const Element* from, int64_t k_stride, int64_t count) const {
    uint32_t step = 0;
    for (int64_t i = 0; i < count; ++i)
      step |= static_cast<uint32_t>(from[i * k_stride] ^ (mask & 0xff)) << 8 * i;
    return step;
  }
  __m128i four(const Element* from) const {
    return _mm_xor_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)),
                         _mm_set1_epi32(static_cast<int>(mask)));
  }
};

// ── Neighbouring lanes ──────────────────────────────────────────

inline __m128i load16(const void* from) { return _mm_loadu_si128(static_cast<const __m128i*>(from)); }
inline void store16(void* to, __m128i value) { _mm_storeu_si128(static_cast<__m128i*>(to), value); }

// One whole step of 16 lanes; rows are k_stride apart.
template <class Source>
inline void sixteen_lanes(const Source& source, const typename Source::Element* from, int64_t, uint32_t* to) {
  for (int lane = 0; lane < 16; ++lane) to[lane] = source.one(from + lane, 0, 1);
}

#ifdef __F16C__
template <>
inline void sixteen_lanes(const FromF16& source, const uint16_t* from, int64_t, uint32_t* to) {
  for (int lane = 0; lane < 16; lane += 4) store16(to + lane, source.four(from + lane));
}
#endif

template <class T>
inline void sixteen_lanes(const ToS16<T>& source, const T* from, int64_t k_stride, uint32_t* to) {
  for (int lane = 0; lane < 16; ++lane) to[lane] = source.one(from + lane, k_stride, 2);
}

inline void sixteen_lanes(const Bytes4& source, const uint8_t* from, int64_t k_stride, uint32_t* to) {
  const __m128i mask = _mm_set1_epi32(static_cast<int>(source.mask));
  const __m128i row0 = _mm_xor_si128(load16(from), mask), row1 = _mm_xor_si128(load16(from + k_stride), mask);
  const __m128i row2 = _mm_xor_si128(load16(from + 2 * k_stride), mask);
  const __m128i row3 = _mm_xor_si128(load16(from + 3 * k_stride), mask);
  const __m128i low01 = _mm_unpacklo_epi8(row0, row1), high01 = _mm_unpackhi_epi8(row0, row1);
  const __m128i low23 = _mm_unpacklo_epi8(row2, row3), high23 = _mm_unpackhi_epi8(row2, row3);
  store16(to, _mm_unpacklo_epi16(low01, low23));
  store16(to + 4, _mm_unpackhi_epi16(low01, low23));
  store16(to + 8, _mm_unpacklo_epi16(high01, high23));
  store16(to + 12, _mm_unpackhi_epi16(high01, high23));
}

// ── Panels ──────────────────────────────────────────────────────

// Lanes [first_lane, lanes) of steps [first, last), whatever the strides.
template <class Source>
void pack_slowly(const Source& source, const MatmulPanel& panel, int64_t first_lane, int64_t first,
                 int64_t last, uint32_t* packed) {
  const auto* data = static_cast<const typename Source::Element*>(panel.data);
  for (int64_t step = first; step < last; ++step) {
    const int64_t k = step * Source::kGroup;
    const int64_t count = panel.k - k < Source::kGroup ? panel.k - k : Source::kGroup;
    for (int64_t lane = first_lane; lane < panel.lanes; ++lane)
      packed[step * panel.width + lane] =
          source.one(data + lane * panel.lane_stride + k * panel.k_stride, panel.k_stride, count);
  }
}

template <class Source>
void pack_lanes(const Source& source, const MatmulPanel& panel, uint32_t* packed) {
  const auto* data = static_cast<const typename Source::Element*>(panel.data);
  const int64_t whole_steps = panel.k / Source::kGroup,
                steps = (panel.k + Source::kGroup - 1) / Source::kGroup;
  const int64_t blocked = panel.lanes / 16 * 16;
  for (int64_t step = 0; step < whole_steps; ++step) {
    const auto* from = data + step * Source::kGroup * panel.k_stride;
    for (int64_t lane = 0; lane < blocked; lane += 16)
      sixteen_lanes(source, from + lane, panel.k_stride, packed + step * panel.width + lane);
  }
  pack_slowly(source, panel, blocked, 0, whole_steps, packed);
  pack_slowly(source, panel, 0, whole_steps, steps, packed);
}

template <class Source>
void pack_transposed(const Source& source, const MatmulPanel& panel, uint32_t* packed) {
  constexpr int kBlock = 4;  // steps, lanes
  const auto* data = static_cast<const typename Source::Element*>(panel.data);
  const int64_t steps = (panel.k + Source::kGroup - 1) / Source::kGroup;
  const int64_t blocked_steps = panel.k / (Source::kGroup * kBlock) * kBlock;
  const int64_t blocked_lanes = panel.lanes / kBlock * kBlock;
  const int64_t stride = panel.lane_stride;
  for (int64_t step = 0; step < blocked_steps; step += kBlock) {
    for (int64_t lane = 0; lane < blocked_lanes; lane += kBlock) {
      const auto* from = data + lane * stride + step * Source::kGroup;
      const __m128i row0 = source.four(from), row1 = source.four(from + stride);
      const __m128i row2 = source.four(from + 2 * stride), row3 = source.four(from + 3 * stride);
      const __m128i low01 = _mm_unpacklo_epi32(row0, row1), high01 = _mm_unpackhi_epi32(row0, row1);
      const __m128i low23 = _mm_unpacklo_epi32(row2, row3), high23 = _mm_unpackhi_epi32(row2, row3);
      uint32_t* to = packed + step * panel.width + lane;
      store16(to, _mm_unpacklo_epi64(low01, low23));
      store16(to + panel.width, _mm_unpackhi_epi64(low01, low23));
      store16(to + 2 * panel.width, _mm_unpacklo_epi64(high01, high23));
      store16(to + 3 * panel.width, _mm_unpackhi_epi64(high01, high23));
    }
  }
  pack_slowly(source, panel, blocked_lanes, 0, blocked_steps, packed);
  pack_slowly(source, panel, 0, blocked_steps, steps, packed);
}

template <class T>
void clear_missing_lanes(const MatmulPanel& panel, int64_t steps, T* packed) {
  for (int64_t step = 0; step < steps; ++step)
    for (int64_t lane = panel.lanes; lane < panel.width; ++lane) packed[step * panel.width + lane] = 0;
}

template <class Source>
void pack(const MatmulPanel& panel, void* to) {
  const Source source(panel);
  auto* packed = static_cast<uint32_t*>(to);
  const int64_t steps = (panel.k + Source::kGroup - 1) / Source::kGroup;
  if (panel.lane_stride == 1)
    pack_lanes(source, panel, packed);
  else if (panel.k_stride == 1)
    pack_transposed(source, panel, packed);
  else
    pack_slowly(source, panel, 0, 0, steps, packed);
  if (panel.lanes < panel.width) clear_missing_lanes(panel, steps, packed);
}

void pack_bits64(const MatmulPanel& panel, void* to) {
  const auto* data = static_cast<const uint64_t*>(panel.data);
  auto* packed = static_cast<uint64_t*>(to);
  constexpr int64_t kBlock = 8;  // steps whose cache lines are at hand for all lanes
  for (int64_t first = 0; first < panel.k; first += kBlock) {
    const int64_t last = first + kBlock < panel.k ? first + kBlock : panel.k;
    if (panel.lane_stride == 1) {
      for (int64_t step = first; step < last; ++step)
        for (int64_t lane = 0; lane < panel.lanes; ++lane)
          packed[step * panel.width + lane] = data[step * panel.k_stride + lane];
    } else {
      for (int64_t lane = 0; lane < panel.lanes; ++lane)
        for (int64_t step = first; step < last; ++step)
          packed[step * panel.width + lane] = data[step * panel.k_stride + lane * panel.lane_stride];
    }
  }
  if (panel.lanes < panel.width) clear_missing_lanes(panel, panel.k, packed);
}

void minus_128_sums(const void* packed, int64_t steps, int64_t width, int32_t* sums) {
  const auto* data = static_cast<const int8_t*>(packed);
  for (int64_t lane = 0; lane < width; ++lane) sums[lane] = 0;
#if defined(__AVX512F__)
  const __m512i ones8 = _mm512_set1_epi8(1), ones16 = _mm512_set1_epi16(1);
  if (width % 16 == 0) {
    for (int64_t lane = 0; lane < width; lane += 16) {
      __m512i sum = _mm512_setzero_si512();
      for (int64_t step = 0; step < steps; ++step) {
        const __m512i groups = _mm512_loadu_si512(data + (step * width + lane) * 4);
        sum = _mm512_add_epi32(sum, _mm512_madd_epi16(_mm512_maddubs_epi16(ones8, groups), ones16));
      }
      store(sums + lane, (Uint32Vector)sum * splat(uint32_t{0} - 128));
    }
    return;
  }
#endif
  for (int64_t step = 0; step < steps; ++step)
    for (int64_t lane = 0; lane < width; ++lane)
      for (int64_t i = 0; i < 4; ++i) sums[lane] -= 128 * data[(step * width + lane) * 4 + i];
}

}  // namespace

const MatmulPackKernels kMatmulPack = {.f32_from_f32 = pack<FromF32>,
                                       .f32_from_bf16 = pack<FromBf16>,
                                       .f32_from_f16 = pack<FromF16>,
                                       .f32_from_codes = pack<FromCodes>,
                                       .bits32 = pack<FromF32>,
                                       .bits64 = pack_bits64,
                                       .s16_from_s16 = pack<ToS16<int16_t>>,
                                       .s16_from_s8 = pack<ToS16<int8_t>>,
                                       .s16_from_u8 = pack<ToS16<uint8_t>>,
                                       .bytes4 = pack<Bytes4>,
                                       .minus_128_sums = minus_128_sums};

}  // namespace hlosim::HLOSIM_ISA
