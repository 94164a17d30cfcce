#include "lower/host_copies.h"

#include <algorithm>

#include "hlo/graph.h"

namespace hlosim {
namespace {

class HostCopies {
  static constexpr int64_t kSyncSpace = 2;  // where XLA:TPU keeps the flags of copies

 public:
  explicit HostCopies(ModuleEditor& editor) : editor_(editor), module_(editor.module()) {}

  void run(ComputationId id) {
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
      const auto [start, done] = split(id, at);
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

  /// An async-start of the instruction, and its async-done.
  std::pair<InstructionId, InstructionId> split(ComputationId in, InstructionId id) {
    const Instruction original = module_[id];
    const ComputationId wrapped = editor_.add_computation("async_computation");
    std::vector<InstructionId> parameters;
    std::vector<ShapeRef> shapes;
    for (const InstructionId operand : original.operands) {
      shapes.push_back(module_[operand].shape);
      parameters.push_back(editor_.add_parameter(wrapped, "param", shapes.back()));
    }
    const InstructionId root =
        editor_.add(wrapped, original.opcode, "host", original.shape, parameters, original.attrs);
    module_.computations[wrapped].instructions.push_back(root);
    module_.computations[wrapped].root = root;
    editor_.place_like(root, original);
    const ShapeRef context = module_.shapes().with_memory_space(
        module_.shapes().with_default_layouts(module_.shapes().scalar(ElementType::kU32)), kSyncSpace);
    const ShapeRef parts[] = {module_.shapes().tuple(shapes), original.shape, context};
    const std::vector<ComputationId> called{wrapped};
    const Attr calls[] = {
        Attr::make_list(AttrKey::kCalls, AttrSyntax::kComputation, module_.arena().copy(called))};
    const InstructionId start = editor_.add(in, Opcode::kAsyncStart, "host-start",
                                            module_.shapes().tuple(parts), original.operands, calls);
    editor_.place_like(start, original);
    const InstructionId from[] = {start};
    return {start, editor_.add(in, Opcode::kAsyncDone, "host-done", original.shape, from)};
  }

  ModuleEditor& editor_;
  Module& module_;
};

}  // namespace

void host_copies(ModuleEditor& editor) {
  for (const ComputationId id : callees_first(editor.module())) HostCopies(editor).run(id);
}

}  // namespace hlosim
