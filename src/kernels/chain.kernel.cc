#include "kernels/chain.h"

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

template <ChainOp kOp, class T>
T apply(T v, T a) {
  if constexpr (kOp == ChainOp::kAdd) return v + a;
  if constexpr (kOp == ChainOp::kSubtract) return v - a;
  if constexpr (kOp == ChainOp::kSubtractFrom) return a - v;
  if constexpr (kOp == ChainOp::kMultiply) return v * a;
  if constexpr (kOp == ChainOp::kDivide) return v / a;
  return a / v;
}

template <ChainOp kOp, int kVectors>
inline __attribute__((always_inline)) void link(Vector (&values)[kVectors], const ChainLink& step,
                                                int64_t at) {
  if (step.is_scalar) {
    const Vector a = *step.operand - Vector{};  // not 0 + x, which makes 0 of -0
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

// Elements [at, at + kVectors · kLanes).
template <int kVectors>
inline __attribute__((always_inline)) void tile(float* out, const float* first, const ChainLink* links,
                                                int64_t count, int64_t at) {
  Vector values[kVectors];
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) values[v] = *reinterpret_cast<const Unaligned*>(first + at + v * kLanes);
  for (const ChainLink* step = links; step != links + count; ++step) {
    switch (step->op) {
      case ChainOp::kAdd:
        link<ChainOp::kAdd>(values, *step, at);
        break;
      case ChainOp::kSubtract:
        link<ChainOp::kSubtract>(values, *step, at);
        break;
      case ChainOp::kSubtractFrom:
        link<ChainOp::kSubtractFrom>(values, *step, at);
        break;
      case ChainOp::kMultiply:
        link<ChainOp::kMultiply>(values, *step, at);
        break;
      case ChainOp::kDivide:
        link<ChainOp::kDivide>(values, *step, at);
        break;
      case ChainOp::kDivideInto:
        link<ChainOp::kDivideInto>(values, *step, at);
        break;
    }
  }
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) *reinterpret_cast<Unaligned*>(out + at + v * kLanes) = values[v];
}

float through(float v, const ChainLink& step, float a) {
  switch (step.op) {
    case ChainOp::kAdd:
      return v + a;
    case ChainOp::kSubtract:
      return v - a;
    case ChainOp::kSubtractFrom:
      return a - v;
    case ChainOp::kMultiply:
      return v * a;
    case ChainOp::kDivide:
      return v / a;
    case ChainOp::kDivideInto:
      return a / v;
  }
  return v;
}

void run(float* out, const float* first, const ChainLink* links, int64_t count, int64_t n) {
  constexpr int kVectors = 8;
  int64_t at = 0;
  for (; at + kVectors * kLanes <= n; at += kVectors * kLanes) tile<kVectors>(out, first, links, count, at);
  for (; at + kLanes <= n; at += kLanes) tile<1>(out, first, links, count, at);
  for (; at < n; ++at) {
    float v = first[at];
    for (const ChainLink* step = links; step != links + count; ++step)
      v = through(v, *step, step->is_scalar ? *step->operand : step->operand[at]);
    out[at] = v;
  }
}

}  // namespace

const ChainKernels kChains = {run};

}  // namespace hlosim::HLOSIM_ISA
