// Layouts written into a module, with the copies that they take, and taken back again.
//
//   LayoutEdit edit(editor, relations, groups, moves);
//   const ShapeRef shape = edit.shape_of(id, choice);
//   if (edit.vanishes(id, operand, shape)) …  // a copy that does nothing
#pragma once

#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "hlo/module_editor.h"
#include "relayout/layout_groups.h"
#include "relayout/layout_relations.h"
#include "relayout/pointer_key.h"

namespace hlosim {

/// A layout for each group.
using LayoutChoice = std::vector<const Layout*>;  // in memory space 0; null: the one that it has

/// Instructions that may go where layouts make them no-ops.
struct LayoutMoves {
  std::unordered_set<InstructionId> removable;  // copies: result and operand may be one memory
  std::unordered_set<InstructionId> bitcasts;   // reshapes and transposes: likewise
  /// What bitcasts of the module are where their operands and results lie otherwise; in `bitcasts` as well.
  std::unordered_map<InstructionId, Instruction> spelled_out;
};

/// What makes way inside a fusion when layouts outside change.
enum class BodyVariant : uint8_t {
  kAsGiven,  // values inside stay; copies at the border
  kLead,     // they follow those that use them, from the results on
  kFollow,   // they follow what they are made of, from the parameters on
};
inline constexpr BodyVariant kBodyVariants[] = {BodyVariant::kAsGiven, BodyVariant::kLead,
                                                BodyVariant::kFollow};

class LayoutEdit {
 public:
  /// All outlive the object.
  LayoutEdit(ModuleEditor& editor, const LayoutRelations& relations, const LayoutGroups& groups,
             const LayoutMoves& moves);

  /// The shape that the instruction has with `choice`.
  ShapeRef shape_of(InstructionId id, const LayoutChoice& choice) const;
  /// How operand `k` of an instruction that runs as such lies when it gets there: as it is made, or as a
  /// copy. Whatever is written into the module.
  ShapeRef presented(InstructionId id, size_t k, const LayoutChoice& choice) const;
  /// It does nothing when its operand and its result lie like this.
  bool vanishes(InstructionId id, ShapeRef operand, ShapeRef result) const;

  /// A bitcast becomes the reshape or transpose that it is.
  void spell_out(InstructionId id);
  /// Writes a shape, nothing else.
  void set_shape(InstructionId id, ShapeRef shape);
  /// Gives everything inside a fusion layouts; `operands` and `result` are those outside.
  void lay_out_body(InstructionId fusion, std::span<const ShapeRef> operands, ShapeRef result,
                    BodyVariant variant);
  /// Puts copies before instructions that want them, and drops what does nothing. Requires: the shapes of all
  /// instructions that run as such are set.
  void finish(ComputationId computation);

  /// A copy that an edit put there: the module as given doesn't have it.
  bool is_copy(InstructionId id) const { return id.index >= first_copy_; }

  /// Everything as the module was given.
  void undo();

 private:
  Instruction& change(InstructionId id);
  Computation& change(ComputationId id);
  InstructionId copy_of(InstructionId operand, ShapeRef shape, ComputationId parent);
  void as_bitcast(InstructionId id);
  void decide_body(ComputationId body, BodyVariant variant, ShapeRef result);
  void finish_body(ComputationId body, ShapeRef result);
  bool keeps_in_body(InstructionId id) const;

  ModuleEditor& editor_;
  Module& module_;
  const LayoutRelations& relations_;
  const LayoutGroups& groups_;
  const LayoutMoves& moves_;
  mutable std::unordered_map<PointerKey, bool, PointerKeyHash> vanish_;  // by instruction and shapes
  std::unordered_map<InstructionId, Instruction> saved_;
  std::map<ComputationId, Computation> saved_computations_;
  int32_t first_copy_;                 // instructions from this one on were made for edits
  std::vector<InstructionId> copies_;  // of these; the first `copies_used_` stand somewhere
  size_t copies_used_ = 0;
  std::unordered_map<InstructionId, ShapeRef> decided_;  // in the body at hand
};

}  // namespace hlosim
