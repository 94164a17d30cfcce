// How the dimensions of an instruction's operands and result hang together: as factors, ranges that are
// walked through together.
//
//   const Factors product = factors(op);              // f32[8,32] dot(f32[8,16], f32[16,32])
//   product.arrays[0][1]                              // {1}: dimension 1 of operand 0 is factor 1,
//   product.list[1].kind                              // FactorKind::kSum, which the result doesn't have
//
// A dimension that others are merged into has several factors: in f32[32] reshape(f32[4,8]) the result's has
// those of both dimensions of the operand.
#pragma once

#include <cstdint>
#include <vector>

#include "hlo/op_def.h"

namespace hlosim {

enum class FactorKind : uint8_t {
  kAlong,  // index i here belongs to index i there
  kSum,    // the same between the operands; the result doesn't have it
  kPart,   // parts of one range: sizes differ, and shrink alike as long as all `amounts` do
  kWhole,  // every element of the result takes all of it
  kFixed,  // nothing is known: it stays as it is
};

struct Factor {
  FactorKind kind = FactorKind::kAlong;
  int64_t size = 1;              // the largest of its dimensions
  std::vector<int64_t> amounts;  // sizes, starts and limits that are counted along it, if they differ
};

/// Factors of each dimension, major to minor; none: the dimension stands on its own.
using ArrayFactors = std::vector<std::vector<int32_t>>;

struct Factors {
  std::vector<Factor> list;
  std::vector<ArrayFactors> arrays;  // the leaves of the operands, then those of the result
  int64_t operand_leaves = 0;
};

/// What the row of the opcode says (DimensionRule). What computations that it calls say is not among it.
/// Requires: an instruction of a verified module.
Factors factors(const OpContext& op);

/// The leaves that Factors speaks of; a buffer stands for its array, tokens and the like have no dimensions.
std::vector<ShapeRef> leaf_arrays(const OpContext& op);

}  // namespace hlosim
