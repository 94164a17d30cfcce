// Weights: matrices that come into a program and that one product takes by rows and another by columns.
//
//   for (const WeightOrientation& weights : arguments_taken_both_ways(module, table))
//     turn(weights.argument, weights.gradients);
//
// x·W contracts the rows of W, the product of the gradient with W its columns. XLA copies W into the other
// order of dimensions and makes its gradient in it, if that takes no more memory: seen in the gradients of
// losses on v7x, which take two passes over the weights and two over their gradient more than the products
// do, but for widths that don't fill their lanes.
#pragma once

#include <vector>

#include "hlo/op_def.h"

namespace hlosim {

/// Weights and what takes them to products.
struct WeightOrientation {
  InstructionId argument;
  std::vector<InstructionId> users;     // of the argument: products, and elementwise work on the way to them
  std::vector<InstructionId> products;  // that take it, directly or after such work
  /// Products that leave the program, have the dimensions of the weights and take what these are multiplied
  /// with: the gradient of x·W takes x and the gradient of x·W, which is multiplied with W as well. What
  /// takes the weights isn't theirs.
  std::vector<InstructionId> gradients;
};

/// Matrices among the parameters of the entry computation whose dimensions are both contracted by dots, one
/// by some and the other by others, whose right operand they are, directly or after elementwise work on the
/// parameter alone. Users that lead to something else as well don't count. Not those in the host's memory,
/// which come to the device first. Time and memory grow with
/// the instructions of the computation.
std::vector<WeightOrientation> arguments_taken_both_ways(const Module& module, const OpTable& table);

}  // namespace hlosim
