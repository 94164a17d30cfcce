#include "relayout/layout_edit.h"

#include <algorithm>

#include "layout/bitcast.h"
#include "ops/dataflow.h"

namespace hlosim {
namespace {

/// `shape` with other arrays inside, in order.
ShapeRef with_leaves(ShapePool& pool, ShapeRef shape, std::span<const ShapeRef> leaves, size_t& next) {
  if (!shape->is_tuple()) return leaves[next++];
  std::vector<ShapeRef> elements;
  for (const ShapeRef element : shape->elements) elements.push_back(with_leaves(pool, element, leaves, next));
  return pool.tuple(elements);
}

bool same_space(ShapeRef a, ShapeRef b) { return a->memory_space() == b->memory_space(); }

/// A reshape or a transpose (`dimensions`) of one to the other moves nothing.
bool moves_nothing(ShapeRef from, ShapeRef to, std::span<const int64_t> dimensions) {
  if (!from->is_array() || !to->is_array() || !same_space(from, to) || bitcast_problem(from, to))
    return false;
  const BitcastClass found = classify_bitcast(from, to);
  const bool keeps_order = found.kind == BitcastKind::kIdentity || found.kind == BitcastKind::kReshape ||
                           found.kind == BitcastKind::kTiledReshape;
  if (dimensions.empty()) return keeps_order;
  std::vector<int64_t> large;  // the order of dimensions that have one
  for (const int64_t i : dimensions)
    if (from->dim(i) != 1) large.push_back(i);
  if (keeps_order) return std::is_sorted(large.begin(), large.end());
  if (!found.is_no_op()) return false;
  std::vector<int64_t> others;
  for (const int64_t i : found.permutation)
    if (from->dim(i) != 1) others.push_back(i);
  return large == others;
}

}  // namespace

LayoutEdit::LayoutEdit(ModuleEditor& editor, const LayoutRelations& relations, const LayoutGroups& groups,
                       const LayoutMoves& moves)
    : editor_(editor),
      module_(editor.module()),
      relations_(relations),
      groups_(groups),
      moves_(moves),
      first_copy_(static_cast<int32_t>(module_.instructions.size())) {}

ShapeRef LayoutEdit::shape_of(InstructionId id, const LayoutChoice& choice) const {
  const ShapeRef given = relations_.original(id);
  if (given->is_array()) {
    const int32_t group = groups_.of(id);
    const Layout* layout = group < 0 ? nullptr : choice[static_cast<size_t>(group)];
    return layout ? laid_out_as(module_.shapes(), given, layout) : given;
  }
  bool changes = false;
  std::vector<ShapeRef> leaves;
  for_each_leaf_number(given, [&](int32_t number, ShapeRef leaf) {
    const int32_t group = groups_.of(id, number);
    const Layout* layout = group < 0 ? nullptr : choice[static_cast<size_t>(group)];
    leaves.push_back(layout ? laid_out_as(module_.shapes(), leaf, layout) : leaf);
    changes |= leaves.back() != leaf;
  });
  size_t next = 0;
  return changes ? with_leaves(module_.shapes(), given, leaves, next) : given;
}

ShapeRef LayoutEdit::presented(InstructionId id, size_t k, const LayoutChoice& choice) const {
  const ShapeRef operand = shape_of(relations_.operands(id)[k], choice);
  if (!operand->is_array()) return operand;
  const ShapeRef result = shape_of(id, choice);
  return relations_.takes(id, k, operand, result) ? operand : relations_.wanted(id, k, operand, result);
}

bool LayoutEdit::vanishes(InstructionId id, ShapeRef operand, ShapeRef result) const {
  if (moves_.removable.contains(id)) return same_layout(operand, result) && same_space(operand, result);
  if (!moves_.bitcasts.contains(id)) return false;
  const auto [known, is_new] =
      vanish_.try_emplace({reinterpret_cast<const void*>(int64_t{id.index}), operand, result});
  if (!is_new) return known->second;
  const auto spelled = moves_.spelled_out.find(id);
  const Instruction& instruction = spelled == moves_.spelled_out.end() ? module_[id] : spelled->second;
  const Attr* dimensions = instruction.find(AttrKey::kDimensions);
  return known->second =
             moves_nothing(operand, result, dimensions ? dimensions->ints() : std::span<const int64_t>());
}

Instruction& LayoutEdit::change(InstructionId id) {
  saved_.try_emplace(id, module_[id]);
  return module_.instructions[id];
}

Computation& LayoutEdit::change(ComputationId id) {
  saved_computations_.try_emplace(id, module_[id]);
  return module_.computations[id];
}

void LayoutEdit::set_shape(InstructionId id, ShapeRef shape) {
  if (module_[id].shape != shape) change(id).shape = shape;
}

void LayoutEdit::undo() {
  for (const auto& [id, instruction] : saved_) module_.instructions[id] = instruction;
  for (auto& [id, computation] : saved_computations_) module_.computations[id] = std::move(computation);
  saved_.clear();
  saved_computations_.clear();
  copies_used_ = 0;
}

InstructionId LayoutEdit::copy_of(InstructionId operand, ShapeRef shape, ComputationId parent) {
  const InstructionId operands[] = {operand};
  if (copies_used_ == copies_.size())
    copies_.push_back(editor_.add(parent, Opcode::kCopy, "copy", shape, operands));
  const InstructionId id = copies_[copies_used_++];
  editor_.set_operands(id, operands);
  Instruction& copy = module_.instructions[id];
  copy.parent = parent;
  copy.shape = shape;
  copy.offset = module_[operand].offset;
  copy.opcode_offset = module_[operand].opcode_offset;
  return id;
}

void LayoutEdit::spell_out(InstructionId id) {
  const auto spelled = moves_.spelled_out.find(id);
  if (spelled == moves_.spelled_out.end()) return;
  Instruction& instruction = change(id);
  instruction.opcode = spelled->second.opcode;
  instruction.attrs = spelled->second.attrs;
}

void LayoutEdit::as_bitcast(InstructionId id) {
  if (module_[id].opcode == Opcode::kBitcast) return;
  Instruction& instruction = change(id);
  instruction.opcode = Opcode::kBitcast;
  std::vector<Attr> attrs;
  for (const Attr& attr : instruction.attrs)
    if (attr.key != AttrKey::kDimensions && attr.key != AttrKey::kInferredDimension) attrs.push_back(attr);
  instruction.attrs = module_.arena().copy(std::span<const Attr>(attrs));
}

void LayoutEdit::finish(ComputationId computation) {
  const std::vector<InstructionId> order = module_[computation].instructions;
  std::vector<InstructionId> list;
  std::unordered_map<InstructionId, InstructionId> now;  // of what has gone: its operand
  std::map<std::pair<InstructionId, ShapeRef>, InstructionId> copies;
  for (const InstructionId id : order) {
    std::vector<InstructionId> operands(module_[id].operands.begin(), module_[id].operands.end());
    bool changed = false;
    for (size_t k = 0; k < operands.size(); ++k) {
      if (const auto gone = now.find(operands[k]); gone != now.end())
        operands[k] = gone->second, changed = true;
      const ShapeRef operand = module_[operands[k]].shape;
      if (!operand->is_array() || relations_.takes(id, k, operand, module_[id].shape)) continue;
      const ShapeRef wanted = relations_.wanted(id, k, operand, module_[id].shape);
      InstructionId& copy = copies[{operands[k], wanted}];
      if (!copy.valid()) list.push_back(copy = copy_of(operands[k], wanted, computation));
      operands[k] = copy, changed = true;
    }
    if (changed) {
      change(id);
      editor_.set_operands(id, operands);
    }
    if (!operands.empty() && vanishes(id, module_[operands[0]].shape, module_[id].shape)) {
      if (moves_.removable.contains(id)) {
        now[id] = operands[0];
        continue;
      }
      as_bitcast(id);
    } else {
      spell_out(id);
    }
    list.push_back(id);
  }
  const auto root = now.find(module_[computation].root);
  if (list == order && root == now.end()) return;
  Computation& changed = change(computation);
  if (root != now.end()) changed.root = root->second;
  changed.instructions = std::move(list);
}

// ── inside fusions ──────────────────────────────────────────────

bool LayoutEdit::keeps_in_body(InstructionId id) const {
  return relations_.rule(id).result == LayoutWish::kKeep || dataflow(module_[id].opcode).is_fusion ||
         !module_[id].shape->is_array() || module_[id].shape->rank() < 2;
}

void LayoutEdit::lay_out_body(InstructionId fusion, std::span<const ShapeRef> operands, ShapeRef result,
                              BodyVariant variant) {
  const ComputationId body = called_in_order(module_[fusion])[0];
  decided_.clear();
  const std::vector<InstructionId>& parameters = module_[body].parameters;
  for (size_t i = 0; i < parameters.size() && i < operands.size(); ++i) {
    decided_[parameters[i]] = operands[i];
    set_shape(parameters[i], operands[i]);
  }
  decide_body(body, variant, result);
  for (const InstructionId id : module_[body].instructions)
    if (const auto found = decided_.find(id); found != decided_.end() && module_[id].parameter_number < 0)
      set_shape(id, found->second);
  finish_body(body, result);
}

/// Layouts of what is inside as far as anything asks for them; the rest stays as given.
void LayoutEdit::decide_body(ComputationId body, BodyVariant variant, ShapeRef result) {
  const std::vector<InstructionId>& order = module_[body].instructions;
  if (variant == BodyVariant::kAsGiven) return;
  for (const InstructionId id : order)
    if (keeps_in_body(id) && module_[id].parameter_number < 0) decided_[id] = relations_.original(id);
  const InstructionId root = module_[body].root;
  const auto lead = [&] {
    const auto end = [&](InstructionId id, ShapeRef wanted) {
      if (!decided_.contains(id) && wanted->is_array() && relations_.makes(id, wanted)) decided_[id] = wanted;
    };
    if (result->is_tuple() && module_[root].operands.size() == result->elements.size())
      for (size_t i = 0; i < result->elements.size(); ++i)
        end(module_[root].operands[i], result->elements[i]);
    else
      end(root, result);
    for (size_t i = order.size(); i-- > 0;) {
      const InstructionId id = order[i];
      const auto mine = decided_.find(id);
      if (mine == decided_.end() || dataflow(module_[id].opcode).is_fusion || module_[id].shape->is_tuple())
        continue;
      const ShapeRef shape = mine->second;
      for (size_t k = 0; k < module_[id].operands.size(); ++k) {
        const InstructionId operand = module_[id].operands[k];
        if (decided_.contains(operand)) continue;
        const ShapeRef wanted = relations_.lead(id, k, shape);
        if (wanted && relations_.makes(operand, wanted)) decided_[operand] = wanted;
      }
    }
  };
  const auto follow = [&] {
    for (const InstructionId id : order) {
      if (decided_.contains(id)) continue;
      for (size_t k = 0; k < module_[id].operands.size() && !decided_.contains(id); ++k) {
        const auto operand = decided_.find(module_[id].operands[k]);
        if (operand == decided_.end()) continue;
        const ShapeRef wanted = relations_.follow(id, k, operand->second);
        if (wanted && relations_.makes(id, wanted)) decided_[id] = wanted;
      }
    }
  };
  variant == BodyVariant::kLead ? lead() : follow();
  variant == BodyVariant::kLead ? follow() : lead();
}

/// Copies inside, and at the end where the result lies otherwise than outside.
void LayoutEdit::finish_body(ComputationId body, ShapeRef result) {
  const std::vector<InstructionId> order = module_[body].instructions;
  std::vector<InstructionId> list;
  std::map<std::pair<InstructionId, ShapeRef>, InstructionId> copies;
  const auto copied = [&](InstructionId operand, ShapeRef shape) {
    InstructionId& copy = copies[{operand, shape}];
    if (!copy.valid()) list.push_back(copy = copy_of(operand, shape, body));
    return copy;
  };
  const InstructionId root = module_[body].root;
  const bool is_tuple = result->is_tuple();
  for (const InstructionId id : order) {
    std::vector<InstructionId> operands(module_[id].operands.begin(), module_[id].operands.end());
    const bool keeps = dataflow(module_[id].opcode).is_fusion;
    bool changed = false;
    for (size_t k = 0; k < operands.size(); ++k) {
      const ShapeRef operand = module_[operands[k]].shape;
      if (!operand->is_array() || operand->rank() < 2) continue;
      ShapeRef wanted = operand;
      if (is_tuple && id == root)
        wanted = result->elements[k];
      else if (keeps)
        wanted = laid_out_as(module_.shapes(), operand, relations_.original(operands[k])->layout);
      else if (!relations_.takes(id, k, operand, module_[id].shape))
        wanted = relations_.wanted(id, k, operand, module_[id].shape);
      if (same_layout(wanted, operand)) continue;
      operands[k] = copied(operands[k], laid_out_as(module_.shapes(), operand, wanted->layout)),
      changed = true;
    }
    if (changed) {
      change(id);
      editor_.set_operands(id, operands);
    }
    if (is_tuple && id == root) {
      std::vector<ShapeRef> shapes;
      for (const InstructionId element : operands) shapes.push_back(module_[element].shape);
      set_shape(id, module_.shapes().tuple(shapes));
    }
    if (moves_.bitcasts.contains(id))
      vanishes(id, module_[operands[0]].shape, module_[id].shape) ? as_bitcast(id) : spell_out(id);
    list.push_back(id);
  }
  InstructionId last = root;
  if (!is_tuple && !same_layout(module_[root].shape, result)) last = copied(root, result);
  if (list == order && last == root) return;
  Computation& changed = change(body);
  changed.root = last;
  changed.instructions = std::move(list);
}

}  // namespace hlosim
