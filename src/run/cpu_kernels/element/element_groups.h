// Loops of functions of f32 by groups of elements, for inclusion by *.kernel.cc files: local to the file. The
// last group is filled up, so that one vector loop serves any n.
#pragma once

#include <cstdint>

#include "cpu_kernels/element/element_loops.h"

namespace hlosim::HLOSIM_ISA {
namespace {

constexpr int kLanes = 16;

template <class F>
void lanes(float* o, const float* a) {
  HLOSIM_INDEPENDENT
  for (int i = 0; i < kLanes; ++i) o[i] = F::of(a[i]);
}
template <class F>
void lanes(float* o, const float* a, const float* b) {
  HLOSIM_INDEPENDENT
  for (int i = 0; i < kLanes; ++i) o[i] = F::of(a[i], b[i]);
}

/// The first `count` elements at `from`, and ones.
struct Filled {
  alignas(64) float lane[kLanes];

  Filled(const float* from, int64_t count) {
    for (float& l : lane) l = 1.0f;
    __builtin_memcpy(lane, from, static_cast<size_t>(count) * sizeof(float));
  }
};

template <class F>
void function1(void* out, const void* const in[], uint64_t, int64_t n) {
  auto* const o = static_cast<float*>(out);
  const auto* const a = static_cast<const float*>(in[0]);
  if (n == 1) {
    o[0] = F::of(a[0]);
    return;
  }
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) lanes<F>(o + i, a + i);
  if (i == n) return;
  Filled x(a + i, n - i);
  lanes<F>(x.lane, x.lane);
  __builtin_memcpy(o + i, x.lane, static_cast<size_t>(n - i) * sizeof(float));
}
template <class F>
void function2(void* out, const void* const in[], uint64_t, int64_t n) {
  auto* const o = static_cast<float*>(out);
  const auto* const a = static_cast<const float*>(in[0]);
  const auto* const b = static_cast<const float*>(in[1]);
  if (n == 1) {
    o[0] = F::of(a[0], b[0]);
    return;
  }
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) lanes<F>(o + i, a + i, b + i);
  if (i == n) return;
  Filled x(a + i, n - i), y(b + i, n - i);
  lanes<F>(x.lane, x.lane, y.lane);
  __builtin_memcpy(o + i, x.lane, static_cast<size_t>(n - i) * sizeof(float));
}

template <class F, class... Operand>
bool any_rare(const Operand*... x) {
  int any = 0;
  for (int i = 0; i < kLanes; ++i) any |= F::rare(x[i]...) ? 1 : 0;
  return any != 0;
}
/// A group with rare operands, or the last one.
template <class F, class... Operand>
[[gnu::noinline]] void mixed_lanes(float* o, int64_t count, const Operand*... x) {
  const auto slowly = [&](const auto&... filled) {
    Filled r(o, 0);
    lanes<F>(r.lane, filled.lane...);
    for (int i = 0; i < count; ++i)
      if (F::rare(filled.lane[i]...)) r.lane[i] = F::exact(filled.lane[i]...);
    __builtin_memcpy(o, r.lane, static_cast<size_t>(count) * sizeof(float));
  };
  slowly(Filled(x, count)...);
}

template <class F>
void rare1(void* out, const void* const in[], uint64_t, int64_t n) {
  auto* const o = static_cast<float*>(out);
  const auto* const a = static_cast<const float*>(in[0]);
  if (n == 1) {
    o[0] = F::rare(a[0]) ? F::exact(a[0]) : F::of(a[0]);
    return;
  }
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    if (any_rare<F>(a + i))
      mixed_lanes<F>(o + i, kLanes, a + i);
    else
      lanes<F>(o + i, a + i);
  }
  if (i < n) mixed_lanes<F>(o + i, n - i, a + i);
}
template <class F>
void rare2(void* out, const void* const in[], uint64_t, int64_t n) {
  auto* const o = static_cast<float*>(out);
  const auto* const a = static_cast<const float*>(in[0]);
  const auto* const b = static_cast<const float*>(in[1]);
  if (n == 1) {
    o[0] = F::rare(a[0], b[0]) ? F::exact(a[0], b[0]) : F::of(a[0], b[0]);
    return;
  }
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    if (any_rare<F>(a + i, b + i))
      mixed_lanes<F>(o + i, kLanes, a + i, b + i);
    else
      lanes<F>(o + i, a + i, b + i);
  }
  if (i < n) mixed_lanes<F>(o + i, n - i, a + i, b + i);
}

}  // namespace
}  // namespace hlosim::HLOSIM_ISA
