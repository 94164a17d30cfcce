#include "relayout/layout_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "modules/edit.h"
#include "ops/dataflow.h"
#include "ops/layout_rule.h"

namespace hlosim {

int32_t leaf_number(ShapeRef shape, std::span<const int64_t> index) {
  int32_t number = 0;
  for (const int64_t at : index) {
    for (int64_t i = 0; i < at; ++i)
      number += static_cast<int32_t>(leaf_count(shape->elements[static_cast<size_t>(i)]));
    shape = shape->elements[static_cast<size_t>(at)];
  }
  return number;
}

class LayoutGroups::Finder {
 public:
  Finder(LayoutGroups& out, const Module& module, const OpTable& table, bool free_entry)
      : out_(out), module_(module), table_(table), free_entry_(free_entry) {}

  void run() {
    number_slots();
    for (const ComputationId computation : out_.computations_)
      for (const InstructionId id : module_[computation].instructions) join(id);
    join_entry_aliases();
    collect();
    find_bodies();
    for (const ComputationId computation : out_.computations_)
      for (const InstructionId id : module_[computation].instructions) look_at(id);
    fix_entry();
    for (LayoutGroup& group : out_.groups_) fix_odd(group);
  }

 private:
  void number_slots() {
    out_.first_ = IdMap<InstructionId, int32_t>(module_.instructions.size(), -1);
    for (const FlowComputation& flow : flow_computations(module_, table_)) {
      out_.computations_.push_back(flow.id);
      for (const InstructionId id : module_[flow.id].instructions) {
        out_.first_[id] = static_cast<int32_t>(slots_.size());
        for_each_leaf_number(module_[id].shape, [&](int32_t leaf, ShapeRef shape) {
          slots_.push_back({id, leaf});
          leaves_.push_back(shape);
        });
      }
    }
    parent_.resize(slots_.size());
    std::iota(parent_.begin(), parent_.end(), 0);
  }

  int32_t find(int32_t slot) {
    while (parent_[static_cast<size_t>(slot)] != slot) {
      int32_t& up = parent_[static_cast<size_t>(slot)];
      up = parent_[static_cast<size_t>(up)];
      slot = up;
    }
    return slot;
  }

  void unite(InstructionId a, int32_t leaf_a, InstructionId b, int32_t leaf_b) {
    if (out_.first_[a] < 0 || out_.first_[b] < 0) return;
    const int32_t x = find(out_.first_[a] + leaf_a), y = find(out_.first_[b] + leaf_b);
    parent_[static_cast<size_t>(std::max(x, y))] = std::min(x, y);
  }

  void unite_all(InstructionId a, int32_t leaf_a, InstructionId b, int32_t leaf_b, int64_t count) {
    for (int32_t i = 0; i < count; ++i) unite(a, leaf_a + i, b, leaf_b + i);
  }
  void unite_all(InstructionId a, InstructionId b) { unite_all(a, 0, b, 0, leaf_count(module_[a].shape)); }

  InstructionId operand(InstructionId id, size_t i) const { return module_[id].operands[i]; }

  void join(InstructionId id) {
    const Instruction& instruction = module_[id];
    const ValueRule rule = dataflow(instruction.opcode).value;
    switch (rule) {
      case ValueRule::kTuple: {
        int32_t leaf = 0;
        for (const InstructionId element : instruction.operands) {
          const int64_t count = leaf_count(module_[element].shape);
          unite_all(id, leaf, element, 0, count);
          leaf += static_cast<int32_t>(count);
        }
        break;
      }
      case ValueRule::kElement: {
        const int64_t index[] = {instruction.find(AttrKey::kIndex)->integer()};
        unite_all(id, 0, operand(id, 0), leaf_number(module_[operand(id, 0)].shape, index),
                  leaf_count(instruction.shape));
        break;
      }
      case ValueRule::kForwards:
        if (module_[operand(id, 0)].shape->logical == instruction.shape->logical)
          unite_all(id, operand(id, 0));
        break;
      case ValueRule::kShallowCopy:
        if (instruction.shape->is_tuple()) unite_all(id, operand(id, 0));
        break;
      case ValueRule::kLoop:
        join_loop(id);
        break;
      case ValueRule::kConditional:
        join_branches(id);
        break;
      case ValueRule::kCall:
        join_call(id, called_in_order(instruction)[0]);
        break;
      case ValueRule::kCopyStart: {
        const int64_t count = leaf_count(module_[operand(id, 0)].shape);
        unite_all(id, 0, operand(id, 0), 0, count);
        unite_all(id, static_cast<int32_t>(count), operand(id, 0), 0, count);
        break;
      }
      case ValueRule::kCopyDone:
        unite_all(id, operand(id, 0));
        break;
      default:
        break;
    }
    for (const InPlacePair& pair : in_place_pairs(module_, instruction)) {
      const InstructionId from = operand(id, static_cast<size_t>(pair.operand));
      const ShapeRef part = subshape(module_[from].shape, pair.operand_index);
      if (!part || subshape(instruction.shape, pair.output_index) == nullptr) continue;
      unite_all(id, leaf_number(instruction.shape, pair.output_index), from,
                leaf_number(module_[from].shape, pair.operand_index), leaf_count(part));
    }
  }

  void join_loop(InstructionId id) {
    unite_all(id, operand(id, 0));
    for (const ComputationId called : called_in_order(module_[id]))
      unite_all(id, module_[called].parameters[0]);
    unite_all(id, module_[loop_body(module_[id])].root);
  }

  void join_branches(InstructionId id) {
    const std::vector<ComputationId> branches = called_in_order(module_[id]);
    for (size_t i = 0; i < branches.size(); ++i) {
      unite_all(id, module_[branches[i]].root);
      if (i + 1 < module_[id].operands.size())
        unite_all(module_[branches[i]].parameters[0], operand(id, i + 1));
    }
  }

  void join_call(InstructionId id, ComputationId called) {
    unite_all(id, module_[called].root);
    const std::vector<InstructionId>& parameters = module_[called].parameters;
    for (size_t i = 0; i < parameters.size() && i < module_[id].operands.size(); ++i)
      unite_all(parameters[i], operand(id, i));
  }

  void join_entry_aliases() {
    const Computation& entry = module_.entry_computation();
    const Attr* aliases = module_.find(AttrKey::kInputOutputAlias);
    if (!aliases) return;
    for (const Alias& alias : aliases->aliases()) {
      const InstructionId from = entry.parameters[static_cast<size_t>(alias.parameter)];
      const ShapeRef part = subshape(module_[from].shape, alias.parameter_index);
      unite_all(entry.root, leaf_number(module_[entry.root].shape, alias.output_index), from,
                leaf_number(module_[from].shape, alias.parameter_index), leaf_count(part));
    }
  }

  void collect() {
    out_.group_.assign(slots_.size(), -1);
    std::vector<int32_t> of_root(slots_.size(), -1);
    for (size_t slot = 0; slot < slots_.size(); ++slot) {
      const ShapeRef leaf = leaves_[slot];
      if (!leaf->is_array()) continue;
      int32_t& group = of_root[static_cast<size_t>(find(static_cast<int32_t>(slot)))];
      if (group < 0) {
        group = static_cast<int32_t>(out_.groups_.size());
        out_.groups_.emplace_back();
        out_.groups_.back().array = leaf;
      }
      out_.group_[slot] = group;
      out_.groups_[static_cast<size_t>(group)].members.push_back(slots_[slot]);
    }
  }

  ShapeRef leaf_of(LayoutSlot slot) const {
    return leaves_[static_cast<size_t>(out_.first_[slot.id] + slot.leaf)];
  }

  void find_bodies() {
    out_.may_relay_ = IdMap<InstructionId, uint8_t>(module_.instructions.size());
    IdMap<ComputationId, int32_t> callers(module_.computations.size());
    for (const Computation& computation : module_.computations)
      for (const InstructionId id : computation.instructions)
        for_each_called(module_[id], [&](ComputationId called) { ++callers[called]; });
    for (const ComputationId computation : out_.computations_) {
      for (const InstructionId id : module_[computation].instructions) {
        if (!dataflow(module_[id].opcode).is_fusion) continue;
        const ComputationId body = called_in_order(module_[id])[0];
        out_.may_relay_[id] = callers[body] == 1 && is_known_body(body);
      }
    }
  }

  /// Arrays only, but for a tuple at the end.
  bool is_known_body(ComputationId body) const {
    for (const InstructionId id : module_[body].instructions) {
      const Instruction& instruction = module_[id];
      const bool is_end = id == module_[body].root && dataflow(instruction.opcode).value == ValueRule::kTuple;
      if (!is_end && !instruction.shape->is_array()) return false;
      if (is_end && std::any_of(instruction.shape->elements.begin(), instruction.shape->elements.end(),
                                [](ShapeRef element) { return !element->is_array(); }))
        return false;
    }
    return true;
  }

  void set_unknown(InstructionId id, std::string_view by) {
    for_each_leaf_number(module_[id].shape, [&](int32_t leaf, ShapeRef) {
      const int32_t at = out_.of(id, leaf);
      if (at < 0) return;
      LayoutGroup& group = out_.groups_[static_cast<size_t>(at)];
      group.is_unknown = true;
      if (group.fixed.empty()) group.fixed = fmt::format("{} decides its layout", by);
    });
  }

  /// What an instruction does to the groups of its result and of operands that are tuples. Operands that are
  /// arrays can be copied for it.
  void look_at(InstructionId id) {
    const Instruction& instruction = module_[id];
    const Dataflow flow = dataflow(instruction.opcode);
    const bool hands_on = flow.value != ValueRule::kMakesAll && flow.value != ValueRule::kParameter &&
                          !(flow.value == ValueRule::kShallowCopy && instruction.shape->is_array());
    if (!hands_on)
      for_each_leaf_number(instruction.shape, [&](int32_t leaf, ShapeRef) {
        if (const int32_t at = out_.of(id, leaf); at >= 0) ++out_.groups_[static_cast<size_t>(at)].makers;
      });
    if (flow.is_fusion) {
      if (out_.may_relay_[id]) return;
      set_unknown(id, instruction.name);
      for (const InstructionId from : instruction.operands) set_unknown(from, instruction.name);
      return;
    }
    const LayoutRule rule = layout_rule(table_, module_, instruction);
    if (rule.result == LayoutWish::kKeep) set_unknown(id, instruction.name);
    for (size_t i = 0; i < rule.operands.size(); ++i)
      if (rule.operands[i].wish == LayoutWish::kKeep && module_[operand(id, i)].shape->is_tuple())
        set_unknown(operand(id, i), instruction.name);
  }

  void fix_entry() {
    const Computation& entry = module_.entry_computation();
    const auto mark = [&](InstructionId id, bool LayoutGroup::*what, std::string_view why) {
      for_each_leaf_number(module_[id].shape, [&](int32_t leaf, ShapeRef) {
        const int32_t at = out_.of(id, leaf);
        if (at < 0) return;
        LayoutGroup& group = out_.groups_[static_cast<size_t>(at)];
        group.*what = true;
        if (!free_entry_ && group.fixed.empty()) group.fixed = why;
      });
    };
    for (const InstructionId parameter : entry.parameters)
      mark(parameter, &LayoutGroup::is_argument, "it is an argument of the module");
    mark(entry.root, &LayoutGroup::is_result, "it is a result of the module");
  }

  void fix_odd(LayoutGroup& group) const {
    const Layout& layout = *group.array->layout;
    std::string_view why;
    if (group.array->rank() < 2)
      why = "it has no order: less than two dimensions";
    else if (!group.array->is_static())
      why = "its size is known only when it runs";
    else if (!layout.splits.empty() || layout.metadata_prefix_bytes != 0 || is_sparse(layout))
      why = "it is split, sparse or has metadata";
    for (const LayoutSlot& slot : group.members) {
      const ShapeRef leaf = leaf_of(slot);
      if (leaf->memory_space() == kHostSpace) why = "it is in the host's memory";
      if (leaf->logical != group.array->logical || !same_but_for_space(*leaf->layout, layout))
        why = "arrays of several layouts share its memory";
    }
    if (!why.empty()) group.fixed = why;
  }

  static bool is_sparse(const Layout& layout) {
    return layout.index_type != ElementType::kInvalid || layout.pointer_type != ElementType::kInvalid;
  }
  static bool same_but_for_space(const Layout& a, const Layout& b) {
    return std::ranges::equal(a.minor_to_major, b.minor_to_major) &&
           std::ranges::equal(
               a.tiles, b.tiles,
               [](const Tile& x, const Tile& y) { return std::ranges::equal(x.dimensions, y.dimensions); }) &&
           a.tail_padding_alignment == b.tail_padding_alignment && a.element_bits == b.element_bits;
  }

  LayoutGroups& out_;
  const Module& module_;
  const OpTable& table_;
  bool free_entry_;
  std::vector<LayoutSlot> slots_;
  std::vector<ShapeRef> leaves_;  // by slot
  std::vector<int32_t> parent_;
};

LayoutGroups::LayoutGroups(const Module& module, const OpTable& table, bool free_entry) {
  Finder(*this, module, table, free_entry).run();
}

}  // namespace hlosim
