#include "cpu_kernels/chain.h"

namespace hlosim::HLOSIM_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int kBytes = 64;
#elif defined(__AVX__)
constexpr int kBytes = 32;
#else
constexpr int kBytes = 16;
#endif

typedef float Vector __attribute__((vector_size(kBytes)));
typedef float Unaligned __attribute__((vector_size(kBytes), aligned(4), may_alias));
constexpr int kLanes = kBytes / 4;

// Of the second one if it is NaN, and where neither is beyond the other of the first one, as the operations
// have it (cpu_kernels/element/element_functors.h).
template <class T>
T largest(T x, T y) {
  const T larger = y > x ? y : x;
  return y != y ? y : larger;
}
template <class T>
T smallest(T x, T y) {
  const T smaller = y < x ? y : x;
  return y != y ? y : smaller;
}

template <ChainOp kOp, class T>
T apply(T v, T a) {
  if constexpr (kOp == ChainOp::kAdd) return v + a;
  if constexpr (kOp == ChainOp::kSubtract) return v - a;
  if constexpr (kOp == ChainOp::kSubtractFrom) return a - v;
  if constexpr (kOp == ChainOp::kMultiply) return v * a;
  if constexpr (kOp == ChainOp::kDivide) return v / a;
  if constexpr (kOp == ChainOp::kDivideInto) return a / v;
  if constexpr (kOp == ChainOp::kMaximum) return largest(v, a);
  if constexpr (kOp == ChainOp::kMaximumOf) return largest(a, v);
  if constexpr (kOp == ChainOp::kMinimum) return smallest(v, a);
  return smallest(a, v);
}

template <ChainOp kOp, int kVectors>
inline __attribute__((always_inline)) void link(Vector (&values)[kVectors], const ChainLink& step, int64_t at,
                                                int64_t row) {
  if (step.is_scalar) {
    const Vector a = step.operand[row] - Vector{};  // not 0 + x, which makes 0 of -0
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) values[v] = apply<kOp>(values[v], a);
    return;
  }
  const float* operand = step.operand + at;
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) {
    const Vector a = *reinterpret_cast<const Unaligned*>(operand + v * kLanes);
    values[v] = apply<kOp>(values[v], a);
  }
}

// Elements [at, at + kVectors · kLanes), which are of one row.
template <int kVectors>
inline __attribute__((always_inline)) void tile(float* out, const float* first, const ChainLink* links,
                                                int64_t count, int64_t at, int64_t row) {
  Vector values[kVectors];
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) values[v] = *reinterpret_cast<const Unaligned*>(first + at + v * kLanes);
  for (const ChainLink* step = links; step != links + count; ++step) {
    switch (step->op) {
      case ChainOp::kAdd:
        link<ChainOp::kAdd>(values, *step, at, row);
        break;
      case ChainOp::kSubtract:
        link<ChainOp::kSubtract>(values, *step, at, row);
        break;
      case ChainOp::kSubtractFrom:
        link<ChainOp::kSubtractFrom>(values, *step, at, row);
        break;
      case ChainOp::kMultiply:
        link<ChainOp::kMultiply>(values, *step, at, row);
        break;
      case ChainOp::kDivide:
        link<ChainOp::kDivide>(values, *step, at, row);
        break;
      case ChainOp::kDivideInto:
        link<ChainOp::kDivideInto>(values, *step, at, row);
        break;
      case ChainOp::kMaximum:
        link<ChainOp::kMaximum>(values, *step, at, row);
        break;
      case ChainOp::kMaximumOf:
        link<ChainOp::kMaximumOf>(values, *step, at, row);
        break;
      case ChainOp::kMinimum:
        link<ChainOp::kMinimum>(values, *step, at, row);
        break;
      case ChainOp::kMinimumOf:
        link<ChainOp::kMinimumOf>(values, *step, at, row);
        break;
    }
  }
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) *reinterpret_cast<Unaligned*>(out + at + v * kLanes) = values[v];
}

float through(float v, const ChainLink& step, float a) {
  switch (step.op) {
    case ChainOp::kAdd:
      return apply<ChainOp::kAdd>(v, a);
    case ChainOp::kSubtract:
      return apply<ChainOp::kSubtract>(v, a);
    case ChainOp::kSubtractFrom:
      return apply<ChainOp::kSubtractFrom>(v, a);
    case ChainOp::kMultiply:
      return apply<ChainOp::kMultiply>(v, a);
    case ChainOp::kDivide:
      return apply<ChainOp::kDivide>(v, a);
    case ChainOp::kDivideInto:
      return apply<ChainOp::kDivideInto>(v, a);
    case ChainOp::kMaximum:
      return apply<ChainOp::kMaximum>(v, a);
    case ChainOp::kMaximumOf:
      return apply<ChainOp::kMaximumOf>(v, a);
    case ChainOp::kMinimum:
      return apply<ChainOp::kMinimum>(v, a);
    case ChainOp::kMinimumOf:
      return apply<ChainOp::kMinimumOf>(v, a);
  }
  return v;
}

void run(float* out, const float* first, const ChainLink* links, int64_t count, int64_t n, int64_t length) {
  constexpr int kVectors = 8;
  int64_t at = 0;
  for (int64_t row = 0; at < n; ++row) {
    const int64_t end = n - at < length ? n : at + length;
    for (; at + kVectors * kLanes <= end; at += kVectors * kLanes)
      tile<kVectors>(out, first, links, count, at, row);
    if (at + kVectors / 2 * kLanes <= end) {
      tile<kVectors / 2>(out, first, links, count, at, row);
      at += kVectors / 2 * kLanes;
    }
    for (; at + kLanes <= end; at += kLanes) tile<1>(out, first, links, count, at, row);
    for (; at < end; ++at) {
      float v = first[at];
      for (const ChainLink* step = links; step != links + count; ++step)
        v = through(v, *step, step->operand[step->is_scalar ? row : at]);
      out[at] = v;
    }
  }
}

}  // namespace

const ChainKernels kChains = {run};

}  // namespace hlosim::HLOSIM_ISA
