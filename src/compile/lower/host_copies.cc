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
        rest.push_back(start);
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

  ModuleEditor& editor_;
  Module& module_;
};

}  // namespace

void host_copies(ModuleEditor& editor) {
  for (const ComputationId id : callees_first(editor.module())) HostCopies(editor).run(id);
}

}  // namespace hlosim
