#include "lower/host_copies.h"

#include <algorithm>

#include "hlo/graph.h"
#include "lower/async_pair.h"

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

}  // namespace hlosim
