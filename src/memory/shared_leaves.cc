#include <algorithm>

#include "memory/live_values.h"
#include "ops/work.h"

namespace hlosim {
namespace {

/// Position of a leaf of a nested shape; -1 when the path leads elsewhere than to one leaf.
int32_t leaf_at(ShapeRef shape, std::span<const int64_t> index) {
  int32_t before = 0;
  for (const int64_t i : index) {
    if (!shape->is_tuple() || i < 0 || i >= static_cast<int64_t>(shape->elements.size())) return -1;
    for (int64_t k = 0; k < i; ++k)
      before += static_cast<int32_t>(leaf_count(shape->elements[static_cast<size_t>(k)]));
    shape = shape->elements[static_cast<size_t>(i)];
  }
  return shape->is_tuple() ? -1 : before;
}

/// Which operand's memory a plain instruction updates in place: the one it doesn't read; -1: none.
int32_t updated_operand(Module& module, const OpTable& table, const Instruction& instruction) {
  const OpDef& def = table[instruction.opcode];
  if (!def.work || !instruction.shape->is_array() || instruction.operands.empty()) return -1;
  const Work work = work_of(OpContext(module, instruction, table, nullptr));
  for (size_t i = 0; i < instruction.operands.size() && i < work.operand_read.size(); ++i) {
    const ShapeRef operand = module[instruction.operands[i]].shape;
    if (!work.operand_read[i] && compatible(operand, instruction.shape) &&
        operand->memory_space() == instruction.shape->memory_space())
      return static_cast<int32_t>(i);
  }
  return -1;
}

}  // namespace

SharedLeaves::SharedLeaves(Module& module, const OpTable& table, const FlatSchedule& schedule)
    : module_(module),
      table_(table),
      schedule_(schedule),
      first_(module.instructions.size(), -1),
      count_(module.instructions.size()) {
  int32_t next = 0;
  for (const InstructionId id : schedule.steps) {
    first_[id] = next;
    count_[id] = static_cast<int32_t>(leaf_count(module[id].shape));
    next += count_[id];
  }
  parent_.resize(static_cast<size_t>(next));
  for (int32_t i = 0; i < next; ++i) parent_[static_cast<size_t>(i)] = i;
  for (const InstructionId id : schedule.steps) {
    const Instruction& instruction = module[id];
    const OpDef& def = table[instruction.opcode];
    if (def.has(kAsyncStart)) {
      share_start(id, instruction);
      if (!def.has(kCollective)) share_calls(id, instruction);
    } else if (def.has(kAsyncDone) || def.has(kAsyncUpdate)) {
      share_done(id, instruction);
    } else if (def.has(kCallsInline)) {
      share_calls(id, instruction);
    } else if (def.has(kFree)) {
      share_free(id, instruction);
    } else {
      share_in_place(id, instruction);
    }
    share_aliases(id, instruction);
  }
  share_entry_aliases();
}

int32_t SharedLeaves::set_of(int32_t leaf) const {
  while (parent_[static_cast<size_t>(leaf)] != leaf) {
    int32_t& above = parent_[static_cast<size_t>(leaf)];
    above = parent_[static_cast<size_t>(above)];
    leaf = above;
  }
  return leaf;
}

void SharedLeaves::unite(int32_t a, int32_t b) {
  a = set_of(a), b = set_of(b);
  parent_[static_cast<size_t>(std::max(a, b))] = std::min(a, b);
}

void SharedLeaves::unite(Leaves a, Leaves b) {
  for (int32_t i = 0; i < std::min(a.count, b.count); ++i) unite(a.first + i, b.first + i);
}

SharedLeaves::Leaves SharedLeaves::element_of(InstructionId id, size_t element) const {
  const ShapeRef shape = module_[id].shape;
  int32_t before = 0;
  for (size_t i = 0; i < element; ++i) before += static_cast<int32_t>(leaf_count(shape->elements[i]));
  return {first_[id] + before, static_cast<int32_t>(leaf_count(shape->elements[element]))};
}

/// Tuples hold their operands' leaves one after the other, everything else those of its first operand.
void SharedLeaves::share_free(InstructionId id, const Instruction& instruction) {
  if (instruction.operands.empty()) return;
  if (const Attr* index = instruction.find(AttrKey::kIndex)) {
    unite(leaves_of(id), element_of(instruction.operands[0], static_cast<size_t>(index->integer())));
    return;
  }
  Leaves rest = leaves_of(id);
  for (const InstructionId operand : instruction.operands) {
    unite(rest, leaves_of(operand));
    const int32_t taken = std::min(rest.count, count_[operand]);
    rest.first += taken, rest.count -= taken;
  }
}

/// Is the first element of a start's tuple its operands, as in ((operands), results, context)?
bool SharedLeaves::holds_operands(const Instruction& start) const {
  if (!start.shape->is_tuple() || start.shape->elements.size() < 2) return false;
  const ShapeRef held = start.shape->elements[0];
  if (start.operands.size() == 1 && compatible(held, module_[start.operands[0]].shape)) return true;
  if (!held->is_tuple() || held->elements.size() != start.operands.size()) return false;
  for (size_t i = 0; i < start.operands.size(); ++i)
    if (!compatible(held->elements[i], module_[start.operands[i]].shape)) return false;
  return true;
}

SharedLeaves::Leaves SharedLeaves::results_of_start(InstructionId start) const {
  const Instruction& instruction = module_[start];
  const OpDef& def = table_[instruction.opcode];
  if (def.has(kCopyStart)) return element_of(start, 0);
  if (!def.has(kHostTransfer) && holds_operands(instruction)) return element_of(start, 1);
  return leaves_of(start);
}

void SharedLeaves::share_start(InstructionId id, const Instruction& instruction) {
  if (table_[instruction.opcode].has(kCopyStart)) {
    unite(element_of(id, 1), leaves_of(instruction.operands[0]));
  } else if (holds_operands(instruction)) {
    Leaves held = element_of(id, 0);
    for (const InstructionId operand : instruction.operands) {
      unite(held, leaves_of(operand));
      const int32_t taken = std::min(held.count, count_[operand]);
      held.first += taken, held.count -= taken;
    }
  }
}

void SharedLeaves::share_done(InstructionId id, const Instruction& instruction) {
  if (instruction.operands.empty()) return;
  if (table_[instruction.opcode].has(kAsyncUpdate)) {
    unite(leaves_of(id), leaves_of(instruction.operands[0]));
    return;
  }
  InstructionId start = instruction.operands[0];
  while (table_[module_[start].opcode].has(kAsyncUpdate)) start = module_[start].operands[0];
  unite(leaves_of(id), results_of_start(start));
}

/// Parameters are the caller's operands, results the called computation's root. What a loop carries stays
/// in one place.
void SharedLeaves::share_calls(InstructionId id, const Instruction& instruction) {
  const OpDef& def = table_[instruction.opcode];
  const bool is_loop = instruction.find(AttrKey::kBody) != nullptr;
  const bool is_call = instruction.find(AttrKey::kToApply) != nullptr || def.has(kAsyncStart);
  const Leaves results = def.has(kAsyncStart) ? results_of_start(id) : leaves_of(id);
  const Attr* condition = instruction.find(AttrKey::kCondition);
  size_t branch = 0;
  for_each_called(instruction, [&](ComputationId callee) {
    const Computation& called = module_[callee];
    if (schedule_.span_of[callee].last < schedule_.span_of[callee].first) return;
    for (size_t i = 0; i < called.parameters.size(); ++i) {
      // A call takes all its operands; a branch, its own.
      const size_t operand = is_loop ? 0 : is_call ? i : branch + 1;
      if (operand < instruction.operands.size())
        unite(leaves_of(called.parameters[i]), leaves_of(instruction.operands[operand]));
    }
    ++branch;
    if (condition && condition->computations()[0] == callee) return;
    unite(results, leaves_of(called.root));
  });
  if (is_loop) unite(leaves_of(id), leaves_of(instruction.operands[0]));
}

/// A result that is written in part lies where the rest of it was. Fusions: as the root of their body.
void SharedLeaves::share_in_place(InstructionId id, const Instruction& instruction) {
  if (!table_[instruction.opcode].has(kFusion)) {
    const int32_t operand = updated_operand(module_, table_, instruction);
    if (operand >= 0) unite(leaves_of(id), leaves_of(instruction.operands[static_cast<size_t>(operand)]));
    return;
  }
  if (!instruction.shape->is_array()) return;
  const Instruction* at = &module_.root(instruction.find(AttrKey::kCalls)->computations()[0]);
  bool updates = false;
  while (at->parameter_number < 0) {
    const OpDef& def = table_[at->opcode];
    int32_t operand = updated_operand(module_, table_, *at);
    updates |= operand >= 0;
    if (operand < 0 && def.has(kFree) && at->operands.size() == 1 && at->shape->is_array() &&
        module_[at->operands[0]].shape->is_array())
      operand = 0;
    if (operand < 0) return;
    at = &module_[at->operands[static_cast<size_t>(operand)]];
  }
  if (!updates) return;
  const InstructionId target = instruction.operands[static_cast<size_t>(at->parameter_number)];
  if (count_[target] == 1) unite(leaves_of(id), leaves_of(target));
}

void SharedLeaves::share_aliases(InstructionId id, const Instruction& instruction) {
  const Attr* attr = instruction.find(AttrKey::kOutputToOperandAliasing);
  if (!attr) return;
  for (const Alias& alias : attr->aliases()) {
    if (alias.parameter < 0 || alias.parameter >= static_cast<int64_t>(instruction.operands.size())) continue;
    const InstructionId operand = instruction.operands[static_cast<size_t>(alias.parameter)];
    const int32_t out = leaf_at(instruction.shape, alias.output_index);
    const int32_t in = leaf_at(module_[operand].shape, alias.parameter_index);
    if (out >= 0 && in >= 0) unite(first_[id] + out, first_[operand] + in);
  }
}

void SharedLeaves::share_entry_aliases() {
  const Attr* attr = module_.find(AttrKey::kInputOutputAlias);
  if (!attr) return;
  const Computation& entry = module_.entry_computation();
  for (const Alias& alias : attr->aliases()) {
    if (alias.parameter < 0 || alias.parameter >= static_cast<int64_t>(entry.parameters.size())) continue;
    const InstructionId parameter = entry.parameters[static_cast<size_t>(alias.parameter)];
    const int32_t out = leaf_at(module_[entry.root].shape, alias.output_index);
    const int32_t in = leaf_at(module_[parameter].shape, alias.parameter_index);
    if (out >= 0 && in >= 0) unite(first_[entry.root] + out, first_[parameter] + in);
  }
}

}  // namespace hlosim
