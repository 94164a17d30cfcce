#include "propagate/propagate.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "hlo/graph.h"
#include "hlo/module_editor.h"
#include "modules/compact.h"
#include "modules/synchronous.h"
#include "ops/leaf_forwarding.h"
#include "propagate/arrays.h"
#include "propagate/edges.h"
#include "propagate/fixed_point.h"
#include "propagate/manual_regions.h"
#include "propagate/sdy_regions.h"
#include "propagate/stated.h"

namespace hlosim {
namespace {

/// The entry and what runs from there as such or as a fusion; not what is applied to single elements.
std::vector<ComputationId> flow(const Module& module, const OpTable& table) {
  ShapePool pool = module.shapes().copy();
  IdMap<ComputationId, uint8_t> reached(module.computations.size(), 0);
  std::vector<ComputationId> waiting = {module.entry};
  reached[module.entry] = 1;
  const auto reach = [&](ComputationId id) {
    if (reached[id]++ == 0) waiting.push_back(id);
  };
  for (size_t next = 0; next < waiting.size(); ++next)
    for (const InstructionId id : module[waiting[next]].instructions) {
      const Instruction& instruction = module[id];
      const OpRules& rules = table[instruction.opcode].rules;
      const bool chooses = rules.value == ValueRule::kLoop || rules.value == ValueRule::kConditional;
      if (chooses) {
        for_each_called(instruction, reach);
      } else if (const auto call = opened_call({module, pool, instruction, table, nullptr})) {
        reach(call->computation);
      }
    }
  std::sort(waiting.begin(), waiting.end());
  return waiting;
}

/// May the entry's parameters or its result be cut where the text doesn't say how? The header says so, for
/// all or each; where it is silent they may.
class Permission {
 public:
  enum class Word : uint8_t { kSilent, kNo, kYes };

  Permission(const Module& module, AttrKey key) {
    if (const Attr* attr = module.find(key)) said_ = attr->ints();
  }
  /// Leaf `leaf` of `leaves`, part of argument `argument`.
  Word operator()(size_t argument, size_t leaf, size_t leaves) const {
    if (said_.empty()) return Word::kSilent;
    size_t at = said_.size() == leaves ? leaf : argument;
    if (said_.size() == 1) at = 0;
    if (at >= said_.size()) return Word::kSilent;
    return said_[at] != 0 ? Word::kYes : Word::kNo;
  }

 private:
  std::span<const int64_t> said_;
};

/// Calls f(instruction, leaf, what the header says of it) for all arrays that enter or leave.
template <class F>
void for_each_border(const Module& module, F&& f) {
  const std::vector<InstructionId>& parameters = module.entry_computation().parameters;
  const auto leaves_of = [&](InstructionId id) { return static_cast<size_t>(leaf_count(module[id].shape)); };
  size_t all = 0, first = 0;
  for (const InstructionId id : parameters) all += leaves_of(id);
  const Permission into(module, AttrKey::kAllowSpmdShardingPropagationToParameters);
  for (size_t i = 0; i < parameters.size(); ++i) {
    const size_t leaves = leaves_of(parameters[i]);
    for (size_t leaf = 0; leaf < leaves; ++leaf) f(parameters[i], leaf, into(i, first + leaf, all));
    first += leaves;
  }
  const InstructionId root = module.entry_computation().root;
  const Permission out(module, AttrKey::kAllowSpmdShardingPropagationToOutput);
  const size_t leaves = leaves_of(root);
  for (size_t leaf = 0; leaf < leaves; ++leaf) f(root, leaf, out(leaf, leaf, leaves));
}

bool is_parameter(const Module& module, InstructionId id) { return module[id].parameter_number >= 0; }

/// Where the header says of a copy that it may be cut, the copy isn't meant.
void open_borders(const Module& module, StatedTilings& stated) {
  for_each_border(module, [&](InstructionId id, size_t leaf, Permission::Word may) {
    if (may != Permission::Word::kYes || stated.of(id).empty()) return;
    StatedTiling& said = stated.leaves[static_cast<size_t>(stated.first[id]) + leaf];
    if (said.kind == TileAssignment::Kind::kReplicated) said.kind = TileAssignment::Kind::kUnknown;
  });
}

/// The entry's parameters are cut evenly, so is its result where the header says that it may be cut; neither
/// is where the header forbids it.
void settle_borders(const Module& module, Arrays& arrays) {
  for_each_border(module, [&](InstructionId id, size_t leaf, Permission::Word may) {
    SharedArray& array = arrays[arrays.leaf(id, static_cast<int64_t>(leaf))];
    array.even |= may == Permission::Word::kYes || is_parameter(module, id);
    if (array.stated || may != Permission::Word::kNo) return;
    array.stated = true;
    array.stated_by = id;
    array.decision = {Decider::kDefault, id, id};
  });
}

class Propagation {
 public:
  Propagation(const OpTable& table, const PropagateOptions& options) : table_(table), options_(options) {}

  Result<Propagated> run(const Module& module) {
    made_.module = synchronous(module, table_);  // pairs are made of what is partitioned
    if (open_sdy_borders(made_.module)) made_.module = compacted(made_.module, table_);
    std::vector<ComputationId> computations = flow(made_.module, table_);
    Result<StatedTilings> stated =
        read_stated(made_.module, computations, options_.devices, options_.some_devices);
    if (!stated) return tl::unexpected(stated.error());
    const bool has_manual = has_manual_regions(*stated);
    if (has_manual) {
      const size_t before = made_.module.instructions.size();
      split_constants(made_.module, table_);
      if (made_.module.instructions.size() != before) {
        made_.module = compacted(made_.module, table_);
        computations = flow(made_.module, table_);
        stated = read_stated(made_.module, computations, options_.devices, options_.some_devices);
      }
    }
    open_borders(made_.module, *stated);
    Arrays arrays(made_.module, computations, *stated);
    settle_borders(made_.module, arrays);
    const Links links = find_links(made_.module, table_, computations, *stated, arrays);
    if (has_manual)
      if (Result<void> spread = spread_manual(made_.module, table_, computations, arrays); !spread)
        return tl::unexpected(spread.error());
    to_fixed_point(links, arrays);
    write(computations, *stated, arrays);
    return std::move(made_);
  }

 private:
  void write(std::span<const ComputationId> computations, const StatedTilings& stated, Arrays& arrays) {
    Module& module = made_.module;
    made_.devices = stated.axes.devices();
    made_.decisions = IdMap<InstructionId, Decision>(module.instructions.size());
    ModuleEditor editor(module);
    for (const ComputationId computation : computations)
      for (const InstructionId id : module[computation].instructions) {
        decide(id, arrays);
        if (!is_settled(id, stated)) {
          const std::string_view text =
              module.arena().copy(std::string_view(sharding_of(id, stated, arrays)));
          editor.set_attr(id, Attr::make_text(AttrKey::kSharding, AttrSyntax::kSharding, text));
        }
      }
  }

  /// Of the first leaf that somebody decided.
  void decide(InstructionId id, Arrays& arrays) {
    Decision& decision = made_.decisions[id];
    for (int64_t leaf = 0; leaf < arrays.leaf_count(id) && decision.by == Decider::kDefault; ++leaf) {
      const SharedArray& array = arrays[arrays.leaf(id, leaf)];
      decision = array.decision;
      // What another name of the same array states, or another part of a manual region.
      const bool is_manual = array.is_manual_whole || array.manual != 0;
      if (decision.from != id && (decision.by == Decider::kUser || is_manual))
        decision.by = decision.from < id ? Decider::kForward : Decider::kBackward;
    }
  }

  /// The text says all there is to say.
  bool is_settled(InstructionId id, const StatedTilings& stated) const {
    const std::span<const StatedTiling> said = stated.of(id);
    return !said.empty() && std::all_of(said.begin(), said.end(), [](const StatedTiling& leaf) {
      return leaf.kind != TileAssignment::Kind::kUnknown && leaf.open == 0;
    });
  }

  std::string sharding_of(InstructionId id, const StatedTilings& stated, Arrays& arrays) {
    if (!made_.module[id].shape->is_tuple()) return text_of(arrays.leaf(id, 0), stated, arrays);
    const int64_t leaves = arrays.leaf_count(id);
    if (leaves == 0) return "{replicated}";
    std::string text = "{";
    for (int64_t leaf = 0; leaf < leaves; ++leaf)
      text += fmt::format("{}{}", leaf == 0 ? "" : ", ", text_of(arrays.leaf(id, leaf), stated, arrays));
    return text + "}";
  }

  const std::string& text_of(int32_t number, const StatedTilings& stated, Arrays& arrays) {
    const auto [known, fresh] = texts_.emplace(number, "");
    if (!fresh) return known->second;
    const SharedArray& array = arrays[number];
    if (array.is_manual_whole)
      known->second = "{manual}";
    else if (array.closed && array.stated_by.valid())
      known->second = stated_text(array);
    else if (array.used == 0)
      known->second = "{replicated}";
    else
      known->second = stated.text(arrays.tiling(array), array.order);
    return known->second;
  }

  /// Of an array on one device, or of summands: as it is written.
  std::string stated_text(const SharedArray& array) const {
    const Attr* attr = made_.module[array.stated_by].find(AttrKey::kSharding);
    const bool is_one = attr && !made_.module[array.stated_by].shape->is_tuple();
    return is_one ? std::string(attr->text()) : "{replicated}";
  }

  const OpTable& table_;
  const PropagateOptions& options_;
  Propagated made_;
  std::unordered_map<int32_t, std::string> texts_;
};

}  // namespace

std::string_view to_text(Decider decider) {
  constexpr std::string_view kTexts[] = {"user", "forward", "backward", "default"};
  return kTexts[static_cast<size_t>(decider)];
}

Result<Propagated> propagate(const Module& module, const OpTable& table, const PropagateOptions& options) {
  return Propagation(table, options).run(module);
}

}  // namespace hlosim
