#include "lower/weight_orientation.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
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

/// What one user of an argument leads to.
struct Way {
  std::vector<InstructionId> products;
  uint8_t contracted = 0;  // dimensions, of right operands
  bool ends_elsewhere = false;
};

Way follow(const Module& module, const OpTable& table, const Users& users, InstructionId argument,
           InstructionId first) {
  Way way;
  std::vector<std::pair<InstructionId, InstructionId>> open{{argument, first}};  // a value and what takes it
  while (!open.empty()) {
    const auto [id, user] = open.back();
    open.pop_back();
    const Instruction& instruction = module[user];
    if (fusion_role(table, instruction) == FusionRole::kProduct) {
      way.products.push_back(user);
      if (instruction.operands[1] == id) way.contracted |= contracted_on_the_right(instruction);
    } else if (is_work_on_one(table, instruction) && user != module[module.entry].root) {
      for (const InstructionId next : users[user]) open.push_back({user, next});
    } else {
      way.ends_elsewhere = true;
    }
  }
  return way;
}

/// Requires: a matrix among the parameters. Fills in what leads to products and nothing else, and gives the
/// dimensions that they contract.
uint8_t follow_all(const Module& module, const OpTable& table, const Users& users, WeightOrientation& taken) {
  uint8_t contracted = 0;
  for (const InstructionId first : users[taken.argument]) {
    const Way way = follow(module, table, users, taken.argument, first);
    if (way.products.empty() || way.ends_elsewhere) continue;
    taken.users.push_back(first);
    taken.products.insert(taken.products.end(), way.products.begin(), way.products.end());
    contracted |= way.contracted;
  }
  return contracted;
}

/// Of each instruction of the entry computation the value whose elements these are, each changed or moved by
/// itself.
IdMap<InstructionId, InstructionId> origins_of(const Module& module, const OpTable& table) {
  IdMap<InstructionId, InstructionId> origins(module.instructions.size());
  for (const InstructionId id : module[module.entry].instructions) {
    const FusionRole role = fusion_role(table, module[id]);
    const bool is_same = role == FusionRole::kElement || role == FusionRole::kReindex ||
                         role == FusionRole::kCopy || role == FusionRole::kPart;
    origins[id] = is_same && module[id].operands.size() == 1 ? origins[module[id].operands[0]] : id;
  }
  return origins;
}

/// The instructions of the entry computation, results of dots, that leave the program as they are or after
/// elementwise work with what is the same everywhere.
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

/// Fills in which products that leave the program may be gradients of the weights.
void find_gradients(const Module& module, const OpTable& table, std::vector<WeightOrientation>& all) {
  if (all.empty()) return;
  const IdMap<InstructionId, InstructionId> origins = origins_of(module, table);
  std::map<InstructionId, std::vector<InstructionId>> takers;  // products that leave, by what they take
  for (const InstructionId product : products_that_leave(module, table))
    for (const InstructionId operand : module[product].operands) takers[origins[operand]].push_back(product);
  for (WeightOrientation& weights : all) {
    std::set<InstructionId> values, found;
    for (const InstructionId taking : weights.products)
      for (const InstructionId operand : module[taking].operands) values.insert(origins[operand]);
    for (const InstructionId value : values)
      if (const auto at = takers.find(value); at != takers.end())
        found.insert(at->second.begin(), at->second.end());
    for (const InstructionId taking : weights.products) found.erase(taking);
    const ShapeRef shape = module[weights.argument].shape;
    std::ranges::copy_if(found, std::back_inserter(weights.gradients), [&](InstructionId product) {
      return std::ranges::equal(module[product].shape->dimensions, shape->dimensions);
    });
  }
}

}  // namespace

std::vector<WeightOrientation> arguments_taken_both_ways(const Module& module, const OpTable& table) {
  constexpr uint8_t kBoth = 3;
  const Users users = users_of(module, module.entry);
  std::vector<WeightOrientation> found;
  for (const InstructionId parameter : module[module.entry].parameters) {
    const ShapeRef shape = module[parameter].shape;
    if (!shape->is_array() || shape->rank() != 2 || shape->memory_space() == kHostSpace) continue;
    WeightOrientation taken{parameter, {}, {}, {}};
    if (follow_all(module, table, users, taken) == kBoth) found.push_back(std::move(taken));
  }
  find_gradients(module, table, found);
  return found;
}

}  // namespace hlosim
