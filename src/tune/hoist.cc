#include "tune/hoist.h"

#include <algorithm>
#include <map>
#include <set>

#include "hlo/graph.h"
#include "layout/sizes.h"
#include "ops/fusion_role.h"
#include "ops/trip_count.h"

namespace hlosim {
namespace {

/// A while and what belongs to it.
struct Loop {
  InstructionId id, parameter, last, asked;  // the body's parameter and root, the condition's parameter
  ComputationId outside, body, condition;
};

class Hoister {
 public:
  Hoister(ModuleEditor& editor, const OpTable& table)
      : editor_(editor), module_(editor.module()), table_(table), callers_(module_.computations.size()) {
    for (const Computation& computation : module_.computations)
      for (const InstructionId id : computation.instructions)
        for_each_called(module_[id], [&](ComputationId called) { ++callers_[called]; });
  }

  void run(ComputationId outside) {
    for (const InstructionId id : std::vector<InstructionId>(module_[outside].instructions)) {
      if (!module_[id].find(AttrKey::kBody) || !module_[id].find(AttrKey::kCondition)) continue;
      Loop loop{id, {}, {}, {}, outside, called(id, AttrKey::kBody), called(id, AttrKey::kCondition)};
      loop.parameter = module_[loop.body].parameters[0];
      loop.asked = module_[loop.condition].parameters[0];
      loop.last = module_[loop.body].root;
      if (may_change(loop)) hoist(loop);
    }
  }

 private:
  ComputationId called(InstructionId id, AttrKey key) const { return module_[id].find(key)->computations()[0]; }
  bool is_element(InstructionId id) const { return module_[id].opcode == Opcode::kGetTupleElement; }
  size_t index_of(InstructionId id) const {
    return static_cast<size_t>(module_[id].find(AttrKey::kIndex)->integer());
  }

  bool only_taken_apart(ComputationId id, InstructionId tuple) const {
    const auto users = users_of(module_, id);
    return module_[id].root != tuple && std::ranges::all_of(users[tuple], [&](InstructionId u) { return is_element(u); });
  }

  bool may_change(const Loop& loop) const {
    const TripCount trips = trip_count(module_, module_[loop.id]);
    return trips.known() && trips.count > 1 && callers_[loop.body] == 1 && callers_[loop.condition] == 1 &&
           module_[loop.id].shape->is_tuple() && module_[loop.last].opcode == Opcode::kTuple &&
           !module_[loop.id].find(AttrKey::kFrontendAttributes) && only_taken_apart(loop.outside, loop.id) &&
           only_taken_apart(loop.body, loop.parameter) && only_taken_apart(loop.condition, loop.asked);
  }

  /// Values of the body that are the same in every iteration.
  std::set<InstructionId> invariants(const Loop& loop) const {
    std::set<InstructionId> same, waiting;
    for (const InstructionId id : module_[loop.body].instructions)
      if (const Attr* before = module_[id].find(AttrKey::kControlPredecessors))
        waiting.insert(before->instructions().begin(), before->instructions().end());
    for (const InstructionId id : module_[loop.body].instructions) {
      const Instruction& instruction = module_[id];
      if (is_element(id) && instruction.operands[0] == loop.parameter) {
        if (module_[loop.last].operands[index_of(id)] == id) same.insert(id);
        continue;
      }
      const FusionRole role = fusion_role(table_, instruction);
      const bool constant = instruction.literal != nullptr;
      if ((role == FusionRole::kNone && !constant) || waiting.contains(id) ||
          instruction.find(AttrKey::kFrontendAttributes))
        continue;
      if (std::ranges::all_of(instruction.operands, [&](InstructionId operand) { return same.contains(operand); }))
        same.insert(id);
    }
    return same;
  }

  /// Worth carrying: an array that takes work, and not larger than what it is made of.
  bool pays(InstructionId id) const {
    const FusionRole role = fusion_role(table_, module_[id]);
    if (!module_[id].shape->is_array() || module_[id].shape->is_scalar() || role == FusionRole::kNone ||
        role == FusionRole::kFill || role == FusionRole::kReindex || module_[id].literal)
      return false;
    int64_t read = 0;
    for (const InstructionId operand : module_[id].operands)
      if (fusion_role(table_, module_[operand]) != FusionRole::kFill)
        read = std::max(read, bytes_of(module_[operand].shape));
    return bytes_of(module_[id].shape) <= read;
  }
  static int64_t bytes_of(ShapeRef shape) { return shape->element_count() * bit_width(shape->element_type) / 8; }

  void hoist(const Loop& loop) {
    const std::set<InstructionId> same = invariants(loop);
    // The last invariant values on their ways: those that something else of the body uses.
    const auto users = users_of(module_, loop.body);
    std::vector<InstructionId> out;
    for (const InstructionId id : module_[loop.body].instructions)
      if (same.contains(id) && pays(id) && std::ranges::any_of(users[id], [&](InstructionId user) {
            return !same.contains(user) || !carries_on(user, same, users);
          }))
        out.push_back(id);
    if (out.empty()) return;
    std::map<InstructionId, InstructionId> outside;
    std::vector<InstructionId> before;
    for (const InstructionId id : module_[loop.body].instructions)
      if (same.contains(id)) copy_out(loop, id, outside, before);
    carry(loop, out, outside, before);
  }

  /// The user's own value, or one made of it, is carried.
  bool carries_on(InstructionId id, const std::set<InstructionId>& same,
                  const IdMap<InstructionId, std::vector<InstructionId>>& users) const {
    if (pays(id)) return true;
    return !users[id].empty() && std::ranges::all_of(users[id], [&](InstructionId user) {
      return same.contains(user) && carries_on(user, same, users);
    });
  }

  void copy_out(const Loop& loop, InstructionId id, std::map<InstructionId, InstructionId>& outside,
                std::vector<InstructionId>& before) {
    const Instruction original = module_[id];
    if (is_element(id) && original.operands[0] == loop.parameter) {
      const InstructionId init = module_[loop.id].operands[0];
      if (module_[init].opcode == Opcode::kTuple) {
        outside[id] = module_[init].operands[index_of(id)];
        return;
      }
      const InstructionId operands[] = {init};
      outside[id] = editor_.add(loop.outside, original.opcode, "hoisted", original.shape, operands, original.attrs);
    } else {
      std::vector<InstructionId> operands;
      for (const InstructionId operand : original.operands) operands.push_back(outside.at(operand));
      outside[id] = editor_.add(loop.outside, original.opcode, "hoisted", original.shape, operands, original.attrs);
      module_.instructions[outside[id]].literal = original.literal;
    }
    before.push_back(outside[id]);
  }

  InstructionId element(ComputationId in, InstructionId tuple, size_t index, ShapeRef shape) {
    const InstructionId operands[] = {tuple};
    const Attr attrs[] = {Attr::make_int(AttrKey::kIndex, static_cast<int64_t>(index))};
    return editor_.add(in, Opcode::kGetTupleElement, "invariant", shape, operands, attrs);
  }

  /// The loop's tuple gets the values `out` at its end.
  void carry(const Loop& loop, const std::vector<InstructionId>& out,
             const std::map<InstructionId, InstructionId>& outside, std::vector<InstructionId>& before) {
    const InstructionId init = module_[loop.id].operands[0];
    std::vector<ShapeRef> shapes(module_[loop.id].shape->elements.begin(), module_[loop.id].shape->elements.end());
    std::vector<InstructionId> starts;
    for (size_t i = 0; i < shapes.size(); ++i) {
      if (module_[init].opcode == Opcode::kTuple) {
        starts.push_back(module_[init].operands[i]);
        continue;
      }
      starts.push_back(element(loop.outside, init, i, shapes[i]));
      before.push_back(starts.back());
    }
    std::vector<InstructionId> inside;
    for (const InstructionId id : out) {
      const ShapeRef shape = module_[outside.at(id)].shape;
      inside.push_back(element(loop.body, loop.parameter, shapes.size(), shape));
      shapes.push_back(shape);
      starts.push_back(outside.at(id));
    }
    const ShapeRef shape = module_.shapes().tuple(shapes);
    before.push_back(editor_.add(loop.outside, Opcode::kTuple, "tuple", shape, starts));
    const InstructionId operands[] = {before.back()};
    editor_.set_operands(loop.id, operands);
    for (size_t i = 0; i < out.size(); ++i) editor_.replace_everywhere(loop.body, out[i], inside[i]);
    std::vector<InstructionId> ends(module_[loop.last].operands.begin(), module_[loop.last].operands.end());
    ends.insert(ends.end(), inside.begin(), inside.end());
    editor_.set_operands(loop.last, ends);
    for (const InstructionId tuple : {loop.id, loop.parameter, loop.last, loop.asked})
      module_.instructions[tuple].shape = shape;
    std::vector<InstructionId>& list = module_.computations[loop.outside].instructions;
    list.insert(std::find(list.begin(), list.end(), loop.id), before.begin(), before.end());
    std::vector<InstructionId>& body = module_.computations[loop.body].instructions;
    body.insert(std::find(body.begin(), body.end(), loop.parameter) + 1, inside.begin(), inside.end());
    module_.computations[loop.body].instructions = needed_instructions(module_, table_, loop.body);
    module_.computations[loop.outside].instructions = needed_instructions(module_, table_, loop.outside);
  }

  ModuleEditor& editor_;
  Module& module_;
  const OpTable& table_;
  IdMap<ComputationId, int32_t> callers_;
};

}  // namespace

void hoist_invariants(ModuleEditor& editor, const OpTable& table) {
  Hoister hoister(editor, table);
  // Inner loops first: what they hand out may leave the outer ones too.
  const std::vector<FlowComputation> flows = flow_computations(editor.module(), table);
  for (size_t i = flows.size(); i-- > 0;)
    if (!flows[i].is_condition) hoister.run(flows[i].id);
}

}  // namespace hlosim
