#include "model/fused_collectives.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "hlo/graph.h"
#include "ops/work.h"

namespace hlosim {
namespace {

/// S(n) of the semaphores that asynchronous work is watched by.
constexpr int64_t kFlags = 2;

bool has_flags(ShapeRef shape) {
  bool found = false;
  for_each_leaf(shape, [&](ShapeRef leaf) { found |= leaf->is_array() && leaf->memory_space() == kFlags; });
  return found;
}

bool calls_target(const Module& module, ComputationId body, std::string_view target) {
  return std::any_of(module[body].instructions.begin(), module[body].instructions.end(),
                     [&](InstructionId id) {
                       const Attr* attr = module[id].find(AttrKey::kCustomCallTarget);
                       return attr && attr->text() == target;
                     });
}

FusedPart part_of_body(const Module& module, ComputationId body) {
  if (calls_target(module, body, "AsyncCollectiveDone")) return FusedPart::kDone;
  if (calls_target(module, body, "AsyncCollectiveStart")) return FusedPart::kStart;
  const std::span<const InstructionId> parameters = module[body].parameters;
  const bool come_in = std::any_of(parameters.begin(), parameters.end(),
                                   [&](InstructionId id) { return has_flags(module[id].shape); });
  const bool go_out = has_flags(module[module[body].root].shape);
  if (come_in) return go_out ? FusedPart::kCarried : FusedPart::kDone;
  return go_out ? FusedPart::kStart : FusedPart::kWhole;
}

/// All that its body does with the sum is to keep slices of a member's size.
bool keeps_a_slice(const Module& module, const OpTable& table, ComputationId body, InstructionId sum) {
  const int64_t elements = module[sum].shape->is_array() ? module[sum].shape->element_count() : 0;
  bool slices = false;
  for (const InstructionId id : module[body].instructions) {
    const Instruction& user = module[id];
    if (std::find(user.operands.begin(), user.operands.end(), sum) == user.operands.end()) continue;
    if (table[user.opcode].has(kFree) && user.shape->is_array()) {  // the same bytes
      if (!keeps_a_slice(module, table, body, id)) return false;
      slices = true;
      continue;
    }
    if (user.opcode != Opcode::kDynamicSlice || !user.shape->is_array() ||
        user.shape->element_count() * 2 > elements)
      return false;
    slices = true;
  }
  return slices && module[body].root != sum;
}

}  // namespace

FusedCollectives::FusedCollectives(const Module& module, const OpTable& table)
    : module_(module), table_(table), of_body_(module.computations.size()) {
  IdMap<ComputationId, uint8_t> is_body(module.computations.size());
  bool any = false;
  for (const Instruction& instruction : module.instructions) {
    any |= table[instruction.opcode].has(kCollective);
    if (table[instruction.opcode].has(kFusion))
      for_each_called(instruction, [&](ComputationId id) { is_body[id] = true; });
  }
  if (!any) return;
  for (const ComputationId id : callees_first(module))
    if (is_body[id]) look_into(id);
}

void FusedCollectives::look_into(ComputationId body) {
  std::vector<FusedCollective>& found = of_body_[body];
  for (const InstructionId id : module_[body].instructions) {
    const Instruction& instruction = module_[id];
    if (table_[instruction.opcode].has(kFusion)) {
      for_each_called(instruction, [&](ComputationId inner) {
        found.insert(found.end(), of_body_[inner].begin(), of_body_[inner].end());
      });
    } else if (table_[instruction.opcode].has(kCollective)) {
      FusedCollective one{id, part_of_body(module_, body), std::nullopt};
      if (instruction.opcode == Opcode::kAllReduce && keeps_a_slice(module_, table_, body, id))
        one.kind = CollectiveKind::kReduceScatter;
      found.push_back(one);
    }
  }
  any_ |= !found.empty();
}

std::span<const FusedCollective> FusedCollectives::of(const Instruction& fusion) const {
  if (!any_ || !table_[fusion.opcode].has(kFusion)) return {};
  return of_body_[fusion.find(AttrKey::kCalls)->computations()[0]];
}

std::optional<FusedPart> FusedCollectives::part_of(const Instruction& fusion) const {
  const std::span<const FusedCollective> inside = of(fusion);
  if (inside.empty()) return std::nullopt;
  return inside.front().part;
}

InstructionId FusedCollectives::begun_by(InstructionId fusion) const {
  std::vector<InstructionId> open = {fusion};
  std::unordered_set<int32_t> seen;
  while (!open.empty()) {
    const InstructionId at = open.back();
    open.pop_back();
    if (!seen.insert(at.index).second) continue;
    const Instruction& instruction = module_[at];
    const std::optional<FusedPart> part = part_of(instruction);
    if (part == FusedPart::kStart && at != fusion) return at;
    const bool passes_on =
        at == fusion || part == FusedPart::kCarried || table_[instruction.opcode].has(kFree);
    if (!passes_on) continue;
    for (const InstructionId operand : instruction.operands)
      if (has_flags(module_[operand].shape)) open.push_back(operand);
  }
  return {};
}

}  // namespace hlosim
