#include "prefetch/prefetch_simulator.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace hlosim {
namespace {

/// Less than this, in picoseconds, is rounding.
constexpr double kNothing = 1e-6;

}  // namespace

PrefetchSimulator::PrefetchSimulator(const PrefetchProblem& problem)
    : problem_(problem),
      plans_(problem.values.size()),
      regions_(problem.regions.size()),
      open_(problem.regions.size()) {
  std::iota(open_.begin(), open_.end(), 0);
  for (size_t r = 0; r < regions_.size(); ++r) {
    const size_t steps = problem.regions[r].steps.size();
    Region& region = regions_[r];
    region.masks.resize(steps + 1);
    region.starts.resize(steps + 1), region.dones.resize(steps + 1);
    region.before.resize(steps + 2);
    region.waited.resize(steps + 1), region.spent.resize(steps + 1), region.traffic.resize(steps + 1);
  }
  update();
}

void PrefetchSimulator::set(int32_t value, const ValuePlan& plan) {
  ValuePlan& now = plans_[static_cast<size_t>(value)];
  if (now == plan) return;
  place(value, now, false);
  now = plan;
  place(value, now, true);
  update();
}

void PrefetchSimulator::remove_plan(int32_t value) {
  ValuePlan& now = plans_[static_cast<size_t>(value)];
  place(value, now, false);
  now = {};
}

void PrefetchSimulator::add_plan(int32_t value, const ValuePlan& plan) {
  plans_[static_cast<size_t>(value)] = plan;
  place(value, plan, true);
}

void PrefetchSimulator::assume_on_chip(int32_t value, bool all) {
  const PrefetchValue& v = problem_.values[static_cast<size_t>(value)];
  Region& region = regions_[static_cast<size_t>(v.region)];
  const auto mark = [&](int32_t position, int32_t bit) {
    if (bit < 0) return;
    uint32_t& mask = region.masks[static_cast<size_t>(position)];
    mask = all ? mask | uint32_t{1} << bit : mask & ~(uint32_t{1} << bit);
    touch(v.region, position);
  };
  if (v.made_at >= 0) mark(v.made_at, v.made_bit);
  for (const PrefetchUse& use : v.uses) mark(use.position, use.bit);
  update();
}

void PrefetchSimulator::place(int32_t value, const ValuePlan& plan, bool there) {
  const PrefetchValue& v = problem_.values[static_cast<size_t>(value)];
  Region& region = regions_[static_cast<size_t>(v.region)];
  const auto mark = [&](int32_t position, int32_t bit) {
    if (bit < 0) return;
    uint32_t& mask = region.masks[static_cast<size_t>(position)];
    mask = there ? mask | uint32_t{1} << bit : mask & ~(uint32_t{1} << bit);
    touch(v.region, position);
  };
  if (plan.made_on_chip) {
    mark(v.made_at, v.made_bit);
    for (int32_t i = 0; i <= plan.kept_until; ++i)
      mark(v.uses[static_cast<size_t>(i)].position, v.uses[static_cast<size_t>(i)].bit);
  }
  if (plan.replaced) mark(v.made_at, v.replaced_bit);
  if (plan.evict_done >= 0)
    toggle_copy(v.region, {plan.evict_start, plan.evict_done, v.copy_out, v.hbm_out, 0, true}, there);
  for (const PlannedCopy& copy : plan.copies) {
    for (int32_t i = copy.first; i <= copy.last; ++i)
      mark(v.uses[static_cast<size_t>(i)].position, v.uses[static_cast<size_t>(i)].bit);
    const int32_t done = v.uses[static_cast<size_t>(copy.first)].position;
    if (copy.second < 0) {
      toggle_copy(v.region, {copy.start, done, v.copy_in, v.hbm_in, 0, false}, there);
      continue;
    }
    toggle_copy(v.region, {copy.start, done, v.halves[0].copy_in, v.halves[0].hbm_in, 0, false}, there);
    toggle_copy(v.region, {copy.second, done, v.halves[1].copy_in, v.halves[1].hbm_in, 0, false}, there);
  }
}

/// Starts of one gap are in the order in which they are waited for.
void PrefetchSimulator::toggle_copy(int32_t region, Copy copy, bool there) {
  Region& r = regions_[static_cast<size_t>(region)];
  std::vector<int32_t>& starts = r.starts[static_cast<size_t>(copy.start)];
  std::vector<int32_t>& dones = r.dones[static_cast<size_t>(copy.done)];
  touch(region, copy.start);
  touch(region, copy.done);
  const auto times = there ? 1 : -1;
  r.copies += times * copy.hbm;
  if (!there) {
    for (size_t i = 0; i < starts.size(); ++i) {
      const Copy& other = copies_[static_cast<size_t>(starts[i])];
      if (other.done != copy.done || other.out != copy.out || other.length != copy.length) continue;
      const int32_t id = starts[i];
      starts.erase(starts.begin() + static_cast<std::ptrdiff_t>(i));
      dones.erase(std::find(dones.begin(), dones.end(), id));
      free_copies_.push_back(id);
      return;
    }
    return;
  }
  int32_t id = 0;
  if (free_copies_.empty()) {
    id = static_cast<int32_t>(copies_.size());
    copies_.push_back(copy);
  } else {
    id = free_copies_.back();
    free_copies_.pop_back();
    copies_[static_cast<size_t>(id)] = copy;
  }
  const auto before = [&](int32_t a, int32_t b) {
    const Copy &x = copies_[static_cast<size_t>(a)], &y = copies_[static_cast<size_t>(b)];
    return x.done != y.done ? x.done < y.done : x.length < y.length;
  };
  starts.insert(std::upper_bound(starts.begin(), starts.end(), id, before), id);
  dones.push_back(id);
}

void PrefetchSimulator::Region::touch(int32_t position) {
  touched.push_back(position);
  std::push_heap(touched.begin(), touched.end(), std::greater<>());
}

void PrefetchSimulator::Region::settle(int32_t position) {
  while (!touched.empty() && touched.front() <= position) {
    std::pop_heap(touched.begin(), touched.end(), std::greater<>());
    touched.pop_back();
  }
}

void PrefetchSimulator::touch(int32_t region, int32_t position) {
  Region& r = regions_[static_cast<size_t>(region)];
  if (r.touched.empty() && !r.is_new) {
    open_.push_back(region);
    std::push_heap(open_.begin(), open_.end(), std::greater<>());
  }
  r.touch(position);
}

/// Callees come before their callers.
void PrefetchSimulator::update() {
  while (!open_.empty()) {
    const int32_t r = open_.front();
    std::pop_heap(open_.begin(), open_.end(), std::greater<>());
    open_.pop_back();
    const Region& region = regions_[static_cast<size_t>(r)];
    const double total = region.total, hbm = region.hbm;
    resimulate(r);
    if (region.total == total && region.hbm == hbm) continue;
    for (const int32_t caller : problem_.regions[static_cast<size_t>(r)].callers) {
      const PrefetchStep& step = problem_.steps[static_cast<size_t>(caller)];
      touch(step.region, step.position);
    }
  }
}

StepCost PrefetchSimulator::cost_of(int32_t region, int32_t position) const {
  const PrefetchStep& step = problem_.step(region, position);
  StepCost cost =
      problem_.cost(step, regions_[static_cast<size_t>(region)].masks[static_cast<size_t>(position)]);
  StepCost longest;
  for (const StepCall& call : step.calls) {
    const Region& callee = regions_[static_cast<size_t>(call.region)];
    if (!call.one_of_several)
      cost.time += call.times * callee.total, cost.hbm += call.times * callee.hbm;
    else if (callee.total > longest.time)
      longest = {callee.total, callee.hbm};
  }
  return {cost.time + longest.time, cost.hbm + longest.hbm};
}

/// From each place that was changed to where the queues are as they were.
void PrefetchSimulator::resimulate(int32_t which) {
  Region& region = regions_[static_cast<size_t>(which)];
  const int32_t steps = problem_.size_of(which);
  StepCost more;
  int32_t p = region.is_new ? 0 : region.touched.front();
  while (p <= steps) {
    Queues queues = region.before[static_cast<size_t>(p)];
    bool goes_on = true;
    while (goes_on) {
      region.before[static_cast<size_t>(p)] = queues;
      region.settle(p);
      pass_step(which, p, queues, more);
      ++p;
      goes_on = p <= steps && (region.is_touched(p) || region.before[static_cast<size_t>(p)] != queues);
    }
    p = region.touched.empty() ? steps + 1 : region.touched.front();
  }
  region.is_new = false;
  region.total += more.time;
  region.step_hbm += more.hbm;
  region.hbm = region.step_hbm + region.copies;
}

/// `more`: gets what the step takes beyond what it took.
void PrefetchSimulator::pass_step(int32_t which, int32_t p, Queues& queues, StepCost& more) {
  Region& region = regions_[static_cast<size_t>(which)];
  const auto at = static_cast<size_t>(p);
  const double waited = pass_gap(region, p, queues);
  StepCost cost;
  if (p < problem_.size_of(which)) cost = cost_of(which, p);
  const double spent =
      waited + run(queues, cost) + problem_.issue * static_cast<double>(region.starts[at].size());
  more.time += spent - region.spent[at];
  more.hbm += cost.hbm - region.traffic[at];
  region.waited[at] = waited, region.spent[at] = spent, region.traffic[at] = cost.hbm;
  if (queues.in.left() <= kNothing) queues.in = {0, 0, p + 1};
  if (queues.out.left() <= kNothing) queues.out = {0, 0, p + 1};
}

/// Dones, then starts. What was enqueued elsewhere than before is waited for elsewhere, perhaps.
double PrefetchSimulator::pass_gap(Region& region, int32_t gap, Queues& queues) {
  double waited = 0;
  for (const int32_t id : region.dones[static_cast<size_t>(gap)]) {
    const Copy& copy = copies_[static_cast<size_t>(id)];
    const Queue& queue = copy.out ? queues.out : queues.in;
    if (copy.start < queue.from) continue;
    const double needed = copy.behind - queue.moved;
    if (needed > kNothing) waited += drain(queues, copy.out, needed);
  }
  for (const int32_t id : region.starts[static_cast<size_t>(gap)]) {
    Copy& copy = copies_[static_cast<size_t>(id)];
    Queue& queue = copy.out ? queues.out : queues.in;
    // The latency of one that waits in the queue is over when its turn comes.
    const double latency = copy.out ? problem_.latency_out : problem_.latency_in;
    queue.enqueued += copy.length + (queue.left() <= kNothing ? latency : 0);
    if (copy.behind != queue.enqueued) region.touch(copy.done);
    copy.behind = queue.enqueued;
  }
  return waited;
}

/// A step runs, and copies meanwhile; how long it takes.
double PrefetchSimulator::run(Queues& queues, const StepCost& cost) const {
  if (problem_.sharing == HbmSharing::kFair && (queues.in.left() > 0 || queues.out.left() > 0))
    return run_fair(queues, cost);
  move(queues, cost.time - cost.hbm);
  return cost.time;
}

double PrefetchSimulator::run_fair(Queues& queues, const StepCost& cost) const {
  move(queues, std::min(cost.fixed, cost.time - cost.hbm));
  const double fixed = std::min(cost.fixed, cost.time - cost.hbm);
  double work = cost.hbm, stream = cost.time - fixed, time = fixed;
  while (work > kNothing || stream > kNothing) {
    const double in = queues.in.left(), out = queues.out.left();
    // Small demands are served in full, the others alike.
    const double demand_in = in > kNothing ? problem_.demand_in : 0;
    const double demand_out = out > kNothing ? problem_.demand_out : 0;
    const double demand_core = work > kNothing ? 1 : 0;
    const double all = demand_in + demand_out + demand_core;
    double share_in = demand_in, share_out = demand_out, share_core = demand_core;
    if (all > 1) {
      double left = 1;
      int waiting = (demand_in > 0) + (demand_out > 0) + (demand_core > 0);
      double* const shares[] = {&share_in, &share_out, &share_core};
      bool served[] = {demand_in <= 0, demand_out <= 0, demand_core <= 0};
      for (bool changed = true; changed && waiting > 0;) {
        changed = false;
        const double equal = left / waiting;
        for (size_t i = 0; i < 3; ++i)
          if (!served[i] && *shares[i] <= equal)
            served[i] = true, left -= *shares[i], --waiting, changed = true;
      }
      for (size_t i = 0; i < 3; ++i)
        if (!served[i]) *shares[i] = left / waiting;
    }
    double next = work > kNothing ? work / share_core : stream;
    if (in > kNothing) next = std::min(next, in * demand_in / share_in);
    if (out > kNothing) next = std::min(next, out * demand_out / share_out);
    if (in > kNothing) queues.in.moved += next * share_in / demand_in;
    if (out > kNothing) queues.out.moved += next * share_out / demand_out;
    work = std::max(work - next * share_core, 0.0);
    stream = std::max(stream - next, 0.0);
    time += next;
    if (in <= kNothing && out <= kNothing) return time + std::max(work, stream);
  }
  return time;
}

/// HBM is free for `time`.
void PrefetchSimulator::move(Queues& queues, double time) {
  double in = std::max(queues.in.left(), 0.0), out = std::max(queues.out.left(), 0.0);
  if (in <= 0 && out <= 0) return;
  const double both = std::min({in, out, time / 2});
  queues.in.moved += both, queues.out.moved += both;
  in -= both, out -= both, time -= 2 * both;
  if (in > 0) queues.in.moved += std::min(in, time);
  if (out > 0 && in <= 0) queues.out.moved += std::min(out, time);
}

/// Waits until `amount` more of one queue is moved.
double PrefetchSimulator::drain(Queues& queues, bool out, double amount) {
  Queue& own = out ? queues.out : queues.in;
  Queue& other = out ? queues.in : queues.out;
  const double both = std::min(amount, std::max(other.left(), 0.0));
  own.moved += amount, other.moved += both;
  return amount + both;
}

double PrefetchSimulator::waited() const {
  double sum = 0;
  for (size_t r = 0; r < regions_.size(); ++r)
    for (const double waited : regions_[r].waited) sum += waited * problem_.regions[r].times;
  return sum;
}

double PrefetchSimulator::idle_of(int32_t region, int32_t position) const {
  const StepCost cost = cost_of(region, position);
  return cost.time - cost.hbm;
}

double PrefetchSimulator::time_of(int32_t region, int32_t position) const {
  return cost_of(region, position).time;
}

}  // namespace hlosim
