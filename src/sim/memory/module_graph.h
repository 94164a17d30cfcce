// The orders in which XLA visits a module, and who uses and calls what. Numbers of values, ties between
// buffers of one size and the order of temporary memory all follow from them.
//
//   const ModuleGraph graph(module);
//   for (const InstructionId id : graph.post_order(module.entry)) …        // operands first
//   graph.slots(id)                                // where it stands as an operand
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "hlo/module.h"
#include "ops/dataflow.h"

namespace hlosim {

/// Orders that a text can't hold, where they are known from elsewhere. Names that the module doesn't have
/// are passed over; instructions that aren't named stand behind their operands.
struct KnownOrders {
  std::vector<std::string_view> instructions;  // that make something, computation by computation
  /// Who reads a value, wherever it is seen; an element of a tuple is named as in `fusion{0}`.
  struct Users {
    std::string_view value;
    std::vector<std::string_view> readers;  // in order
  };
  std::vector<Users> users;
  bool empty() const { return instructions.empty() && users.empty(); }
};

/// Instructions to do before another: operands and control predecessors.
template <class F>
void for_each_predecessor(const Instruction& instruction, F&& f) {
  for (const InstructionId operand : instruction.operands) f(operand);
  if (const Attr* attr = instruction.find(AttrKey::kControlPredecessors))
    for (const InstructionId predecessor : attr->instructions()) f(predecessor);
}

/// An operand slot of `user`.
struct OperandSlot {
  InstructionId user;
  int32_t operand = 0;
};

/// Which computations a graph lists the instructions of.
enum class GraphReach : uint8_t {
  kAll,
  kControlFlow,  // the entry, and what runs as control flow from there: values inside of fusions lie nowhere
};

class ModuleGraph {
 public:
  explicit ModuleGraph(const Module& module, const KnownOrders& known = {},
                       GraphReach reach = GraphReach::kAll);

  const Module& module() const { return module_; }

  /// Computations in the module's list, callees first: text order but for computations that are written
  /// inside their callers. Instructions of each in its list.
  const std::vector<ComputationId>& computations() const { return computations_; }
  /// None of computations that are out of reach.
  const std::vector<InstructionId>& instructions(ComputationId id) const { return instructions_[id]; }
  /// Depth first from every instruction without users; operands, first to last, and control predecessors
  /// come before. O(instructions + operands).
  std::vector<InstructionId> post_order(ComputationId id) const;

  /// Each once.
  std::span<const InstructionId> users(InstructionId id) const { return users_[id]; }
  /// Where an instruction stands as operand, by user, then by number.
  std::span<const OperandSlot> slots(InstructionId id) const { return slots_[id]; }
  std::span<const InstructionId> callers(ComputationId id) const { return callers_[id]; }
  /// How a computation is run; kNone: nothing calls it. Both ways: kEmbedded.
  CallRule context(ComputationId id) const { return context_[id]; }
  bool is_root(InstructionId id) const { return module_[module_[id].parent].root == id; }
  /// The done that ends the chain of an asynchronous start; invalid: none.
  InstructionId chain_end(InstructionId start) const;
  /// The computation that an asynchronous start, update or done wraps; invalid: none.
  ComputationId wrapped(InstructionId part) const;

 private:
  void leave_out_embedded();
  void index_users(const KnownOrders& known);
  void index_operands(const Computation& computation);
  void order_users(InstructionId id, const KnownOrders::Users& known);
  void index_calls();

  const Module& module_;
  std::vector<ComputationId> computations_;
  IdMap<ComputationId, std::vector<InstructionId>> instructions_;
  IdMap<InstructionId, std::vector<InstructionId>> users_;
  IdMap<InstructionId, std::vector<OperandSlot>> slots_;
  IdMap<ComputationId, std::vector<InstructionId>> callers_;
  IdMap<ComputationId, CallRule> context_;
};

}  // namespace hlosim
