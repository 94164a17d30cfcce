// Scalars of a kernel's body as far as they are known: grid indices and what is computed from them are;
// what is loaded from memory mostly isn't, but the same load is the same unknown.
//
//   const Scalar sum = evaluate_scalar(op, {known(3), known(4)});  // arith.addi: 7
//   is_met(evaluate_scalar(negation, {unknown}), …)                // false where `unknown` counts as met
#pragma once

#include <cstdint>
#include <span>

#include "mlir/ir.h"

namespace hlosim::mosaic {

struct Scalar {
  bool is_known = false;
  bool is_negated = false;  // of an unknown truth value
  int64_t value = 0;
  uint64_t unknown = 0;  // equal numbers: equal values
};

inline Scalar known(int64_t value) { return {true, false, value, 0}; }
inline Scalar unknown(uint64_t number) { return {false, false, 0, number}; }

/// Is it the same value, as far as can be told?
inline bool same(const Scalar& a, const Scalar& b) {
  return a.is_known == b.is_known &&
         (a.is_known ? a.value == b.value : a.unknown == b.unknown && a.is_negated == b.is_negated);
}

uint64_t mixed(uint64_t a, uint64_t b);

/// The result of an operation on scalars.
Scalar evaluate_scalar(const mlir::Operation& op, std::span<const Scalar> operands);

}  // namespace hlosim::mosaic
