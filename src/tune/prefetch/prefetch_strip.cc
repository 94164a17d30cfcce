#include "prefetch/prefetch_strip.h"

#include <algorithm>
#include <vector>

#include "hlo/graph.h"
#include "lower/on_chip.h"
#include "ops/op_table.h"

namespace hlosim {
namespace {

class Stripper {
 public:
  Stripper(ModuleEditor& editor, const OpTable& table, const DeviceConfig& device)
      : editor_(editor), module_(editor.module()), table_(table), device_(device) {
    instead_ = IdMap<InstructionId, InstructionId>(module_.instructions.size());
  }

  StripSummary run() {
    for (size_t c = 0; c < module_.computations.size(); ++c) strip(ComputationId{static_cast<int32_t>(c)});
    drop_spaces();
    return summary_;
  }

 private:
  ShapeRef in_hbm(ShapeRef shape) {
    if (shape->is_tuple()) {
      std::vector<ShapeRef> elements;
      for (const ShapeRef element : shape->elements) elements.push_back(in_hbm(element));
      return module_.shapes().tuple(elements);
    }
    if (!shape->is_array() || !is_on_chip(device_, shape->memory_space())) return shape;
    return module_.shapes().with_memory_space(shape, kDefaultMemorySpace);
  }
  bool in_reach(ShapeRef shape) const {
    return shape->is_array() &&
           (shape->memory_space() == kDefaultMemorySpace || is_on_chip(device_, shape->memory_space()));
  }
  /// The same array, one of both on the chip.
  bool changes_space_only(ShapeRef from, ShapeRef to) {
    return in_reach(from) && in_reach(to) && from->memory_space() != to->memory_space() &&
           in_hbm(from) == in_hbm(to);
  }

  void strip(ComputationId id) {
    const auto users = users_of(module_, id);
    std::vector<InstructionId> removed;
    for (const InstructionId at : module_[id].instructions) {
      const InstructionId source = source_of_copy(at, users);
      if (!source.valid()) continue;
      instead_[at] = instead_[source].valid() ? instead_[source] : source;
      removed.push_back(at);
    }
    if (removed.empty()) return;
    summary_.changed = true;
    for (const InstructionId user : module_[id].instructions) redirect(user);
    Computation& computation = module_.computations[id];
    if (instead_[computation.root].valid()) computation.root = instead_[computation.root];
    drop_unused(id);
  }

  /// What a done, a synchronous copy or a join of slices brings elsewhere as it is; invalid: it does more.
  InstructionId source_of_copy(InstructionId id, const Users& users) {
    const Instruction& instruction = module_[id];
    if (id == module_[instruction.parent].root) return {};
    if (instruction.opcode == Opcode::kCopy) {
      const InstructionId from = instruction.operands[0];
      const bool loop_state =
          std::ranges::any_of(users[id], [&](InstructionId user) { return is_handed_on(user); }) ||
          is_tuple_element(module_[from]);
      return !loop_state && changes_space_only(module_[from].shape, instruction.shape) ? from
                                                                                       : InstructionId{};
    }
    if (table_[instruction.opcode].has(kAsyncDone)) {
      const Instruction& start = module_[instruction.operands[0]];
      const bool is_result = instruction.operands[0] == module_[instruction.parent].root;
      if (!table_[start.opcode].has(kCopyStart) || is_result) return {};
      const InstructionId from = start.operands[0];
      return changes_space_only(module_[from].shape, instruction.shape) ? from : InstructionId{};
    }
    return source_of_slices(instruction);
  }
  bool is_handed_on(InstructionId user) const {
    const OpDef& def = table_[module_[user].opcode];
    return is_tuple(module_[user]) || def.has(kCallsInline);
  }

  struct Slice {
    InstructionId source;
    std::span<const std::span<const int64_t>> bounds;
  };
  /// An asynchronous slice of one array.
  Slice slice_of(InstructionId done) const {
    const Instruction& instruction = module_[done];
    if (!table_[instruction.opcode].has(kAsyncDone)) return {};
    const Instruction* start = async_start_of(module_, instruction);
    const Attr* calls = start ? start->find(AttrKey::kCalls) : nullptr;
    if (!calls || start->operands.size() != 1) return {};
    const Instruction& root = module_.root(calls->computations()[0]);
    if (root.opcode != Opcode::kSlice || module_[root.operands[0]].parameter_number != 0) return {};
    return {start->operands[0], root.find(AttrKey::kSlice)->int_lists()};
  }

  /// Slices that are joined to the array that they were taken from.
  InstructionId source_of_slices(const Instruction& join) {
    const Attr* target = join.find(AttrKey::kCustomCallTarget);
    if (!target || target->text() != "\"ConcatBitcast\"" || join.operands.empty()) return {};
    const Slice first = slice_of(join.operands[0]);
    if (!first.source.valid() || !changes_space_only(module_[first.source].shape, join.shape)) return {};
    const ShapeRef whole = module_[first.source].shape;
    int64_t cut = -1, reached = 0;
    for (const InstructionId operand : join.operands) {
      const Slice slice = slice_of(operand);
      if (slice.source != first.source) return {};
      for (int64_t d = 0; d < whole->rank(); ++d) {
        const auto bounds = slice.bounds[static_cast<size_t>(d)];
        const int64_t size = whole->dimensions[static_cast<size_t>(d)];
        if (bounds[2] != 1) return {};
        if (bounds[0] == 0 && bounds[1] == size && d != cut) continue;
        if ((cut >= 0 && d != cut) || bounds[0] != reached) return {};
        cut = d, reached = bounds[1];
      }
    }
    const bool all =
        cut < 0 ? join.operands.size() == 1 : reached == whole->dimensions[static_cast<size_t>(cut)];
    return all ? first.source : InstructionId{};
  }

  void redirect(InstructionId user) {
    std::vector<InstructionId> operands(module_[user].operands.begin(), module_[user].operands.end());
    for (InstructionId& operand : operands)
      if (instead_[operand].valid()) operand = instead_[operand];
    editor_.set_operands(user, operands);
    const Attr* before = module_[user].find(AttrKey::kControlPredecessors);
    if (!before) return;
    std::vector<InstructionId> kept;
    for (const InstructionId at : before->instructions())
      kept.push_back(instead_[at].valid() ? instead_[at] : at);
    editor_.set_attr(user, Attr::make_list<InstructionId>(AttrKey::kControlPredecessors, before->syntax,
                                                          module_.arena().copy(kept)));
  }

  /// The copies themselves, and what only they needed of their starts.
  void drop_unused(ComputationId id) {
    Computation& computation = module_.computations[id];
    IdMap<InstructionId, uint8_t> gone(module_.instructions.size());
    const auto users = users_of(module_, id);
    for (size_t i = computation.instructions.size(); i-- > 0;) {
      const InstructionId at = computation.instructions[i];
      const OpDef& def = table_[module_[at].opcode];
      const bool unused = std::ranges::all_of(users[at], [&](InstructionId user) { return gone[user] != 0; });
      const bool part =
          instead_[at].valid() ||
          ((def.has(kAsyncStart) || def.has(kAsyncDone) || def.has(kAsyncUpdate)) && !users[at].empty());
      gone[at] = part && unused && at != computation.root;
      if (gone[at] && (def.has(kAsyncStart) || module_[at].opcode == Opcode::kCopy)) ++summary_.copies;
    }
    std::erase_if(computation.instructions, [&](InstructionId at) { return gone[at] != 0; });
    for (const InstructionId at : computation.instructions) {
      const Attr* before = module_[at].find(AttrKey::kControlPredecessors);
      if (!before) continue;
      std::vector<InstructionId> kept;
      for (const InstructionId other : before->instructions())
        if (!gone[other]) kept.push_back(other);
      editor_.set_attr(at, Attr::make_list<InstructionId>(AttrKey::kControlPredecessors, before->syntax,
                                                          module_.arena().copy(kept)));
    }
  }

  void drop_spaces() {
    for (size_t c = 0; c < module_.computations.size(); ++c) {
      const ComputationId id{static_cast<int32_t>(c)};
      for (const InstructionId at : module_[id].instructions) {
        Instruction& instruction = module_.instructions[at];
        if (id == module_.entry && instruction.parameter_number >= 0) continue;
        const ShapeRef shape = in_hbm(instruction.shape);
        summary_.values += shape != instruction.shape;
        summary_.changed |= shape != instruction.shape;
        instruction.shape = shape;
      }
    }
    std::vector<Attr> attrs(module_.attrs.begin(), module_.attrs.end());
    for (Attr& attr : attrs) {
      if (attr.key != AttrKey::kEntryComputationLayout) continue;
      std::vector<ShapeRef> shapes(attr.shapes().begin(), attr.shapes().end());
      if (!shapes.empty()) shapes.back() = in_hbm(shapes.back());
      summary_.changed |= !shapes.empty() && shapes.back() != attr.shapes().back();
      attr = Attr::make_list<ShapeRef>(attr.key, attr.syntax, module_.arena().copy(shapes));
    }
    module_.attrs = module_.arena().copy(attrs);
  }

  ModuleEditor& editor_;
  Module& module_;
  const OpTable& table_;
  const DeviceConfig& device_;
  IdMap<InstructionId, InstructionId> instead_;
  StripSummary summary_;
};

}  // namespace

StripSummary strip_prefetches(ModuleEditor& editor, const OpTable& table, const DeviceConfig& device) {
  return Stripper(editor, table, device).run();
}

}  // namespace hlosim
