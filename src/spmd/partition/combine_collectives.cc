#include "partition/combine_collectives.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "hlo/module_editor.h"
#include "layout/packed_bytes.h"

namespace hlosim {
namespace {

constexpr size_t kMostTogether = 256;  // as XLA's combiners

class CollectiveCombiner {
 public:
  CollectiveCombiner(Partitioned& made, const PartitionOptions& options)
      : made_(made), module_(made.module), options_(options), editor_(made.module) {
    for (size_t i = 0; i < made.reshardings.size(); ++i)
      if (limit_of(made.reshardings[i].kind)) rows_[made.reshardings[i].collective] = i;
    for (size_t group = 0; options.choices && group < options.choices->combined.size(); ++group)
      for (const int64_t channel : options.choices->combined[group]) chosen_[channel] = group;
  }

  void run() {
    for (size_t i = 0; i < module_.computations.size(); ++i)
      combine_in(ComputationId{static_cast<int32_t>(i)});
    std::vector<Resharding> kept;
    for (size_t i = 0; i < made_.reshardings.size(); ++i)
      if (!twice_.contains(i)) kept.push_back(std::move(made_.reshardings[i]));
    made_.reshardings = std::move(kept);
  }

 private:
  /// What makes two of them possible as one: kind, devices, dimension, what sums up, depth, and the choice
  /// that was made elsewhere.
  using Key = std::tuple<ReshardKind, const ReplicaGroups*, int64_t, ComputationId, int32_t, size_t>;
  using Replaced = std::unordered_map<InstructionId, InstructionId>;
  struct Group {
    std::vector<InstructionId> members;
    int64_t bytes = 0;
  };

  /// Nullopt: collectives of this kind stay as they are.
  std::optional<int64_t> limit_of(ReshardKind kind) const {
    switch (kind) {
      case ReshardKind::kAllReduce:
        return options_.combine_reductions_bytes;
      case ReshardKind::kAllGather:
      case ReshardKind::kReduceScatter:
        return options_.combine_moves_bytes;
      case ReshardKind::kSlice:
      case ReshardKind::kAllToAll:
      case ReshardKind::kPermute:
        break;
    }
    return std::nullopt;
  }
  int64_t limit_of(InstructionId id) const { return *limit_of(made_.reshardings[rows_.at(id)].kind); }

  Key key_of(InstructionId id, int32_t depth) const {
    const Instruction& collective = module_[id];
    const Attr* dimensions = collective.find(AttrKey::kDimensions);
    const Attr* sum = collective.find(AttrKey::kToApply);
    const auto chosen = chosen_.find(channel_of(id));
    return {made_.reshardings[rows_.at(id)].kind,
            &collective.find(AttrKey::kReplicaGroups)->replica_groups(),
            dimensions ? dimensions->ints()[0] : -1,
            sum ? sum->computations()[0] : ComputationId(),
            depth,
            chosen == chosen_.end() ? chosen_.size() : chosen->second};
  }
  int64_t channel_of(InstructionId id) const { return module_[id].find(AttrKey::kChannelId)->integer(); }

  /// Of the whole array.
  int64_t bytes_of(InstructionId id) const {
    return std::max(packed_bytes(*module_[id].shape), packed_bytes(*module_[module_[id].operands[0]].shape));
  }

  bool has_room(const Group& group, InstructionId id) const {
    if (group.members.size() >= kMostTogether) return false;
    if (options_.choices) return true;
    return group.bytes + bytes_of(id) <= limit_of(id);
  }
  bool may_join(InstructionId id) const {
    if (options_.choices) return chosen_.contains(channel_of(id));
    return bytes_of(id) <= limit_of(id);
  }

  void combine_in(ComputationId computation) {
    std::map<Key, Group> open;
    std::vector<Group> done;
    std::map<std::pair<Key, InstructionId>, InstructionId> first;  // of those that do the same to one array
    Replaced now;
    std::unordered_map<InstructionId, int32_t> depths;
    for (const InstructionId id : module_[computation].instructions) {
      const Instruction& instruction = module_[id];
      int32_t depth = 0;
      const auto before = [&](InstructionId other) {
        if (const auto found = depths.find(other); found != depths.end())
          depth = std::max(depth, found->second);
      };
      std::ranges::for_each(instruction.operands, before);
      if (const Attr* control = instruction.find(AttrKey::kControlPredecessors))
        std::ranges::for_each(control->instructions(), before);
      const bool is_ours = rows_.contains(id);
      if (depth + is_ours > 0) depths[id] = depth + is_ours;
      if (!is_ours) continue;
      const Key key = key_of(id, depth);
      Key what = key;
      std::get<size_t>(what) = 0;  // whatever was chosen
      const auto [same, is_new] = first.try_emplace({what, instruction.operands[0]}, id);
      if (!is_new) {
        now[id] = same->second;
        twice_.insert(rows_.at(id));
      }
      if (!is_new || !may_join(id)) continue;
      Group& group = open[key];
      if (!has_room(group, id)) done.push_back(std::exchange(group, {}));
      group.members.push_back(id);
      group.bytes += bytes_of(id);
    }
    for (auto& [key, group] : open) done.push_back(std::move(group));
    std::erase_if(done, [](const Group& group) { return group.members.size() < 2; });
    std::ranges::sort(done, {}, [](const Group& group) { return group.members.front(); });
    if (!done.empty() || !now.empty()) write(computation, done, std::move(now));
  }

  /// `now`: what stands for those that are there twice.
  void write(ComputationId computation, const std::vector<Group>& groups, Replaced now) {
    const Replaced twice = now;
    std::unordered_map<InstructionId, std::vector<InstructionId>>
        behind;  // the last member: what comes there
    for (const Group& group : groups) {
      std::vector<InstructionId>& made = behind[group.members.back()];
      made.push_back(combined(computation, group.members));
      for (size_t i = 0; i < group.members.size(); ++i) {
        const InstructionId all[] = {made.front()};
        const Attr index[] = {Attr::make_int(AttrKey::kIndex, static_cast<int64_t>(i))};
        const InstructionId id = group.members[i];
        made.push_back(
            editor_.add(computation, Opcode::kGetTupleElement, "element", module_[id].shape, all, index));
        editor_.place_like(made.back(), module_[id]);
        now[id] = made.back();
      }
    }
    for (const auto& [id, first] : twice)
      if (const auto found = now.find(first); found != now.end()) now[id] = found->second;
    replace(computation, now, behind);
  }

  InstructionId combined(ComputationId computation, const std::vector<InstructionId>& members) {
    std::vector<InstructionId> operands;
    std::vector<ShapeRef> shapes;
    std::vector<int64_t> channels;
    for (const InstructionId id : members) {
      operands.push_back(module_[id].operands[0]);
      shapes.push_back(module_[id].shape);
      channels.push_back(channel_of(id));
    }
    const Instruction first = module_[members[0]];
    const InstructionId made = editor_.add(computation, first.opcode, to_text(first.opcode),
                                           module_.shapes().tuple(shapes), operands, first.attrs);
    editor_.place_like(made, first);
    for (const InstructionId id : members) {
      Resharding& one = made_.reshardings[rows_.at(id)];
      one.collective = made;
      one.together = static_cast<int64_t>(members.size());
    }
    made_.choices.combined.push_back(std::move(channels));
    return made;
  }

  /// What used a member uses its element, behind the last of them.
  void replace(ComputationId computation, const Replaced& now,
               const std::unordered_map<InstructionId, std::vector<InstructionId>>& behind) {
    std::vector<InstructionId> list;
    const auto current = [&](InstructionId id) {
      const auto found = now.find(id);
      return found == now.end() ? id : found->second;
    };
    const auto use_current = [&](InstructionId id) {
      std::vector<InstructionId> operands;
      for (const InstructionId operand : module_[id].operands) operands.push_back(current(operand));
      if (!std::ranges::equal(operands, module_[id].operands)) editor_.set_operands(id, operands);
    };
    for (const InstructionId id : module_[computation].instructions) {
      if (!now.contains(id)) {
        list.push_back(id);
        use_current(id);
      }
      const auto made = behind.find(id);
      if (made == behind.end()) continue;
      use_current(made->second.front());
      list.insert(list.end(), made->second.begin(), made->second.end());
    }
    Computation& changed = module_.computations[computation];
    changed.instructions = std::move(list);
    changed.root = current(changed.root);
    editor_.sort(computation);
  }

  Partitioned& made_;
  Module& module_;
  const PartitionOptions& options_;
  ModuleEditor editor_;
  std::unordered_map<InstructionId, size_t> rows_;  // those that may be combined, among the reshardings
  std::set<size_t> twice_;                          // reshardings that others do as well
  std::unordered_map<int64_t, size_t> chosen_;      // channels, and the choice that they are part of
};

}  // namespace

void combine_collectives(Partitioned& made, const PartitionOptions& options) {
  if (made.reshardings.size() > 1) CollectiveCombiner(made, options).run();
}

}  // namespace hlosim
