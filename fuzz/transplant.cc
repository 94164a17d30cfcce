#include "transplant.h"

#include <algorithm>
#include <map>
#include <set>

namespace hlosim::fuzz {
namespace {

/// Puts instructions of other modules into one.
class Transplant {
 public:
  Transplant(ModuleText& module, size_t computation, size_t before, Random& random)
      : module_(module), computation_(computation), at_(before), random_(random) {}

  size_t run(const ModuleText& donor, const ComputationText& from, const InstructionText& instruction) {
    donor_ = &donor;
    InstructionText copy = instruction;
    copy.is_root = false;
    const bool has_operands = copy.opcode != "constant" && copy.opcode != "parameter";
    for (size_t i = 0; has_operands && i < copy.operands.size(); ++i) {
      const InstructionText* operand = from.find(copy.operands[i]);
      copy.operands[i] = operand ? value_of(operand->shape, 2) : "%unknown";
    }
    if (copy.opcode == "parameter") copy.operands = {next_parameter()};
    for (std::string& attribute : copy.attributes) attribute = renamed(attribute);
    std::erase_if(copy.attributes, [](const std::string& attribute) {
      return InstructionText::key_of(attribute) == "control-predecessors";
    });
    copy.name = free_name(module_);
    return insert(std::move(copy));
  }

 private:
  std::vector<InstructionText>& instructions() { return module_.computations[computation_].instructions; }

  size_t insert(InstructionText instruction) {
    auto& all = instructions();
    all.insert(all.begin() + static_cast<ptrdiff_t>(at_), std::move(instruction));
    return at_++;
  }

  std::string next_parameter() {
    size_t count = 0;
    for (const InstructionText& one : instructions()) count += one.opcode == "parameter";
    return std::to_string(count);
  }

  /// The name of a value of that shape, an earlier one or a new one. `depth`: of tuples that are made up.
  std::string value_of(const std::string& shape, int depth) {
    std::vector<std::string> alike;
    for (size_t i = 0; i < at_; ++i)
      if (instructions()[i].shape == shape) alike.push_back(instructions()[i].name);
    if (!alike.empty() && !random_.one_in(8)) return random_.pick(alike);
    InstructionText maker;
    maker.shape = shape;
    const bool is_tuple = shape.starts_with("("), is_token = shape.starts_with("token");
    if (module_.computations[computation_].is_entry && random_.one_in(is_tuple ? 4 : 2)) {
      maker.opcode = "parameter";
      maker.operands = {next_parameter()};
      module_.drop_attribute("entry_computation_layout");
    } else if (is_tuple && depth > 0) {
      maker.opcode = "tuple";
      for (const std::string_view part : split(std::string_view(shape).substr(1, shape.size() - 2)))
        maker.operands.push_back(value_of(std::string(part), depth - 1));
    } else if (is_token) {
      maker.opcode = "after-all";
    } else if (is_tuple) {
      maker.opcode = "custom-call";
      maker.attributes = {"custom_call_target=\"made\""};
    } else {
      maker.opcode = "constant";
      maker.operands = {literal_of(shape)};
    }
    maker.name = free_name(module_);
    const std::string name = maker.name;
    insert(std::move(maker));
    return name;
  }

  std::string literal_of(const std::string& shape) {
    if (shape.find("[]") == std::string::npos) return "{...}";
    if (shape.starts_with("pred")) return random_.one_in(2) ? "true" : "false";
    if (shape.starts_with("c")) return "(1, 2)";
    return std::to_string(random_.below(4));
  }

  /// The attribute with the computations that it names copied here.
  std::string renamed(const std::string& attribute) {
    std::string result = attribute;
    const std::vector<Token> tokens = tokens_of(attribute);
    std::set<std::string> names;
    for (size_t i = 1; i < tokens.size(); ++i)
      if (tokens[i - 1].text == "%") names.insert("%" + std::string(tokens[i].text));
    for (const std::string& name : names)
      if (const ComputationText* called = donor_->find(name))
        result = replaced_names(result, name, copied(*called));
    return result;
  }

  /// The new name of a computation of the donor.
  std::string copied(const ComputationText& called) {
    if (const auto found = copies_.find(called.name); found != copies_.end()) return found->second;
    ComputationText copy = called;
    copy.is_entry = false;
    copy.name = free_name(module_) + "c" + std::to_string(copies_.size());
    copies_.emplace(called.name, copy.name);
    for (InstructionText& instruction : copy.instructions)
      for (std::string& attribute : instruction.attributes) attribute = renamed(attribute);
    const std::string name = copy.name;
    module_.computations.insert(module_.computations.begin(), std::move(copy));
    ++computation_;
    return name;
  }

  ModuleText& module_;
  size_t computation_, at_;
  Random& random_;
  const ModuleText* donor_ = nullptr;
  std::map<std::string, std::string> copies_;
};

}  // namespace

std::string free_name(const ModuleText& module) {
  std::set<std::string_view> names;
  for (const ComputationText& computation : module.computations) {
    names.insert(computation.name);
    for (const InstructionText& instruction : computation.instructions) names.insert(instruction.name);
  }
  for (size_t i = names.size();; ++i)
    if (std::string name = "%x" + std::to_string(i); !names.contains(name)) return name;
}

size_t transplant(ModuleText& module, size_t computation, size_t before, const Pool& pool, const Place& donor,
                  Random& random) {
  const ModuleText& other = *pool.seeds[donor.seed].module;
  const ComputationText& from = other.computations[donor.computation];
  return Transplant(module, computation, before, random)
      .run(other, from, from.instructions[donor.instruction]);
}

void use(ModuleText& module, size_t computation, size_t value, Random& random) {
  auto& instructions = module.computations[computation].instructions;
  const InstructionText& made = instructions[value];
  std::vector<std::string*> operands;
  const ComputationText& all = module.computations[computation];
  for (size_t i = value + 1; i < instructions.size(); ++i)
    for (std::string& operand : instructions[i].operands) {
      const InstructionText* taken = all.find(operand);
      if (taken && taken->shape == made.shape) operands.push_back(&operand);
    }
  if (!operands.empty() && !random.one_in(4)) {
    *random.pick(operands) = made.name;
    return;
  }
  const size_t root = all.root();
  if (root == instructions.size()) return;
  const bool is_same = instructions[root].shape == made.shape;
  if (!is_same && !(all.is_entry && random.one_in(2))) return;
  if (!is_same) module.drop_attribute("entry_computation_layout");
  instructions[root].is_root = false;
  instructions[value].is_root = true;
}

}  // namespace hlosim::fuzz
