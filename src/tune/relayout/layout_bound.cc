// What parts cost at least while layouts are still open.
#include <algorithm>
#include <limits>

#include "base/saturating.h"
#include "layout/sizes.h"
#include "ops/dataflow.h"
#include "ops/infer.h"
#include "relayout/layout_cost.h"

namespace hlosim {
namespace {

/// Combinations of layouts that are tried one by one for the least that an instruction can cost.
constexpr int64_t kMostOfFusion = 600, kMostOfOthers = 5000;
/// The same, of all parts together.
constexpr int64_t kMostOfAll = 400'000;

}  // namespace

/// As given, it moves its operands and results once and as a whole, padding included, from and to HBM.
bool LayoutCosts::takes_all(InstructionId id) {
  const Module& module = problem_.module();
  int64_t bytes = 0;
  bool in_hbm = true;
  const auto add = [&](ShapeRef shape) {
    for_each_leaf(shape, [&](ShapeRef leaf) {
      if (!leaf->is_array() || leaf->rank() == 0) return;
      in_hbm &= memory_.space_of(leaf->memory_space()) == memory_.hbm();
      bytes = saturating_add(bytes, array_size(leaf).count());
    });
  };
  add(module[id].shape);
  for (const InstructionId operand : module[id].operands) add(module[operand].shape);
  return in_hbm && probe_->cost(id).padded_bytes.count() == bytes;
}

/// What a part that takes all of its operands takes at least, whatever the groups get that are not `decided`.
LayoutCosts::NodeCost LayoutCosts::floor_of(size_t part, const LayoutChoice& choice,
                                            const std::vector<uint8_t>& decided) {
  const Part& one = parts_[part];
  NodeCost floor = node(part, choice);
  floor.time = floor.min_time, floor.bytes = 0;
  // Others take copies of what doesn't fit, which may be smaller.
  if (!one.reads_all || !dataflow(problem_.module()[one.id].opcode).is_fusion) return floor;
  const auto add = [&](InstructionId id) {
    for_each_leaf_number(problem_.module()[id].shape, [&](int32_t number, ShapeRef leaf) {
      if (!leaf->is_array() || leaf->rank() == 0) return;
      const int32_t group = problem_.groups().of(id, number);
      const auto i = static_cast<size_t>(group);
      int64_t least = std::numeric_limits<int64_t>::max();
      const auto offer = [&](const Layout* layout) {
        least = std::min(least, array_size(problem_.array_with(group, layout)).count());
      };
      if (decided[i])
        offer(choice[i]);
      else
        for (const Layout* layout : problem_.candidates(group)) offer(layout);
      floor.bytes = saturating_add(floor.bytes, least);
    });
  };
  add(one.id);
  for (const InstructionId operand : problem_.module()[one.id].operands) add(operand);
  const BusRate& hbm = memory_.rates(memory_.hbm());
  const double time = static_cast<double>(floor.bytes) * std::min({hbm.read, hbm.write, hbm.total});
  const OverheadConfig& overhead = device_.config.overhead;
  floor.time =
      std::max({floor.time, static_cast<int64_t>(time * (1 - 1e-9)),
                floor.bytes > 0 ? std::min(overhead.smallest_fusion, overhead.smallest_write).count() : 0});
  return floor;
}

LayoutScore LayoutCosts::bound(size_t part, const LayoutChoice& choice, const std::vector<uint8_t>& decided) {
  const auto [place, is_new] = bounds_.try_emplace(key_of(part, choice, &decided));
  if (is_new) place->second = minimum(part, choice, decided);
  return place->second;
}

LayoutScore LayoutCosts::minimum(size_t part, const LayoutChoice& choice,
                                 const std::vector<uint8_t>& decided) {
  const Part& one = parts_[part];
  if (one.executions == 0) return {};
  LayoutScore least;
  std::vector<int32_t> open;
  int64_t combinations = 1;
  for (const int32_t group : one.groups) {
    if (decided[static_cast<size_t>(group)]) continue;
    open.push_back(group);
    combinations = saturating_multiply(combinations, static_cast<int64_t>(problem_.candidates(group).size()));
  }
  if (one.is_copies && (one.may_share || !open.empty())) return {};
  const bool is_fusion = dataflow(problem_.module()[one.id].opcode).is_fusion;
  const int64_t most =
      std::min(is_fusion ? kMostOfFusion : kMostOfOthers, kMostOfAll / static_cast<int64_t>(parts_.size()));
  if (combinations > std::max<int64_t>(most, 1)) {
    const bool may_vanish = !is_fusion && one.groups.size() <= 2;
    if (!may_vanish) least = score(floor_of(part, choice, decided), one);
  } else {
    LayoutChoice& trial = trial_;
    trial.resize(choice.size());
    for (const int32_t group : one.groups)
      trial[static_cast<size_t>(group)] = choice[static_cast<size_t>(group)];
    int64_t time = std::numeric_limits<int64_t>::max(), bytes = time;
    for (int64_t i = 0; i < combinations; ++i) {
      if (out_of_time_ && out_of_time_()) return {};
      int64_t rest = i;
      for (const int32_t group : open) {
        const auto& list = problem_.candidates(group);
        trial[static_cast<size_t>(group)] =
            list[static_cast<size_t>(rest % static_cast<int64_t>(list.size()))];
        rest /= static_cast<int64_t>(list.size());
      }
      const NodeCost& cost = node(part, trial);
      time = std::min(time, cost.exact ? cost.time : cost.min_time);
      bytes = std::min(bytes, cost.exact ? cost.bytes : 0);
    }
    NodeCost both;
    both.time = time, both.bytes = bytes;
    least = score(both, one);
  }
  if (one.in_branch) (objective_ == LayoutObjective::kBytes ? least.first : least.second) = 0;
  return least;
}

}  // namespace hlosim
