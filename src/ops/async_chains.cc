// Where async updates and dones come from, and what becomes of async starts.
//
// A chain may pass through tuples, loops, branches and calls:
//
//   start = async-start(x)            state = (i, start)      loop = while(state)
//   body: s = gte(param, 1)  d = async-done(s)  next = async-start(…)  root (i', next)
//
// The done in the body ends either start: the one before the loop or that of the iteration before.
// The sources of a value are found backwards, as a set.
#include <algorithm>
#include <set>
#include <unordered_map>
#include <vector>

#include "hlo/graph.h"
#include "ops/infer.h"
#include "ops/module_rules.h"

namespace hlosim {
namespace {

using Path = std::vector<int64_t>;

/// Backward search through everything that hands a value on.
class SourceFinder {
 public:
  explicit SourceFinder(const Module& module) : module_(module) {
    for (const Instruction& instruction : module.instructions)
      for_each_called(instruction, [&](ComputationId id) { callers_[id.index].push_back(&instruction); });
  }

  struct Sources {
    std::vector<const Instruction*> starts;
    bool direct = true;    // through operands of updates, tuples and their elements alone
    bool lost = false;     // some way ends at something that is no start
  };

  /// Starts behind operand 0 of an update or done.
  Sources find(const Instruction& from) {
    visited_.clear();
    sources_ = {};
    visit(module_[from.operands[0]], {});
    return sources_;
  }

 private:
  void visit(const Instruction& at, Path path) {
    if (!visited_.insert({&at, path}).second || visited_.size() > 10000) return;
    switch (at.opcode) {
      case Opcode::kAsyncStart: sources_.starts.push_back(&at); return;
      case Opcode::kAsyncUpdate:
      case Opcode::kCopy:
      case Opcode::kBitcast:
      case Opcode::kDomain:
      case Opcode::kAddDependency:
      case Opcode::kOptimizationBarrier: visit(module_[at.operands[0]], std::move(path)); return;
      case Opcode::kGetTupleElement:
        path.push_back(at.find(AttrKey::kIndex)->integer());
        visit(module_[at.operands[0]], std::move(path));
        return;
      case Opcode::kTuple: {
        const int64_t element = path.empty() ? -1 : path.back();
        if (element < 0 || element >= static_cast<int64_t>(at.operands.size())) break;
        path.pop_back();
        visit(module_[at.operands[static_cast<size_t>(element)]], std::move(path));
        return;
      }
      case Opcode::kWhile:
        sources_.direct = false;
        visit(module_[at.operands[0]], path);
        visit(module_.root(at.find(AttrKey::kBody)->computations()[0]), path);
        return;
      case Opcode::kCall:
      case Opcode::kConditional:
      case Opcode::kFusion:
        sources_.direct = false;
        for_each_called(at, [&](ComputationId id) { visit(module_.root(id), path); });
        return;
      case Opcode::kParameter:
        if (visit_callers(at, path)) return;
        break;
      default: break;
    }
    sources_.lost = true;
  }

  /// A parameter holds what its computation's callers hand over. False for the entry's.
  bool visit_callers(const Instruction& parameter, const Path& path) {
    sources_.direct = false;
    const auto callers = callers_.find(parameter.parent.index);
    if (callers == callers_.end()) return false;
    for (const Instruction* caller : callers->second) {
      size_t operand = static_cast<size_t>(parameter.parameter_number);
      if (caller->opcode == Opcode::kConditional) {
        size_t branch = 0, found = 0;
        for_each_called(*caller, [&](ComputationId id) {
          if (id == parameter.parent) found = branch;
          ++branch;
        });
        operand = found + 1;
      }
      if (operand < caller->operands.size()) visit(module_[caller->operands[operand]], path);
      if (caller->opcode == Opcode::kWhile) visit(module_.root(caller->find(AttrKey::kBody)->computations()[0]), path);
    }
    return true;
  }

  const Module& module_;
  std::unordered_map<int32_t, std::vector<const Instruction*>> callers_;
  std::set<std::pair<const Instruction*, Path>> visited_;
  Sources sources_;
};

struct Ends {
  const Instruction* direct_done = nullptr;  // reached without loops and branches
  bool any = false;
};

void check_link(Module& module, const OpTable& table, const Instruction& link, const SourceFinder::Sources& sources,
                DiagnosticList& diagnostics) {
  OpContext op(module, link, table, &diagnostics);
  if (sources.starts.empty() || (sources.lost && sources.direct)) {
    op.error(0, "{} does not trace back to an async-start", link.name);
    return;
  }
  const Attr* calls = link.find(AttrKey::kCalls);
  for (const Instruction* start : sources.starts) {
    const ComputationId wrapped = start->find(AttrKey::kCalls)->computations()[0];
    if (!calls || calls->computations()[0] == wrapped) continue;
    const Instruction& own_root = module.root(calls->computations()[0]);
    const Instruction& start_root = module.root(wrapped);
    if (own_root.opcode == start_root.opcode && compatible(own_root.shape, start_root.shape)) continue;
    op.error(0, "expects its wrapped async computation to be identical to that of {}: {} ({}) is not {} ({})", start->name,
             module[calls->computations()[0]].name, to_text(own_root.opcode), module[wrapped].name, to_text(start_root.opcode));
    return;
  }
}

/// Starts that have a done opcode of their own are used by that done alone.
void check_native_pair(Module& module, const OpTable& table, const Instruction& start,
                       const std::vector<const Instruction*>& users, DiagnosticList& diagnostics) {
  static constexpr std::pair<Opcode, Opcode> kPairs[] = {
      {Opcode::kCopyStart, Opcode::kCopyDone},
      {Opcode::kAllGatherStart, Opcode::kAllGatherDone},
      {Opcode::kAllReduceStart, Opcode::kAllReduceDone},
      {Opcode::kCollectivePermuteStart, Opcode::kCollectivePermuteDone},
  };
  for (const auto& [opcode, done] : kPairs) {
    OpContext op(module, start, table, &diagnostics);
    if (start.opcode == opcode) {
      const bool alone = users.size() == 1 && users[0]->opcode == done;
      if (!alone)
        op.error(0, "{} must be used by one {}, but is used by {}", start.name, to_text(done),
                 users.empty() ? "nothing" : users.size() > 1 ? fmt::format("{} instructions", users.size())
                                                              : std::string(to_text(users[0]->opcode)));
    } else if (start.opcode == done && module[start.operands[0]].opcode != opcode) {
      op.error(0, "the operand of {} must be a {}, but is a {}", start.name, to_text(opcode),
               to_text(module[start.operands[0]].opcode));
    }
  }
}

}  // namespace

void check_async_chains(Module& module, const OpTable& table, DiagnosticList& diagnostics) {
  const bool any = std::any_of(module.instructions.begin(), module.instructions.end(), [&](const Instruction& i) {
    return table[i.opcode].has(kAsyncStart | kAsyncUpdate | kAsyncDone);
  });
  if (!any) return;
  SourceFinder finder(module);
  std::unordered_map<const Instruction*, Ends> ends;
  std::unordered_map<const Instruction*, std::vector<const Instruction*>> users;
  for (const Instruction& instruction : module.instructions)
    for (const InstructionId operand : instruction.operands) {
      const Instruction& used = module[operand];
      if (!table[used.opcode].has(kAsyncStart)) continue;
      auto& list = users[&used];
      if (list.empty() || list.back() != &instruction) list.push_back(&instruction);
    }
  for (const Instruction& instruction : module.instructions) {
    check_native_pair(module, table, instruction, users[&instruction], diagnostics);
    const bool done = instruction.opcode == Opcode::kAsyncDone;
    if (!done && instruction.opcode != Opcode::kAsyncUpdate) continue;
    const SourceFinder::Sources sources = finder.find(instruction);
    check_link(module, table, instruction, sources, diagnostics);
    if (!done) continue;
    for (const Instruction* start : sources.starts) {
      Ends& end = ends[start];
      end.any = true;
      if (!sources.direct) continue;
      if (end.direct_done) {
        OpContext op(module, *start, table, &diagnostics);
        op.error(0, "{} is matched by more than one async-done: {} and {}", start->name, end.direct_done->name, instruction.name);
      }
      end.direct_done = &instruction;
    }
  }
  for (const Instruction& instruction : module.instructions) {
    if (instruction.opcode != Opcode::kAsyncStart || ends[&instruction].any) continue;
    OpContext op(module, instruction, table, &diagnostics);
    op.error(0, "{} has no matching async-done", instruction.name);
  }
}

}  // namespace hlosim
