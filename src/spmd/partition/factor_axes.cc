// Which axes walk along which factor of an instruction.
#include <algorithm>
#include <numeric>

#include "partition/rule_call.h"

namespace hlosim {
namespace {

/// One way that the axes may be given to the factors.
class Assignment {
 public:
  Assignment(const DeviceAxes& axes, const RuleCall& call, const Factors& factors,
             std::span<const FactorUse> uses)
      : axes_(axes), call_(call), factors_(factors), uses_(uses), used_(call.manual) {
    lists_.resize(factors.list.size());
    agreed_.resize(factors.list.size());
    free_.resize(call.results.size());
    for (size_t leaf = 0; leaf < call.results.size(); ++leaf)
      free_[leaf].resize(call.results[leaf]->dimensions.size());
  }

  void take_operand(size_t leaf) {
    const Tiling& tiling = call_.operands[leaf].tiling;
    for (size_t i = 0; i < tiling.cuts.size(); ++i) take(leaf, i, tiling.cuts[i]);
  }

  /// Axes that an operand and a result have along one factor are that factor's, whatever another operand has
  /// them for.
  void take_agreed() {
    using Cuts = std::vector<std::vector<const AxisList*>>;  // of each factor
    Cuts given(factors_.list.size()), wanted(factors_.list.size());
    const auto look = [&](size_t array, const Tiling& tiling, Cuts& cuts) {
      for (size_t i = 0; i < tiling.cuts.size(); ++i)
        if (const std::vector<int32_t>& parts = factors_.arrays[array][i];
            parts.size() == 1 && !tiling.cuts[i].empty())
          cuts[static_cast<size_t>(parts[0])].push_back(&tiling.cuts[i]);
    };
    for (size_t leaf = 0; leaf < call_.operands.size(); ++leaf)
      look(leaf, call_.operands[leaf].tiling, given);
    for (size_t leaf = 0; leaf < call_.results.size(); ++leaf)
      if (call_.wanted[leaf])
        look(leaf + static_cast<size_t>(factors_.operand_leaves), *call_.wanted[leaf], wanted);
    for (size_t f = 0; f < lists_.size(); ++f) {
      if (uses_[f] == FactorUse::kWhole) continue;
      AxisList longest;
      for (size_t a = 0; a < given[f].size(); ++a)
        for (size_t b = 0; b < wanted[f].size(); ++b) {
          const auto end = std::mismatch(given[f][a]->begin(), given[f][a]->end(), wanted[f][b]->begin(),
                                         wanted[f][b]->end())
                               .first;
          const AxisList common(given[f][a]->begin(), end);
          if (common.size() > longest.size()) longest = common;
        }
      extend(f, longest, factors_.list[f].size);
      agreed_[f] = lists_[f].size();
    }
  }

  /// What cuts a dimension that has to be whole cuts another one, the one that leaves the largest parts.
  void take_moved(size_t leaf) {
    const Tiling& tiling = call_.operands[leaf].tiling;
    for (size_t i = 0; i < tiling.cuts.size(); ++i) {
      const std::vector<int32_t>& parts = factors_.arrays[leaf][i];
      if (tiling.cuts[i].empty() || parts.size() != 1 ||
          uses_[static_cast<size_t>(parts[0])] != FactorUse::kWhole)
        continue;
      for (const int axis : tiling.cuts[i]) {
        if ((used_ >> axis & 1) != 0) continue;
        const int64_t f = roomiest(leaf, axes_.size(axis));
        if (f >= 0) extend(static_cast<size_t>(f), {axis}, factors_.list[static_cast<size_t>(f)].size);
      }
    }
  }

  void take_result(size_t leaf) {
    if (!call_.wanted[leaf]) return;
    const size_t array = leaf + static_cast<size_t>(factors_.operand_leaves);
    const Tiling& tiling = *call_.wanted[leaf];
    for (size_t i = 0; i < tiling.cuts.size(); ++i) {
      if (!factors_.arrays[array][i].empty()) {
        take(array, i, tiling.cuts[i]);
        continue;
      }
      for (const int axis : tiling.cuts[i]) {
        if ((used_ >> axis & 1) != 0) break;
        free_[leaf][i].push_back(axis);
        used_ |= AxisSet{1} << axis;
      }
    }
    // Summands are wanted: whatever is summed over may be cut by these axes.
    for (size_t f = 0; f < lists_.size(); ++f)
      if (uses_[f] == FactorUse::kPartial) extend(f, list_of(tiling.partial), factors_.list[f].size);
  }

  FactorAxes finish(PartialKind kind) {
    settle();
    FactorAxes made;
    made.factors = lists_;
    AxisSet partial = 0;
    for (size_t f = 0; f < lists_.size(); ++f)
      if (uses_[f] == FactorUse::kPartial) partial |= set_of(lists_[f]);
    for (size_t leaf = 0; leaf < call_.operands.size(); ++leaf)
      made.operands.push_back(tiling_of_array(leaf, call_.operands[leaf].shape));
    for (size_t leaf = 0; leaf < call_.results.size(); ++leaf) {
      Tiling tiling = tiling_of_array(leaf + call_.operands.size(), call_.results[leaf]);
      for (size_t i = 0; i < free_[leaf].size(); ++i)
        if (!free_[leaf][i].empty()) tiling.cuts[i] = free_[leaf][i];
      tiling.partial = partial;
      tiling.partial_kind = kind;
      made.results.push_back(std::move(tiling));
    }
    return made;
  }

 private:
  /// The factors of a dimension take its axes, major to minor.
  void take(size_t array, size_t dimension, const AxisList& cut) {
    const std::vector<int32_t>& parts = factors_.arrays[array][dimension];
    size_t next = 0;
    for (const int32_t part : parts) {
      const auto f = static_cast<size_t>(part);
      AxisList mine;
      int64_t rest = factors_.list[f].size;
      while (next < cut.size() && (parts.size() == 1 || rest % axes_.size(cut[next]) == 0)) {
        if (rest <= 1 && parts.size() > 1) break;
        rest /= axes_.size(cut[next]);
        mine.push_back(cut[next++]);
      }
      const AxisList& has = lists_[f];
      const bool begins = has.size() == agreed_[f] && has.size() <= mine.size() &&
                          std::equal(has.begin(), has.end(), mine.begin());
      if (uses_[f] != FactorUse::kWhole && begins)
        extend(f, AxisList(mine.begin() + static_cast<std::ptrdiff_t>(has.size()), mine.end()),
               factors_.list[f].size);
      if (rest > 1 || next == cut.size()) break;
    }
  }

  /// The factor of the array's, walked through locally, whose parts stay the largest when they are cut into
  /// `pieces` more, evenly; -1: none.
  int64_t roomiest(size_t leaf, int64_t pieces) const {
    int64_t best = -1, most = 0;
    for (const std::vector<int32_t>& parts : factors_.arrays[leaf]) {
      if (parts.size() != 1) continue;
      const auto f = static_cast<size_t>(parts[0]);
      const int64_t size = factors_.list[f].size, tiles = axes_.length(lists_[f]) * pieces;
      if (uses_[f] != FactorUse::kLocal || size % tiles != 0 || size / tiles <= most) continue;
      most = size / tiles;
      best = parts[0];
    }
    return best;
  }

  void extend(size_t f, const AxisList& more, int64_t size) {
    if (size <= 1 && uses_[f] == FactorUse::kPartial) return;
    for (const int axis : more) {
      if ((used_ >> axis & 1) != 0) break;
      lists_[f].push_back(axis);
      used_ |= AxisSet{1} << axis;
    }
  }

  /// A minor factor of a dimension can only be cut where the major ones are cut to single elements.
  void settle() {
    for (bool again = true; again;) {
      again = false;
      for (const ArrayFactors& array : factors_.arrays)
        for (const std::vector<int32_t>& parts : array) {
          if (parts.size() < 2) continue;
          bool may = true;
          for (const int32_t part : parts) {
            AxisList& list = lists_[static_cast<size_t>(part)];
            const int64_t size = factors_.list[static_cast<size_t>(part)].size;
            while (!list.empty() && (!may || size % axes_.length(list) != 0)) {
              list.pop_back();
              again = true;
            }
            may = may && axes_.length(list) == size;
          }
        }
    }
  }

  Tiling tiling_of_array(size_t array, ShapeRef shape) const {
    Tiling tiling = whole(call_, shape);
    for (size_t i = 0; i < tiling.cuts.size(); ++i)
      for (const int32_t part : factors_.arrays[array][i]) {
        const AxisList& list = lists_[static_cast<size_t>(part)];
        tiling.cuts[i].insert(tiling.cuts[i].end(), list.begin(), list.end());
      }
    return tiling;
  }

  const DeviceAxes& axes_;
  const RuleCall& call_;
  const Factors& factors_;
  std::span<const FactorUse> uses_;
  AxisSet used_;
  std::vector<AxisList> lists_;
  std::vector<size_t> agreed_;               // so many of a factor's first axes
  std::vector<std::vector<AxisList>> free_;  // of dimensions of results that have no factor
};

int64_t cost(Rules& rules, const RuleCall& call, const FactorAxes& axes) {
  int64_t bytes = 0;
  for (size_t leaf = 0; leaf < call.operands.size(); ++leaf)
    bytes += rules.reshard.bytes(call.operands[leaf], axes.operands[leaf]);
  for (size_t leaf = 0; leaf < call.results.size(); ++leaf) {
    Tiling goal = axes.results[leaf];
    goal.partial = 0;
    if (call.wanted[leaf]) goal = *call.wanted[leaf];
    bytes += rules.reshard.bytes({InstructionId(), axes.results[leaf], call.results[leaf]}, goal);
  }
  return bytes;
}

/// Everything is there already as it should be.
bool fits(const RuleCall& call, const FactorAxes& axes) {
  for (size_t leaf = 0; leaf < call.operands.size(); ++leaf)
    if (call.operands[leaf].shape->is_array() && !(call.operands[leaf].tiling == axes.operands[leaf]))
      return false;
  for (size_t leaf = 0; leaf < call.results.size(); ++leaf)
    if (axes.results[leaf].partial != 0 ||
        (call.wanted[leaf] && call.results[leaf]->is_array() && !(*call.wanted[leaf] == axes.results[leaf])))
      return false;
  return true;
}

}  // namespace

std::vector<FactorUse> plain_uses(const Factors& factors) {
  std::vector<FactorUse> uses;
  for (const Factor& factor : factors.list)
    uses.push_back(factor.kind == FactorKind::kAlong ? FactorUse::kLocal
                   : factor.kind == FactorKind::kSum ? FactorUse::kPartial
                                                     : FactorUse::kWhole);
  return uses;
}

FactorAxes choose_axes(Rules& rules, const RuleCall& call, const Factors& factors,
                       std::span<const FactorUse> uses, PartialKind partial, Prefer prefer) {
  std::vector<size_t> operands(call.operands.size());
  std::iota(operands.begin(), operands.end(), size_t{0});
  std::stable_sort(operands.begin(), operands.end(), [&](size_t a, size_t b) {
    return call.operands[a].shape->element_count() > call.operands[b].shape->element_count();
  });
  const auto results = [&](Assignment& assignment) {
    for (size_t leaf = 0; leaf < call.results.size(); ++leaf) assignment.take_result(leaf);
  };
  std::optional<FactorAxes> best;
  int64_t least_work = 0;
  const auto consider = [&](Assignment& assignment) {
    FactorAxes axes = assignment.finish(partial);
    int64_t parts = 1;
    for (const AxisList& list : axes.factors) parts *= rules.axes.length(list);
    for (const Tiling& tiling : axes.results) parts = std::max(parts, rules.axes.length(tiling.used()));
    const bool is_it = fits(call, axes);
    axes.bytes = is_it ? 0 : cost(rules, call, axes);
    if (best && (best->bytes < axes.bytes || (best->bytes == axes.bytes && -parts >= least_work)))
      return is_it;
    best = std::move(axes);
    least_work = -parts;
    return is_it;
  };
  const auto assignment = [&] {
    Assignment begun(rules.axes, call, factors, uses);
    if (prefer == Prefer::kAgreed) begun.take_agreed();
    return begun;
  };
  Assignment first = assignment();  // the results', then what the operands have besides
  results(first);
  for (const size_t leaf : operands) first.take_operand(leaf);
  if (consider(first)) return *best;
  Assignment only = assignment();  // the results' alone
  results(only);
  consider(only);
  if (std::find(uses.begin(), uses.end(), FactorUse::kWhole) != uses.end()) {
    Assignment moved = assignment();
    results(moved);
    for (const size_t leaf : operands) moved.take_operand(leaf);
    for (const size_t leaf : operands) moved.take_moved(leaf);
    consider(moved);
  }
  // Each operand's first; those of scalars say nothing.
  for (const size_t leaf : operands) {
    if (call.operands[leaf].tiling.cutting() == 0) continue;
    Assignment other = assignment();
    other.take_operand(leaf);
    Assignment with_results = other;
    for (const size_t next : operands) other.take_operand(next);
    results(other);
    results(with_results);
    for (const size_t next : operands) with_results.take_operand(next);
    consider(other);
    consider(with_results);
  }
  return *best;
}

SpmdValues resharded(Rules& rules, const RuleCall& call, const FactorAxes& axes) {
  SpmdValues values;
  for (size_t leaf = 0; leaf < call.operands.size(); ++leaf)
    values.push_back(rules.reshard.to(call.operands[leaf], axes.operands[leaf]));
  return values;
}

}  // namespace hlosim
