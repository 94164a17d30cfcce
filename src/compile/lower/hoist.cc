#include "lower/hoist.h"

#include <algorithm>
#include <set>

#include "hlo/graph.h"
#include "layout/packed_bytes.h"
#include "modules/loops.h"
#include "ops/fusion_role.h"
#include "ops/op_table.h"

namespace hlosim {
namespace {

class Hoister {
 public:
  Hoister(ModuleEditor& editor, const OpTable& table)
      : module_(editor.module()), table_(table), loops_(editor) {}

  void run(ComputationId outside) {
    for (const Loop& loop : loops_.changeable(outside)) hoist(loop);
  }

 private:
  size_t index_of(InstructionId id) const {
    return static_cast<size_t>(module_[id].find(AttrKey::kIndex)->integer());
  }

  /// Values of the body that are the same in every iteration.
  std::set<InstructionId> invariants(const Loop& loop) const {
    std::set<InstructionId> same, waiting;
    for (const InstructionId id : module_[loop.body].instructions)
      if (const Attr* before = module_[id].find(AttrKey::kControlPredecessors))
        waiting.insert(before->instructions().begin(), before->instructions().end());
    for (const InstructionId id : module_[loop.body].instructions) {
      const Instruction& instruction = module_[id];
      if (loops_.is_state(loop, id)) {
        if (module_[loop.last].operands[index_of(id)] == id) same.insert(id);
        continue;
      }
      const FusionRole role = fusion_role(table_, instruction);
      const bool constant = instruction.literal != nullptr;
      if ((role == FusionRole::kNone && !constant) || waiting.contains(id) ||
          instruction.find(AttrKey::kFrontendAttributes))
        continue;
      if (std::ranges::all_of(instruction.operands,
                              [&](InstructionId operand) { return same.contains(operand); }))
        same.insert(id);
    }
    return same;
  }

  /// Worth carrying: an array that takes work, and not larger than what it is made of.
  bool pays(InstructionId id) const {
    const FusionRole role = fusion_role(table_, module_[id]);
    if (!module_[id].shape->is_array() || module_[id].shape->is_scalar() || role == FusionRole::kNone ||
        role == FusionRole::kFill || role == FusionRole::kReindex || module_[id].literal)
      return false;
    int64_t read = 0;
    for (const InstructionId operand : module_[id].operands)
      if (fusion_role(table_, module_[operand]) != FusionRole::kFill)
        read = std::max(read, packed_bytes(*module_[operand].shape));
    return packed_bytes(*module_[id].shape) <= read;
  }

  void hoist(const Loop& loop) {
    const std::set<InstructionId> same = invariants(loop);
    // The last invariant values on their ways: those that something else of the body uses.
    const auto users = users_of(module_, loop.body);
    std::vector<InstructionId> out;
    for (const InstructionId id : module_[loop.body].instructions)
      if (same.contains(id) && pays(id) && std::ranges::any_of(users[id], [&](InstructionId user) {
            return !same.contains(user) || !carries_on(user, same, users);
          }))
        out.push_back(id);
    if (out.empty()) return;
    std::vector<InstructionId> all;
    for (const InstructionId id : module_[loop.body].instructions)
      if (same.contains(id)) all.push_back(id);
    loops_.carry_copies(loop, out, loops_.copied_out(loop, all, "hoisted"), table_);
  }

  /// The user's own value, or one made of it, is carried.
  bool carries_on(InstructionId id, const std::set<InstructionId>& same, const Users& users) const {
    if (pays(id)) return true;
    return !users[id].empty() && std::ranges::all_of(users[id], [&](InstructionId user) {
      return same.contains(user) && carries_on(user, same, users);
    });
  }

  Module& module_;
  const OpTable& table_;
  Loops loops_;
};

}  // namespace

void hoist_invariants(ModuleEditor& editor, const OpTable& table) {
  Hoister hoister(editor, table);
  // Inner loops first: what they hand out may leave the outer ones too.
  const std::vector<FlowComputation> flows = flow_computations(editor.module(), table);
  for (size_t i = flows.size(); i-- > 0;)
    if (!flows[i].is_condition) hoister.run(flows[i].id);
}

}  // namespace hlosim
