#include "lower/turned_arguments.h"

#include <utility>

#include "hlo/graph.h"
#include "layout/shape.h"
#include "ops/fusion_role.h"
#include "ops/op_table.h"

namespace hlosim {
namespace {

/// Of dots that contract one dimension of the right operand: its bit; else 0.
uint8_t contracted_on_the_right(const Instruction& instruction) {
  const Attr* attr = instruction.find(AttrKey::kRhsContractingDims);
  if (!attr || attr->ints().size() != 1 || attr->ints()[0] >= 2) return 0;
  return static_cast<uint8_t>(1 << attr->ints()[0]);
}

bool is_work_on_one(const OpTable& table, const Instruction& instruction) {
  return instruction.operands.size() == 1 && fusion_role(table, instruction) == FusionRole::kElement;
}

/// Requires: a matrix among the parameters. What leads to products, and the dimensions that they contract.
uint8_t follow(const Module& module, const OpTable& table, const Users& users, TakenBothWays& taken) {
  uint8_t contracted = 0;
  std::vector<std::pair<InstructionId, InstructionId>> open;  // a value and what takes it
  for (const InstructionId first : users[taken.argument]) {
    const size_t before = taken.products.size();
    open.push_back({taken.argument, first});
    while (!open.empty()) {
      const auto [id, user] = open.back();
      open.pop_back();
      const Instruction& instruction = module[user];
      if (fusion_role(table, instruction) == FusionRole::kProduct) {
        taken.products.push_back(user);
        if (instruction.operands[1] == id) contracted |= contracted_on_the_right(instruction);
      } else if (is_work_on_one(table, instruction)) {
        for (const InstructionId next : users[user]) open.push_back({user, next});
      }
    }
    if (taken.products.size() > before) taken.users.push_back(first);
  }
  return contracted;
}

}  // namespace

std::vector<TakenBothWays> arguments_taken_both_ways(const Module& module, const OpTable& table) {
  constexpr uint8_t kBoth = 3;
  const Users users = users_of(module, module.entry);
  std::vector<TakenBothWays> found;
  for (const InstructionId parameter : module[module.entry].parameters) {
    const ShapeRef shape = module[parameter].shape;
    if (!shape->is_array() || shape->rank() != 2 || shape->memory_space() == kHostSpace) continue;
    TakenBothWays taken{parameter, {}, {}};
    if (follow(module, table, users, taken) == kBoth) found.push_back(std::move(taken));
  }
  return found;
}

std::vector<InstructionId> products_that_leave(const Module& module, const OpTable& table) {
  const InstructionId root = module[module.entry].root;
  std::vector<InstructionId> found, open = {root};
  if (table[module[root].opcode].has(kFree) && module[root].shape->is_tuple())
    open.assign(module[root].operands.begin(), module[root].operands.end());
  IdMap<InstructionId, uint8_t> seen(module.instructions.size());
  for (InstructionId id : open) {
    while (!seen[id] && fusion_role(table, module[id]) == FusionRole::kElement) {
      seen[id] = true;
      // The one operand that isn't a fill.
      InstructionId only{};
      size_t others = 0;
      for (const InstructionId operand : module[id].operands)
        if (fusion_role(table, module[operand]) != FusionRole::kFill) only = operand, ++others;
      if (others != 1) break;
      id = only;
    }
    if (fusion_role(table, module[id]) == FusionRole::kProduct) found.push_back(id);
  }
  return found;
}

}  // namespace hlosim
