// Which layouts an instruction takes and makes: how the orders of dimensions of its operands and its result
// hang together. What moves elements anyway (transpose, reshape, copy) takes and makes any.
//
//   const LayoutRule rule = layout_rule(table, module, instruction);
//   if (rule.operands[0].wish == LayoutWish::kLike)
//     follow(rule.operands[0].dimensions);
#pragma once

#include <cstdint>
#include <vector>

#include "hlo/op_def.h"

namespace hlosim {

enum class LayoutWish : uint8_t {
  kAny,      // every layout
  kLike,     // operands: dimensions in the order in which the result has them
  kProduct,  // the two fastest dimensions are one of each kind that the matrix units work on, no batch
  kKeep,     // the layout that the text gives: what else is possible is not known
};

/// What a dimension of an operand or of the result of a product is to the matrix units.
enum class MatrixPart : uint8_t { kBatch, kFirst, kSecond };

struct OperandLayoutRule {
  LayoutWish wish = LayoutWish::kAny;
  /// By dimension of the result, which one of the operand that is; -1: none. kLike: these are in one order.
  /// kAny: where they are in one order, nothing moves; empty: that can't be said.
  std::vector<int64_t> dimensions;
  std::vector<MatrixPart> parts;  // kProduct: by dimension
};

struct LayoutRule {
  std::vector<OperandLayoutRule> operands;
  LayoutWish result = LayoutWish::kAny;  // never kLike
  std::vector<MatrixPart> parts;         // of the result, kProduct
};

/// The rule of an instruction of a verified module. Places that hand values on (tuples, loops, calls,
/// fusions, parameters) take any: there, the layouts on both sides are the same.
LayoutRule layout_rule(const OpTable& table, const Module& module, const Instruction& instruction);

/// Whether the two fastest dimensions are what a product wants; sizes of 1 count for none.
bool is_product_order(std::span<const int64_t> minor_to_major, std::span<const int64_t> sizes,
                      std::span<const MatrixPart> parts);
/// `minor_to_major` with the first two dimensions as a product wants them, everything else in its order;
/// sizes of 1 come last. Post: is_product_order().
std::vector<int64_t> product_order(std::span<const int64_t> minor_to_major, std::span<const int64_t> sizes,
                                   std::span<const MatrixPart> parts);

}  // namespace hlosim
