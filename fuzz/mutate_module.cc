#include "mutate_module.h"

#include <algorithm>

#include "mutate_text.h"
#include "transplant.h"

namespace hlosim::fuzz {
namespace {

constexpr std::string_view kTypes[] = {
    "pred", "s1",  "s2",  "s4",  "s8",   "s16",    "s32",      "s64",       "u1",       "u2",
    "u4",   "u8",  "u16", "u32", "u64",  "f16",    "bf16",     "f32",       "f64",      "c64",
    "c128", "f32", "f32", "s32", "bf16", "f8e5m2", "f8e4m3fn", "f8e8m0fnu", "f4e2m1fn", "f8e4m3b11fnuz"};
constexpr std::string_view kSizes[] = {"0", "1", "1",  "2",   "3",   "4",   "5",   "7",
                                       "8", "9", "16", "127", "128", "129", "256", "1000"};
constexpr std::string_view kLayouts[] = {"",
                                         "{}",
                                         "{0}",
                                         "{1,0}",
                                         "{0,1}",
                                         "{2,1,0}",
                                         "{0,2,1}",
                                         "{1,0:T(8,128)}",
                                         "{0:T(1024)}",
                                         "{1,0:T(8,128)(2,1)}",
                                         "{:T(128)}",
                                         "{1,0:S(1)}",
                                         "{0:S(1)}",
                                         "{1,0:T(8,128)S(1)}",
                                         "{0:T(256)S(1)}",
                                         "{3,2,1,0:T(8,128)}",
                                         "{2,1,0:T(8,128)(4,1)}",
                                         "{0,1:T(8,128)}",
                                         "{0:S(2)}",
                                         "{1,0:E(4)}",
                                         "{0:S(5)}"};

struct At {
  size_t computation = 0, instruction = 0;
};

bool any_instruction(const ModuleText& module, Random& random, At& at) {
  size_t count = 0;
  for (const ComputationText& one : module.computations) count += one.instructions.size();
  size_t number = random.below(count);
  for (at.computation = 0; at.computation < module.computations.size(); ++at.computation) {
    const size_t size = module.computations[at.computation].instructions.size();
    if (number < size) {
      at.instruction = number;
      return true;
    }
    number -= size;
  }
  return false;
}

InstructionText& instruction_at(ModuleText& module, const At& at) {
  return module.computations[at.computation].instructions[at.instruction];
}

/// Applies to the text of every shape, and of every attribute if asked for.
template <class F>
void in_all(ModuleText& module, bool in_attributes, const F& changed) {
  for (ComputationText& computation : module.computations)
    for (InstructionText& instruction : computation.instructions) {
      instruction.shape = changed(instruction.shape);
      if (!in_attributes) continue;
      for (std::string& attribute : instruction.attributes) attribute = changed(attribute);
    }
  for (std::string& attribute : module.attributes) attribute = changed(attribute);
}

bool other_size(ModuleText& module, const Pool&, Random& random) {
  At at;
  if (!any_instruction(module, random, at)) return false;
  InstructionText& instruction = instruction_at(module, at);
  std::vector<std::string> numbers;
  const std::string dimensions =
      instruction.shape.substr(0, instruction.shape.find('{'));  // tokens point into it
  for (const Token& token : tokens_of(dimensions))
    if (token.kind == TokenKind::kNumber) numbers.emplace_back(token.text);
  if (numbers.empty()) return false;
  const std::string& from = random.pick(numbers);
  const std::string to = random.one_in(6) ? other_number(from, random) : std::string(random.pick(kSizes));
  const auto changed = [&](const std::string& text) {
    // Only sizes: the numbers of a layout stay.
    std::string result;
    bool in_sizes = false;
    for (Token token : tokens_of(text)) {
      if (token.text == "[") in_sizes = true;
      if (token.text == "]") in_sizes = false;
      if (in_sizes && token.text == from) token.text = to;
      result.append(token.before).append(token.text);
    }
    return result;
  };
  if (random.one_in(4))
    instruction.shape = changed(instruction.shape);
  else
    in_all(module, random.one_in(2), changed);
  return true;
}

bool other_type(ModuleText& module, const Pool&, Random& random) {
  At at;
  if (!any_instruction(module, random, at)) return false;
  InstructionText& instruction = instruction_at(module, at);
  std::vector<std::string> types;
  for (const Token& token : tokens_of(instruction.shape))
    if (token.kind == TokenKind::kWord && token.text.size() > 1) types.emplace_back(token.text);
  if (types.empty()) return false;
  const std::string from = random.pick(types), to(random.pick(kTypes));
  const auto changed = [&](const std::string& text) { return replaced_names(text, from, to); };
  if (random.one_in(4))
    instruction.shape = changed(instruction.shape);
  else
    in_all(module, false, changed);
  return true;
}

bool other_layout(ModuleText& module, const Pool&, Random& random) {
  At at;
  if (!any_instruction(module, random, at)) return false;
  InstructionText& instruction = instruction_at(module, at);
  const std::string from = instruction.shape;
  if (from.starts_with("(")) return false;
  const std::string to = from.substr(0, from.find('{')) + std::string(random.pick(kLayouts));
  const auto changed = [&](const std::string& text) { return replaced_names(text, from, to); };
  if (random.one_in(2))
    instruction.shape = to;
  else
    in_all(module, false, changed);
  return true;
}

bool other_shape(ModuleText& module, const Pool& pool, Random& random) {
  At at;
  if (pool.shapes.empty() || !any_instruction(module, random, at)) return false;
  const std::string from = instruction_at(module, at).shape, to = random.pick(pool.shapes);
  in_all(module, false, [&](const std::string& text) { return text == from ? to : text; });
  module.drop_attribute("entry_computation_layout");
  return true;
}

/// An earlier value of that shape, or null.
const InstructionText* alike(const ComputationText& computation, size_t before, const std::string& shape,
                             const std::string& but, Random& random) {
  std::vector<const InstructionText*> found;
  for (size_t i = 0; i < std::min(before, computation.instructions.size()); ++i)
    if (computation.instructions[i].shape == shape && computation.instructions[i].name != but)
      found.push_back(&computation.instructions[i]);
  return found.empty() ? nullptr : random.pick(found);
}

bool drop_instruction(ModuleText& module, const Pool&, Random& random) {
  At at;
  if (!any_instruction(module, random, at)) return false;
  ComputationText& computation = module.computations[at.computation];
  const InstructionText gone = instruction_at(module, at);
  const InstructionText* other = alike(computation, at.instruction, gone.shape, gone.name, random);
  if (!other && !random.one_in(8)) return false;
  const std::string name = other ? other->name : gone.name;
  for (InstructionText& one : computation.instructions) {
    if (one.name == name && gone.is_root) one.is_root = true;
    for (std::string& operand : one.operands)
      if (operand == gone.name) operand = name;
  }
  computation.instructions.erase(computation.instructions.begin() + static_cast<ptrdiff_t>(at.instruction));
  return true;
}

bool other_operand(ModuleText& module, const Pool&, Random& random) {
  At at;
  if (!any_instruction(module, random, at)) return false;
  const ComputationText& computation = module.computations[at.computation];
  InstructionText& instruction = instruction_at(module, at);
  if (instruction.operands.empty()) return false;
  std::string& operand = instruction.operands[random.below(instruction.operands.size())];
  if (random.one_in(10)) {
    operand = random.pick(computation.instructions).name;
    return true;
  }
  const InstructionText* now = computation.find(operand);
  if (!now) return false;
  const InstructionText* other = alike(computation, at.instruction, now->shape, now->name, random);
  if (other) operand = other->name;
  return other != nullptr;
}

bool foreign_instruction(ModuleText& module, const Pool& pool, Random& random) {
  if (pool.opcodes.empty()) return false;
  At at;
  if (!any_instruction(module, random, at)) return false;
  const Place& donor = random.pick(pool.places.find(random.pick(pool.opcodes))->second);
  const size_t computations = module.computations.size();
  const size_t value = transplant(module, at.computation, at.instruction, pool, donor, random);
  use(module, at.computation + module.computations.size() - computations, value, random);
  return true;
}

bool copy_instruction(ModuleText& module, const Pool&, Random& random) {
  At at;
  if (!any_instruction(module, random, at)) return false;
  InstructionText copy = instruction_at(module, at);
  copy.is_root = false;
  if (!random.one_in(20)) copy.name = free_name(module);
  auto& instructions = module.computations[at.computation].instructions;
  instructions.insert(instructions.begin() + static_cast<ptrdiff_t>(at.instruction) + 1, std::move(copy));
  use(module, at.computation, at.instruction + 1, random);
  return true;
}

bool other_opcode(ModuleText& module, const Pool& pool, Random& random) {
  At at;
  if (pool.opcodes.empty() || !any_instruction(module, random, at)) return false;
  InstructionText& instruction = instruction_at(module, at);
  for (int i = 0; i < 20; ++i) {
    const InstructionText& other = pool.at(random.pick(pool.places.find(random.pick(pool.opcodes))->second));
    if (other.operands.size() != instruction.operands.size() || other.opcode == instruction.opcode) continue;
    instruction.opcode = other.opcode;
    if (!other.attributes.empty() || random.one_in(2)) instruction.attributes = other.attributes;
    return true;
  }
  return false;
}

bool drop_attribute(ModuleText& module, const Pool&, Random& random) {
  At at;
  if (!any_instruction(module, random, at)) return false;
  std::vector<std::string>& attributes = instruction_at(module, at).attributes;
  if (attributes.empty()) return false;
  attributes.erase(attributes.begin() + static_cast<ptrdiff_t>(random.below(attributes.size())));
  return true;
}

bool other_attribute(ModuleText& module, const Pool& pool, Random& random) {
  At at;
  if (pool.opcodes.empty() || !any_instruction(module, random, at)) return false;
  InstructionText& instruction = instruction_at(module, at);
  std::vector<std::string>& attributes = instruction.attributes;
  const auto places = pool.places.find(instruction.opcode);
  if (places != pool.places.end() && (attributes.empty() || random.one_in(3))) {
    const InstructionText& other = pool.at(random.pick(places->second));
    if (other.attributes.empty()) return false;
    attributes.push_back(random.pick(other.attributes));
    return true;
  }
  if (attributes.empty()) return false;
  std::string& attribute = attributes[random.below(attributes.size())];
  const auto values = pool.attributes.find(InstructionText::key_of(attribute));
  if (values == pool.attributes.end() || random.one_in(2))
    attribute = with_other_token(attribute, pool, random);
  else
    attribute = random.pick(values->second);
  return true;
}

/// Every computation that the attributes of an instruction name, in the text of that attribute.
std::vector<std::string> callees(const ModuleText& module, const std::string& attribute) {
  std::vector<std::string> names;
  for (const ComputationText& one : module.computations)
    if (replaced_names(attribute, one.name, "") != attribute) names.push_back(one.name);
  return names;
}

bool other_callee(ModuleText& module, const Pool&, Random& random) {
  At at;
  for (int i = 0; i < 30; ++i) {
    if (!any_instruction(module, random, at)) return false;
    for (std::string& attribute : instruction_at(module, at).attributes) {
      const std::vector<std::string> names = callees(module, attribute);
      if (names.empty()) continue;
      const std::string from = random.pick(names);
      if (random.one_in(2)) {
        attribute = replaced_names(attribute, from, random.pick(module.computations).name);
        return true;
      }
      ComputationText copy = *module.find(from);
      copy.is_entry = false;
      copy.name = free_name(module);
      attribute = replaced_names(attribute, from, copy.name);
      module.computations.insert(module.computations.begin(), std::move(copy));
      return true;
    }
  }
  return false;
}

bool other_order(ModuleText& module, const Pool&, Random& random) {
  At at;
  if (!any_instruction(module, random, at)) return false;
  auto& instructions = module.computations[at.computation].instructions;
  const size_t to = random.one_in(2) ? at.instruction + 1 : random.below(instructions.size());
  if (to >= instructions.size()) return false;
  std::swap(instructions[at.instruction], instructions[to]);
  return true;
}

bool other_header(ModuleText& module, const Pool& pool, Random& random) {
  if (random.one_in(3) && !module.attributes.empty()) {
    std::string& attribute = module.attributes[random.below(module.attributes.size())];
    attribute = with_other_token(attribute, pool, random);
    return true;
  }
  if (random.one_in(2) && !module.attributes.empty()) {
    module.drop_attribute(InstructionText::key_of(random.pick(module.attributes)));
    return true;
  }
  if (pool.headers.empty()) return false;
  const std::string& attribute = random.pick(pool.headers);
  module.drop_attribute(InstructionText::key_of(attribute));
  module.attributes.push_back(attribute);
  return true;
}

bool other_root(ModuleText& module, const Pool&, Random& random) {
  At at;
  if (!any_instruction(module, random, at)) return false;
  ComputationText& computation = module.computations[at.computation];
  if (!computation.is_entry && !random.one_in(4)) return false;
  for (InstructionText& one : computation.instructions) one.is_root = false;
  computation.instructions[at.instruction].is_root = true;
  if (computation.is_entry) module.drop_attribute("entry_computation_layout");
  return true;
}

bool other_name(ModuleText& module, const Pool& pool, Random& random) {
  At at;
  if (pool.opcodes.empty() || !any_instruction(module, random, at)) return false;
  ComputationText& computation = module.computations[at.computation];
  const std::string from = instruction_at(module, at).name;
  std::string to = "%" + random.pick(pool.opcodes);
  if (random.one_in(2)) to += "." + std::to_string(random.below(4));
  if (random.one_in(4)) to = random.pick(module.computations).name;
  if (computation.find(to)) return false;
  for (InstructionText& one : computation.instructions) {
    if (one.name == from) one.name = to;
    for (std::string& operand : one.operands)
      if (operand == from) operand = to;
    for (std::string& attribute : one.attributes)
      if (InstructionText::key_of(attribute) == "control-predecessors")
        attribute = replaced_names(attribute, from, to);
  }
  return true;
}

/// Later users of a value take it by way of other instructions.
bool detour(ModuleText& module, const Pool&, Random& random) {
  At at;
  if (!any_instruction(module, random, at)) return false;
  const InstructionText value = instruction_at(module, at);
  const std::string inner = free_name(module), outer = inner + "d";
  std::vector<InstructionText> added;
  const auto add = [&](const std::string& name, const std::string& shape, const char* opcode,
                       const std::string& operand, std::vector<std::string> attributes = {}) {
    added.push_back({false, name, shape, opcode, {operand}, std::move(attributes)});
  };
  switch (random.below(5)) {
    case 0:
      add(inner, "(" + value.shape + ")", "tuple", value.name);
      add(outer, value.shape, "get-tuple-element", inner, {"index=0"});
      break;
    case 1:
      add(inner, "(" + value.shape + ", " + value.shape + ", u32[])", "copy-start", value.name);
      add(outer, value.shape, "copy-done", inner);
      break;
    case 2:
      add(outer, value.shape, "opt-barrier", value.name);
      break;
    case 3:
      add(outer, value.shape, "bitcast", value.name);
      break;
    default:
      add(outer, value.shape, "copy", value.name);
      break;
  }
  ComputationText& computation = module.computations[at.computation];
  for (size_t i = at.instruction + 1; i < computation.instructions.size(); ++i)
    for (std::string& operand : computation.instructions[i].operands)
      if (operand == value.name) operand = outer;
  if (value.is_root) {
    instruction_at(module, at).is_root = false;
    added.back().is_root = true;
  }
  computation.instructions.insert(
      computation.instructions.begin() + static_cast<ptrdiff_t>(at.instruction) + 1, added.begin(),
      added.end());
  return true;
}

bool other_literal(ModuleText& module, const Pool&, Random& random) {
  for (int i = 0; i < 20; ++i) {
    At at;
    if (!any_instruction(module, random, at)) return false;
    InstructionText& instruction = instruction_at(module, at);
    const bool has_numbers = instruction.opcode == "constant" || instruction.opcode == "parameter";
    if (!has_numbers || instruction.operands.empty()) continue;
    std::string& operand = instruction.operands[random.below(instruction.operands.size())];
    operand = other_number(operand, random);
    return true;
  }
  return false;
}

bool copy_computation_into(ModuleText& module, const Pool& pool, Random& random) {
  // All of another entry computation behind this module's instructions.
  if (pool.seeds.empty()) return false;
  const Seed& other = random.pick(pool.seeds);
  if (!other.module) return false;
  const auto seed = static_cast<size_t>(&other - pool.seeds.data());
  size_t entry = 0;
  while (entry < other.module->computations.size() && !other.module->computations[entry].is_entry) ++entry;
  if (entry == other.module->computations.size()) return false;
  const ComputationText& from = other.module->computations[entry];
  if (from.instructions.empty() || from.instructions.size() > 20) return false;
  for (size_t i = 0; i < from.instructions.size(); ++i) {
    size_t to = 0;
    while (to + 1 < module.computations.size() && !module.computations[to].is_entry) ++to;
    const size_t computations = module.computations.size();
    const size_t end = module.computations[to].instructions.size();
    const size_t value = transplant(module, to, end, pool, {seed, entry, i}, random);
    to += module.computations.size() - computations;
    if (random.one_in(4)) use(module, to, value, random);
  }
  return true;
}

bool other_token(ModuleText& module, const Pool& pool, Random& random) {
  At at;
  if (!any_instruction(module, random, at)) return false;
  InstructionText& instruction = instruction_at(module, at);
  const std::string line = with_other_token(to_text(instruction), pool, random);
  std::optional<InstructionText> changed = parse_instruction_text(line);
  if (changed) instruction = std::move(*changed);
  return changed.has_value();
}

using Change = bool (*)(ModuleText&, const Pool&, Random&);
constexpr Change kChanges[kModuleChanges] = {
    other_size,     other_type,    other_layout,        other_shape,      drop_instruction,
    other_operand,  detour,        foreign_instruction, copy_instruction, other_opcode,
    drop_attribute, other_callee,  other_attribute,     other_order,      other_header,
    other_root,     other_literal, other_name,          other_token,      copy_computation_into};

}  // namespace

bool change_module(size_t change, ModuleText& module, const Pool& pool, Random& random) {
  return kChanges[change](module, pool, random);
}

std::string mutated_module(const Seed& seed, const Pool& pool, Random& random) {
  if (!seed.module || random.one_in(12)) return mutated_text(seed.text, pool, random);
  ModuleText module = *seed.module;
  size_t changed = 0;
  for (int i = 0; i < 40; ++i) {
    changed += change_module(random.below(kModuleChanges), module, pool, random);
    if (changed > 0 && !random.one_in(2)) break;
  }
  return to_text(module);
}

}  // namespace hlosim::fuzz
