// Loops, branches and calls: what goes in and comes out keeps one tiling.
#include <algorithm>

#include "partition/partitioner.h"

namespace hlosim {

InstructionId Partitioner::packed(ShapeRef shape, std::span<const SpmdValue> leaves) {
  size_t next = 0;
  return packed(shape, leaves, next);
}

InstructionId Partitioner::packed(ShapeRef shape, std::span<const SpmdValue> leaves, size_t& next) {
  if (!shape->is_tuple()) return leaves[next++].id;
  std::vector<InstructionId> elements;
  for (const ShapeRef element : shape->elements) elements.push_back(packed(element, leaves, next));
  return emit_.tuple(elements);
}

SpmdValues Partitioner::opened(InstructionId id, ShapeRef shape, std::span<const Tiling> tilings) {
  SpmdValues values;
  const auto open = [&](auto&& self, InstructionId at, ShapeRef whole) -> void {
    if (!whole->is_tuple()) {
      values.push_back({at, tilings[values.size()], whole});
      return;
    }
    for (size_t i = 0; i < whole->elements.size(); ++i)
      self(self, emit_.element(at, static_cast<int64_t>(i)), whole->elements[i]);
  };
  open(open, id, shape);
  return values;
}

std::vector<InstructionId> Partitioner::arguments(const Instruction& instruction,
                                                  std::span<const SpmdValue> leaves) {
  std::vector<InstructionId> ids;
  size_t next = 0;
  for (const InstructionId operand : instruction.operands)
    ids.push_back(packed(module_[operand].shape, leaves, next));
  return ids;
}

SpmdValues Partitioner::resharded(const SpmdValues& values, std::span<const Tiling> tilings) {
  SpmdValues made;
  for (size_t i = 0; i < values.size(); ++i)
    made.push_back(reshard_.to(seen_as(values[i], tilings[i].manual), tilings[i]));
  return made;
}

/// As the parameters state it, else as what is given lies.
std::vector<Tiling> Partitioner::parameter_tilings(ComputationId id, std::span<const SpmdValue> given) const {
  std::vector<Tiling> tilings;
  for (const InstructionId parameter : module_[id].parameters) {
    for (const std::optional<Tiling>& stated : wanted_of(module_[parameter])) {
      Tiling tiling = given[tilings.size()].tiling;
      tiling.partial = 0;
      if (stated) tiling = *stated;
      if (stated && stated->manual == 0) tiling.partial = 0;
      tilings.push_back(std::move(tiling));
    }
  }
  return tilings;
}

PartitionedComputation Partitioner::called(ComputationId id, const std::vector<Tiling>& parameters,
                                           const Wanted& results) {
  for (const Known& known : known_[id])
    if (known.made.parameters == parameters && known.wanted == results) return known.made;
  const Instruction* asker = reshard_.asker();
  PartitionedComputation made = computation(id, parameters, results, false);
  if (asker) {
    reshard_.asks(*asker);
    emit_.stands_for(*asker);
  }
  known_[id].push_back({results, made});
  return made;
}

SpmdValues Partitioner::loop(const Instruction& instruction, const Wanted& wanted) {
  const ComputationId body = instruction.find(AttrKey::kBody)->computations()[0];
  const ComputationId condition = instruction.find(AttrKey::kCondition)->computations()[0];
  const SpmdValues given = operand_leaves(instruction);
  std::vector<Tiling> state = parameter_tilings(body, given);
  for (size_t i = 0; i < state.size(); ++i)
    if (wanted[i]) state[i] = *wanted[i];
  const SpmdValues start = resharded(given, state);
  const Wanted ends(state.begin(), state.end());
  const bool was_in_loop = reshard_.in_loop();
  reshard_.set_in_loop(true);
  const PartitionedComputation turn = called(body, state, ends);
  Tiling copies;
  for (const Tiling& tiling : state) copies.manual |= tiling.manual;
  const PartitionedComputation test = called(condition, state, {copies});
  reshard_.set_in_loop(was_in_loop);
  if (fault_) return {};
  const InstructionId operands[] = {packed(instruction.shape, start)};
  const Attr attrs[] = {emit_.calls(AttrKey::kCondition, test.id), emit_.calls(AttrKey::kBody, turn.id)};
  return opened(emit_.like(instruction, emit_.shape(operands[0]), operands, attrs), instruction.shape, state);
}

SpmdValues Partitioner::conditional(const Instruction& instruction, const Wanted& wanted) {
  const SpmdValues given = operand_leaves(instruction);
  Tiling copies;
  copies.manual = given[0].tiling.manual;
  SpmdValues leaves = {reshard_.to(given[0], copies)};
  size_t next = 1;
  Wanted results = wanted;
  std::vector<Attr> attrs;
  std::vector<Tiling> made;
  for (const Attr& attr : instruction.attrs) {
    if (!attr.holds_computations()) continue;
    std::vector<ComputationId> branches;
    for (const ComputationId id : attr.computations()) {
      size_t count = 0;
      for (const InstructionId parameter : module_[id].parameters)
        count += static_cast<size_t>(leaf_count(module_[parameter].shape));
      const std::span<const SpmdValue> mine = std::span(given).subspan(next, count);
      const std::vector<Tiling> tilings = parameter_tilings(id, mine);
      const SpmdValues ready = resharded({mine.begin(), mine.end()}, tilings);
      leaves.insert(leaves.end(), ready.begin(), ready.end());
      next += count;
      const PartitionedComputation branch = called(id, tilings, results);
      if (fault_) return {};
      branches.push_back(branch.id);
      made = branch.results;
      results.assign(made.begin(), made.end());  // the other branches do as the first
    }
    Attr changed =
        Attr::make_list<ComputationId>(attr.key, attr.syntax, emit_.module().arena().copy(branches));
    attrs.push_back(changed);
  }
  const std::vector<InstructionId> operands = arguments(instruction, leaves);
  const ShapeRef shape = emit_.shape(emit_.module()[attrs[0].computations()[0]].root);
  return opened(emit_.like(instruction, shape, operands, attrs), instruction.shape, made);
}

SpmdValues Partitioner::call(const Instruction& instruction, const Wanted& wanted) {
  const Attr* callee = nullptr;
  for (const Attr& attr : instruction.attrs)
    if (attr.holds_computations()) callee = &attr;
  if (table_[instruction.opcode].rules.call != CallRule::kControlFlow || !callee)
    return by_rule(instruction, wanted);
  const SpmdValues given = operand_leaves(instruction);
  const std::vector<Tiling> tilings = parameter_tilings(callee->computations()[0], given);
  const SpmdValues leaves = resharded(given, tilings);
  const PartitionedComputation made = called(callee->computations()[0], tilings, wanted);
  if (fault_) return {};
  const std::vector<InstructionId> operands = arguments(instruction, leaves);
  const Attr attrs[] = {emit_.calls(callee->key, made.id)};
  const ShapeRef shape = emit_.shape(emit_.module()[made.id].root);
  return opened(emit_.like(instruction, shape, operands, attrs), instruction.shape, made.results);
}

}  // namespace hlosim
