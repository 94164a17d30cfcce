#include "modules/loops.h"

#include <algorithm>

#include "hlo/graph.h"
#include "modules/edit.h"
#include "modules/trip_count.h"
#include "ops/op_table.h"

namespace hlosim {
namespace {

bool only_taken_apart(const Module& module, ComputationId id, const Users& users, InstructionId tuple) {
  return module[id].root != tuple && std::ranges::all_of(users[tuple], [&](InstructionId user) {
           return is_tuple_element(module[user]);
         });
}

ComputationId called(const Instruction& loop, AttrKey key) { return loop.find(key)->computations()[0]; }

}  // namespace

Loops::Loops(ModuleEditor& editor)
    : editor_(editor), module_(editor.module()), callers_(caller_counts(module_)) {}

std::vector<Loop> Loops::changeable(ComputationId outside, bool unknown_too) const {
  std::vector<Loop> found;
  const auto is_loop = [&](InstructionId id) {
    return module_[id].find(AttrKey::kBody) && module_[id].find(AttrKey::kCondition);
  };
  if (std::ranges::none_of(module_[outside].instructions, is_loop)) return found;
  const Users users = users_of(module_, outside);
  const auto taken_apart = [&](ComputationId in, InstructionId tuple) {
    return only_taken_apart(module_, in, users_of(module_, in), tuple);
  };
  for (const InstructionId id : module_[outside].instructions) {
    const Instruction& instruction = module_[id];
    if (!is_loop(id)) continue;
    Loop loop{id,
              {},
              {},
              {},
              outside,
              called(instruction, AttrKey::kBody),
              called(instruction, AttrKey::kCondition)};
    loop.parameter = module_[loop.body].parameters[0];
    loop.condition_parameter = module_[loop.condition].parameters[0];
    loop.last = module_[loop.body].root;
    const TripCount trips = trip_count(module_, instruction);
    const bool repeats = trips.known() ? trips.count > 1 : unknown_too;
    if (repeats && callers_[loop.body] == 1 && callers_[loop.condition] == 1 &&
        instruction.shape->is_tuple() && is_tuple(module_[loop.last]) &&
        !instruction.find(AttrKey::kFrontendAttributes) && only_taken_apart(module_, outside, users, id) &&
        taken_apart(loop.body, loop.parameter) && taken_apart(loop.condition, loop.condition_parameter))
      found.push_back(loop);
  }
  return found;
}

InstructionId Loops::element(ComputationId in, InstructionId tuple, size_t index, ShapeRef shape) {
  const InstructionId operands[] = {tuple};
  const Attr attrs[] = {Attr::make_int(AttrKey::kIndex, static_cast<int64_t>(index))};
  return editor_.add(in, Opcode::kGetTupleElement, "carried", shape, operands, attrs);
}

std::vector<InstructionId> Loops::carry(const Loop& loop, std::span<const InstructionId> starts,
                                        std::vector<InstructionId> before) {
  const InstructionId init = module_[loop.id].operands[0];
  std::vector<ShapeRef> shapes(module_[loop.id].shape->elements.begin(),
                               module_[loop.id].shape->elements.end());
  std::vector<InstructionId> state;
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (is_tuple(module_[init])) {
      state.push_back(module_[init].operands[i]);
      continue;
    }
    state.push_back(element(loop.outside, init, i, shapes[i]));
    before.push_back(state.back());
  }
  std::vector<InstructionId> inside;
  for (const InstructionId start : starts) {
    inside.push_back(element(loop.body, loop.parameter, shapes.size(), module_[start].shape));
    shapes.push_back(module_[start].shape);
    state.push_back(start);
  }
  const ShapeRef shape = module_.shapes().tuple(shapes);
  before.push_back(editor_.add(loop.outside, Opcode::kTuple, "tuple", shape, state));
  const InstructionId operands[] = {before.back()};
  editor_.set_operands(loop.id, operands);
  std::vector<InstructionId> ends(module_[loop.last].operands.begin(), module_[loop.last].operands.end());
  ends.insert(ends.end(), inside.begin(), inside.end());
  editor_.set_operands(loop.last, ends);
  for (const InstructionId tuple : {loop.id, loop.parameter, loop.last, loop.condition_parameter})
    module_.instructions[tuple].shape = shape;
  std::vector<InstructionId>& list = module_.computations[loop.outside].instructions;
  list.insert(std::find(list.begin(), list.end(), loop.id), before.begin(), before.end());
  std::vector<InstructionId>& body = module_.computations[loop.body].instructions;
  body.insert(std::find(body.begin(), body.end(), loop.parameter) + 1, inside.begin(), inside.end());
  return inside;
}

bool Loops::is_state(const Loop& loop, InstructionId id) const {
  return is_tuple_element(module_[id]) && module_[id].operands[0] == loop.parameter;
}

BeforeLoop Loops::copied_out(const Loop& loop, std::span<const InstructionId> values, std::string_view name) {
  BeforeLoop made;
  const InstructionId init = module_[loop.id].operands[0];
  for (const InstructionId id : values) {
    const Instruction original = module_[id];
    const bool is_first = is_state(loop, id);
    if (is_first && is_tuple(module_[init])) {
      const int64_t index = original.find(AttrKey::kIndex)->integer();
      made.of[id] = module_[init].operands[static_cast<size_t>(index)];
      continue;
    }
    std::vector<InstructionId> operands;
    for (const InstructionId operand : original.operands)
      operands.push_back(is_first ? init : made.of.at(operand));
    const InstructionId copy =
        editor_.add(loop.outside, original.opcode, name.empty() ? to_text(original.opcode) : name,
                    original.shape, operands, original.attrs);
    module_.instructions[copy].literal = original.literal;
    editor_.place_like(copy, original);
    made.of[id] = copy;
    made.added.push_back(copy);
  }
  return made;
}

void Loops::carry_copies(const Loop& loop, std::span<const InstructionId> out, const BeforeLoop& copies,
                         const OpTable& table, const std::unordered_set<InstructionId>& gone) {
  std::vector<InstructionId> starts;
  for (const InstructionId id : out) starts.push_back(copies.of.at(id));
  const std::vector<InstructionId> inside = carry(loop, starts, copies.added);
  for (size_t i = 0; i < out.size(); ++i) editor_.replace_everywhere(loop.body, out[i], inside[i]);
  std::erase_if(module_.computations[loop.body].instructions,
                [&](InstructionId id) { return gone.contains(id); });
  for (const ComputationId id : {loop.body, loop.outside})
    module_.computations[id].instructions = needed_instructions(module_, table, id);
}

}  // namespace hlosim
