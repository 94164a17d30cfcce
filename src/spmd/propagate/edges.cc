#include "propagate/edges.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "loop_factors/factors.h"
#include "loop_factors/loose_pairs.h"
#include "loop_factors/sharding_trust.h"
#include "ops/custom_calls/custom_call_targets.h"
#include "ops/leaf_forwarding.h"
#include "ops/op_table.h"
#include "sharding/sharding_calls.h"

namespace hlosim {
namespace {

class LinkFinder {
 public:
  LinkFinder(const Module& module, const OpTable& table, std::span<const ComputationId> computations,
             const StatedTilings& stated, Arrays& arrays)
      : module_(module),
        table_(table),
        computations_(computations),
        stated_(stated),
        arrays_(arrays),
        pool_(module.shapes().copy()) {}

  Links find() {
    unite_groups();
    for (const ComputationId computation : computations_)
      for (const InstructionId id : module_[computation].instructions) unite(id);
    for (const ComputationId computation : computations_)
      for (const InstructionId id : module_[computation].instructions) {
        const auto first = static_cast<int32_t>(made_.links.size());
        link(id);
        const auto count = static_cast<int32_t>(made_.links.size()) - first;
        if (count > 0) made_.steps.push_back({id, first, count});
      }
    return std::move(made_);
  }

 private:
  OpContext context(InstructionId id) { return {module_, pool_, module_[id], table_, nullptr}; }

  // ── what is one array ─────────────────────────────────────────

  void unite_groups() {
    std::unordered_map<int64_t, int32_t> first;
    const auto join = [&](int64_t group, int32_t array) {
      const auto [known, fresh] = first.emplace(group, array);
      if (!fresh) arrays_.unite(known->second, array);
    };
    for (const ComputationId computation : computations_)
      for (const InstructionId id : module_[computation].instructions) {
        int64_t leaf = 0;
        for (const StatedTiling& said : stated_.of(id)) {
          if (said.group >= 0) join(said.group, arrays_.leaf(id, leaf));
          ++leaf;
        }
        const Instruction& instruction = module_[id];
        if (sharding_call(instruction) == ShardingCall::kGroup && !instruction.operands.empty())
          join(-1 - sharding_group(instruction), arrays_.leaf(instruction.operands[0], 0));
      }
  }

  void unite(InstructionId id) {
    const Instruction& instruction = module_[id];
    switch (table_[instruction.opcode].rules.value) {
      case ValueRule::kTuple:
      case ValueRule::kElement:
        return for_each_handed_on(id, [&](int32_t from, int32_t to) { arrays_.unite(from, to); });
      case ValueRule::kLoop:
        return unite_loop(id);
      case ValueRule::kConditional:
        for_each_called(instruction, [&](ComputationId branch) { unite_all(id, module_[branch].root); });
        return;
      default:
        break;
    }
    const OpContext op = context(id);
    const std::optional<OpenedCall> call = opened_call(op);
    if (!call) return;
    const std::vector<int64_t> forwarded = opened_results(op, id);
    for (size_t leaf = 0; leaf < forwarded.size(); ++leaf)
      if (const int64_t k = opened_index(forwarded[leaf]); k >= 0)
        arrays_.unite(arrays_.leaf(module_[call->computation].root, k),
                      arrays_.leaf(id, static_cast<int64_t>(leaf)));
  }

  std::vector<int64_t> opened_results(const OpContext& op, InstructionId id) const {
    std::vector<int64_t> leaves;
    if (op.def().forward)
      op.def().forward(op, leaves);
    else
      for (int64_t k = 0; k < arrays_.leaf_count(id); ++k) leaves.push_back(opened_leaf(k));
    return leaves;
  }

  void unite_all(InstructionId a, InstructionId b) {
    for (int64_t leaf = 0; leaf < std::min(arrays_.leaf_count(a), arrays_.leaf_count(b)); ++leaf)
      arrays_.unite(arrays_.leaf(a, leaf), arrays_.leaf(b, leaf));
  }

  void unite_loop(InstructionId id) {
    for (const AttrKey key : {AttrKey::kBody, AttrKey::kCondition}) {
      const ComputationId called = module_[id].find(key)->computations()[0];
      unite_all(id, module_[called].parameters[0]);
      if (key == AttrKey::kBody) unite_all(id, module_[called].root);
    }
  }

  /// Calls f(array of an operand, array of the result) for all that a tuple or an element of one hands on.
  template <class F>
  void for_each_handed_on(InstructionId id, F&& f) {
    const Instruction& instruction = module_[id];
    int64_t first = 0;
    if (is_tuple_element(instruction)) {
      const InstructionId tuple = instruction.operands[0];
      first = first_leaves(
          module_[tuple].shape)[static_cast<size_t>(instruction.find(AttrKey::kIndex)->integer())];
      for (int64_t leaf = 0; leaf < arrays_.leaf_count(id); ++leaf)
        f(arrays_.leaf(tuple, first + leaf), arrays_.leaf(id, leaf));
      return;
    }
    for (const InstructionId operand : instruction.operands) {
      for (int64_t leaf = 0; leaf < arrays_.leaf_count(operand); ++leaf)
        f(arrays_.leaf(operand, leaf), arrays_.leaf(id, first + leaf));
      first += arrays_.leaf_count(operand);
    }
  }

  /// Of each element of a tuple the number of leaves before it.
  const std::vector<int64_t>& first_leaves(ShapeRef tuple) {
    const auto [known, fresh] = first_leaves_.emplace(tuple, std::vector<int64_t>());
    if (fresh) {
      int64_t count = 0;
      for (const ShapeRef element : tuple->elements) {
        known->second.push_back(count);
        count += hlosim::leaf_count(element);
      }
    }
    return known->second;
  }

  std::vector<int32_t> operand_arrays(InstructionId id) {
    std::vector<int32_t> arrays;
    for (const InstructionId operand : module_[id].operands)
      for (int64_t leaf = 0; leaf < arrays_.leaf_count(operand); ++leaf)
        arrays.push_back(arrays_.leaf(operand, leaf));
    return arrays;
  }

  // ── what hangs together ───────────────────────────────────────

  void link(InstructionId id) {
    if (is_tuple(module_[id]) || is_tuple_element(module_[id]))
      return for_each_handed_on(id, [&](int32_t from, int32_t to) { link_same(from, to, {}); });
    const OpContext op = context(id);
    if (op.def().rules.value == ValueRule::kLoop) return link_states(id, 0, called(id, AttrKey::kBody));
    if (op.def().rules.value == ValueRule::kConditional) {
      size_t operand = 1;
      for_each_called(module_[id], [&](ComputationId branch) { link_states(id, operand++, branch); });
      return;
    }
    if (const std::optional<OpenedCall> call = opened_call(op)) return link_call(id, *call);
    if (module_[id].operands.empty()) return;
    // Between partitions: what each of them gives to it isn't a part of an array, but a value of its own.
    if (op.def().has(kCollective) && op.has(AttrKey::kChannelId)) return;
    const ShardingCall said = sharding_call(module_[id]);
    if (said == ShardingCall::kElementwise) return link_elements(id);
    if (said != ShardingCall::kNone || custom_call_evaluation(op) == EvaluationKind::kIdentityCall)
      return link_identity(id, said);
    link_factors(op, id);
  }

  ComputationId called(InstructionId id, AttrKey key) const {
    return module_[id].find(key)->computations()[0];
  }

  /// The operand is what the computation's parameter is at first.
  void link_states(InstructionId id, size_t operand, ComputationId to) {
    if (operand >= module_[id].operands.size() || module_[to].parameters.empty()) return;
    const InstructionId from = module_[id].operands[operand], parameter = module_[to].parameters[0];
    for (int64_t leaf = 0; leaf < std::min(arrays_.leaf_count(from), arrays_.leaf_count(parameter)); ++leaf)
      link_same(arrays_.leaf(from, leaf), arrays_.leaf(parameter, leaf), {});
  }

  void link_call(InstructionId id, const OpenedCall& call) {
    const std::vector<int32_t> operands = operand_arrays(id);
    size_t next = 0;
    for (const InstructionId parameter : module_[call.computation].parameters)
      for (int64_t leaf = 0; leaf < arrays_.leaf_count(parameter) && next < call.arguments.size(); ++leaf) {
        const int64_t from = call.arguments[next++];
        if (from >= 0 && from < static_cast<int64_t>(operands.size()))
          link_same(operands[static_cast<size_t>(from)], arrays_.leaf(parameter, leaf), {});
      }
  }

  void link_identity(InstructionId id, ShardingCall said) {
    ShardingTrust trust;
    if (said == ShardingCall::kKeepsApart || said == ShardingCall::kGroup) return;
    if (said == ShardingCall::kKeepsFromResult) trust.forward = kNever;
    if (said == ShardingCall::kKeepsFromOperand) trust.backward = kNever;
    const std::vector<int32_t> operands = operand_arrays(id);
    for (int64_t leaf = 0; leaf < arrays_.leaf_count(id); ++leaf)
      if (leaf < static_cast<int64_t>(operands.size()))
        link_same(operands[static_cast<size_t>(leaf)], arrays_.leaf(id, leaf), trust);
  }

  void link_elements(InstructionId id) {
    for (const int32_t operand : operand_arrays(id))
      for (int64_t leaf = 0; leaf < arrays_.leaf_count(id); ++leaf)
        link_same(operand, arrays_.leaf(id, leaf), {});
  }

  /// Dimensions of the same size.
  void link_same(int32_t from, int32_t to, ShardingTrust trust) {
    if (from == to) return;
    const ShapeRef a = arrays_[from].shape, b = arrays_[to].shape;
    for (int64_t i = 0; i < std::min(a->rank(), b->rank()); ++i) {
      if (a->dim(i) != b->dim(i)) continue;
      Link& made = begin(trust);
      add(made, {from, static_cast<int32_t>(i), 1, a->dim(i), true}, true);
      add(made, {to, static_cast<int32_t>(i), 1, b->dim(i), true}, false);
    }
  }

  Link& begin(ShardingTrust trust) {
    Link link;
    link.first = static_cast<int32_t>(made_.places.size());
    link.forward = trust.forward;
    link.backward = trust.backward;
    return made_.links.emplace_back(link);
  }
  void add(Link& link, const Place& place, bool is_operand) {
    made_.places.push_back(place);
    ++link.count;
    link.operands += is_operand;
  }

  void link_factors(const OpContext& op, InstructionId id) {
    const ShardingTrust trust = sharding_trust(op.def().rules.dimensions);
    const Factors all = factors(op);
    std::vector<int32_t> arrays = operand_arrays(id);
    for (int64_t leaf = 0; leaf < arrays_.leaf_count(id); ++leaf) arrays.push_back(arrays_.leaf(id, leaf));
    by_factor_.resize(std::max(by_factor_.size(), all.list.size()));
    std::vector<int32_t> operands(all.list.size(), 0);
    for (size_t array = 0; array < all.arrays.size(); ++array)
      for (size_t i = 0; i < all.arrays[array].size(); ++i) {
        int64_t before = 1;
        for (const int32_t factor : all.arrays[array][i]) {
          const int64_t size = all.list[static_cast<size_t>(factor)].size;
          const bool alone = all.arrays[array][i].size() == 1;
          by_factor_[static_cast<size_t>(factor)].push_back(
              {arrays[array], static_cast<int32_t>(i), before,
               alone ? arrays_[arrays[array]].shape->dim(static_cast<int64_t>(i)) : size, alone});
          operands[static_cast<size_t>(factor)] += static_cast<int64_t>(array) < all.operand_leaves;
          before *= size;
        }
      }
    const DimensionRule rule = op.def().rules.dimensions;
    for (size_t factor = 0; factor < all.list.size(); ++factor) {
      FactorKind kind = all.list[factor].kind;
      // What is sorted as a whole is brought together for it, along another dimension if there is one.
      if (kind == FactorKind::kWhole && rule == DimensionRule::kSort && arrays_[arrays[0]].shape->rank() > 1)
        kind = FactorKind::kAlong;
      const ShardingTrust level =
          kind == FactorKind::kPart ? ShardingTrust{kTrustOfParts, kTrustOfParts} : trust;
      if (rule == DimensionRule::kScatter && op.operand_count() > 3)
        add_links_by_update(kind, level, by_factor_[factor], operands[factor], arrays);
      else
        add_link(kind, level, by_factor_[factor], operands[factor]);
      by_factor_[factor].clear();
    }
    for (const LoosePair& pair : loose_pairs(op))
      link_loosely(arrays[static_cast<size_t>(pair.array)],
                   arrays[static_cast<size_t>(all.operand_leaves + pair.leaf)], pair);
  }

  void link_loosely(int32_t from, int32_t to, const LoosePair& pair) {
    Link& made = begin({kTrustOfParts, pair.both_ways ? kTrustOfParts : kNever});
    const auto place = [&](int32_t array, int64_t dimension) {
      return Place{array, static_cast<int32_t>(dimension), 1, arrays_[array].shape->dim(dimension), true};
    };
    made.parts = true;
    add(made, place(from, pair.operand), true);
    add(made, place(to, pair.result), false);
  }

  void add_link(FactorKind kind, ShardingTrust trust, std::span<const Place> places, int32_t operands) {
    if (kind == FactorKind::kWhole || kind == FactorKind::kFixed || places.size() < 2) return;
    const bool is_one = std::all_of(places.begin(), places.end(), [&](const Place& place) {
      return place.array == places[0].array && place.dimension == places[0].dimension;
    });
    if (is_one) return;
    Link& made = begin(trust);
    made.parts = kind == FactorKind::kPart;
    made.operands = operands;
    made.count = static_cast<int32_t>(places.size());
    made_.places.insert(made_.places.end(), places.begin(), places.end());
  }

  /// Of a scatter of several arrays, which share their indices but lie each as its own updates do. `arrays`:
  /// n that are changed, the indices, n of updates, n results.
  void add_links_by_update(FactorKind kind, ShardingTrust trust, std::span<const Place> places,
                           int32_t operands, std::span<const int32_t> arrays) {
    const size_t n = arrays.size() / 3;
    for (size_t i = 0; i < n; ++i) {
      const int32_t mine[] = {arrays[i], arrays[n], arrays[n + 1 + i], arrays[2 * n + 1 + i]};
      std::vector<Place> some;
      int32_t of_operands = 0;
      for (size_t k = 0; k < places.size(); ++k) {
        if (std::find(std::begin(mine), std::end(mine), places[k].array) == std::end(mine)) continue;
        some.push_back(places[k]);
        of_operands += static_cast<int32_t>(k) < operands;
      }
      add_link(kind, trust, some, of_operands);
    }
  }

  const Module& module_;
  const OpTable& table_;
  std::span<const ComputationId> computations_;
  const StatedTilings& stated_;
  Arrays& arrays_;
  ShapePool pool_;
  Links made_;
  std::vector<std::vector<Place>> by_factor_;
  std::unordered_map<ShapeRef, std::vector<int64_t>> first_leaves_;  // of tuples
};

}  // namespace

Links find_links(const Module& module, const OpTable& table, std::span<const ComputationId> computations,
                 const StatedTilings& stated, Arrays& arrays) {
  return LinkFinder(module, table, computations, stated, arrays).find();
}

}  // namespace hlosim
