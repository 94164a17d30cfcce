#include "cpu_kernels/transpose.h"

#include "base/intrinsics.h"

namespace hlosim::HLOSIM_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

template <int... I>
struct Indices {};
template <int N, int... I>
struct MakeIndices : MakeIndices<N - 1, N - 1, I...> {};
template <int... I>
struct MakeIndices<0, I...> {
  using Type = Indices<I...>;
};

// a0 b0 a1 b1 … of the lower or upper halves of two vectors of N lanes.
template <int N, class Vector, int... I>
inline Vector interleave_low(Vector a, Vector b, Indices<I...>) {
  return __builtin_shufflevector(a, b, (I / 2 + I % 2 * N)...);
}
template <int N, class Vector, int... I>
inline Vector interleave_high(Vector a, Vector b, Indices<I...>) {
  return __builtin_shufflevector(a, b, (N / 2 + I / 2 + I % 2 * N)...);
}

template <class T, int N>
struct Square {
  typedef T Vector __attribute__((vector_size(N * sizeof(T))));
  static constexpr int kLanes = N;

  // Interleaving row i with row i + N/2 rotates the digits of (row, lane) by one; after as many times as a
  // lane number has digits, rows are lanes.
  static void run(const std::byte* source, int64_t source_stride, std::byte* destination,
                  int64_t destination_stride, bool stream) {
    using All = typename MakeIndices<N>::Type;
    Vector rows[N], next[N];
#pragma GCC unroll 16
    for (int i = 0; i < N; ++i) __builtin_memcpy(&rows[i], source + i * source_stride, sizeof(Vector));
#pragma GCC unroll 4
    for (int width = 1; width < N; width *= 2) {
#pragma GCC unroll 16
      for (int i = 0; i < N / 2; ++i) {
        next[2 * i] = interleave_low<N>(rows[i], rows[i + N / 2], All());
        next[2 * i + 1] = interleave_high<N>(rows[i], rows[i + N / 2], All());
      }
#pragma GCC unroll 16
      for (int i = 0; i < N; ++i) rows[i] = next[i];
    }
#if defined(__AVX512F__)
    if (sizeof(Vector) == 64 && stream) {
#pragma GCC unroll 16
      for (int i = 0; i < N; ++i) {
        __m512i bits;
        __builtin_memcpy(&bits, &rows[i], sizeof(Vector) < 64 ? sizeof(Vector) : 64);
        _mm512_stream_si512(reinterpret_cast<__m512i*>(destination + i * destination_stride), bits);
      }
      return;
    }
#endif
#pragma GCC unroll 16
    for (int i = 0; i < N; ++i)
      __builtin_memcpy(destination + i * destination_stride, &rows[i], sizeof(Vector));
    (void)stream;
  }
};

struct Wide {
  uint64_t words[2];
};

template <class T>
void transpose_by_element(const std::byte* source, int64_t source_stride, std::byte* destination,
                          int64_t destination_stride, int64_t rows, int64_t columns) {
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      __builtin_memcpy(destination + r * destination_stride + c * static_cast<int64_t>(sizeof(T)),
                       source + c * source_stride + r * static_cast<int64_t>(sizeof(T)), sizeof(T));
}

// Few columns without gaps between rows, as the channels of an image.
template <class T, int kColumns>
void interleave(const std::byte* source, int64_t source_stride, std::byte* destination, int64_t rows) {
  typedef T Element __attribute__((may_alias, aligned(1)));
  const Element* __restrict from[kColumns];
  for (int c = 0; c < kColumns; ++c) from[c] = reinterpret_cast<const Element*>(source + c * source_stride);
  Element* __restrict to = reinterpret_cast<Element*>(destination);
  for (int64_t r = 0; r < rows; ++r)
#pragma GCC unroll 4
    for (int c = 0; c < kColumns; ++c) to[r * kColumns + c] = from[c][r];
}

constexpr int64_t kLine = 64;  // bytes of a cache line

void store_line(const std::byte* line, std::byte* destination, bool stream) {
#if defined(__AVX512F__)
  __m512i bits;
  __builtin_memcpy(&bits, line, sizeof bits);
  if (stream)
    _mm512_stream_si512(reinterpret_cast<__m512i*>(destination), bits);
  else
    __builtin_memcpy(destination, &bits, sizeof bits);
#else
  for (int64_t i = 0; i < kLine; i += 16) {
    __m128i bits;
    __builtin_memcpy(&bits, line + i, sizeof bits);
    if (stream)
      _mm_stream_si128(reinterpret_cast<__m128i*>(destination + i), bits);
    else
      __builtin_memcpy(destination + i, &bits, sizeof bits);
  }
#endif
}

// By whole vectors: a vector that is read where two narrower ones were just written waits for them to reach
// the cache.
inline void copy_line(const std::byte* source, std::byte* destination) {
  typedef uint8_t Vector __attribute__((vector_size(kVectorBytes)));
  for (int64_t i = 0; i < kLine; i += kVectorBytes) {
    Vector bits;
    __builtin_memcpy(&bits, source + i, sizeof bits);
    __builtin_memcpy(destination + i, &bits, sizeof bits);
  }
}

// A block as high as a cache line is wide, by way of a copy: rows of power-of-two strides share a few places
// in the cache, so that a line has to be used up when it is there.
template <class S, int64_t side, int64_t width>
void transpose_lines(const std::byte* source, int64_t source_stride, std::byte* destination,
                     int64_t destination_stride, bool stream) {
  alignas(kLine) std::byte in[side * kLine], out[side * kLine];
  for (int64_t c = 0; c < side; ++c) copy_line(source + c * source_stride, in + c * kLine);
  for (int64_t r = 0; r < side; r += S::kLanes)
    for (int64_t c = 0; c < side; c += S::kLanes)
      S::run(in + c * kLine + r * width, kLine, out + r * kLine + c * width, kLine, false);
  for (int64_t r = 0; r < side; ++r)
    store_line(out + r * kLine, destination + r * destination_stride, stream);
}

template <class T, class S>
void transpose(const std::byte* source, int64_t source_stride, std::byte* destination,
               int64_t destination_stride, int64_t rows, int64_t columns, bool stream) {
  constexpr int64_t kWidth = sizeof(T), kSide = kLine / kWidth;
  if (columns <= 4 && columns > 1 && destination_stride == columns * kWidth) {
    if (columns == 2) return interleave<T, 2>(source, source_stride, destination, rows);
    if (columns == 3) return interleave<T, 3>(source, source_stride, destination, rows);
    return interleave<T, 4>(source, source_stride, destination, rows);
  }
  const int64_t whole_rows = rows / kSide * kSide, whole_columns = columns / kSide * kSide;
  for (int64_t r = 0; r < whole_rows; r += kSide)
    for (int64_t c = 0; c < whole_columns; c += kSide) {
      const std::byte* const from = source + c * source_stride + r * kWidth;
      std::byte* const to = destination + r * destination_stride + c * kWidth;
      if constexpr (S::kLanes == kSide)
        S::run(from, source_stride, to, destination_stride, stream);
      else
        transpose_lines<S, kSide, kWidth>(from, source_stride, to, destination_stride, stream);
    }
  // Around the whole blocks: what fits a register's square, then single elements.
  const auto rest = [&](int64_t first_row, int64_t last_row, int64_t first_column, int64_t last_column) {
    const int64_t square_rows = first_row + (last_row - first_row) / S::kLanes * S::kLanes;
    const int64_t square_columns = first_column + (last_column - first_column) / S::kLanes * S::kLanes;
    for (int64_t r = first_row; r < square_rows; r += S::kLanes)
      for (int64_t c = first_column; c < square_columns; c += S::kLanes)
        S::run(source + c * source_stride + r * kWidth, source_stride,
               destination + r * destination_stride + c * kWidth, destination_stride, false);
    transpose_by_element<T>(source + square_columns * source_stride + first_row * kWidth, source_stride,
                            destination + first_row * destination_stride + square_columns * kWidth,
                            destination_stride, square_rows - first_row, last_column - square_columns);
    transpose_by_element<T>(source + first_column * source_stride + square_rows * kWidth, source_stride,
                            destination + square_rows * destination_stride + first_column * kWidth,
                            destination_stride, last_row - square_rows, last_column - first_column);
  };
  rest(0, whole_rows, whole_columns, columns);
  rest(whole_rows, rows, 0, columns);
  if (stream) _mm_sfence();
}

template <class T>
void transpose_plainly(const std::byte* source, int64_t source_stride, std::byte* destination,
                       int64_t destination_stride, int64_t rows, int64_t columns, bool) {
  transpose_by_element<T>(source, source_stride, destination, destination_stride, rows, columns);
}

template <class T>
void reverse(const std::byte* source, std::byte* destination, int64_t count) {
  constexpr int64_t kWidth = sizeof(T);
  for (int64_t i = 0; i < count; ++i)
    __builtin_memcpy(destination + i * kWidth, source - i * kWidth, sizeof(T));
}

}  // namespace

const TransposeKernels kTranspose = {
    .transpose = {transpose<uint8_t, Square<uint8_t, 16>>, transpose<uint16_t, Square<uint16_t, 8>>,
                  transpose<uint32_t, Square<uint32_t, kVectorBytes / 4>>,
                  transpose<uint64_t, Square<uint64_t, kVectorBytes / 8>>, transpose_plainly<Wide>},
    .reverse = {reverse<uint8_t>, reverse<uint16_t>, reverse<uint32_t>, reverse<uint64_t>, reverse<Wide>},
};

}  // namespace hlosim::HLOSIM_ISA
