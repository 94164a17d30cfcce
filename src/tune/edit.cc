#include "tune/edit.h"

#include <fmt/format.h>

#include <algorithm>

#include "hlo/printer.h"
#include "hlo/reader.h"
#include "hlo/verifier.h"

namespace hlosim {

Result<Module> read_again(const Module& module, const OpTable& table) {
  const std::string name = module.source ? module.source->name() : "lowered";
  const auto source = std::make_shared<const SourceFile>(name, to_text(module, table));
  DiagnosticList problems;
  std::vector<Module> modules = read_modules(source, table, problems);
  if (modules.size() == 1) verify(modules[0], table, problems);
  for (const Diagnostic& problem : problems.items())
    if (problem.severity == Severity::kError) return tl::unexpected(problem);
  if (modules.size() != 1) return failure("the module can't be read again");
  return std::move(modules[0]);
}

ModuleEditor::ModuleEditor(Module& module) : module_(module) {
  for (const Instruction& instruction : module.instructions) names_.insert(instruction.name);
  for (const Computation& computation : module.computations) names_.insert(computation.name);
}

std::string_view ModuleEditor::unique(std::string_view name) {
  std::string candidate;
  do {
    candidate = fmt::format("{}.{}", name, next_++);
  } while (names_.contains(candidate));
  const std::string_view kept = module_.arena().copy(std::string_view(candidate));
  names_.insert(kept);
  return kept;
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
  return module_.instructions.add(instruction);
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

void ModuleEditor::set_attr(InstructionId id, const Attr& attr) {
  std::vector<Attr> attrs(module_[id].attrs.begin(), module_[id].attrs.end());
  const auto found = std::find_if(attrs.begin(), attrs.end(), [&](const Attr& a) { return a.key == attr.key; });
  if (found == attrs.end())
    attrs.push_back(attr);
  else
    *found = attr;
  module_.instructions[id].attrs = module_.arena().copy(attrs);
}

std::vector<InstructionId> needed_instructions(const Module& module, const OpTable& table, ComputationId id) {
  const Computation& computation = module[id];
  IdMap<InstructionId, uint8_t> needed(module.instructions.size());
  needed[computation.root] = true;
  for (const InstructionId parameter : computation.parameters) needed[parameter] = true;
  std::vector<InstructionId> kept;
  for (size_t i = computation.instructions.size(); i-- > 0;) {
    const InstructionId at = computation.instructions[i];
    const Instruction& instruction = module[at];
    bool calls = false;
    for_each_called(instruction, [&](ComputationId) { calls = true; });
    const bool stays = table[instruction.opcode].has(kSideEffect) || table[instruction.opcode].has(kCollective) ||
                       (calls && table[instruction.opcode].has(kCallsInline));
    if (!needed[at] && !stays) continue;
    kept.push_back(at);
    for (const InstructionId operand : instruction.operands) needed[operand] = true;
    if (const Attr* before = instruction.find(AttrKey::kControlPredecessors))
      for (const InstructionId predecessor : before->instructions()) needed[predecessor] = true;
  }
  std::reverse(kept.begin(), kept.end());
  return kept;
}

std::vector<FlowComputation> flow_computations(const Module& module, const OpTable& table) {
  std::vector<FlowComputation> found{{module.entry, false}};
  IdMap<ComputationId, uint8_t> seen(module.computations.size());
  seen[module.entry] = true;
  for (size_t i = 0; i < found.size(); ++i) {
    for (const InstructionId id : module[found[i].id].instructions) {
      const Instruction& instruction = module[id];
      if (!table[instruction.opcode].has(kCallsInline)) continue;
      const Attr* condition = instruction.find(AttrKey::kCondition);
      for_each_called(instruction, [&](ComputationId called) {
        const bool is_condition = condition && condition->computations()[0] == called;
        if (!seen[called]) found.push_back({called, is_condition});
        seen[called] = true;
      });
    }
  }
  return found;
}

}  // namespace hlosim
