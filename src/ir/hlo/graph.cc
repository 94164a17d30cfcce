#include "hlo/graph.h"

#include <algorithm>

namespace hlosim {

std::vector<ComputationId> callees_first(const Module& module) {
  if (module.computations.size() == 1) return {ComputationId{0}};
  struct Frame {
    ComputationId id;
    std::vector<ComputationId> callees;
    size_t next = 0;
  };
  const auto open = [&](ComputationId id) {
    Frame frame{id, {}, 0};
    for (const InstructionId instruction : module[id].instructions)
      for_each_called(module[instruction], [&](ComputationId callee) { frame.callees.push_back(callee); });
    return frame;
  };
  std::vector<ComputationId> order;
  IdMap<ComputationId, uint8_t> visited(module.computations.size());
  std::vector<Frame> stack;
  for (size_t i = 0; i < module.computations.size(); ++i) {
    const ComputationId start{static_cast<int32_t>(i)};
    if (visited[start]) continue;
    visited[start] = 1;
    stack.push_back(open(start));
    while (!stack.empty()) {
      Frame& frame = stack.back();
      if (frame.next == frame.callees.size()) {
        order.push_back(frame.id);
        stack.pop_back();
        continue;
      }
      const ComputationId callee = frame.callees[frame.next++];
      if (visited[callee]) continue;
      visited[callee] = 1;
      stack.push_back(open(callee));
    }
  }
  return order;
}

IdMap<ComputationId, int32_t> caller_counts(const Module& module) {
  IdMap<ComputationId, int32_t> counts(module.computations.size());
  for (const Computation& computation : module.computations)
    for (const InstructionId id : computation.instructions)
      for_each_called(module[id], [&](ComputationId callee) { ++counts[callee]; });
  return counts;
}

Users::Users(const Module& module, ComputationId computation) {
  const std::vector<InstructionId>& list = module[computation].instructions;
  int32_t last = -1;
  size_t mentions = 0;
  for (const InstructionId id : list)
    for (const InstructionId operand : module[id].operands) {
      first_ = mentions++ == 0 ? operand.index : std::min(first_, operand.index);
      last = std::max(last, operand.index);
      used_.push_back(operand.index);
    }
  if (mentions == 0) return;
  // What was added to a module lies far from the rest of its computation.
  const size_t range = static_cast<size_t>(last - first_) + 1;
  const bool close = range <= 4 * mentions + 64;
  if (close) {
    used_ = {};
  } else {
    std::sort(used_.begin(), used_.end());
    used_.erase(std::unique(used_.begin(), used_.end()), used_.end());
  }
  const size_t rows = close ? range : used_.size();
  begin_.assign(rows + 1, 0);
  struct Use {
    uint32_t row = 0;
    InstructionId user;
  };
  std::vector<Use> uses;
  uses.reserve(mentions);
  std::vector<InstructionId> latest(rows);  // user of each row
  for (const InstructionId id : list)
    for (const InstructionId operand : module[id].operands) {
      const size_t row = row_of(operand);
      if (latest[row] == id) continue;
      latest[row] = id;
      ++begin_[row + 1];
      uses.push_back({static_cast<uint32_t>(row), id});
    }
  for (size_t row = 0; row < rows; ++row) begin_[row + 1] += begin_[row];
  users_.resize(begin_.back());
  std::vector<uint32_t> end(begin_.begin(), begin_.end() - 1);
  for (const Use& use : uses) users_[end[use.row]++] = use.user;
}

/// begin_.size() and more: it has none.
size_t Users::row_of(InstructionId id) const {
  if (used_.empty()) return static_cast<size_t>(int64_t{id.index} - first_);
  const auto found = std::lower_bound(used_.begin(), used_.end(), id.index);
  return found != used_.end() && *found == id.index ? static_cast<size_t>(found - used_.begin())
                                                    : begin_.size();
}

std::span<const InstructionId> Users::operator[](InstructionId id) const {
  const size_t row = row_of(id);
  if (begin_.empty() || row >= begin_.size() - 1) return {};
  return std::span(users_).subspan(begin_[row], begin_[row + 1] - begin_[row]);
}

Users users_of(const Module& module, ComputationId computation) { return Users(module, computation); }

const Instruction* async_start_of(const Module& module, const Instruction& instruction) {
  const Instruction* at = &instruction;
  while ((at->opcode == Opcode::kAsyncUpdate || at->opcode == Opcode::kAsyncDone) && !at->operands.empty())
    at = &module[at->operands[0]];
  return at->opcode == Opcode::kAsyncStart ? at : nullptr;
}

std::vector<FlowComputation> flow_computations(const Module& module, const OpTable& table, FlowReach reach) {
  std::vector<FlowComputation> found{{module.entry, false}};
  if (module.computations.size() == 1) return found;
  IdMap<ComputationId, uint8_t> seen(module.computations.size());
  seen[module.entry] = true;
  for (size_t i = 0; i < found.size(); ++i) {
    for (const InstructionId id : module[found[i].id].instructions) {
      const Instruction& instruction = module[id];
      const OpDef& def = table[instruction.opcode];
      const bool is_beside = def.has(kAsyncStart) && !def.has(kCollective);
      if (!def.has(kCallsInline) && !(is_beside && reach == FlowReach::kBeside)) continue;
      const Attr* condition = instruction.find(AttrKey::kCondition);
      for_each_called(instruction, [&](ComputationId called) {
        const bool is_condition = condition && condition->computations()[0] == called;
        if (!seen[called]) found.push_back({called, is_condition});
        seen[called] = true;
      });
    }
  }
  return found;
}

}  // namespace hlosim
