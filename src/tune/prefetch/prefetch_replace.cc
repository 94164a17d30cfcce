#include "prefetch/prefetch_replace.h"

#include <algorithm>
#include <set>

#include "hlo/graph.h"
#include "ops/dataflow.h"
#include "ops/op_table.h"

namespace hlosim {
namespace {

class ReplaceableFinder {
 public:
  ReplaceableFinder(const Module& module, const OpTable& table, const PrefetchLimits& limits,
                    PrefetchModel& model)
      : module_(module),
        table_(table),
        limits_(limits),
        model_(model),
        position_of_(module.instructions.size(), -1),
        made_on_chip_(module.instructions.size()) {
    for (size_t s = 0; s < model.steps.size(); ++s)
      position_of_[model.steps[s]] = model.problem.steps[s].position;
    for (size_t v = 0; v < model.origins.size(); ++v)
      for (const InstructionId source : model.origins[v].sources)
        made_on_chip_[source] = model.problem.values[v].made_bit >= 0;
  }

  void mark() {
    for (size_t r = 0; r < model_.regions.size(); ++r) {
      users_ = users_of(module_, model_.regions[r]);
      waited_for_.clear();
      for (const InstructionId at : module_[model_.regions[r]].instructions)
        if (const Attr* before = module_[at].find(AttrKey::kControlPredecessors))
          waited_for_.insert(before->instructions().begin(), before->instructions().end());
      for (size_t v = 0; v < model_.origins.size(); ++v)
        if (model_.problem.values[v].region == static_cast<int32_t>(r)) mark(v);
    }
  }

 private:
  void mark(size_t v) {
    PrefetchValue& value = model_.problem.values[v];
    const PrefetchOrigin& origin = model_.origins[v];
    // Somebody has to read it from HBM: then it has to be made there.
    const bool all_on_chip =
        std::ranges::all_of(value.uses, [](const PrefetchUse& use) { return use.bit >= 0; });
    if (value.made_bit < 0 || !all_on_chip || origin.element >= 0 || !may_be_replaced(origin.maker)) return;
    const Instruction& instruction = module_[origin.maker];
    int32_t from = 0;
    for (const InstructionId operand : instruction.operands) from = std::max(from, ready_at(operand) + 1);
    const int32_t needed = value.uses[0].position;
    if (from >= needed || alive_until(instruction.operands[0]) + 1 < needed) return;
    PrefetchStep& step = model_.problem.steps[static_cast<size_t>(step_of(value))];
    if (step.sites >= kTabledSites) return;
    value.replaced_bit = step.sites++;
    value.replace_from = from;
  }
  int32_t step_of(const PrefetchValue& value) const {
    return model_.problem.regions[static_cast<size_t>(value.region)]
        .steps[static_cast<size_t>(value.made_at)];
  }

  bool may_be_replaced(InstructionId id) const {
    const Instruction& instruction = module_[id];
    if (waited_for_.contains(id) || instruction.find(AttrKey::kControlPredecessors)) return false;
    const ShapeRef from = instruction.operands.empty() ? nullptr : module_[instruction.operands[0]].shape;
    if (!from || !from->is_array() || from->memory_space() != kDefaultMemorySpace) return false;
    if (instruction.opcode == Opcode::kCopy) return limits_.replace_copies && from == instruction.shape;
    const bool slice = instruction.opcode == Opcode::kSlice || instruction.opcode == Opcode::kDynamicSlice;
    return slice && limits_.replace_slices && moves_whole_tiles(instruction, from);
  }

  /// Every dimension that tiles cover is cut between tiles, and the result is laid out as the operand.
  bool moves_whole_tiles(const Instruction& slice, ShapeRef from) const {
    const Layout *layout = from->layout, *result = slice.shape->layout;
    if (!layout || !result || layout->tiles.size() != result->tiles.size() ||
        !std::ranges::equal(layout->minor_to_major, result->minor_to_major) || !layout->splits.empty() ||
        !result->splits.empty() || layout->element_bits != result->element_bits)
      return false;
    for (size_t t = 0; t < layout->tiles.size(); ++t)
      if (!std::ranges::equal(layout->tiles[t].dimensions, result->tiles[t].dimensions)) return false;
    const auto tile = layout->tiles.empty() ? std::span<const int64_t>() : layout->tiles[0].dimensions;
    if (static_cast<int64_t>(tile.size()) > from->rank()) return false;
    const Attr* bounds = slice.find(AttrKey::kSlice);
    for (size_t minor = 0; minor < layout->minor_to_major.size(); ++minor) {
      const int64_t d = layout->minor_to_major[minor], size = from->dim(d);
      const int64_t granule = minor < tile.size() ? tile[tile.size() - 1 - minor] : 1;
      if (granule < 1) return false;  // merged dimensions
      if (slice.shape->dim(d) == size) continue;
      if (!bounds && granule > 1) return false;  // where it begins is unknown
      if (!bounds) continue;
      const auto bound = bounds->int_lists()[static_cast<size_t>(d)];
      if (bound[2] != 1 || bound[0] % granule != 0 || (bound[1] % granule != 0 && bound[1] != size))
        return false;
    }
    return true;
  }

  /// Position of the last step that has to be over; -1: none has.
  int32_t ready_at(InstructionId id) const {
    if (position_of_[id] >= 0) return position_of_[id];
    int32_t last = -1;
    for (const InstructionId operand : module_[id].operands) last = std::max(last, ready_at(operand));
    return last;
  }

  /// Position of the last step up to which an array is in HBM whatever is decided; less than any: it may not
  /// be there, or change.
  int32_t alive_until(InstructionId id) const {
    constexpr int32_t kNever = -2;
    while (module_[id].opcode == Opcode::kBitcast) id = module_[id].operands[0];
    const Instruction& instruction = module_[id];
    const ComputationId parent = instruction.parent;
    std::vector<InstructionId> names = {id};
    bool to_the_end = false;
    if (is_tuple_element(instruction)) {
      const InstructionId tuple = instruction.operands[0];
      for (const InstructionId other : users_[tuple])
        if (!is_tuple_element(module_[other]))
          return kNever;
        else if (other != id && module_[other].find(AttrKey::kIndex)->integer() ==
                                    instruction.find(AttrKey::kIndex)->integer())
          names.push_back(other);
    } else if (instruction.parameter_number >= 0) {
      to_the_end = parent == module_.entry && !gives_arguments_away();
    } else if (position_of_[id] < 0) {
      return kNever;  // constants and the like
    }
    int32_t last = -1;
    for (size_t i = 0; i < names.size(); ++i) {
      if (made_on_chip_[names[i]]) return kNever;
      to_the_end |= names[i] == module_[parent].root;
      for (const InstructionId user : users_[names[i]]) {
        const Instruction& reader = module_[user];
        const OpDef& def = table_[reader.opcode];
        if (reader.opcode == Opcode::kBitcast) {
          names.push_back(user);
        } else if (user == module_[parent].root && is_tuple(reader)) {
          to_the_end = true;
        } else if (position_of_[user] < 0 || def.has(kCallsInline) || overwrites(reader, names[i])) {
          return kNever;
        } else {
          last = std::max(last, position_of_[user]);
        }
      }
    }
    if (to_the_end && is_end_of_life_shared(id)) return last;
    return to_the_end ? model_.problem.size_of(region_of(parent)) : last;
  }
  /// What a loop carries on as something else has another value's memory from some step on.
  bool is_end_of_life_shared(InstructionId id) const {
    const Instruction& instruction = module_[id];
    if (instruction.parent == module_.entry) return false;
    if (!is_tuple_element(instruction)) return true;
    const Instruction& root = module_.root(instruction.parent);
    const auto index = static_cast<size_t>(instruction.find(AttrKey::kIndex)->integer());
    return module_[instruction.operands[0]].parameter_number < 0 || !is_tuple(root) ||
           index >= root.operands.size() || root.operands[index] != id;
  }
  bool gives_arguments_away() const {
    return std::ranges::any_of(module_.attrs, [](const Attr& attr) {
      return attr.key == AttrKey::kInputOutputAlias || attr.key == AttrKey::kBufferDonor;
    });
  }
  bool overwrites(const Instruction& reader, InstructionId name) const {
    return std::ranges::any_of(in_place_pairs(module_, reader), [&](const InPlacePair& pair) {
      return reader.operands[static_cast<size_t>(pair.operand)] == name;
    });
  }
  int32_t region_of(ComputationId id) const {
    return static_cast<int32_t>(std::find(model_.regions.begin(), model_.regions.end(), id) -
                                model_.regions.begin());
  }

  const Module& module_;
  const OpTable& table_;
  const PrefetchLimits& limits_;
  PrefetchModel& model_;
  IdMap<InstructionId, int32_t> position_of_;
  IdMap<InstructionId, uint8_t> made_on_chip_;
  Users users_;
  std::set<InstructionId> waited_for_;
};

}  // namespace

void mark_replaceable(const Module& module, const OpTable& table, const PrefetchLimits& limits,
                      PrefetchModel& model) {
  if (limits.replace_copies || limits.replace_slices) ReplaceableFinder(module, table, limits, model).mark();
}

}  // namespace hlosim
