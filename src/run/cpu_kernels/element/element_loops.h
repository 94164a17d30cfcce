// Loops of elementwise kernels, for inclusion by *.kernel.cc files: everything here is local to the file.
#pragma once

#include <cstdint>

#include "cpu_kernels/element/element_tables.h"

// The iterations of the next loop don't depend on each other, though a result may take the place of its
// operand.
#if defined(__clang__)
#define HLOSIM_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define HLOSIM_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace hlosim::HLOSIM_ISA {
namespace {

/// T in memory that was or will be used for other types too.
template <class T>
struct InMemory {
  typedef T type __attribute__((may_alias));
};
template <class T>
using Stored = typename InMemory<T>::type;

template <class T>
const Stored<T>* operand(const void* pointer) {
  return static_cast<const Stored<T>*>(pointer);
}

/// out[i] = F::of(a[i]).
template <class F, class T, class R = T>
void unary(void* out, const void* const in[], uint64_t, int64_t n) {
  auto* const o = static_cast<Stored<R>*>(out);
  const auto* const a = operand<T>(in[0]);
  HLOSIM_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    const T x = a[i];
    o[i] = static_cast<R>(F::of(x));
  }
}

/// out[i] = F::of(a[i], b[i]).
template <class F, class T, class R = T>
void binary(void* out, const void* const in[], uint64_t, int64_t n) {
  auto* const o = static_cast<Stored<R>*>(out);
  const auto* const a = operand<T>(in[0]);
  const auto* const b = operand<T>(in[1]);
  HLOSIM_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    const T x = a[i], y = b[i];
    o[i] = static_cast<R>(F::of(x, y));
  }
}

/// out[i] = F::of(a[i], b[i], c[i]).
template <class F, class T>
void ternary(void* out, const void* const in[], uint64_t, int64_t n) {
  auto* const o = static_cast<Stored<T>*>(out);
  const auto* const a = operand<T>(in[0]);
  const auto* const b = operand<T>(in[1]);
  const auto* const c = operand<T>(in[2]);
  HLOSIM_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    const T x = a[i], y = b[i], z = c[i];
    o[i] = F::of(x, y, z);
  }
}

}  // namespace
}  // namespace hlosim::HLOSIM_ISA
