#include "prefetch/prefetch_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace hlosim {

int32_t PrefetchValue::sites() const {
  int32_t count = made_bit >= 0;
  for (const PrefetchUse& use : uses) count += use.bit >= 0;
  return count;
}

int32_t PrefetchProblem::sites() const {
  int32_t count = 0;
  for (const PrefetchValue& value : values) count += value.sites();
  return count;
}

int32_t cost_entries(int32_t sites) { return sites <= kTabledSites ? 1 << sites : sites + 2; }

uint32_t mask_of_entry(int32_t sites, int32_t entry) {
  if (sites <= kTabledSites) return static_cast<uint32_t>(entry);
  if (entry == 0) return 0;
  return entry <= sites ? uint32_t{1} << (entry - 1) : (uint32_t{1} << sites) - 1;
}

/// Beyond the tables, what several sites save is what each of them saves, down to what is left with all.
StepCost PrefetchProblem::cost(const PrefetchStep& step, uint32_t mask) const {
  const StepCost* costs_of_step = &costs[static_cast<size_t>(step.first_cost)];
  if (step.sites <= kTabledSites) return costs_of_step[mask];
  const StepCost none = costs_of_step[0], all = costs_of_step[step.sites + 1];
  StepCost cost = none;
  for (uint32_t left = mask; left != 0; left &= left - 1) {
    const StepCost& one = costs_of_step[std::countr_zero(left) + 1];
    cost.time -= none.time - one.time;
    cost.hbm -= none.hbm - one.hbm;
  }
  return {std::max(cost.time, all.time), std::max(cost.hbm, all.hbm), mask == 0 ? none.fixed : all.fixed};
}

StepCost PrefetchProblem::least_cost(const PrefetchStep& step) const {
  StepCost least = costs[static_cast<size_t>(step.first_cost)];
  for (int32_t e = 1; e < cost_entries(step.sites); ++e) {
    const StepCost& one = costs[static_cast<size_t>(step.first_cost + e)];
    least.time = std::min(least.time, one.time), least.hbm = std::min(least.hbm, one.hbm);
  }
  return least;
}

bool PrefetchProblem::costs_fall() const {
  return std::ranges::all_of(steps, [&](const PrefetchStep& step) {
    for (int32_t e = 0; e < cost_entries(step.sites); ++e) {
      const uint32_t mask = mask_of_entry(step.sites, e);
      for (int32_t bit = 0; bit < step.sites; ++bit) {
        const StepCost with = cost(step, mask | uint32_t{1} << bit), without = cost(step, mask);
        if (with.time > without.time || with.hbm > without.hbm) return false;
      }
    }
    return true;
  });
}

bool PrefetchProblem::may_replace_steps() const {
  return std::ranges::any_of(values, [](const PrefetchValue& value) { return value.replace_from >= 0; });
}

bool complete(const PrefetchValue& value, const PrefetchProblem& problem, ValuePlan& plan) {
  plan.evict_start = plan.evict_done = -1;
  if (plan.replaced) {
    const auto uses = static_cast<int32_t>(value.uses.size());
    if (value.replace_from < 0 || plan.made_on_chip || plan.copies.size() != 1) return false;
    const PlannedCopy& copy = plan.copies[0];
    plan.kept_until = -1;
    return copy == PlannedCopy{copy.start, 0, uses - 1} && copy.start >= value.replace_from &&
           copy.start < value.uses[0].position;
  }
  if (!plan.made_on_chip) plan.kept_until = -1;
  if (plan.made_on_chip && value.made_bit < 0) return false;
  int32_t free_from = plan.kept_until + 1;
  int32_t needed = problem.size_of(value.region) + 1;  // the first gap where HBM has to have it
  for (const PlannedCopy& copy : plan.copies) {
    if (copy.first < free_from || copy.last < copy.first ||
        copy.last >= static_cast<int32_t>(value.uses.size()))
      return false;
    free_from = copy.last + 1;
    if (copy.start <= value.made_at || copy.start < 0 ||
        copy.start >= value.uses[static_cast<size_t>(copy.first)].position)
      return false;
    if (copy.second >= 0 && (!value.has_halves() || copy.second <= copy.start ||
                             copy.second >= value.uses[static_cast<size_t>(copy.first)].position))
      return false;
    needed = std::min(needed, copy.start);
  }
  if (!plan.made_on_chip) return true;
  int32_t copies_at = 0;
  for (size_t i = 0; i < value.uses.size(); ++i) {
    const auto use = static_cast<int32_t>(i);
    while (copies_at < static_cast<int32_t>(plan.copies.size()) &&
           plan.copies[static_cast<size_t>(copies_at)].last < use)
      ++copies_at;
    const bool covered = use <= plan.kept_until || (copies_at < static_cast<int32_t>(plan.copies.size()) &&
                                                    plan.copies[static_cast<size_t>(copies_at)].first <= use);
    if (!covered || value.uses[i].bit < 0) needed = std::min(needed, value.uses[i].position);
  }
  if (needed > problem.size_of(value.region)) return true;
  plan.evict_start = value.made_at + 1;
  plan.evict_done = needed;
  return plan.evict_start < plan.evict_done;
}

std::vector<Stay> stays(const PrefetchValue& value, const ValuePlan& plan) {
  std::vector<Stay> found;
  if (plan.made_on_chip) {
    int32_t last = value.made_at;
    if (plan.kept_until >= 0) last = value.uses[static_cast<size_t>(plan.kept_until)].position;
    found.push_back({value.made_at, std::max(last, plan.evict_done - 1), value.bytes});
  }
  for (size_t c = 0; c < plan.copies.size(); ++c) {
    const PlannedCopy& copy = plan.copies[c];
    const auto number = static_cast<int32_t>(c);
    const int32_t last = value.uses[static_cast<size_t>(copy.last)].position;
    if (copy.second < 0) {
      found.push_back({copy.start, last, value.bytes, number});
    } else {
      found.push_back({copy.start, last, value.halves[0].bytes, number, 0});
      found.push_back({copy.second, last, value.halves[1].bytes, number, 1});
    }
  }
  return found;
}

Stay in_steps(const PrefetchProblem& problem, int32_t region, Stay stay) {
  const int32_t last = std::min(stay.last, problem.size_of(region) - 1);
  stay.first = problem.step(region, stay.first).begin;
  stay.last = problem.regions[static_cast<size_t>(region)].steps[static_cast<size_t>(last)];
  return stay;
}

ChipSpace::ChipSpace(const PrefetchProblem& problem) : problem_(problem), used_(problem.taken) {
  used_.resize(problem.steps.size());
}

bool ChipSpace::fits(const PrefetchValue& value, const ValuePlan& plan) const {
  std::vector<Stay> before;  // stays of the same value that may be under way as well
  for (const Stay stay : stays(value, plan)) {
    const int64_t room = problem_.capacity - size_of(stay.bytes);
    const Stay at = in_steps(problem_, value.region, stay);
    int32_t shared_until = at.first - 1;
    for (const Stay& other : before) shared_until = std::max(shared_until, other.last);
    for (int32_t i = at.first; i <= at.last; ++i) {
      int64_t own = 0;
      if (i <= shared_until)
        for (const Stay& other : before)
          own += other.first <= i && i <= other.last ? size_of(other.bytes) : 0;
      if (used_[static_cast<size_t>(i)] + own > room) return false;
    }
    before.push_back(at);
  }
  return true;
}

void ChipSpace::add(const PrefetchValue& value, const ValuePlan& plan, int64_t sign) {
  for (const Stay stay : stays(value, plan)) {
    const int64_t size = size_of(stay.bytes) * sign;
    const Stay at = in_steps(problem_, value.region, stay);
    for (int32_t i = at.first; i <= at.last; ++i) used_[static_cast<size_t>(i)] += size;
  }
}

int64_t ChipSpace::peak() const { return used_.empty() ? 0 : *std::max_element(used_.begin(), used_.end()); }

std::string fault_of(const PrefetchProblem& problem, std::span<const ValuePlan> plans) {
  ChipSpace space(problem);
  std::vector<std::vector<int32_t>> starting(problem.regions.size()), leaving(problem.regions.size()),
      replacing(problem.regions.size());
  for (size_t r = 0; r < problem.regions.size(); ++r) {
    starting[r].resize(problem.regions[r].steps.size() + 2);
    leaving[r] = replacing[r] = starting[r];
  }
  const auto span = [](std::vector<int32_t>& change, int32_t from, int32_t to) {
    ++change[static_cast<size_t>(from)], --change[static_cast<size_t>(to)];
  };
  for (size_t v = 0; v < plans.size(); ++v) {
    const PrefetchValue& value = problem.values[v];
    ValuePlan plan = plans[v];
    if (!complete(value, problem, plan)) return fmt::format("{}: the plan contradicts itself", value.name);
    if (plan != plans[v]) return fmt::format("{}: written back at another time than needed", value.name);
    space.add(value, plan);
    const auto r = static_cast<size_t>(value.region);
    for (const PlannedCopy& copy : plan.copies) {
      span(starting[r], copy.start, value.uses[static_cast<size_t>(copy.first)].position);
      if (plan.replaced) span(replacing[r], copy.start, value.uses[static_cast<size_t>(copy.first)].position);
      if (copy.second >= 0)
        span(starting[r], copy.second, value.uses[static_cast<size_t>(copy.first)].position);
    }
    if (plan.evict_done >= 0) span(leaving[r], plan.evict_start, plan.evict_done);
  }
  for (size_t i = 0; i < space.used().size(); ++i)
    if (space.used()[i] > problem.capacity)
      return fmt::format("{} bytes at step {}, {} there", space.used()[i], i, problem.capacity);
  for (size_t r = 0; r < problem.regions.size(); ++r) {
    int32_t in = 0, out = 0, instead = 0;
    for (size_t p = 0; p < starting[r].size(); ++p) {
      in += starting[r][p], out += leaving[r][p], instead += replacing[r][p];
      const int32_t most = problem.max_prefetches + (instead > 0 ? problem.extra_prefetches : 0);
      if (problem.max_prefetches >= 0 && in > most) return fmt::format("{} prefetches under way", in);
      if (problem.max_evictions >= 0 && out > problem.max_evictions)
        return fmt::format("{} evictions under way", out);
    }
  }
  return {};
}

}  // namespace hlosim
