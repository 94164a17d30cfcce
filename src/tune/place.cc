#include "tune/place.h"

#include <algorithm>

#include "hlo/graph.h"
#include "layout/sizes.h"
#include "ops/fusion_role.h"

namespace hlosim {
namespace {

/// The on-chip space that holds most, with what of it is free for values.
struct Home {
  int64_t space = -1;
  int64_t bytes = 0;
};

Home home_of(const DeviceConfig& device) {
  Home home;
  for (const MemorySpace& space : device.memory) {
    if (&space == &device.hbm() || space.scope == MemoryScope::kHost || !space.capacity || space.numbers.empty())
      continue;
    const bool has_rates = space.bandwidth || space.read || space.write;
    if (!has_rates) continue;
    int64_t bytes = device_capacity(device, space)->count();
    if (&space == &device.vmem_space()) bytes -= device.vmem.scoped_limit.count() * device.cores;
    if (bytes > home.bytes) home = {space.numbers[0], bytes};
  }
  return home;
}

/// A value and the steps of its computation during which it lives.
struct Candidate {
  InstructionId id;
  int64_t bytes = 0, uses = 0;
  size_t begin = 0, end = 0;
};

class Placer {
 public:
  Placer(ModuleEditor& editor, const OpTable& table, Home home)
      : editor_(editor), module_(editor.module()), table_(table), home_(home) {}

  void run(ComputationId id) {
    const std::vector<InstructionId>& order = module_[id].instructions;
    const auto users = users_of(module_, id);
    IdMap<InstructionId, size_t> step(module_.instructions.size());
    for (size_t i = 0; i < order.size(); ++i) step[order[i]] = i;
    std::vector<Candidate> candidates;
    for (const InstructionId at : order) {
      if (!may_move(at, id, users)) continue;
      Candidate one{at, array_size(module_[at].shape).count(), 0, step[maker(at)], step[at]};
      for (const InstructionId user : users[at]) {
        one.end = std::max(one.end, step[user]);
        ++one.uses;
      }
      candidates.push_back(one);
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return a.uses > b.uses; });
    std::vector<int64_t> taken(order.size());
    for (const Candidate& one : candidates) {
      const auto first = taken.begin() + static_cast<std::ptrdiff_t>(one.begin);
      const auto last = taken.begin() + static_cast<std::ptrdiff_t>(one.end) + 1;
      if (*std::max_element(first, last) + one.bytes > home_.bytes) continue;
      for (auto at = first; at != last; ++at) *at += one.bytes;
      move(one.id, users);
    }
  }

 private:
  bool is_fusion(InstructionId id) const { return table_[module_[id].opcode].has(kFusion); }
  bool is_element(InstructionId id) const {
    return module_[id].find(AttrKey::kIndex) && module_[id].operands.size() == 1 &&
           is_fusion(module_[id].operands[0]);
  }
  InstructionId maker(InstructionId id) const { return is_element(id) ? module_[id].operands[0] : id; }
  bool is_kernel(InstructionId id) const {
    return is_fusion(id) || fusion_role(table_, module_[id]) != FusionRole::kNone;
  }

  /// Made by a kernel and used by kernels only.
  bool may_move(InstructionId id, ComputationId computation,
                const IdMap<InstructionId, std::vector<InstructionId>>& users) const {
    const Instruction& instruction = module_[id];
    if (!instruction.shape->is_array() || instruction.shape->rank() == 0 || instruction.literal) return false;
    if (!is_kernel(maker(id)) || id == module_[computation].root || users[id].empty()) return false;
    if (is_fusion(id) && instruction.shape->is_tuple()) return false;
    return std::ranges::all_of(users[id], [&](InstructionId user) { return is_kernel(user); });
  }

  void set_space(InstructionId id) {
    Instruction& instruction = module_.instructions[id];
    instruction.shape = module_.shapes().with_memory_space(instruction.shape, home_.space);
  }
  ComputationId body(InstructionId fusion) const { return module_[fusion].find(AttrKey::kCalls)->computations()[0]; }

  void move(InstructionId id, const IdMap<InstructionId, std::vector<InstructionId>>& users) {
    set_space(id);
    const InstructionId made_by = maker(id);
    if (is_fusion(made_by)) {
      const InstructionId root = module_[body(made_by)].root;
      if (made_by == id) {
        set_space(root);
      } else {
        const auto index = static_cast<size_t>(module_[id].find(AttrKey::kIndex)->integer());
        set_space(module_[root].operands[index]);
        set_element_space(made_by, index);
        set_element_space(root, index);
      }
    }
    for (const InstructionId user : users[id]) {
      if (!is_fusion(user)) continue;
      for (size_t i = 0; i < module_[user].operands.size(); ++i)
        if (module_[user].operands[i] == id) set_space(module_[body(user)].parameters[i]);
    }
  }

  void set_element_space(InstructionId tuple, size_t index) {
    const ShapeRef shape = module_[tuple].shape;
    std::vector<ShapeRef> elements(shape->elements.begin(), shape->elements.end());
    elements[index] = module_.shapes().with_memory_space(elements[index], home_.space);
    module_.instructions[tuple].shape = module_.shapes().tuple(elements);
  }

  ModuleEditor& editor_;
  Module& module_;
  const OpTable& table_;
  Home home_;
};

}  // namespace

void place_values(ModuleEditor& editor, const OpTable& table, const DeviceConfig& device) {
  const Home home = home_of(device);
  if (home.bytes <= 0) return;
  Placer placer(editor, table, home);
  for (const FlowComputation& flow : flow_computations(editor.module(), table))
    if (!flow.is_condition) placer.run(flow.id);
}

}  // namespace hlosim
