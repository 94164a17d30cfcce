#include "lower/host_copies.h"

#include <algorithm>
#include <cstddef>

#include "hlo/graph.h"
#include "hlo/stored_values.h"
#include "lower/async_pair.h"
#include "modules/edit.h"
#include "modules/next_iteration.h"

namespace hlosim {
namespace {

class HostCopies {
 public:
  explicit HostCopies(ModuleEditor& editor) : editor_(editor), module_(editor.module()) {}

  void run(ComputationId id) {
    if (std::ranges::none_of(module_[id].instructions,
                             [&](InstructionId at) { return is_read(at) || is_write(at); }))
      return;
    std::vector<InstructionId> rest, ends;
    std::vector<std::pair<size_t, InstructionId>> reads;  // by the place of their first user
    const std::vector<InstructionId> before = module_[id].instructions;
    const InstructionId root = module_[id].root;
    const Users users = users_of(module_, id);
    IdMap<InstructionId, size_t> places(module_.instructions.size());
    for (size_t i = 0; i < before.size(); ++i) places[before[i]] = i;
    for (const InstructionId at : before) {
      if (at == root || (!is_read(at) && !is_write(at))) {
        rest.push_back(at);
        continue;
      }
      const auto [start, done] = async_pair(editor_, id, {at, "host", "host-start", "host-done"});
      if (is_read(at))
        reads.emplace_back(users[at].empty() ? before.size() : places[users[at][0]], start);
      else
        rest.insert(behind_operands(rest, start), start);
      editor_.replace_everywhere(id, at, done);
      ends.push_back(done);
    }
    if (ends.empty()) return;
    rest.insert(std::find(rest.begin(), rest.end(), root), ends.begin(), ends.end());
    std::stable_sort(reads.begin(), reads.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<InstructionId> list;
    for (const auto& [place, start] : reads) list.push_back(start);
    list.insert(list.end(), rest.begin(), rest.end());
    module_.computations[id].instructions = std::move(list);
    editor_.sort(id);  // brings what each needs before it, and nothing else
  }

 private:
  bool on_host(InstructionId id) const {
    return module_[id].shape->is_array() && module_[id].shape->memory_space() == kHostSpace;
  }
  bool is_read(InstructionId id) const {
    const Instruction& slice = module_[id];
    return slice.opcode == Opcode::kDynamicSlice && on_host(slice.operands[0]) && !on_host(id);
  }
  bool is_write(InstructionId id) const {
    const Instruction& update = module_[id];
    return update.opcode == Opcode::kDynamicUpdateSlice && on_host(id) && !on_host(update.operands[1]);
  }

  /// The first place in the list where all that the start needs is there.
  std::vector<InstructionId>::iterator behind_operands(std::vector<InstructionId>& list,
                                                       InstructionId start) const {
    const std::span<const InstructionId> needed = module_[start].operands;
    const auto last = std::find_if(list.rbegin(), list.rend(),
                                   [&](InstructionId id) { return std::ranges::count(needed, id) > 0; });
    return last.base();
  }

  ModuleEditor& editor_;
  Module& module_;
};

}  // namespace

namespace {

/// An async-start around a slice of an array in S(5), or an update of one.
bool starts_host_copy(const Module& module, const Instruction& start) {
  if (start.opcode != Opcode::kAsyncStart) return false;
  const Instruction& inside = module[module[start.find(AttrKey::kCalls)->computations()[0]].root];
  if (inside.opcode != Opcode::kDynamicSlice && inside.opcode != Opcode::kDynamicUpdateSlice) return false;
  const ShapeRef whole = module[inside.operands[0]].shape;
  return whole->is_array() && whole->memory_space() == kHostSpace;
}

bool uses(const Module& module, InstructionId user, InstructionId value) {
  if (std::ranges::count(module[user].operands, value) > 0) return true;
  const Attr* control = module[user].find(AttrKey::kControlPredecessors);
  return control && std::ranges::count(control->instructions(), value) > 0;
}

}  // namespace

void spread_host_copies(Module& module) {
  for (Computation& computation : module.computations) {
    std::vector<InstructionId>& list = computation.instructions;
    const std::vector<InstructionId> before = list;
    for (const InstructionId start : before) {
      if (!starts_host_copy(module, module[start])) continue;
      const auto done = std::ranges::find_if(before, [&](InstructionId id) {
        return module[id].opcode == Opcode::kAsyncDone && module[id].operands[0] == start;
      });
      if (done == before.end()) continue;
      std::erase(list, start);
      const auto last =
          std::find_if(list.rbegin(), list.rend(), [&](InstructionId id) { return uses(module, start, id); });
      list.insert(last.base(), start);
      std::erase(list, *done);
      const auto first =
          std::ranges::find_if(list, [&](InstructionId id) { return uses(module, id, *done); });
      list.insert(first == list.end() ? std::find(list.begin(), list.end(), start) + 1 : first, *done);
    }
  }
}

void host_copies(ModuleEditor& editor) {
  for (const ComputationId id : callees_first(editor.module())) HostCopies(editor).run(id);
}

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
    const ShapeRef scalar =
        module_.shapes().with_default_layouts(module_.shapes().scalar(shape->element_type));
    const InstructionId zero = editor_.add(in, Opcode::kConstant, "zero", scalar, {});
    module_.instructions[zero].literal = array_literal(module_, scalar, bytes);
    list.push_back(zero);
    const InstructionId from[] = {zero};
    const Attr attrs[] = {ints_attr(module_, AttrKey::kDimensions, {})};
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
