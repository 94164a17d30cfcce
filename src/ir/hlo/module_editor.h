// Small changes to a module in place: new instructions and computations, other operands and attributes,
// copies, tuples and their elements, order.
//
//   ModuleEditor editor(module);
//   editor.set_operand(user, 0, editor.copy(operand, shape));
//   editor.sort(module.entry);
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "hlo/module.h"

namespace hlosim {

/// Adds to a module. Everything that is added gets a name of its own.
class ModuleEditor {
 public:
  explicit ModuleEditor(Module& module);

  Module& module() { return module_; }

  // ── new instructions and computations; the caller puts instructions into a computation's list. Until
  //    place_like(), they point to the text of their first operand that has one ──

  InstructionId add(ComputationId parent, Opcode opcode, std::string_view name, ShapeRef shape,
                    std::span<const InstructionId> operands, std::span<const Attr> attrs = {});
  /// Points to the text of what it stands for, or was made from.
  void place_like(InstructionId id, const Instruction& original);
  ComputationId add_computation(std::string_view name);
  /// The next parameter of `parent`; stands in its list.
  InstructionId add_parameter(ComputationId parent, std::string_view name, ShapeRef shape);
  /// A copy of the computation; what it calls is shared.
  ComputationId clone(ComputationId id);

  // ── values. Instructions that these add are at the end of their computation's list until sort(), and point
  //    to the text of the instruction that they were made from ──

  /// As `shape`, which is the operand's array but for the layout.
  InstructionId copy(InstructionId operand, ShapeRef shape);
  /// Where `tuple` is written out, its operand; else a get-tuple-element.
  InstructionId element(InstructionId tuple, int64_t index);
  /// `like`: what the tuple stands for; of the same shape.
  InstructionId tuple(InstructionId like, std::span<const InstructionId> elements);

  // ── changes ──

  void set_operands(InstructionId id, std::span<const InstructionId> operands);
  void set_operand(InstructionId user, size_t number, InstructionId operand);
  /// Every use of `from` by `user` becomes one of `to`.
  void replace_operand(InstructionId user, InstructionId from, InstructionId to);
  /// The same for all that the computation lists, control predecessors and the root.
  void replace_everywhere(ComputationId computation, InstructionId from, InstructionId to);
  /// Another value for one attribute, or one more attribute.
  void set_attr(InstructionId id, const Attr& attr);
  std::span<const int64_t> keep(std::span<const int64_t> values) { return module_.arena().copy(values); }
  /// `id` runs after `before`.
  void add_control_predecessor(InstructionId id, InstructionId before);
  /// Mention number `mention` of a computation in `caller`, counted through its attributes.
  void set_called(InstructionId caller, size_t mention, ComputationId computation);
  /// A bitcast that is a reshape, a transpose or a change of element type becomes that, so that it means the
  /// same whatever the layouts are. False: it is none of these, and stays.
  bool spell_out_bitcast(InstructionId id);
  /// What spell_out_bitcast() makes of a bitcast from one shape to another; nothing: it stays. `shapes` has
  /// both.
  struct BitcastSpelling {
    Opcode opcode{};
    std::vector<int64_t> permutation;  // of a transpose
  };
  static std::optional<BitcastSpelling> spelling_of(ShapePool& shapes, ShapeRef operand, ShapeRef result);
  /// Puts operands and control predecessors before those that need them; everything else stays in order.
  void sort(ComputationId id);

 private:
  struct NumberedName {
    int64_t number = 0;  // "add.12" has 12
    std::string_view base;
  };

  void list_numbered_names();
  std::string_view unique(std::string_view name);
  InstructionId append(Opcode opcode, InstructionId like, ShapeRef shape,
                       std::span<const InstructionId> operands, std::span<const Attr> attrs = {});

  Module& module_;
  std::vector<NumberedName> numbered_;  // of the module, by number
  size_t passed_ = 0;                   // of them
  int64_t next_ = 1;
};

}  // namespace hlosim
