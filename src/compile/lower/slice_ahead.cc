#include "lower/slice_ahead.h"

#include <algorithm>
#include <map>

#include "hlo/graph.h"
#include "layout/sizes.h"
#include "lower/async_pair.h"
#include "lower/on_chip.h"
#include "modules/loops.h"
#include "ops/fusion_role.h"
#include "ops/op_table.h"

namespace hlosim {
namespace {

class SliceAhead {
 public:
  SliceAhead(ModuleEditor& editor, const OpTable& table, const OnChip& home)
      : editor_(editor),
        module_(editor.module()),
        table_(table),
        loops_(editor),
        space_(home.space),
        room_(home.room() / 2) {}

  void run(ComputationId outside) {
    for (const Loop& loop : loops_.changeable(outside)) {
      std::vector<InstructionId> slices;
      const auto users = users_of(module_, loop.body);
      for (const InstructionId id : module_[loop.body].instructions) {
        const int64_t bytes = 2 * array_bytes(id);
        if (bytes > room_ || !may_come_ahead(loop, id, users[id])) continue;
        room_ -= bytes;
        slices.push_back(id);
      }
      if (!slices.empty()) fetch_ahead(loop, slices);
    }
  }

 private:
  int64_t array_bytes(InstructionId id) const {
    return module_[id].shape->is_array() ? array_size(module_[id].shape).count() : 0;
  }
  bool is_element_of(InstructionId id, InstructionId tuple) const {
    return is_tuple_element(module_[id]) && module_[id].operands[0] == tuple;
  }
  InstructionId next_of(const Loop& loop, InstructionId element) const {
    return module_[loop.last]
        .operands[static_cast<size_t>(module_[element].find(AttrKey::kIndex)->integer())];
  }

  bool may_come_ahead(const Loop& loop, InstructionId id, std::span<const InstructionId> users) const {
    const Instruction& slice = module_[id];
    if (slice.opcode != Opcode::kDynamicSlice || fusion_role(table_, slice) != FusionRole::kPart ||
        slice.shape->rank() == 0)
      return false;
    const InstructionId whole = slice.operands[0];
    if (!is_element_of(whole, loop.parameter) || next_of(loop, whole) != whole ||
        module_[whole].shape->memory_space() != kDefaultMemorySpace)
      return false;
    bool moves = false;
    for (const InstructionId start : slice.operands.subspan(1)) {
      int budget = 16;
      if (!can_follow(loop, start, moves, budget)) return false;
    }
    return moves && std::ranges::all_of(users, [&](InstructionId user) {
             const FusionRole role = fusion_role(table_, module_[user]);
             return role != FusionRole::kNone && role != FusionRole::kCopy;
           });
  }

  /// Arithmetic on what the loop carries and on constants: what it will be in the next iteration is known in
  /// this one.
  bool can_follow(const Loop& loop, InstructionId id, bool& moves, int& budget) const {
    const Instruction& instruction = module_[id];
    if (!instruction.shape->is_scalar() || instruction.find(AttrKey::kControlPredecessors) || --budget < 0)
      return false;
    if (instruction.literal) return true;
    if (is_element_of(id, loop.parameter)) {
      moves |= next_of(loop, id) != id;
      return true;
    }
    const OpDef& def = table_[instruction.opcode];
    return def.has(kElementwise) && !def.has(kSideEffect) &&
           std::ranges::all_of(instruction.operands, [&](InstructionId operand) {
             return can_follow(loop, operand, moves, budget);
           });
  }

  /// The same arithmetic on other values. `replaced`: what stands for an instruction of the body.
  InstructionId rebuilt(InstructionId id, ComputationId in, std::map<InstructionId, InstructionId>& replaced,
                        std::vector<InstructionId>& list) {
    if (const auto found = replaced.find(id); found != replaced.end()) return found->second;
    const Instruction original = module_[id];
    std::vector<InstructionId> operands;
    for (const InstructionId operand : original.operands)
      operands.push_back(rebuilt(operand, in, replaced, list));
    const InstructionId copy =
        editor_.add(in, original.opcode, "ahead", original.shape, operands, original.attrs);
    module_.instructions[copy].literal = original.literal;
    editor_.place_like(copy, original);
    list.push_back(copy);
    return replaced[id] = copy;
  }

  void fetch_ahead(const Loop& loop, const std::vector<InstructionId>& slices) {
    std::vector<InstructionId> before, first;
    std::map<InstructionId, InstructionId> at_start = elements_as(loop, before);
    for (const InstructionId slice : slices) {
      const InstructionId start = rebuilt(slice, loop.outside, at_start, before);
      module_.instructions[start].shape = on_chip(module_[slice].shape);
      first.push_back(start);
    }
    const std::vector<InstructionId> now = loops_.carry(loop, first, before);

    std::map<InstructionId, InstructionId> next;
    for (const InstructionId id : module_[loop.body].instructions)
      if (is_element_of(id, loop.parameter)) next[id] = next_of(loop, id);
    std::vector<InstructionId> begin, end,
        state(module_[loop.last].operands.begin(), module_[loop.last].operands.end());
    for (size_t i = 0; i < slices.size(); ++i) {
      const std::span<const InstructionId> of = module_[slices[i]].operands;
      std::vector<InstructionId> operands;
      for (const InstructionId operand : std::vector(of.begin(), of.end()))
        operands.push_back(rebuilt(operand, loop.body, next, begin));
      const InstructionId done = fetch(loop.body, slices[i], operands, begin, end);
      const InstructionId from[] = {done};
      end.push_back(editor_.add(loop.body, Opcode::kCopy, "copy", module_[done].shape, from));
      state[state.size() - slices.size() + i] = end.back();
      editor_.replace_everywhere(loop.body, slices[i], now[i]);
    }
    editor_.set_operands(loop.last, state);
    put(loop, begin, end, slices);
    module_.computations[loop.outside].instructions = needed_instructions(module_, table_, loop.outside);
  }

  /// Elements of the loop's state by what they are before the first iteration.
  std::map<InstructionId, InstructionId> elements_as(const Loop& loop, std::vector<InstructionId>& before) {
    std::map<InstructionId, InstructionId> found;
    const InstructionId init = module_[loop.id].operands[0];
    for (const InstructionId id : module_[loop.body].instructions) {
      if (!is_element_of(id, loop.parameter)) continue;
      const auto index = static_cast<size_t>(module_[id].find(AttrKey::kIndex)->integer());
      if (is_tuple(module_[init])) {
        found[id] = module_[init].operands[index];
        continue;
      }
      const InstructionId from[] = {init};
      found[id] = editor_.add(loop.outside, Opcode::kGetTupleElement, "first", module_[id].shape, from,
                              module_[id].attrs);
      before.push_back(found[id]);
    }
    return found;
  }

  /// An async-start of the slice and its async-done, which it returns.
  InstructionId fetch(ComputationId in, InstructionId slice, const std::vector<InstructionId>& operands,
                      std::vector<InstructionId>& begin, std::vector<InstructionId>& end) {
    const AsyncPair pair = async_pair(
        editor_, in, {slice, "slice", "slice-start", "slice-done", operands, on_chip(module_[slice].shape)});
    begin.push_back(pair.start);
    end.push_back(pair.done);
    return pair.done;
  }

  /// Starts as early as what they need allows, the rest right before the root.
  void put(const Loop& loop, const std::vector<InstructionId>& begin, const std::vector<InstructionId>& end,
           const std::vector<InstructionId>& gone) {
    std::vector<InstructionId> list, rest;
    for (const InstructionId id : module_[loop.body].instructions) {
      if (std::ranges::count(gone, id) || id == loop.last) continue;
      (id == loop.parameter || is_element_of(id, loop.parameter) ? list : rest).push_back(id);
    }
    for (const std::vector<InstructionId>* part :
         {&begin, static_cast<const std::vector<InstructionId>*>(&rest), &end})
      list.insert(list.end(), part->begin(), part->end());
    list.push_back(loop.last);
    module_.computations[loop.body].instructions = std::move(list);
    editor_.sort(loop.body);
  }

  ShapeRef on_chip(ShapeRef shape) { return module_.shapes().with_memory_space(shape, space_); }

  ModuleEditor& editor_;
  Module& module_;
  const OpTable& table_;
  Loops loops_;
  int64_t space_, room_;
};

}  // namespace

void slice_ahead(ModuleEditor& editor, const OpTable& table, const DeviceConfig& device) {
  const OnChip home = on_chip_memory(device);
  if (home.room() <= 0) return;
  SliceAhead pass(editor, table, home);
  // Inner loops first: they take their slices most often.
  const std::vector<FlowComputation> flows = flow_computations(editor.module(), table);
  for (size_t i = flows.size(); i-- > 0;)
    if (!flows[i].is_condition) pass.run(flows[i].id);
}

}  // namespace hlosim
