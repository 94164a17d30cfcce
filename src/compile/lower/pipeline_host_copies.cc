#include "lower/pipeline_host_copies.h"

#include <algorithm>
#include <cstddef>

#include "hlo/graph.h"
#include "lower/next_iteration.h"
#include "modules/edit.h"

namespace hlosim {
namespace {

class HostPipeline {
 public:
  HostPipeline(ModuleEditor& editor, const OpTable& table)
      : editor_(editor), module_(editor.module()), table_(table), loops_(editor) {}

  int run(ComputationId outside) {
    int changed = 0;
    for (const Loop& loop : loops_.changeable(outside)) {
      NextIteration next(editor_, table_, loop);
      const Users users = users_of(module_, loop.body);
      std::vector<InstructionId> reads, writes;
      for (const InstructionId id : module_[loop.body].instructions) {
        if (is_read_ahead(next, id)) reads.push_back(id);
        if (is_late_write(loop, next, id, users)) writes.push_back(id);
      }
      if (!reads.empty()) read_ahead(loop, next, reads);
      for (const InstructionId write : writes) write_behind(loop, write);
      changed += static_cast<int>(reads.size() + writes.size());
    }
    return changed;
  }

 private:
  bool on_host(InstructionId id) const {
    return module_[id].shape->is_array() && module_[id].shape->memory_space() == kHostSpace;
  }

  bool is_read_ahead(const NextIteration& next, InstructionId id) const {
    const Instruction& slice = module_[id];
    return slice.opcode == Opcode::kDynamicSlice && on_host(slice.operands[0]) && !on_host(id) &&
           next.stays(slice.operands[0]) && next.follows(slice.operands.subspan(1));
  }

  /// A value that the body computes, written into an element of the state that nothing else touches.
  bool is_late_write(const Loop& loop, const NextIteration& next, InstructionId id,
                     const Users& users) const {
    const Instruction& update = module_[id];
    if (update.opcode != Opcode::kDynamicUpdateSlice || !on_host(id) || on_host(update.operands[1]))
      return false;
    const InstructionId whole = update.operands[0];
    return loops_.is_state(loop, whole) && next.next_of(whole) == id && users[whole].size() == 1 &&
           users[id].size() == 1 && !comes_with_the_state(loop, update.operands[1]) &&
           next.follows(update.operands.subspan(2));
  }

  /// There before the iteration begins, in another shape perhaps.
  bool comes_with_the_state(const Loop& loop, InstructionId id) const {
    while (module_[id].operands.size() == 1 && !loops_.is_state(loop, id) &&
           (module_[id].opcode == Opcode::kReshape || module_[id].opcode == Opcode::kBitcast))
      id = module_[id].operands[0];
    return loops_.is_state(loop, id);
  }

  void read_ahead(const Loop& loop, NextIteration& next, const std::vector<InstructionId>& reads) {
    std::vector<InstructionId> before;
    const std::vector<InstructionId> first = next.at_start(reads, before);
    const std::vector<InstructionId> now = loops_.carry(loop, first, before);
    std::vector<InstructionId> more, state = state_of(loop);
    for (size_t i = 0; i < reads.size(); ++i) {
      const Instruction read = module_[reads[i]];
      const std::vector<InstructionId> operands = next.in_next(read.operands, more);
      const InstructionId fetched =
          editor_.add(loop.body, Opcode::kDynamicSlice, "read-ahead", read.shape, operands, read.attrs);
      editor_.place_like(fetched, read);
      more.push_back(fetched);
      state[state.size() - reads.size() + i] = copied(loop, fetched, more);
      editor_.replace_everywhere(loop.body, reads[i], now[i]);
    }
    finish(loop, state, {}, more);
  }

  void write_behind(const Loop& loop, InstructionId write) {
    const Instruction update = module_[write];
    const InstructionId whole = update.operands[0], value = update.operands[1];
    const std::vector<InstructionId> places(update.operands.begin() + 2, update.operands.end());
    NextIteration next(editor_, table_, loop);
    std::vector<InstructionId> before;
    std::vector<InstructionId> starts = next.at_start(places, before);
    starts.push_back(zeros(loop.outside, module_[value].shape, before));
    const std::vector<InstructionId> carried = loops_.carry(loop, starts, before);

    std::vector<InstructionId> more, state = state_of(loop), operands{whole, carried.back()};
    operands.insert(operands.end(), carried.begin(), carried.end() - 1);
    const InstructionId behind = editor_.add(loop.body, Opcode::kDynamicUpdateSlice, "write-behind",
                                             update.shape, operands, update.attrs);
    editor_.place_like(behind, update);
    const size_t first = state.size() - carried.size();
    for (size_t i = 0; i < places.size(); ++i) state[first + i] = places[i];
    state.back() = copied(loop, value, more);
    const auto index = static_cast<size_t>(module_[whole].find(AttrKey::kIndex)->integer());
    state[index] = behind;
    finish(loop, state, {behind}, more);
    write_last(loop, update, index, first, places.size());
  }

  /// Behind the loop: the value of the last iteration, which it carries out.
  void write_last(const Loop& loop, const Instruction& update, size_t index, size_t first, size_t places) {
    std::vector<InstructionId> made, operands;
    const auto element = [&](size_t at) {
      const InstructionId from[] = {loop.id};
      const Attr attrs[] = {Attr::make_int(AttrKey::kIndex, static_cast<int64_t>(at))};
      made.push_back(editor_.add(loop.outside, Opcode::kGetTupleElement, "carried",
                                 module_[loop.id].shape->elements[at], from, attrs));
      return made.back();
    };
    std::vector<InstructionId> before;  // that took the array from the loop
    for (const InstructionId id : module_[loop.outside].instructions)
      if (is_tuple_element(module_[id]) && module_[id].operands[0] == loop.id &&
          module_[id].find(AttrKey::kIndex)->integer() == static_cast<int64_t>(index))
        before.push_back(id);
    operands = {element(index), element(first + places)};
    for (size_t i = 0; i < places; ++i) operands.push_back(element(first + i));
    made.push_back(editor_.add(loop.outside, Opcode::kDynamicUpdateSlice, "write-last", update.shape,
                               operands, update.attrs));
    for (const InstructionId id : before) editor_.replace_everywhere(loop.outside, id, made.back());
    std::vector<InstructionId>& list = module_.computations[loop.outside].instructions;
    list.insert(std::find(list.begin(), list.end(), loop.id) + 1, made.begin(), made.end());
    module_.computations[loop.outside].instructions = needed_instructions(module_, table_, loop.outside);
  }

  std::vector<InstructionId> state_of(const Loop& loop) const {
    return {module_[loop.last].operands.begin(), module_[loop.last].operands.end()};
  }

  /// It and what was carried in are there at the same time.
  InstructionId copied(const Loop& loop, InstructionId value, std::vector<InstructionId>& list) {
    const InstructionId from[] = {value};
    list.push_back(editor_.add(loop.body, Opcode::kCopy, "copy", module_[value].shape, from));
    return list.back();
  }

  InstructionId zeros(ComputationId in, ShapeRef shape, std::vector<InstructionId>& list) {
    const std::vector<std::byte> bytes(static_cast<size_t>(byte_width(shape->element_type)));
    Literal* literal = module_.arena().make<Literal>();
    literal->shape = module_.shapes().with_default_layouts(module_.shapes().scalar(shape->element_type));
    literal->data = module_.arena().copy(std::span<const std::byte>(bytes));
    const InstructionId zero = editor_.add(in, Opcode::kConstant, "zero", literal->shape, {});
    module_.instructions[zero].literal = literal;
    list.push_back(zero);
    const InstructionId from[] = {zero};
    const Attr attrs[] = {
        Attr::make_list(AttrKey::kDimensions, AttrSyntax::kInts, std::span<const int64_t>())};
    list.push_back(editor_.add(in, Opcode::kBroadcast, "unwritten", shape, from, attrs));
    return list.back();
  }

  /// `begin` comes right behind the state, `end` before the body's root.
  void finish(const Loop& loop, const std::vector<InstructionId>& state,
              const std::vector<InstructionId>& begin, const std::vector<InstructionId>& end) {
    editor_.set_operands(loop.last, state);
    std::vector<InstructionId>& body = module_.computations[loop.body].instructions;
    body.insert(std::find(body.begin(), body.end(), loop.last), end.begin(), end.end());
    body.insert(std::find(body.begin(), body.end(), loop.parameter) + 1, begin.begin(), begin.end());
    editor_.sort(loop.body);
    module_.computations[loop.body].instructions = needed_instructions(module_, table_, loop.body);
  }

  ModuleEditor& editor_;
  Module& module_;
  const OpTable& table_;
  Loops loops_;
};

}  // namespace

int pipeline_host_copies(ModuleEditor& editor, const OpTable& table) {
  HostPipeline pass(editor, table);
  int changed = 0;
  const std::vector<FlowComputation> flows = flow_computations(editor.module(), table);
  for (size_t i = flows.size(); i-- > 0;)
    if (!flows[i].is_condition) changed += pass.run(flows[i].id);
  return changed;
}

}  // namespace hlosim
