// Instructions whose arrays are of different precision, as a TPU's compiler leaves them: a bf16 array padded
// with an f32 number, a sum of bf16 and f32. Operands are widened, and the result is rounded to its type.
//
//   if (!evaluation)                                          // no kernel for these types
//     if (const auto wide = in_one_precision(op)) …           // of and to what wide->instruction says
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "evaluate/evaluate.h"
#include "exec/step_graph.h"

namespace hlosim {

/// An instruction with all its floats of one type, in a module of its own.
struct OnePrecision {
  std::shared_ptr<Module> module;  // outlives what runs the instruction
  const Instruction* instruction = nullptr;
};

/// The instruction with all floats as f32, or as f64 where one of them is. Nothing: they are of one type
/// already, an operand isn't an array, or it is a custom call, whose types are part of what it is. Shapes are
/// those of the instruction's own module.
std::optional<OnePrecision> in_one_precision(const OpContext& op);

/// Steps around one that runs in one precision: `before` convert operands to `wide`, `after` its results to
/// what was declared. The values in between are added to `graph`; `node`, which has what runs `wide`, takes
/// and gives these.
struct Conversions {
  std::vector<GraphNode> before, after;
};
Conversions add_conversions(ComputationGraph& graph, const OnePrecision& wide, GraphNode& node);

}  // namespace hlosim
