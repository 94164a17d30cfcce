// Small changes to a module: copies, tuples and their elements, order, computations of one's own.
#pragma once

#include <span>

#include "hlo/module.h"

namespace hlosim {

/// What it adds stands at the end of its computation's list until sort() is called, and points to the text of
/// what it was made from.
class ModuleRewriter {
 public:
  explicit ModuleRewriter(Module& module) : module_(module) {}

  /// As `shape`, which is the operand's array but for the layout.
  InstructionId copy(InstructionId operand, ShapeRef shape);
  /// Where `tuple` is written out, its operand; else a get-tuple-element.
  InstructionId element(InstructionId tuple, int64_t index);
  /// `like`: what the tuple stands for; of the same shape.
  InstructionId tuple(InstructionId like, std::span<const InstructionId> elements);

  void set_operand(InstructionId user, size_t number, InstructionId operand);
  /// `id` runs after `before`.
  void add_control_predecessor(InstructionId id, InstructionId before);
  /// Mention number `mention` of a computation in `caller`, counted through its attributes.
  void set_called(InstructionId caller, size_t mention, ComputationId computation);

  /// A bitcast that is a reshape or a transpose of one element type becomes that, so that it means the same
  /// whatever the layouts are. False: it is neither, and stays.
  bool spell_out_bitcast(InstructionId id);

  /// A copy of the computation; what it calls is shared.
  ComputationId clone(ComputationId id);

  /// Puts operands and control predecessors before those that need them; everything else stays in order.
  void sort(ComputationId id);

 private:
  InstructionId add(Opcode opcode, InstructionId like, ShapeRef shape, std::span<const InstructionId> operands,
                    std::span<const Attr> attrs = {});
  void set_attr(InstructionId id, const Attr& attr);

  Module& module_;
};

}  // namespace hlosim
