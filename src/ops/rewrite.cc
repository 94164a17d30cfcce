#include "ops/rewrite.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/check.h"
#include "layout/bitcast.h"

namespace hlosim {

InstructionId ModuleRewriter::add(Opcode opcode, InstructionId like, ShapeRef shape,
                                std::span<const InstructionId> operands, std::span<const Attr> attrs) {
  const Instruction model = module_[like];
  Instruction made;
  made.opcode = opcode;
  made.offset = model.offset;
  made.opcode_offset = model.opcode_offset;
  made.name = module_.arena().copy(std::string(model.name) + "." + std::string(to_text(opcode)));
  made.shape = shape;
  made.operands = module_.arena().copy(operands);
  made.attrs = module_.arena().copy(attrs);
  made.parent = model.parent;
  const InstructionId id = module_.instructions.add(made);
  module_.computations[model.parent].instructions.push_back(id);
  return id;
}

InstructionId ModuleRewriter::copy(InstructionId operand, ShapeRef shape) {
  HLOSIM_CHECK(shape->is_array() && compatible(module_[operand].shape, shape), "{} of {}", to_text(shape),
               to_text(module_[operand].shape));
  const InstructionId operands[] = {operand};
  return add(Opcode::kCopy, operand, shape, operands);
}

InstructionId ModuleRewriter::element(InstructionId tuple, int64_t index) {
  if (module_[tuple].opcode == Opcode::kTuple) return module_[tuple].operands[static_cast<size_t>(index)];
  const InstructionId operands[] = {tuple};
  const Attr attr = Attr::make_int(AttrKey::kIndex, index);
  return add(Opcode::kGetTupleElement, tuple, module_[tuple].shape->elements[static_cast<size_t>(index)],
             operands, std::span(&attr, 1));
}

InstructionId ModuleRewriter::tuple(InstructionId like, std::span<const InstructionId> elements) {
  std::vector<ShapeRef> shapes;
  for (const InstructionId element : elements) shapes.push_back(module_[element].shape);
  return add(Opcode::kTuple, like, module_.shapes().tuple(shapes), elements);
}

void ModuleRewriter::set_operand(InstructionId user, size_t number, InstructionId operand) {
  const std::span<const InstructionId> before = module_[user].operands;
  const std::span<InstructionId> after = module_.arena().copy(before);
  after[number] = operand;
  module_.instructions[user].operands = after;
}

void ModuleRewriter::set_attr(InstructionId id, const Attr& attr) {
  std::vector<Attr> attrs(module_[id].attrs.begin(), module_[id].attrs.end());
  const auto found =
      std::find_if(attrs.begin(), attrs.end(), [&](const Attr& other) { return other.key == attr.key; });
  if (found == attrs.end())
    attrs.push_back(attr);
  else
    *found = attr;
  module_.instructions[id].attrs = module_.arena().copy(attrs);
}

void ModuleRewriter::add_control_predecessor(InstructionId id, InstructionId before) {
  std::vector<InstructionId> all = {before};
  if (const Attr* attr = module_[id].find(AttrKey::kControlPredecessors))
    all.insert(all.end(), attr->instructions().begin(), attr->instructions().end());
  set_attr(id, Attr::make_list<InstructionId>(AttrKey::kControlPredecessors, AttrSyntax::kInstructions,
                                              module_.arena().copy(all)));
}

void ModuleRewriter::set_called(InstructionId caller, size_t mention, ComputationId computation) {
  size_t passed = 0;
  for (const Attr& attr : module_[caller].attrs) {
    if (!attr.holds_computations()) continue;
    const size_t count = attr.computations().size();
    if (mention >= passed + count) {
      passed += count;
      continue;
    }
    std::vector<ComputationId> called(attr.computations().begin(), attr.computations().end());
    called[mention - passed] = computation;
    Attr changed = Attr::make_list<ComputationId>(attr.key, attr.syntax, module_.arena().copy(called));
    changed.offset = attr.offset;
    set_attr(caller, changed);
    return;
  }
  HLOSIM_CHECK(false, "{} calls fewer computations than {}", module_[caller].name, mention + 1);
}

bool ModuleRewriter::spell_out_bitcast(InstructionId id) {
  Instruction& bitcast = module_.instructions[id];
  if (bitcast.opcode != Opcode::kBitcast) return true;
  const ShapeRef from = module_[bitcast.operands[0]].shape, to = bitcast.shape;
  if (!from->is_array() || !to->is_array() || from->element_type != to->element_type || !from->is_static() ||
      !to->is_static())
    return false;
  const BitcastClass is = classify_bitcast(from, to);
  if (!is.is_no_op()) return false;
  const bool transposes = is.kind == BitcastKind::kTranspose || is.kind == BitcastKind::kTiledTranspose;
  bitcast.opcode = transposes ? Opcode::kTranspose : Opcode::kReshape;
  if (transposes)
    set_attr(id, Attr::make_list<int64_t>(AttrKey::kDimensions, AttrSyntax::kInts,
                                          module_.arena().copy(is.permutation)));
  return true;
}

ComputationId ModuleRewriter::clone(ComputationId id) {
  Computation made = module_[id];
  const ComputationId cloned{static_cast<int32_t>(module_.computations.size())};
  std::unordered_map<InstructionId, InstructionId> now;
  for (InstructionId& instruction : made.instructions) {
    Instruction one = module_[instruction];
    one.parent = cloned;
    const InstructionId id_now = module_.instructions.add(one);
    now.emplace(instruction, id_now);
    instruction = id_now;
  }
  for (InstructionId& parameter : made.parameters) parameter = now.at(parameter);
  made.root = now.at(made.root);
  for (const InstructionId instruction : made.instructions) {
    std::vector<InstructionId> others(module_[instruction].operands.begin(), module_[instruction].operands.end());
    for (InstructionId& other : others) other = now.at(other);
    module_.instructions[instruction].operands = module_.arena().copy(others);
    const Attr* control = module_[instruction].find(AttrKey::kControlPredecessors);
    if (!control) continue;
    others.assign(control->instructions().begin(), control->instructions().end());
    for (InstructionId& other : others) other = now.at(other);
    set_attr(instruction, Attr::make_list<InstructionId>(AttrKey::kControlPredecessors, AttrSyntax::kInstructions,
                                                         module_.arena().copy(others)));
  }
  return module_.computations.add(std::move(made));
}

void ModuleRewriter::sort(ComputationId id) {
  std::vector<InstructionId>& list = module_.computations[id].instructions;
  const std::vector<InstructionId> before = list;
  list.clear();
  enum : uint8_t { kNew, kOpen, kDone };
  std::unordered_map<InstructionId, uint8_t> state;
  std::vector<InstructionId> stack;
  for (const InstructionId start : before) {
    stack.push_back(start);
    while (!stack.empty()) {
      const InstructionId at = stack.back();
      uint8_t& seen = state[at];
      if (seen != kNew) {
        stack.pop_back();
        if (seen == kOpen) list.push_back(at);
        seen = kDone;
        continue;
      }
      seen = kOpen;
      std::vector<InstructionId> needed(module_[at].operands.begin(), module_[at].operands.end());
      if (const Attr* control = module_[at].find(AttrKey::kControlPredecessors))
        needed.insert(needed.end(), control->instructions().begin(), control->instructions().end());
      for (size_t i = needed.size(); i-- > 0;)
        if (state[needed[i]] == kNew) stack.push_back(needed[i]);
    }
  }
}

}  // namespace hlosim
