// What elementwise kernels of several types compute, for inclusion by *.kernel.cc files: local to the file.
#pragma once

#include <cstdint>

namespace hlosim {
namespace {

struct Equal {
  template <class T>
  static bool of(T x, T y) {
    return x == y;
  }
};
struct NotEqual {
  template <class T>
  static bool of(T x, T y) {
    return x != y;
  }
};
struct Less {
  template <class T>
  static bool of(T x, T y) {
    return x < y;
  }
};
struct LessEqual {
  template <class T>
  static bool of(T x, T y) {
    return x <= y;
  }
};
struct Greater {
  template <class T>
  static bool of(T x, T y) {
    return x > y;
  }
};
struct GreaterEqual {
  template <class T>
  static bool of(T x, T y) {
    return x >= y;
  }
};

// Of floats; integers have their own, which wrap.
struct Add {
  template <class T>
  static T of(T x, T y) {
    return x + y;
  }
};
struct Subtract {
  template <class T>
  static T of(T x, T y) {
    return x - y;
  }
};
struct Multiply {
  template <class T>
  static T of(T x, T y) {
    return x * y;
  }
};
struct Divide {
  template <class T>
  static T of(T x, T y) {
    return x / y;
  }
};
// The processor has one instruction for `y > x ? y : x`, which gives x where the comparison is false: when x
// or y is NaN, and of zeros of both signs the left one. Integers have no NaN.
struct Maximum {
  template <class T>
  static T of(T x, T y) {
    const T larger = y > x ? y : x;
    return y != y ? y : larger;
  }
};
struct Minimum {
  template <class T>
  static T of(T x, T y) {
    const T smaller = y < x ? y : x;
    return y != y ? y : smaller;
  }
};
/// NaN of `low`, else of `x`, else of `high`; min(max(x, low), high) otherwise.
struct Clamp {
  template <class T>
  static T of(T low, T x, T high) {
    const T raised = x > low ? x : low;
    const T within = raised < high ? raised : high;
    const T x_or_high = x != x ? x : high;
    const T nan = low != low ? low : x_or_high;
    const bool any_nan = (low != low) | (x != x) | (high != high);
    return any_nan ? nan : within;
  }
};

}  // namespace
}  // namespace hlosim
