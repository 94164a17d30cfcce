// ModuleReader: `<op>-start`, `<op>-update` and `<op>-done` as async pairs around a computation of one
// operation.
#include <fmt/format.h>

#include <algorithm>

#include "hlo/graph.h"
#include "hlo/module_reader.h"
#include "hlo/stored_values.h"

namespace hlosim {
namespace {

/// Aliases of `<op>-start` name parts of its own shape, ((operands …), result, …), or parts of the result of
/// the operation that it wraps: the former for all.
Attr with_indices_of_start(const Attr& attr, ShapeRef start, std::span<const ShapeRef> operands,
                           ShapeRef result, Arena& arena) {
  const std::span<Alias> aliases = arena.copy(attr.aliases());
  for (Alias& alias : aliases) {
    if (alias.parameter < 0 || alias.parameter >= static_cast<int64_t>(operands.size())) continue;
    const ShapeRef operand = subshape(operands[static_cast<size_t>(alias.parameter)], alias.parameter_index);
    const auto is_like_operand = [&](ShapeRef output) {
      return operand && output && compatible(operand, output);
    };
    const std::span<const int64_t> index = alias.output_index;
    const bool names_result = !index.empty() && index[0] == 1;
    if (is_like_operand(names_result ? subshape(result, index.subspan(1)) : subshape(start, index)) ||
        !is_like_operand(subshape(result, index)))
      continue;
    std::vector<int64_t> of_start = {1};
    of_start.insert(of_start.end(), index.begin(), index.end());
    alias.output_index = arena.copy(of_start);
  }
  Attr changed = Attr::make_list<Alias>(attr.key, attr.syntax, aliases);
  changed.offset = attr.offset;
  return changed;
}

}  // namespace

bool is_shared_with_wrapped(AttrKey key) {
  return key == AttrKey::kMetadata || key == AttrKey::kOrigin || key == AttrKey::kFrontendAttributes ||
         key == AttrKey::kBackendConfig || key == AttrKey::kStatistics;
}

/// What an update or done says of the wrapped operation must agree with its start.
bool ModuleReader::check_async(const Draft& draft) {
  const Instruction& instruction = draft.instruction;
  if (instruction.opcode != Opcode::kAsyncUpdate && instruction.opcode != Opcode::kAsyncDone) return true;
  if (instruction.operands.empty())
    return in_.fail_at(instruction.opcode_offset, "no operand found for async-update or async-done");
  const Instruction& operand = module_.instructions[instruction.operands[0]];
  if (operand.opcode == Opcode::kAsyncDone)
    return in_.fail_at(instruction.opcode_offset,
                       "async-update and async-done cannot have an async-done as operand");
  const Instruction* start = async_start_of(module_, operand);
  const Attr* calls = start ? start->find(AttrKey::kCalls) : nullptr;
  if (!calls) return true;
  const ComputationId wrapped = calls->computations()[0];
  const Opcode opcode = module_.root(wrapped).opcode;
  if (draft.sugared && draft.wrapped != opcode)
    return in_.fail_at(instruction.opcode_offset,
                       fmt::format("expects the async wrapped opcode to be {}, but got {}", to_text(opcode),
                                   to_text(draft.wrapped)));
  if (const Attr* own = instruction.find(AttrKey::kCalls); own && own->computations()[0] != wrapped)
    return in_.fail_at(own->offset, fmt::format("expects the async wrapped computation to be {}, but got {}",
                                                module_[wrapped].name, module_[own->computations()[0]].name));
  const Attr* own_thread = instruction.find(AttrKey::kAsyncExecutionThread);
  if (!own_thread) return true;
  const Attr* thread = start->find(AttrKey::kAsyncExecutionThread);
  const std::string quoted =
      thread ? std::string(thread->text()) : fmt::format("\"{}\"", module_[wrapped].execution_thread);
  if (own_thread->text() == quoted) return true;
  return in_.fail_at(own_thread->offset, fmt::format("expects async_execution_thread to be {}, but got {}",
                                                     quoted, own_thread->text()));
}

/// The computation that a sugared call calls; null for every other operation.
const ComputationId* ModuleReader::called_by_sugar(Opcode wrapped, std::span<const Attr> attrs) const {
  if (wrapped != Opcode::kCall) return nullptr;
  for (const Attr& attr : attrs)
    if (attr.key == AttrKey::kToApply) return attr.computations().data();
  return nullptr;
}

/// A sugared update or done may bind operands and the output that its start left open: the wrapped
/// computation grows with them.
void ModuleReader::bind_late(const Draft& draft) {
  const Instruction& part = draft.instruction;
  const Instruction* start = async_start_of(module_, module_.instructions[part.operands[0]]);
  const Attr* calls = start ? start->find(AttrKey::kCalls) : nullptr;
  if (!calls || draft.wrapped == Opcode::kCall) return;
  const ComputationId id = calls->computations()[0];
  if (!module_[id].is_async_sugar) return;
  const bool is_done = part.opcode == Opcode::kAsyncDone;
  if (!is_done &&
      (!part.shape->is_tuple() || part.shape->elements.size() < 2 || !part.shape->elements[0]->is_tuple()))
    return;
  const InstructionId root = module_[id].root;
  std::vector<InstructionId> operands(module_[root].operands.begin(), module_[root].operands.end());
  const size_t bound = is_done ? 0 : part.shape->elements[0]->elements.size();
  for (size_t i = operands.size(); i < bound; ++i) {
    Instruction parameter;
    parameter.opcode = Opcode::kParameter;
    parameter.offset = parameter.opcode_offset = part.opcode_offset;
    parameter.parameter_number = static_cast<int64_t>(i);
    parameter.name = module_.arena().copy(std::string_view(fmt::format("param_{}", i)));
    parameter.shape = part.shape->elements[0]->elements[i];
    parameter.parent = id;
    operands.push_back(module_.instructions.add(parameter));
    Computation& computation = module_.computations[id];
    computation.instructions.insert(computation.instructions.end() - 1, operands.back());
    computation.parameters.push_back(operands.back());
  }
  Instruction& operation = module_.instructions[root];
  if (operands.size() != operation.operands.size()) operation.operands = module_.arena().copy(operands);
  const ShapeRef result = is_done ? part.shape : part.shape->elements[1];
  const bool open = operation.shape->is_tuple() &&
                    (operation.shape->elements.empty() ||
                     (result->is_tuple() && result->elements.size() > operation.shape->elements.size()));
  if (open) operation.shape = result;
}

/// Parameters of a computation that stands in no text.
std::vector<InstructionId> ModuleReader::make_parameters(Scope& scope, std::span<const ShapeRef> shapes,
                                                         uint32_t offset) {
  std::vector<InstructionId> made;
  for (const ShapeRef shape : shapes) {
    Instruction parameter;
    parameter.opcode = Opcode::kParameter;
    parameter.offset = parameter.opcode_offset = offset;
    parameter.parameter_number = static_cast<int64_t>(made.size());
    parameter.name = made_up_name(scope, fmt::format("param_{}", made.size()));
    parameter.shape = shape;
    made.push_back(add_instruction(scope, parameter));
  }
  return made;
}

/// `<op>-start(...)`: builds the wrapped computation and turns the draft into an async-start.
bool ModuleReader::wrap_async_start(Draft& draft) {
  Instruction& start = draft.instruction;
  const ShapeRef shape = start.shape;
  if (!shape->is_tuple() || shape->elements.size() < 2 || !shape->elements[0]->is_tuple())
    return in_.fail_at(start.opcode_offset,
                       fmt::format("async-start expects the shape to be in the form of ((operand shapes...), "
                                   "output shape, ...), but it is {}",
                                   to_text(shape)));
  Computation computation;
  computation.offset = start.offset;
  computation.is_async_sugar = true;
  std::vector<Attr> own, wrapped_attrs;
  for (const Attr& attr : start.attrs) {
    if (is_common_attr(attr.key) || is_async_sugar_attr(attr.key)) own.push_back(attr);
    if (!is_common_attr(attr.key) ? !is_async_sugar_attr(attr.key) : is_shared_with_wrapped(attr.key))
      wrapped_attrs.push_back(attr);
  }
  if (const Attr* thread = start.find(AttrKey::kAsyncExecutionThread))
    computation.execution_thread = thread->text().substr(1, thread->text().size() - 2);
  const ComputationId id = make_up_computation("async_computation", std::move(computation));
  Scope& inner = push_scope();
  inner.id = id;
  ShapeRef result = shape->elements[1];
  std::vector<ShapeRef> parameters(shape->elements[0]->elements.begin(), shape->elements[0]->elements.end());
  if (const ComputationId* callee = called_by_sugar(draft.wrapped, wrapped_attrs)) {
    // A call's parts are those of what it calls, however little is bound yet.
    parameters.clear();
    for (const InstructionId parameter : module_[*callee].parameters)
      parameters.push_back(module_[parameter].shape);
    result = module_.root(*callee).shape;
  }
  for (Attr& attr : own)
    if (attr.key == AttrKey::kOutputToOperandAliasing)
      attr = with_indices_of_start(attr, shape, parameters, result, module_.arena());
  const std::vector<InstructionId> operands = make_parameters(inner, parameters, start.opcode_offset);
  Draft root;
  root.instruction.opcode = draft.wrapped;
  root.instruction.offset = root.instruction.opcode_offset = start.opcode_offset;
  root.instruction.name = made_up_name(inner, to_text(draft.wrapped));
  root.instruction.shape = result;
  root.instruction.operands = module_.arena().copy(operands);
  root.instruction.attrs = module_.arena().copy(wrapped_attrs);
  // What is bound later (operands by updates, the output by the done) is for the verifier to look at.
  const bool bound = has_operand_count(root.instruction) && !(result->is_tuple() && result->elements.empty());
  bool ok = true;
  if (bound)
    ok = finish_instruction(inner, root);
  else
    add_instruction(inner, root.instruction);
  ok = ok && finish_computation(inner, start.opcode_offset);
  pop_scope();
  if (!ok) return false;
  Attr calls = computation_attr(module_, AttrKey::kCalls, id);
  calls.offset = start.opcode_offset;
  own.push_back(calls);
  start.attrs = module_.arena().copy(own);
  return true;
}

}  // namespace hlosim
