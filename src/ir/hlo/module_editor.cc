#include "hlo/module_editor.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/check.h"
#include "layout/bitcast.h"

namespace hlosim {
namespace {

/// Requires: there are some.
template <class Name>
void sort_by_number(std::vector<Name>& names) {
  const int64_t most = std::ranges::max(names, {}, &Name::number).number;
  if (most > 8 * std::ssize(names)) {
    std::ranges::sort(names, {}, &Name::number);
    return;
  }
  // Mostly there are few gaps between them: each has its place.
  std::vector<size_t> place(static_cast<size_t>(most) + 2);
  for (const Name& name : names) ++place[static_cast<size_t>(name.number) + 1];
  for (size_t i = 1; i < place.size(); ++i) place[i] += place[i - 1];
  std::vector<Name> sorted(names.size());
  for (const Name& name : names) sorted[place[static_cast<size_t>(name.number)]++] = name;
  names = std::move(sorted);
}

}  // namespace

ModuleEditor::ModuleEditor(Module& module) : module_(module) {}

void ModuleEditor::list_numbered_names() {
  const auto list = [&](std::string_view name) {
    const size_t end = name.find_last_not_of("0123456789");
    if (end == std::string_view::npos || name[end] != '.') return;
    const std::string_view digits = name.substr(end + 1);
    // Numbers of other forms, and beyond all that are ever made up, stand behind no name that is made up.
    if (digits.empty() || digits[0] == '0' || digits.size() > 18) return;
    int64_t number = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    numbered_.push_back({number, name.substr(0, end)});
  };
  for (const Instruction& instruction : module_.instructions) list(instruction.name);
  for (const Computation& computation : module_.computations) list(computation.name);
  if (!std::ranges::is_sorted(numbered_, {}, &NumberedName::number)) sort_by_number(numbered_);
}

std::string_view ModuleEditor::unique(std::string_view name) {
  // Names are listed when the first is made up: what others add to the module has them from here as well.
  // Made-up names end with their number, and each number is taken once, in rising order: other names needn't
  // be listed, nor those made up here, and numbers that were passed are of no more use.
  if (next_ == 1) list_numbered_names();
  const auto is_taken = [&](int64_t number) {
    bool taken = false;
    for (; passed_ < numbered_.size() && numbered_[passed_].number <= number; ++passed_)
      taken = taken || (numbered_[passed_].number == number && numbered_[passed_].base == name);
    return taken;
  };
  while (is_taken(next_)) ++next_;
  const fmt::format_int number(next_++);
  const std::span<char> made(static_cast<char*>(module_.arena().allocate(name.size() + 1 + number.size(), 1)),
                             name.size() + 1 + number.size());
  const auto dot = std::ranges::copy(name, made.begin()).out;
  *dot = '.';
  std::copy_n(number.data(), number.size(), dot + 1);
  return {made.data(), made.size()};
}

InstructionId ModuleEditor::add(ComputationId parent, Opcode opcode, std::string_view name, ShapeRef shape,
                                std::span<const InstructionId> operands, std::span<const Attr> attrs) {
  Instruction instruction;
  instruction.opcode = opcode;
  instruction.name = unique(name);
  instruction.shape = shape;
  instruction.operands = module_.arena().copy(operands);
  instruction.attrs = module_.arena().copy(attrs);
  instruction.parent = parent;
  const auto placed =
      std::ranges::find_if(operands, [&](InstructionId id) { return module_[id].offset > 0; });
  const InstructionId id = module_.instructions.add(instruction);
  if (placed != operands.end()) place_like(id, module_[*placed]);
  return id;
}

void ModuleEditor::place_like(InstructionId id, const Instruction& original) {
  const uint32_t offset = original.offset, opcode_offset = original.opcode_offset;
  module_.instructions[id].offset = offset;
  module_.instructions[id].opcode_offset = opcode_offset;
}

ComputationId ModuleEditor::add_computation(std::string_view name) {
  Computation computation;
  computation.name = unique(name);
  return module_.computations.add(std::move(computation));
}

InstructionId ModuleEditor::add_parameter(ComputationId parent, std::string_view name, ShapeRef shape) {
  const InstructionId id = add(parent, Opcode::kParameter, name, shape, {});
  Computation& computation = module_.computations[parent];
  module_.instructions[id].parameter_number = static_cast<int64_t>(computation.parameters.size());
  computation.parameters.push_back(id);
  computation.instructions.push_back(id);
  return id;
}

void ModuleEditor::set_operands(InstructionId id, std::span<const InstructionId> operands) {
  module_.instructions[id].operands = module_.arena().copy(operands);
}

void ModuleEditor::replace_operand(InstructionId user, InstructionId from, InstructionId to) {
  std::vector<InstructionId> operands(module_[user].operands.begin(), module_[user].operands.end());
  std::replace(operands.begin(), operands.end(), from, to);
  set_operands(user, operands);
}

InstructionId ModuleEditor::append(Opcode opcode, InstructionId like, ShapeRef shape,
                                   std::span<const InstructionId> operands, std::span<const Attr> attrs) {
  const Instruction model = module_[like];
  const std::string name = fmt::format("{}.{}", model.name, to_text(opcode));
  const InstructionId id = add(model.parent, opcode, name, shape, operands, attrs);
  place_like(id, model);
  module_.computations[model.parent].instructions.push_back(id);
  return id;
}

InstructionId ModuleEditor::copy(InstructionId operand, ShapeRef shape) {
  HLOSIM_CHECK(shape->is_array() && compatible(module_[operand].shape, shape), "{} of {}", to_text(shape),
               to_text(module_[operand].shape));
  const InstructionId operands[] = {operand};
  return append(Opcode::kCopy, operand, shape, operands);
}

InstructionId ModuleEditor::element(InstructionId tuple, int64_t index) {
  if (module_[tuple].opcode == Opcode::kTuple) return module_[tuple].operands[static_cast<size_t>(index)];
  const InstructionId operands[] = {tuple};
  const Attr attr = Attr::make_int(AttrKey::kIndex, index);
  return append(Opcode::kGetTupleElement, tuple, module_[tuple].shape->elements[static_cast<size_t>(index)],
                operands, std::span(&attr, 1));
}

InstructionId ModuleEditor::tuple(InstructionId like, std::span<const InstructionId> elements) {
  std::vector<ShapeRef> shapes;
  for (const InstructionId element : elements) shapes.push_back(module_[element].shape);
  return append(Opcode::kTuple, like, module_.shapes().tuple(shapes), elements);
}

void ModuleEditor::set_operand(InstructionId user, size_t number, InstructionId operand) {
  const std::span<const InstructionId> before = module_[user].operands;
  const std::span<InstructionId> after = module_.arena().copy(before);
  after[number] = operand;
  module_.instructions[user].operands = after;
}

void ModuleEditor::replace_everywhere(ComputationId computation, InstructionId from, InstructionId to) {
  Computation& in = module_.computations[computation];
  if (in.root == from) in.root = to;
  for (const InstructionId user : in.instructions) {
    if (std::ranges::count(module_[user].operands, from) > 0) replace_operand(user, from, to);
    const Attr* control = module_[user].find(AttrKey::kControlPredecessors);
    if (!control || std::ranges::count(control->instructions(), from) == 0) continue;
    std::vector<InstructionId> before(control->instructions().begin(), control->instructions().end());
    std::replace(before.begin(), before.end(), from, to);
    set_attr(user, Attr::make_list<InstructionId>(AttrKey::kControlPredecessors, control->syntax,
                                                  module_.arena().copy(before)));
  }
}

void ModuleEditor::set_attr(InstructionId id, const Attr& attr) {
  std::vector<Attr> attrs(module_[id].attrs.begin(), module_[id].attrs.end());
  const auto found =
      std::find_if(attrs.begin(), attrs.end(), [&](const Attr& other) { return other.key == attr.key; });
  if (found == attrs.end())
    attrs.push_back(attr);
  else
    *found = attr;
  module_.instructions[id].attrs = module_.arena().copy(attrs);
}

void ModuleEditor::add_control_predecessor(InstructionId id, InstructionId before) {
  std::vector<InstructionId> all = {before};
  if (const Attr* attr = module_[id].find(AttrKey::kControlPredecessors))
    all.insert(all.end(), attr->instructions().begin(), attr->instructions().end());
  set_attr(id, Attr::make_list<InstructionId>(AttrKey::kControlPredecessors, AttrSyntax::kInstructions,
                                              module_.arena().copy(all)));
}

void ModuleEditor::set_called(InstructionId caller, size_t mention, ComputationId computation) {
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

std::optional<ModuleEditor::BitcastSpelling> ModuleEditor::spelling_of(ShapePool& shapes, ShapeRef operand,
                                                                       ShapeRef result) {
  const ShapeRef from = shapes.with_default_layouts(operand), to = shapes.with_default_layouts(result);
  if (!from->is_array() || !to->is_array() || !from->is_static() || !to->is_static()) return std::nullopt;
  if (from->element_type != to->element_type) {
    const bool in_place = bit_width(from->element_type) == bit_width(to->element_type) &&
                          std::ranges::equal(from->dimensions, to->dimensions) && from->layout == to->layout;
    return in_place ? std::optional(BitcastSpelling{Opcode::kBitcastConvert, {}}) : std::nullopt;
  }
  const BitcastClass is = classify_bitcast(from, to);
  if (!is.is_no_op()) return std::nullopt;
  if (is.kind == BitcastKind::kTranspose || is.kind == BitcastKind::kTiledTranspose)
    return BitcastSpelling{Opcode::kTranspose, is.permutation};
  return BitcastSpelling{Opcode::kReshape, {}};
}

bool ModuleEditor::spell_out_bitcast(InstructionId id) {
  if (module_[id].opcode != Opcode::kBitcast) return true;
  const std::optional<BitcastSpelling> spelling =
      spelling_of(module_.shapes(), module_[module_[id].operands[0]].shape, module_[id].shape);
  if (!spelling) return false;
  module_.instructions[id].opcode = spelling->opcode;
  if (spelling->opcode == Opcode::kTranspose)
    set_attr(id,
             Attr::make_list<int64_t>(AttrKey::kDimensions, AttrSyntax::kInts, keep(spelling->permutation)));
  return true;
}

ComputationId ModuleEditor::clone(ComputationId id) {
  Computation made = module_[id];
  made.name = unique(made.name);
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
    std::vector<InstructionId> others(module_[instruction].operands.begin(),
                                      module_[instruction].operands.end());
    for (InstructionId& other : others) other = now.at(other);
    module_.instructions[instruction].operands = module_.arena().copy(others);
    const Attr* control = module_[instruction].find(AttrKey::kControlPredecessors);
    if (!control) continue;
    others.assign(control->instructions().begin(), control->instructions().end());
    for (InstructionId& other : others) other = now.at(other);
    set_attr(instruction,
             Attr::make_list<InstructionId>(AttrKey::kControlPredecessors, AttrSyntax::kInstructions,
                                            module_.arena().copy(others)));
  }
  return module_.computations.add(std::move(made));
}

void ModuleEditor::sort(ComputationId id) {
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
