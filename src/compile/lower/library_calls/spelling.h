// Writing down in plain instructions what one instruction computes.
//
//   Spelling spelling(editor, call);
//   const InstructionId sum = spelling.binary(Opcode::kAdd, spelling.operand(0), spelling.operand(1));
//   return spelling.result(sum);                   // takes the place of the call
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "hlo/module_editor.h"

namespace hlosim {

/// The instructions that stand for `call`, which keeps its place in its computation's list until the caller
/// puts list() there.
class Spelling {
 public:
  Spelling(ModuleEditor& editor, InstructionId call) : editor_(editor), call_(call) {}

  Module& module() const { return editor_.module(); }
  const Instruction& call() const { return module()[call_]; }
  InstructionId operand(size_t i) const { return call().operands[i]; }
  ShapeRef shape_of(InstructionId id) const { return module()[id].shape; }

  InstructionId add(Opcode opcode, ShapeRef shape, std::initializer_list<InstructionId> operands,
                    std::span<const Attr> attrs = {});
  /// add() of two values of one shape.
  InstructionId binary(Opcode opcode, InstructionId a, InstructionId b) {
    return add(opcode, shape_of(a), {a, b});
  }
  InstructionId constant(ElementType type, double value);
  /// `value` everywhere.
  InstructionId filled(ShapeRef shape, double value);
  /// Dimension i of `id` is dimension `dimensions[i]` of the result.
  InstructionId broadcast(InstructionId id, ShapeRef shape, std::span<const int64_t> dimensions);
  /// The same where it already is so.
  InstructionId converted(InstructionId id, ElementType type);
  InstructionId reshaped(InstructionId id, std::span<const int64_t> dimensions);

  /// `first`, as the call's result: the first element of its tuple, with zeros behind, or all of it.
  InstructionId result(InstructionId first);

  const std::vector<InstructionId>& list() const { return list_; }

 private:
  ModuleEditor& editor_;
  InstructionId call_;
  std::vector<InstructionId> list_;
};

}  // namespace hlosim
