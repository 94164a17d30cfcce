#include "lower/slice_ahead.h"

#include <algorithm>

#include "hlo/graph.h"
#include "layout/sizes.h"
#include "lower/async_pair.h"
#include "lower/on_chip.h"
#include "modules/loops.h"
#include "modules/next_iteration.h"
#include "ops/fusion_role.h"
#include "ops/op_table.h"

namespace hlosim {
namespace {

class SliceAhead {
 public:
  SliceAhead(ModuleEditor& editor, const OpTable& table, const OnChip& home, RoomNeeds& needs)
      : editor_(editor),
        module_(editor.module()),
        table_(table),
        loops_(editor),
        space_(home.space),
        room_(home.room() / 2),
        needs_(needs) {}

  void run(ComputationId outside) {
    for (const Loop& loop : loops_.changeable(outside)) {
      std::vector<InstructionId> slices;
      NextIteration next(editor_, table_, loop);
      const auto users = users_of(module_, loop.body);
      for (const InstructionId id : module_[loop.body].instructions) {
        const int64_t bytes = 2 * array_bytes(id);
        if (bytes > room_ || !may_come_ahead(next, id, users[id])) continue;
        room_ -= bytes, taken_ += bytes;
        needs_.needs(space_, 2 * taken_);
        slices.push_back(id);
      }
      if (!slices.empty()) fetch_ahead(loop, next, slices);
    }
  }

 private:
  int64_t array_bytes(InstructionId id) const {
    return module_[id].shape->is_array() ? array_size(module_[id].shape).count() : 0;
  }
  bool may_come_ahead(const NextIteration& next, InstructionId id,
                      std::span<const InstructionId> users) const {
    const Instruction& slice = module_[id];
    if (slice.opcode != Opcode::kDynamicSlice || fusion_role(table_, slice) != FusionRole::kPart ||
        slice.shape->rank() == 0)
      return false;
    const InstructionId whole = slice.operands[0];
    if (!next.stays(whole) || module_[whole].shape->memory_space() != kDefaultMemorySpace) return false;
    return next.follows(slice.operands.subspan(1)) && std::ranges::all_of(users, [&](InstructionId user) {
             const FusionRole role = fusion_role(table_, module_[user]);
             return role != FusionRole::kNone && role != FusionRole::kCopy;
           });
  }

  void fetch_ahead(const Loop& loop, NextIteration& next, const std::vector<InstructionId>& slices) {
    std::vector<InstructionId> before;
    const std::vector<InstructionId> first = next.at_start(slices, before);
    for (size_t i = 0; i < slices.size(); ++i)
      module_.instructions[first[i]].shape = on_chip(module_[slices[i]].shape);
    const std::vector<InstructionId> now = loops_.carry(loop, first, before);

    std::vector<InstructionId> begin, end,
        state(module_[loop.last].operands.begin(), module_[loop.last].operands.end());
    for (size_t i = 0; i < slices.size(); ++i) {
      const std::vector<InstructionId> operands = next.in_next(module_[slices[i]].operands, begin);
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
      (id == loop.parameter || loops_.is_state(loop, id) ? list : rest).push_back(id);
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
  int64_t space_, room_, taken_ = 0;
  RoomNeeds& needs_;
};

}  // namespace

void slice_ahead(ModuleEditor& editor, const OpTable& table, const DeviceConfig& device, RoomNeeds& needs) {
  const OnChip home = needs.home(device);
  if (home.room() <= 0) return;
  SliceAhead pass(editor, table, home, needs);
  // Inner loops first: they take their slices most often.
  const std::vector<FlowComputation> flows = flow_computations(editor.module(), table);
  for (size_t i = flows.size(); i-- > 0;)
    if (!flows[i].is_condition) pass.run(flows[i].id);
}

}  // namespace hlosim
