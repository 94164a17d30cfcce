#include "memory/module_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "hlo/graph.h"
#include "memory/computation_map.h"
#include "memory/flat_schedule.h"

namespace hlosim {
namespace {

using Names = std::unordered_map<std::string_view, InstructionId>;

Names names_of(const Module& module) {
  Names names;
  for (size_t i = 0; i < module.instructions.size(); ++i) {
    const InstructionId id{static_cast<int32_t>(i)};
    names.emplace(module[id].name, id);
  }
  return names;
}

}  // namespace

ModuleGraph::ModuleGraph(const Module& module, const KnownOrders& known, GraphReach reach)
    : module_(module),
      instructions_(module.computations.size()),
      users_(module.instructions.size()),
      slots_(module.instructions.size()),
      callers_(module.computations.size()),
      context_(module.computations.size(), CallRule::kNone) {
  for (size_t i = 0; i < module.computations.size(); ++i) {
    const ComputationId id{static_cast<int32_t>(i)};
    instructions_[id] = module[id].instructions;
  }
  computations_ = callees_first(module);
  if (!known.instructions.empty()) {
    // The original computations come in the order in which their instructions are named; the others,
    // bodies of fusions, behind them.
    const Names names = names_of(module);
    IdMap<InstructionId, int32_t> rank(module.instructions.size(), std::numeric_limits<int32_t>::max());
    IdMap<ComputationId, int32_t> first(module.computations.size(), std::numeric_limits<int32_t>::max());
    for (size_t i = 0; i < known.instructions.size(); ++i) {
      const auto found = names.find(known.instructions[i]);
      if (found == names.end()) continue;
      rank[found->second] = static_cast<int32_t>(i);
      int32_t& at = first[module[found->second].parent];
      at = std::min(at, static_cast<int32_t>(i));
    }
    std::stable_sort(computations_.begin(), computations_.end(),
                     [&](ComputationId a, ComputationId b) { return first[a] < first[b]; });
    for (std::vector<InstructionId>& list : instructions_) {
      for (const InstructionId id : list) {
        if (rank[id] != std::numeric_limits<int32_t>::max()) continue;
        int32_t behind = -1;
        for (const InstructionId operand : module[id].operands) behind = std::max(behind, rank[operand]);
        if (behind >= 0) rank[id] = behind;
      }
      std::stable_sort(list.begin(), list.end(),
                       [&](InstructionId a, InstructionId b) { return rank[a] < rank[b]; });
    }
  }
  index_calls();
  if (reach == GraphReach::kControlFlow) leave_out_embedded();
  index_users(known);
}

void ModuleGraph::leave_out_embedded() {
  const std::vector<ComputationId> flow = control_flow_of(*this);
  IdMap<ComputationId, uint8_t> runs(module_.computations.size());
  for (const ComputationId id : flow) runs[id] = 1;
  // A computation that others call as well has values from there.
  for (const ComputationId id : flow)
    for (const InstructionId caller : callers_[id])
      if (!runs[module_[caller].parent]) return;
  for (const ComputationId id : computations_)
    if (!runs[id]) instructions_[id] = {};
}

void ModuleGraph::index_operands(const Computation& computation) {
  for (const InstructionId id : computation.instructions)
    for (size_t i = 0; i < module_[id].operands.size(); ++i) {
      const InstructionId operand = module_[id].operands[i];
      std::vector<InstructionId>& users = users_[operand];
      if (users.empty() || users.back() != id) users.push_back(id);
      slots_[operand].push_back({id, static_cast<int32_t>(i)});
    }
}

void ModuleGraph::index_users(const KnownOrders& known) {
  for (size_t i = 0; i < module_.computations.size(); ++i) {
    const ComputationId computation{static_cast<int32_t>(i)};
    if (!instructions_[computation].empty()) index_operands(module_[computation]);
  }
  if (known.users.empty()) return;
  const Names names = names_of(module_);
  for (const KnownOrders::Users& line : known.users) {
    const size_t brace = std::min(line.value.find('{'), line.value.size());
    const auto found = names.find(line.value.substr(0, brace));
    if (found == names.end()) continue;
    const std::string_view index = line.value.substr(brace);
    if (index.empty() || index == "{}") {
      order_users(found->second, line);
      continue;
    }
    for (const InstructionId user : std::vector<InstructionId>(users_[found->second])) {
      const Attr* element = module_[user].find(AttrKey::kIndex);
      if (element && index == fmt::format("{{{}}}", element->integer())) order_users(user, line);
    }
  }
}

/// Of `id` and of whatever shows the same value under another name.
void ModuleGraph::order_users(InstructionId id, const KnownOrders::Users& known) {
  const auto rank = [&](InstructionId user) {
    return std::find(known.readers.begin(), known.readers.end(), module_[user].name) - known.readers.begin();
  };
  std::stable_sort(users_[id].begin(), users_[id].end(),
                   [&](InstructionId a, InstructionId b) { return rank(a) < rank(b); });
  std::stable_sort(slots_[id].begin(), slots_[id].end(),
                   [&](const OperandSlot& a, const OperandSlot& b) { return rank(a.user) < rank(b.user); });
  for (const InstructionId user : users_[id])
    if (dataflow(module_[user].opcode).value == ValueRule::kForwards) order_users(user, known);
}

void ModuleGraph::index_calls() {
  for (const ComputationId computation : computations_)
    for (const InstructionId id : instructions_[computation]) {
      const CallRule rule = dataflow(module_[id].opcode).call;
      for (const ComputationId called : called_in_order(module_[id])) {
        std::vector<InstructionId>& callers = callers_[called];
        if (callers.empty() || callers.back() != id) callers.push_back(id);
        context_[called] = std::max(context_[called], rule);
      }
    }
}

std::vector<InstructionId> ModuleGraph::post_order(ComputationId id) const {
  enum : uint8_t { kNew, kOpen, kDone };
  const std::vector<InstructionId>& list = instructions_[id];
  ComputationMap<uint8_t> state(list);
  std::vector<InstructionId> order, stack;
  order.reserve(list.size());
  for (const InstructionId start : list) {
    if (!users_[start].empty()) continue;
    stack.push_back(start);
    while (!stack.empty()) {
      const InstructionId at = stack.back();
      uint8_t& seen = state[at];
      if (seen == kDone) {
        stack.pop_back();
        continue;
      }
      if (seen == kOpen) {
        stack.pop_back();
        seen = kDone;
        order.push_back(at);
        continue;
      }
      seen = kOpen;
      const Instruction& instruction = module_[at];
      for (size_t i = instruction.operands.size(); i-- > 0;)
        if (state[instruction.operands[i]] != kDone) stack.push_back(instruction.operands[i]);
      if (const Attr* attr = instruction.find(AttrKey::kControlPredecessors))
        for (const InstructionId before : attr->instructions())
          if (state[before] != kDone) stack.push_back(before);
    }
  }
  return order;
}

ComputationId ModuleGraph::wrapped(InstructionId part) const {
  if (const Attr* calls = module_[part].find(AttrKey::kCalls)) return calls->computations()[0];
  const Instruction* start = async_start_of(module_, module_[part]);
  const Attr* calls = start ? start->find(AttrKey::kCalls) : nullptr;
  return calls ? calls->computations()[0] : ComputationId{};
}

InstructionId ModuleGraph::chain_end(InstructionId start) const {
  InstructionId at = start;
  while (true) {
    InstructionId next;
    for (const InstructionId user : users_[at]) {
      const ValueRule rule = dataflow(module_[user].opcode).value;
      if (rule == ValueRule::kAsyncDone) return user;
      if (rule == ValueRule::kAsyncUpdate) next = user;
    }
    if (!next.valid()) return {};
    at = next;
  }
}

}  // namespace hlosim
