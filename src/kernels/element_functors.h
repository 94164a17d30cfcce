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
// A comparison with NaN is false, so a NaN on the right is taken by the second choice. Integers have no NaN.
struct Maximum {
  template <class T>
  static T of(T x, T y) {
    const T larger = x >= y ? x : y;
    return x != x ? x : larger;
  }
};
struct Minimum {
  template <class T>
  static T of(T x, T y) {
    const T smaller = x <= y ? x : y;
    return x != x ? x : smaller;
  }
};
struct Clamp {
  template <class T>
  static T of(T low, T x, T high) {
    return Minimum::of(Maximum::of(low, x), high);
  }
};

}  // namespace
}  // namespace hlosim
