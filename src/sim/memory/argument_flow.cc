#include "memory/argument_flow.h"

#include <algorithm>
#include <memory>

#include "hlo/graph.h"
#include "ops/custom_calls/custom_call_targets.h"
#include "ops/dataflow.h"
#include "ops/leaf_forwarding.h"
#include "ops/work.h"

namespace hlosim {

void LeafSet::add(int64_t leaf) {
  const auto word = static_cast<size_t>(leaf / 64);
  if (words_.size() <= word) words_.resize(word + 1);
  words_[word] |= uint64_t{1} << (leaf % 64);
}

bool LeafSet::has(int64_t leaf) const {
  const auto word = static_cast<size_t>(leaf / 64);
  return word < words_.size() && (words_[word] >> (leaf % 64) & 1) != 0;
}

void LeafSet::add_all(const LeafSet& other) {
  if (words_.size() < other.words_.size()) words_.resize(other.words_.size());
  for (size_t i = 0; i < other.words_.size(); ++i) words_[i] |= other.words_[i];
}

bool LeafSet::empty() const {
  return std::all_of(words_.begin(), words_.end(), [](uint64_t word) { return word == 0; });
}

bool LeafSet::has_all(const LeafSet& other) const {
  for (size_t i = 0; i < other.words_.size(); ++i)
    if ((other.words_[i] & ~(i < words_.size() ? words_[i] : 0)) != 0) return false;
  return true;
}

namespace {

/// Arguments that a value is made of, and those of which a part was written anew in place.
struct Ways {
  LeafSet made_of, updated;
  void add_all(const Ways& other) {
    made_of.add_all(other.made_of);
    updated.add_all(other.updated);
  }
  bool has_all(const Ways& other) const {
    return made_of.has_all(other.made_of) && updated.has_all(other.updated);
  }
};
using Leaves = std::vector<Ways>;

/// Of one computation, by the leaves of its parameters.
struct Summary {
  Leaves results;
  LeafSet multiplied;
};

class FlowFinder {
 public:
  FlowFinder(const Module& module, const OpTable& table, FlowLists lists)
      : module_(module),
        table_(table),
        lists_(lists),
        shapes_(module.shapes().copy()),
        summaries_(module.computations.size()),
        values_(module.instructions.size()) {}

  ArgumentFlow find() {
    for (const ComputationId id : callees_first(module_)) summaries_[id] = summary_of(id);
    ArgumentFlow flow;
    Summary& entry = summaries_[module_.entry];
    flow.multiplied = std::move(entry.multiplied);
    for (Ways& result : entry.results) {
      flow.cached.add_all(result.updated);
      flow.results.push_back(std::move(result.made_of));
    }
    return flow;
  }

 private:
  Summary summary_of(ComputationId id) {
    multiplied_ = LeafSet();
    int64_t first = 0;
    for (const InstructionId parameter : module_[id].parameters) {
      Leaves leaves(static_cast<size_t>(leaf_count(module_[parameter].shape)));
      for (Ways& leaf : leaves) leaf.made_of.add(first++);
      values_[parameter] = shared(std::move(leaves));
    }
    for (const InstructionId instruction : module_[id].instructions)
      if (module_[instruction].parameter_number < 0) values_[instruction] = value_of(module_[instruction]);
    Summary summary{leaves_of(module_[id].root), std::move(multiplied_)};
    for (const InstructionId instruction : module_[id].instructions) values_[instruction].reset();
    return summary;
  }

  /// Most values are made of what one of their operands is made of, and have its leaves in common with it.
  using SharedLeaves = std::shared_ptr<const Leaves>;
  static SharedLeaves shared(Leaves leaves) { return std::make_shared<const Leaves>(std::move(leaves)); }
  const Leaves& leaves_of(InstructionId id) const {
    static const Leaves none;
    return values_[id] ? *values_[id] : none;
  }

  Leaves operand_leaves(const Instruction& instruction) const {
    Leaves all;
    for (const InstructionId operand : instruction.operands)
      all.insert(all.end(), leaves_of(operand).begin(), leaves_of(operand).end());
    return all;
  }

  /// Leaves of all operands in a row, looked up: an element of a wide tuple needs few of them.
  class OperandLeaves {
   public:
    OperandLeaves(const FlowFinder& finder, const Instruction& instruction) {
      int64_t end = 0;
      for (const InstructionId operand : instruction.operands) {
        lists_.push_back(&finder.leaves_of(operand));
        ends_.push_back(end += static_cast<int64_t>(lists_.back()->size()));
      }
    }
    const Ways& operator[](int64_t leaf) const {
      const auto list = static_cast<size_t>(std::ranges::upper_bound(ends_, leaf) - ends_.begin());
      return (*lists_[list])[static_cast<size_t>(leaf - (list == 0 ? 0 : ends_[list - 1]))];
    }

   private:
    std::vector<const Leaves*> lists_;
    std::vector<int64_t> ends_;
  };

  /// That of an operand which has all that the others have; null: there is none.
  SharedLeaves common_leaf(const Instruction& instruction) const {
    SharedLeaves most;
    for (const InstructionId operand : instruction.operands) {
      const SharedLeaves& one = values_[operand];
      if (!one || one->size() != 1) return nullptr;
      if (!most || (one != most && one->front().has_all(most->front())))
        most = one;
      else if (one != most && !most->front().has_all(one->front()))
        return nullptr;
    }
    return most;
  }

  /// Of a fusion: what its computation makes of the operands.
  SharedLeaves fused(const Instruction& instruction, ComputationId computation) {
    Leaves made = applied(summaries_[computation], operand_leaves(instruction));
    if (made.size() == 1 && lists_ == FlowLists::kShared)
      for (const InstructionId operand : instruction.operands) {
        const SharedLeaves& one = values_[operand];
        if (one && one->size() == 1 && one->front().has_all(made[0]) && made[0].has_all(one->front()))
          return one;
      }
    return shared(std::move(made));
  }

  SharedLeaves value_of(const Instruction& instruction) {
    const OpContext op(module_, shapes_, instruction, table_, nullptr);
    const OpDef& def = op.def();
    if (def.has(kFusion))
      if (const std::optional<OpenedCall> call = opened_call(op))
        return fused(instruction, call->computation);
    if (def.forward) return shared(forwarded(op, OperandLeaves(*this, instruction)));
    if (def.rules.value == ValueRule::kLoop) return shared(loop(op, operand_leaves(instruction)));
    if (def.rules.value == ValueRule::kConditional) return shared(conditional(op));
    const bool ends = ends_ways(op), in_place = def.rules.overwrite == OverwriteRule::kUpdate;
    if (!ends && !in_place && instruction.shape->is_array() && lists_ == FlowLists::kShared)
      if (SharedLeaves same = common_leaf(instruction)) return same;
    Leaves result(static_cast<size_t>(leaf_count(instruction.shape)));
    if (ends) {
      for (const InstructionId operand : instruction.operands)
        for (const Ways& leaf : leaves_of(operand)) multiplied_.add_all(leaf.made_of);
      return shared(std::move(result));
    }
    for (Ways& leaf : result)
      for (const InstructionId operand : instruction.operands)
        for (const Ways& from : leaves_of(operand)) leaf.add_all(from);
    const Ways* const updated = in_place ? first_leaf(instruction) : nullptr;
    if (updated)
      for (Ways& leaf : result) leaf.updated.add_all(updated->made_of);
    return shared(std::move(result));
  }

  const Ways* first_leaf(const Instruction& instruction) const {
    for (const InstructionId operand : instruction.operands)
      if (!leaves_of(operand).empty()) return leaves_of(operand).data();
    return nullptr;
  }

  /// It computes something that is none of its operands any more.
  static bool ends_ways(const OpContext& op) {
    const OpRules& rules = op.def().rules;
    if (op.def().element) return false;
    if (rules.dimensions == DimensionRule::kGather) return true;
    if (!custom_call_target(op).empty()) return !is_concat_bitcast(op.instruction());
    return !work_of(op).matmuls.empty();
  }

  /// What leaves of a called computation are in terms of its arguments.
  Leaves applied(const Summary& summary, const Leaves& arguments) {
    const auto of = [&](const LeafSet& leaves) {
      LeafSet made;
      leaves.for_each([&](int64_t leaf) {
        if (leaf < static_cast<int64_t>(arguments.size()))
          made.add_all(arguments[static_cast<size_t>(leaf)].made_of);
      });
      return made;
    };
    multiplied_.add_all(of(summary.multiplied));
    Leaves results;
    for (const Ways& result : summary.results) {
      Ways ways{of(result.made_of), of(result.updated)};
      result.made_of.for_each([&](int64_t leaf) {
        if (leaf < static_cast<int64_t>(arguments.size()))
          ways.updated.add_all(arguments[static_cast<size_t>(leaf)].updated);
      });
      results.push_back(std::move(ways));
    }
    return results;
  }

  Leaves forwarded(const OpContext& op, const OperandLeaves& operands) {
    Leaves opened;
    if (const std::optional<OpenedCall> call = opened_call(op)) {
      Leaves arguments;
      for (const int64_t leaf : call->arguments) arguments.push_back(operands[leaf]);
      opened = applied(summaries_[call->computation], arguments);
    }
    std::vector<int64_t> from;
    op.def().forward(op, from);
    Leaves result(from.size());
    for (size_t i = 0; i < from.size(); ++i) {
      const int64_t inner = opened_index(from[i]);
      if (inner >= 0 && inner < static_cast<int64_t>(opened.size()))
        result[i] = opened[static_cast<size_t>(inner)];
      else if (from[i] >= 0)
        result[i] = operands[from[i]];
    }
    return result;
  }

  Leaves loop(const OpContext& op, const Leaves& start) {
    Leaves result = applied(summaries_[loop_body(op.instruction())], start);
    for (size_t i = 0; i < std::min(start.size(), result.size()); ++i) result[i].add_all(start[i]);
    return result;
  }

  Leaves conditional(const OpContext& op) {
    Leaves result(static_cast<size_t>(leaf_count(op.shape())));
    const std::vector<ComputationId> branches = called_in_order(op.instruction());
    for (size_t i = 0; i < branches.size(); ++i) {
      const auto operand = static_cast<size_t>(i) + 1;
      if (operand >= op.instruction().operands.size()) break;
      const Leaves made = applied(summaries_[branches[i]], leaves_of(op.instruction().operands[operand]));
      for (size_t k = 0; k < std::min(result.size(), made.size()); ++k) result[k].add_all(made[k]);
    }
    return result;
  }

  const Module& module_;
  const OpTable& table_;
  const FlowLists lists_;
  ShapePool shapes_;
  IdMap<ComputationId, Summary> summaries_;
  IdMap<InstructionId, SharedLeaves> values_;  // of the computation at hand
  LeafSet multiplied_;                         // … by leaf of its parameters
};

}  // namespace

ArgumentFlow argument_flow(const Module& module, const OpTable& table, FlowLists lists) {
  return FlowFinder(module, table, lists).find();
}

}  // namespace hlosim
