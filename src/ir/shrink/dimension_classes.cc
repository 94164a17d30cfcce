#include "shrink/dimension_classes.h"

#include <algorithm>
#include <numeric>

#include "ops/dataflow.h"
#include "ops/leaf_forwarding.h"

namespace hlosim {
namespace {

ShapeRef array_of(ShapeRef leaf) { return leaf->is_buffer() ? leaf->elements[0] : leaf; }

/// Number of leaves before what `index` names.
int64_t leaves_before(ShapeRef shape, std::span<const int64_t> index) {
  int64_t count = 0;
  for (const int64_t element : index) {
    for (int64_t i = 0; i < element; ++i) count += leaf_count(shape->elements[static_cast<size_t>(i)]);
    shape = shape->elements[static_cast<size_t>(element)];
  }
  return count;
}

}  // namespace

DimensionClasses::DimensionClasses(const Module& module, const OpTable& table) {
  number(module);
  ShapePool shapes = module.shapes().copy();
  for (const Computation& computation : module.computations)
    for (const InstructionId id : computation.instructions)
      tie(OpContext(module, shapes, module[id], table, nullptr), id);
  if (const Attr* aliases = module.find(AttrKey::kInputOutputAlias)) tie_aliases(module, *aliases);
  settle();
}

void DimensionClasses::number(const Module& module) {
  first_leaf_ = IdMap<InstructionId, int32_t>(module.instructions.size());
  for (size_t i = 0; i < module.instructions.size(); ++i) {
    const InstructionId id{static_cast<int32_t>(i)};
    first_leaf_[id] = leaves_;
    for_each_leaf(module[id].shape, [&](ShapeRef leaf) {
      ++leaves_;
      leaf_first_.push_back(static_cast<int32_t>(up_.size()));
      const ShapeRef array = array_of(leaf);
      for (const int64_t size : array->dimensions) add_variable(size, true);
      if (array->layout && !array->layout->splits.empty())
        for (size_t v = up_.size() - array->dimensions.size(); v < up_.size(); ++v) facts_[v].fixed = true;
    });
  }
  leaf_first_.push_back(static_cast<int32_t>(up_.size()));
}

int32_t DimensionClasses::add_variable(int64_t size, bool is_dimension) {
  const auto v = static_cast<int32_t>(up_.size());
  up_.push_back(v);
  facts_.push_back({std::max<int64_t>(size, 0), is_dimension ? size : 0, size <= 0});
  return v;
}

void DimensionClasses::unite(int32_t a, int32_t b) {
  a = root(a), b = root(b);
  if (a == b) return;
  if (b < a) std::swap(a, b);
  up_[static_cast<size_t>(b)] = a;
  ClassFacts& kept = facts_[static_cast<size_t>(a)];
  const ClassFacts& gone = facts_[static_cast<size_t>(b)];
  kept.divisible = std::gcd(kept.divisible, gone.divisible);
  if (kept.smallest == 0 || (gone.smallest != 0 && gone.smallest < kept.smallest))
    kept.smallest = gone.smallest;
  kept.fixed |= gone.fixed;
}

void DimensionClasses::fix(InstructionId id) {
  for (int32_t v = first_of(id); v < end_of(id); ++v) fix(root(v));
}

void DimensionClasses::tie_leaves(InstructionId a, int64_t leaf, InstructionId b, int64_t other,
                                  int64_t count) {
  for (int64_t k = 0; k < count; ++k) {
    if (leaf + k >= leaf_count_of(a) || other + k >= leaf_count_of(b)) return;
    const auto of_a = static_cast<size_t>(first_leaf_[a] + leaf + k),
               of_b = static_cast<size_t>(first_leaf_[b] + other + k);
    const int32_t rank =
        std::min(leaf_first_[of_a + 1] - leaf_first_[of_a], leaf_first_[of_b + 1] - leaf_first_[of_b]);
    for (int32_t i = 0; i < rank; ++i) unite(leaf_first_[of_a] + i, leaf_first_[of_b] + i);
  }
}

void DimensionClasses::tie(const OpContext& op, InstructionId id) {
  const Instruction& instruction = op.instruction();
  if (op.def().rules.value == ValueRule::kElement) {  // one of many leaves, as it is
    std::vector<int64_t> from;
    op.def().forward(op, from);
    for (size_t leaf = 0; leaf < from.size(); ++leaf)
      tie_leaves(id, static_cast<int64_t>(leaf), instruction.operands[0], from[leaf], 1);
    return;
  }
  const Factors all = factors(op);
  std::vector<int32_t> first;  // variable of each array
  for (const InstructionId operand : instruction.operands)
    for (int64_t leaf = 0; leaf < leaf_count_of(operand); ++leaf) first.push_back(variable(operand, leaf, 0));
  for (int64_t leaf = 0; leaf < leaf_count_of(id); ++leaf) first.push_back(variable(id, leaf, 0));
  tie_factors(first, all);
  tie_computations(op, id);
  if (const Attr* aliases = instruction.find(AttrKey::kOutputToOperandAliasing))
    for (const Alias& alias : aliases->aliases()) {
      const auto number = static_cast<size_t>(alias.parameter);
      if (number >= instruction.operands.size()) continue;  // bound later
      const InstructionId operand = instruction.operands[number];
      const ShapeRef part = subshape(instruction.shape, alias.output_index);
      if (part && subshape(op.module()[operand].shape, alias.parameter_index))
        tie_leaves(id, leaves_before(instruction.shape, alias.output_index), operand,
                   leaves_before(op.module()[operand].shape, alias.parameter_index), leaf_count(part));
    }
}

/// `first`: the variable of each array's dimension 0.
void DimensionClasses::tie_factors(const std::vector<int32_t>& first, const Factors& all) {
  std::vector<int32_t> of_factor(all.list.size(), -1);
  const auto each = [&](auto&& f) {
    for (size_t array = 0; array < all.arrays.size(); ++array)
      for (size_t i = 0; i < all.arrays[array].size(); ++i)
        f(all.arrays[array][i], first[array] + static_cast<int32_t>(i));
  };
  each([&](const std::vector<int32_t>& list, int32_t v) {
    if (list.size() != 1) return;
    int32_t& known = of_factor[static_cast<size_t>(list[0])];
    if (known < 0)
      known = v;
    else
      unite(known, v);
  });
  for (size_t i = 0; i < all.list.size(); ++i) {
    const Factor& factor = all.list[i];
    if (of_factor[i] < 0) of_factor[i] = add_variable(factor.size, false);
    ClassFacts& facts = facts_[static_cast<size_t>(root(of_factor[i]))];
    facts.fixed |= factor.kind == FactorKind::kFixed;
    for (const int64_t amount : factor.amounts) facts.divisible = std::gcd(facts.divisible, amount);
  }
  each([&](const std::vector<int32_t>& list, int32_t v) {
    if (list.size() < 2) return;
    MergedDimension merged{v, {}};
    for (const int32_t factor : list) merged.parts.push_back(of_factor[static_cast<size_t>(factor)]);
    merged_.push_back(std::move(merged));
  });
}

/// What runs as part of an instruction has its arguments' and its result's dimensions.
void DimensionClasses::tie_computations(const OpContext& op, InstructionId id) {
  const Module& module = op.module();
  const Instruction& instruction = op.instruction();
  const auto root_of = [&](ComputationId c) { return module[c].root; };
  const auto parameter = [&](ComputationId c, size_t i) { return module[c].parameters[i]; };
  if (op.def().rules.value == ValueRule::kLoop) {
    const ComputationId body = op.called(AttrKey::kBody), condition = op.called(AttrKey::kCondition);
    for (const InstructionId other :
         {instruction.operands[0], parameter(body, 0), root_of(body), parameter(condition, 0)})
      tie_results(id, other);
    return;
  }
  if (op.def().rules.value == ValueRule::kConditional) {
    size_t operand = 1;
    for_each_called(instruction, [&](ComputationId branch) {
      tie_results(id, root_of(branch));
      tie_results(instruction.operands[operand++], parameter(branch, 0));
    });
    return;
  }
  if (const std::optional<OpenedCall> call = opened_call(op)) {
    std::vector<std::pair<InstructionId, int64_t>> leaves;  // of the operands
    for (const InstructionId operand : instruction.operands)
      for (int64_t leaf = 0; leaf < leaf_count_of(operand); ++leaf) leaves.emplace_back(operand, leaf);
    size_t argument = 0;
    for (const InstructionId to : module[call->computation].parameters)
      for (int64_t leaf = 0; leaf < leaf_count_of(to) && argument < call->arguments.size(); ++leaf) {
        const auto& [operand, number] = leaves[static_cast<size_t>(call->arguments[argument++])];
        tie_leaves(to, leaf, operand, number, 1);
      }
    std::vector<int64_t> results;
    if (op.def().forward)
      op.def().forward(op, results);
    else
      for (int64_t k = 0; k < leaf_count_of(id); ++k) results.push_back(opened_leaf(k));
    for (size_t leaf = 0; leaf < results.size(); ++leaf)
      if (const int64_t k = opened_index(results[leaf]); k >= 0)
        tie_leaves(id, static_cast<int64_t>(leaf), root_of(call->computation), k, 1);
    return;
  }
  const DimensionRule rule = op.def().rules.dimensions;
  const bool stacked = op.has(AttrKey::kNumCarries);  // a scan: what it calls has the same dimensions but one
  if (stacked) {
    fix(id);
    for (const InstructionId operand : instruction.operands) fix(operand);
  }
  if (stacked || rule == DimensionRule::kFixed || rule == DimensionRule::kBySize)
    for_each_called(instruction, [&](ComputationId called) {
      for (const InstructionId inside : module[called].parameters) fix(inside);
      fix(root_of(called));
    });
}

void DimensionClasses::tie_aliases(const Module& module, const Attr& aliases) {
  const InstructionId result = module.entry_computation().root;
  for (const Alias& alias : aliases.aliases()) {
    const InstructionId parameter =
        module.entry_computation().parameters[static_cast<size_t>(alias.parameter)];
    const ShapeRef part = subshape(module[result].shape, alias.output_index);
    if (part && subshape(module[parameter].shape, alias.parameter_index))
      tie_leaves(result, leaves_before(module[result].shape, alias.output_index), parameter,
                 leaves_before(module[parameter].shape, alias.parameter_index), leaf_count(part));
  }
}

/// Merged dimensions by the roots of their classes, each once.
void DimensionClasses::settle() {
  for (MergedDimension& merged : merged_) {
    merged.whole = root(merged.whole);
    for (DimensionClass& part : merged.parts) part = root(part);
    std::sort(merged.parts.begin(), merged.parts.end());
  }
  const auto key = [](const MergedDimension& m) { return std::tie(m.whole, m.parts); };
  std::sort(merged_.begin(), merged_.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  merged_.erase(std::unique(merged_.begin(), merged_.end(),
                            [&](const auto& a, const auto& b) { return key(a) == key(b); }),
                merged_.end());
}

}  // namespace hlosim
