// How the layouts around an instruction go together: whether it takes an operand as it lies, how it would
// rather have it, and what follows from what.
//
//   const LayoutRelations relations(module, table, policy);
//   if (!relations.takes(id, 0, operand, result)) operand = relations.wanted(id, 0, operand, result);
#pragma once

#include <unordered_map>
#include <vector>

#include "layout/native_tiling.h"
#include "ops/layout_rule.h"
#include "relayout/pointer_key.h"

namespace hlosim {

/// Same order of dimensions, tiles and rounding of the end; memory spaces are not looked at.
bool same_layout(ShapeRef a, ShapeRef b);
/// Every element of `b` is where it is in `a`. Requires: arrays of the same dimensions, of one pool.
bool same_places(ShapePool& pool, ShapeRef a, ShapeRef b);
/// `array` in the order and tiles of `layout`, in the memory space that it has.
ShapeRef laid_out_as(ShapePool& pool, ShapeRef array, const Layout* layout);

class LayoutRelations {
 public:
  /// The layouts that the module has now are those that it was given. All outlive the object.
  LayoutRelations(Module& module, const OpTable& table, const TilingPolicy& policy);

  const LayoutRule& rule(InstructionId id) const { return rules_[id]; }
  /// Its shape as the module was given.
  ShapeRef original(InstructionId id) const { return originals_[id]; }
  /// Its operands as the module was given.
  const std::vector<InstructionId>& operands(InstructionId id) const { return operands_[id]; }

  /// The instruction's result and what it reads have the shapes that they were given.
  bool is_as_given(InstructionId id) const;

  /// Operand `k` may lie as `operand` when the result lies as `result`. What the module was given goes with
  /// each other.
  bool takes(InstructionId id, size_t k, ShapeRef operand, ShapeRef result) const;
  /// `operand` in the nearest layout that takes() is true of.
  ShapeRef wanted(InstructionId id, size_t k, ShapeRef operand, ShapeRef result) const;
  /// The result may lie like this.
  bool makes(InstructionId id, ShapeRef result) const;

  /// The layout of the result with which operand `k` fits as it lies, or with which nothing moves; null:
  /// nothing can be said.
  ShapeRef follow(InstructionId id, size_t k, ShapeRef operand) const;
  /// The other way round, for any operand.
  ShapeRef lead(InstructionId id, size_t k, ShapeRef result) const;

  /// `array` in this order with native tiles.
  ShapeRef ordered(ShapeRef array, std::span<const int64_t> minor_to_major) const;
  const TilingPolicy& policy() const { return policy_; }

 private:
  const OperandLayoutRule& operand_rule(InstructionId id, size_t k) const { return rules_[id].operands[k]; }
  InstructionId operand_of(InstructionId id, size_t k) const { return operands_[id][k]; }
  ShapeRef in_order_of(ShapeRef array, std::vector<int64_t> order, ShapeRef other) const;
  bool are_same_places(ShapeRef a, ShapeRef b) const;

  Module& module_;
  TilingPolicy policy_;
  IdMap<InstructionId, LayoutRule> rules_;
  IdMap<InstructionId, ShapeRef> originals_;
  IdMap<InstructionId, std::vector<InstructionId>> operands_;  // as given
  mutable std::unordered_map<PointerKey, bool, PointerKeyHash> same_places_;
};

}  // namespace hlosim
