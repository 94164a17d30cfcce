// A computation as a flat list of things to run and the values between them.
//
// Tuples, parameters and whatever else only hands values on are gone: a value is one leaf. Calls and fusions
// are opened, since a fusion is no unit of meaning, only of code generation; what is run as one pass is
// decided anew (exec/cluster.h).
//
//   for (const GraphNode& node : graph.nodes)      // operands first
//     for (const ValueId operand : node.operands)
//       use(graph.values[operand].shape);
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "array/array.h"
#include "evaluate/evaluate.h"

namespace hlosim {

using ValueId = uint32_t;

struct GraphNode {
  const Instruction* instruction = nullptr;
  std::vector<ValueId> operands, results;  // leaves
  Evaluation evaluation;                   // null until it is made
  JointEvaluation joint;                   // of an instruction at which devices meet, in place of that
  bool keep = false;                       // runs even when its results aren't needed
  /// For each result the operand whose bytes it takes when they aren't needed elsewhere, or -1. Empty: none
  /// does.
  std::vector<int64_t> reused;
};

struct ComputationGraph {
  struct Value {
    ShapeRef shape = nullptr;
    Array constant;  // null data: none
  };
  std::vector<Value> values;
  std::vector<GraphNode> nodes;     // operands first
  std::vector<ValueId> parameters;  // one per leaf of the computation's parameters
  std::vector<ValueId> results;     // one per leaf of its root
};

struct GraphOptions {
  /// A constant larger than this is an error.
  int64_t max_constant_bytes = std::numeric_limits<int64_t>::max();
  /// Value of a constant whose text leaves it out; null: such a constant is an error.
  std::function<Array(const Instruction&, MemoryPool&)> elided;
  /// Instructions whose values `observer` is shown after each run.
  std::function<bool(const Instruction&)> traced;
  std::function<void(const DeviceState&, const Instruction&, std::span<const Array>)> observer;
};

/// The graph of `computation`, without what isn't needed. Evaluations are not made yet, but for those that
/// show values to the observer. Errors go to `sink`: elided and too large constants.
ComputationGraph make_graph(Module& module, const OpTable& table, ComputationId computation, MemoryPool& pool,
                            const GraphOptions& options, DiagnosticList& sink);
/// The graph of one instruction: its parameters are the leaves of all its operands.
ComputationGraph make_graph(Module& module, const OpTable& table, InstructionId instruction, MemoryPool& pool,
                            const GraphOptions& options, DiagnosticList& sink);

/// A literal's value as an array (tuples: as its leaves). Requires: nothing is elided.
void append_arrays(const Literal& literal, MemoryPool& pool, std::vector<Array>& arrays);

}  // namespace hlosim
