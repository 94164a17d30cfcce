#include "memory/memory_classes.h"

#include <algorithm>

#include "layout/sizes.h"
#include "memory/argument_flow.h"
#include "ops/dataflow.h"

namespace hlosim {
namespace {

/// The number of the leaf at `index`, counted as for_each_leaf does.
int64_t leaf_number(ShapeRef shape, const std::vector<int64_t>& index) {
  int64_t number = 0;
  for (const int64_t i : index) {
    if (!shape->is_tuple() || i >= static_cast<int64_t>(shape->elements.size())) break;
    for (int64_t before = 0; before < i; ++before)
      number += leaf_count(shape->elements[static_cast<size_t>(before)]);
    shape = shape->elements[static_cast<size_t>(i)];
  }
  return number;
}

std::vector<ShapeRef> leaf_shapes(ShapeRef shape) {
  std::vector<ShapeRef> leaves;
  for_each_leaf(shape, [&](ShapeRef leaf) { leaves.push_back(leaf); });
  return leaves;
}

bool same_array(ShapeRef a, ShapeRef b) {
  return a->is_array() && b->is_array() && a->element_type == b->element_type &&
         std::equal(a->dimensions.begin(), a->dimensions.end(), b->dimensions.begin(), b->dimensions.end());
}

class Classifier {
 public:
  Classifier(const Module& module, const OpTable& table, const Occupancy& occupancy, const Module* given)
      : module_(module),
        table_(table),
        occupancy_(occupancy),
        flow_(argument_flow(module, table)),
        gathers_(module.computations.size(), -1) {
    int64_t next = 0;
    for (const InstructionId parameter : module.entry_computation().parameters) {
      first_.push_back(next);
      for (const ShapeRef leaf : leaf_shapes(module[parameter].shape)) arguments_.push_back(leaf);
      next = static_cast<int64_t>(arguments_.size());
    }
    comes_back_.resize(arguments_.size());
    if (given && given != &module && argument_leaves(*given) == static_cast<int64_t>(arguments_.size())) {
      ArgumentFlow of_given = argument_flow(*given, table);
      flow_.multiplied = std::move(of_given.multiplied), flow_.cached = std::move(of_given.cached);
    }
    find_returning();
  }

  std::vector<MemoryClass> classify() {
    std::vector<MemoryClass> classes;
    for (const LiveBuffer& buffer : occupancy_.buffers) classes.push_back(class_of(buffer));
    return classes;
  }

 private:
  static int64_t argument_leaves(const Module& module) {
    int64_t count = 0;
    for (const InstructionId parameter : module.entry_computation().parameters)
      count += leaf_count(module[parameter].shape);
    return count;
  }

  /// Of a parameter of the entry computation.
  int64_t argument_of(const LiveBuffer& buffer) const {
    const Instruction& parameter = module_[buffer.instruction];
    return first_[static_cast<size_t>(parameter.parameter_number)] +
           leaf_number(parameter.shape, buffer.index);
  }
  bool is_argument(const LiveBuffer& buffer) const {
    const Instruction& maker = module_[buffer.instruction];
    return buffer.is_parameter && maker.parameter_number >= 0 && maker.parent == module_.entry;
  }

  void find_returning() {
    bool donates = false;
    for (const LiveBuffer& buffer : occupancy_.buffers)
      if (is_argument(buffer) && buffer.is_output)
        donates = comes_back_[static_cast<size_t>(argument_of(buffer))] = true;
    const std::vector<ShapeRef> results = leaf_shapes(module_.root(module_.entry).shape);
    for (size_t i = 0; i < arguments_.size() && !donates; ++i)
      for (size_t k = 0; k < std::min(results.size(), flow_.results.size()) && !comes_back_[i]; ++k)
        comes_back_[i] = same_array(arguments_[i], results[k]) && flow_.reaches(static_cast<int64_t>(i), k);
    for (size_t i = 0; i < arguments_.size(); ++i) {
      const auto leaf = static_cast<int64_t>(i);
      trains_ |= comes_back_[i] && flow_.is_multiplied(leaf) && !flow_.cached.has(leaf);
    }
  }

  MemoryClass class_of_argument(int64_t leaf) const {
    const bool comes_back = comes_back_[static_cast<size_t>(leaf)], is_read = flow_.is_multiplied(leaf);
    if (trains_) {
      if (!comes_back) return MemoryClass::kInputs;
      return is_read ? MemoryClass::kParameters : MemoryClass::kOptimizerState;
    }
    if (comes_back) return flow_.cached.has(leaf) ? MemoryClass::kCache : MemoryClass::kInputs;
    return is_read && may_be_weight(arguments_[static_cast<size_t>(leaf)]->element_type)
               ? MemoryClass::kParameters
               : MemoryClass::kInputs;
  }

  /// Weights may be stored in eight bits or fewer; wider integers are indices.
  static bool may_be_weight(ElementType type) {
    constexpr int kWidest = 8;
    return is_float(type) || (is_integer(type) && bit_width(type) <= kWidest);
  }

  MemoryClass class_of(const LiveBuffer& buffer) {
    if (is_argument(buffer)) return class_of_argument(argument_of(buffer));
    if (buffer.is_constant) return MemoryClass::kConstants;
    if (gathers(module_[buffer.instruction])) return MemoryClass::kGathered;
    return buffer.is_output ? MemoryClass::kResults : MemoryClass::kActivations;
  }

  /// It is an all-gather, has one inside, or rearranges what one made.
  bool gathers(const Instruction& instruction) {
    const OpRules& rules = table_[instruction.opcode].rules;
    if (rules.async_kind == AsyncKind::kAllGather) return true;
    const bool is_async = table_[instruction.opcode].has(kAsyncStart | kAsyncUpdate | kAsyncDone);
    if (is_async && instruction.find(AttrKey::kCalls) == nullptr)
      return !instruction.operands.empty() && gathers(module_[instruction.operands[0]]);
    bool inside = false;
    if (is_async || rules.call != CallRule::kControlFlow)
      for_each_called(instruction, [&](ComputationId id) { inside = inside || gathers_inside(id); });
    if (inside) return true;
    const bool rearranges = rules.fusion == FusionRule::kCopy || rules.fusion == FusionRule::kReindex;
    return rearranges && !instruction.operands.empty() && gathers(module_[instruction.operands[0]]);
  }
  bool gathers_inside(ComputationId id) {
    if (gathers_[id] >= 0) return gathers_[id] == 1;
    gathers_[id] = 0;
    for (const InstructionId inner : module_[id].instructions)
      if (gathers(module_[inner])) gathers_[id] = 1;
    return gathers_[id] == 1;
  }

  const Module& module_;
  const OpTable& table_;
  const Occupancy& occupancy_;
  ArgumentFlow flow_;
  std::vector<int64_t> first_;       // argument leaf of each parameter's first
  std::vector<ShapeRef> arguments_;  // by leaf
  std::vector<bool> comes_back_;     // by leaf
  bool trains_ = false;
  IdMap<ComputationId, int8_t> gathers_;  // -1: not known yet
};

}  // namespace

std::string_view to_text(MemoryClass kind) {
  constexpr std::string_view kNames[] = {"parameters",  "optimizer state", "cache",   "inputs",
                                         "activations", "gathered copies", "results", "constants"};
  return kNames[static_cast<size_t>(kind)];
}

std::vector<MemoryClass> memory_classes(const Module& module, const OpTable& table,
                                        const Occupancy& occupancy, const Module* given) {
  return Classifier(module, table, occupancy, given).classify();
}

BytesByClass bytes_at_peak(const Occupancy& occupancy, const std::vector<MemoryClass>& classes,
                           const SpaceOccupancy& space) {
  BytesByClass bytes{};
  for (size_t i = 0; i < occupancy.buffers.size(); ++i) {
    const LiveBuffer& buffer = occupancy.buffers[i];
    if (buffer.space != space.number || !buffer.counts_at(space.peak_step)) continue;
    bytes[static_cast<size_t>(classes[i])] += buffer.size;
  }
  return bytes;
}

}  // namespace hlosim
