// What products of matrices compute with, lane by lane. For *.kernel.cc only.
//
//   typename F64::Vector sum = {};
//   sum = F64::add_product(splat(a), load<F64::Vector>(b), sum);
#pragma once

#include "cpu_kernels/isa_vector.h"

namespace hlosim::HLOSIM_ISA {
namespace {

// add_product() is acc + a · b. Of complex numbers a scalar is one of two parts.
struct F32 {
  using Vector = FloatVector;
  using Scalar = float;
  static constexpr int kParts = 1;
  static Vector add_product(Vector a, Vector b, Vector acc) { return multiply_add(a, b, acc); }
};
struct F64 {
  using Vector = DoubleVector;
  using Scalar = double;
  static constexpr int kParts = 1;
  static Vector add_product(Vector a, Vector b, Vector acc) { return multiply_add(a, b, acc); }
};
struct U32 {
  using Vector = Uint32Vector;
  using Scalar = uint32_t;
  static constexpr int kParts = 1;
  static Vector add_product(Vector a, Vector b, Vector acc) { return acc + a * b; }
};
struct U64 {
  using Vector = Uint64Vector;
  using Scalar = uint64_t;
  static constexpr int kParts = 1;
  static Vector add_product(Vector a, Vector b, Vector acc) { return acc + a * b; }
};

}  // namespace
}  // namespace hlosim::HLOSIM_ISA
