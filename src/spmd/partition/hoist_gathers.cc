#include "partition/hoist_gathers.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "hlo/graph.h"
#include "hlo/module_editor.h"
#include "layout/packed_bytes.h"
#include "modules/loops.h"
#include "ops/fusion_role.h"
#include "ops/op_table.h"

namespace hlosim {
namespace {

using InstructionSet = std::unordered_set<InstructionId>;

class GatherHoister {
 public:
  GatherHoister(Partitioned& made, const OpTable& table, int64_t limit, const PartitionChoices* choices)
      : made_(made),
        module_(made.module),
        table_(table),
        limit_(limit),
        choices_(choices),
        editor_(made.module),
        loops_(editor_),
        repeated_(made.module.computations.size()) {
    for (size_t i = 0; i < made.reshardings.size(); ++i) added_[made.reshardings[i].collective] = i;
  }

  void run() {
    const std::vector<FlowComputation> flows = flow_computations(module_, table_);
    for (const FlowComputation& flow : flows)
      for (const InstructionId id : module_[flow.id].instructions) {
        const bool is_loop = module_[id].find(AttrKey::kBody) != nullptr;
        for_each_called(module_[id], [&](ComputationId called) {
          if (is_loop || repeated_[flow.id] != 0) repeated_[called] = 1;
        });
      }
    // Inner loops first: what leaves them may leave the outer ones too.
    for (size_t i = flows.size(); i-- > 0;) {
      if (flows[i].is_condition) continue;
      for (const Loop& loop : loops_.changeable(flows[i].id, true)) hoist(loop);
    }
  }

 private:
  size_t index_of(InstructionId id) const {
    return static_cast<size_t>(module_[id].find(AttrKey::kIndex)->integer());
  }

  /// What computes the same each turn, from what the loop hands on and what these collectives make of it.
  InstructionSet invariants(const Loop& loop) const {
    InstructionSet same;
    for (const InstructionId id : module_[loop.body].instructions) {
      const Instruction& instruction = module_[id];
      if (loops_.is_state(loop, id)) {
        if (module_[loop.last].operands[index_of(id)] == id) same.insert(id);
        continue;
      }
      const bool may_move = added_.contains(id) || instruction.literal != nullptr ||
                            table_[instruction.opcode].evaluation == EvaluationKind::kPartitionId ||
                            fusion_role(table_, instruction) != FusionRole::kNone;
      if (may_move && !instruction.find(AttrKey::kFrontendAttributes) &&
          std::ranges::all_of(instruction.operands,
                              [&](InstructionId operand) { return same.contains(operand); }))
        same.insert(id);
    }
    return same;
  }

  /// What of an added collective's result is carried into the loop: where only one instruction uses it, which
  /// makes no more of it, what that makes. Invalid: another added collective goes on with it.
  InstructionId carried(InstructionId id, const InstructionSet& same, const InstructionSet& derived,
                        const Users& users) const {
    for (;;) {
      if (users[id].size() != 1) return id;
      const InstructionId user = users[id][0];
      const auto is_derived = [&](InstructionId operand) { return derived.contains(operand); };
      if (!same.contains(user) || std::ranges::count_if(module_[user].operands, is_derived) != 1) return id;
      if (added_.contains(user)) return InstructionId();
      const FusionRole role = fusion_role(table_, module_[user]);
      const bool moves = role == FusionRole::kPart || role == FusionRole::kReindex ||
                         role == FusionRole::kCopy || role == FusionRole::kElement;
      if (!moves || packed_bytes(*module_[user].shape) > packed_bytes(*module_[id].shape)) return id;
      id = user;
    }
  }

  bool may_leave(Resharding& one, InstructionId last) {
    const int64_t bytes =
        one.hoisted ? 0 : packed_bytes(*module_[last].shape);  // one that left an inner loop is held already
    if (!one.hoisted) one.held = bytes;
    const bool may = choices_ ? choices_->hoisted.contains(channel_of(one)) : held_ + bytes <= limit_;
    if (may) held_ += bytes;
    return may;
  }
  int64_t channel_of(const Resharding& one) const {
    return module_[one.collective].find(AttrKey::kChannelId)->integer();
  }

  void hoist(const Loop& loop) {
    const InstructionSet same = invariants(loop);
    const Users users = users_of(module_, loop.body);
    InstructionSet derived;  // from what these collectives make
    for (const InstructionId id : module_[loop.body].instructions)
      if (same.contains(id) && (added_.contains(id) || any_of(derived, module_[id]))) derived.insert(id);
    InstructionSet stays;  // what needs one that stays
    std::vector<InstructionId> out;
    std::vector<size_t> waiting, left;  // those that another one goes on with; those that leave
    for (const InstructionId id : module_[loop.body].instructions) {
      if (!derived.contains(id)) continue;
      if (any_of(stays, module_[id])) stays.insert(id);
      const auto found = added_.find(id);
      if (found == added_.end() || stays.contains(id)) continue;
      const InstructionId last = carried(id, same, derived, users);
      if (!last.valid()) {
        waiting.push_back(found->second);
      } else if (may_leave(made_.reshardings[found->second], last)) {
        out.push_back(last);
        left.push_back(found->second);
      } else {
        stays.insert(id);
      }
    }
    if (out.empty()) return;
    const BeforeLoop copies = loops_.copied_out(loop, with_operands(loop, out), {});
    for (const std::vector<size_t>& list : {waiting, left})
      for (const size_t one : list) say_hoisted(made_.reshardings[one], loop, copies.of);
    // Collectives run even where nobody needs their results.
    loops_.carry_copies(loop, out, copies, table_, gone_);
  }

  bool any_of(const InstructionSet& set, const Instruction& instruction) const {
    return std::ranges::any_of(instruction.operands,
                               [&](InstructionId operand) { return set.contains(operand); });
  }

  void say_hoisted(Resharding& one, const Loop& loop, const std::map<InstructionId, InstructionId>& outside) {
    const auto found = outside.find(one.collective);
    if (found == outside.end()) return;  // the one that goes on with it stays
    made_.choices.hoisted.insert(channel_of(one));
    gone_.insert(one.collective);
    added_[found->second] = added_.at(one.collective);
    one.collective = found->second;
    if (const auto moved = outside.find(one.moved); moved != outside.end()) one.moved = moved->second;
    one.hoisted = true;
    one.in_loop = repeated_[loop.outside] != 0;
  }

  /// `out`, and what they are made of, in the order of the body.
  std::vector<InstructionId> with_operands(const Loop& loop, const std::vector<InstructionId>& out) const {
    InstructionSet needed(out.begin(), out.end());
    const std::vector<InstructionId>& list = module_[loop.body].instructions;
    for (size_t i = list.size(); i-- > 0;)
      if (needed.contains(list[i]) && !loops_.is_state(loop, list[i]))
        needed.insert(module_[list[i]].operands.begin(), module_[list[i]].operands.end());
    std::vector<InstructionId> all;
    for (const InstructionId id : list)
      if (needed.contains(id)) all.push_back(id);
    return all;
  }

  Partitioned& made_;
  Module& module_;
  const OpTable& table_;
  int64_t limit_, held_ = 0;
  const PartitionChoices* choices_;
  ModuleEditor editor_;
  Loops loops_;
  IdMap<ComputationId, char> repeated_;
  InstructionSet gone_;                              // collectives whose copy stands outside
  std::unordered_map<InstructionId, size_t> added_;  // collectives, and which of the reshardings they are
};

}  // namespace

void hoist_gathers(Partitioned& made, const OpTable& table, int64_t limit, const PartitionChoices* choices) {
  const bool any = std::ranges::any_of(made.reshardings, [](const Resharding& one) { return one.in_loop; });
  if (any) GatherHoister(made, table, limit, choices).run();
}

}  // namespace hlosim
