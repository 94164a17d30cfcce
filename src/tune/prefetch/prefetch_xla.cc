#include "prefetch/prefetch_xla.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/rounding.h"
#include "prefetch/chip_placement.h"
#include "prefetch/copy_slots.h"
#include "prefetch/prefetch_loops.h"
#include "prefetch/prefetch_picker.h"

namespace hlosim {
namespace {

class XlaAssigner {
 public:
  XlaAssigner(const PrefetchProblem& problem, const XlaKnobs& knobs, const XlaHints& hints,
              const std::function<bool()>& out_of_time)
      : problem_(problem), knobs_(knobs), hints_(hints), out_of_time_(out_of_time), chip_(problem) {
    out_.plans.resize(problem.values.size());
    out_.offsets.resize(problem.values.size());
    // What a copy may take the place of offers no time to others.
    std::vector<uint8_t> may_go(problem.steps.size());
    for (const PrefetchValue& value : problem.values)
      if (value.replace_from >= 0) {
        const PrefetchRegion& region = problem.regions[static_cast<size_t>(value.region)];
        may_go[static_cast<size_t>(region.steps[static_cast<size_t>(value.made_at)])] = 1;
      }
    for (size_t r = 0; r < problem.regions.size(); ++r) {
      std::vector<double> offered, passed = {0};
      for (const int32_t s : problem.regions[r].steps) {
        const PrefetchStep& step = problem.steps[static_cast<size_t>(s)];
        const bool stays = step.calls.empty() && !may_go[static_cast<size_t>(s)];
        offered.push_back(stays ? problem.cost(step, 0).time : 0);
        passed.push_back(passed.back() + offered.back());
      }
      passed_.push_back(std::move(passed));
      prefetches_.emplace_back(offered);
      evictions_.emplace_back(std::move(offered));
    }
    for (const PrefetchValue& value : problem.values)
      if (value.bytes > 0)
        copy_of_all_ = std::max(copy_of_all_, value.copy_in * static_cast<double>(problem.capacity) /
                                                  static_cast<double>(value.bytes));
  }

  XlaPlans run() {
    if (knobs_.enable_cross_program_prefetch) prefetch_across_programs();
    if (knobs_.loop_optimizer)
      for (const LoopDecision& decision : decide_loops(problem_, knobs_)) take_decision(decision);
    for (const int32_t v : sorted())
      if (out_.plans[static_cast<size_t>(v)].empty() && !is_cut()) assign(v);
    const std::vector<int64_t> offsets = chip_.offsets();
    for (size_t i = 0; i < offsets.size(); ++i)
      out_.offsets[static_cast<size_t>(owners_[i])].push_back(offsets[i]);
    return std::move(out_);
  }

 private:
  /// Asks for the time now and then.
  bool is_cut() {
    constexpr int64_t kRounds = 64;
    if (!out_.cut && out_of_time_ && looks_++ % kRounds == 0) out_.cut = out_of_time_();
    return out_.cut;
  }
  const PrefetchValue& value_of(int32_t v) const { return problem_.values[static_cast<size_t>(v)]; }
  int64_t size_of(const PrefetchValue& value) const { return round_up(value.bytes, problem_.alignment); }

  // ── order ──

  double loop_factor(int32_t region) const {
    const PrefetchRegion& r = problem_.regions[static_cast<size_t>(region)];
    if (r.callers.empty()) return 1;
    const PrefetchStep& caller = problem_.steps[static_cast<size_t>(r.callers[0])];
    const bool loop = caller.calls.size() == 2 && !caller.calls[0].one_of_several;
    return loop_factor(caller.region) * (loop ? static_cast<double>(knobs_.while_execution_count) : 1);
  }

  /// Time that a site saves, or how far its step is from waiting for memory.
  double benefit(int32_t region, int32_t position, int32_t bit) const {
    const PrefetchStep& step = problem_.step(region, position);
    const StepCost none = problem_.cost(step, 0);
    const double saved = none.time - problem_.cost(step, uint32_t{1} << bit).time;
    return saved > 0 ? saved * loop_factor(region) : none.hbm - none.time;
  }

  double boundedness(const PrefetchValue& value) const {
    bool any = false;
    double sum = 0;
    const auto add = [&](int32_t position, int32_t bit) {
      if (bit < 0) return;
      const double one = benefit(value.region, position, bit);
      sum = !any ? one : sum > 0 && one > 0 ? sum + one : std::max(sum, one);
      any = true;
    };
    if (value.made_at >= 0) add(value.made_at, value.made_bit);
    for (const PrefetchUse& use : value.uses) add(use.position, use.bit);
    return knobs_.scale_memory_boundedness ? sum / std::sqrt(static_cast<double>(value.bytes)) : sum;
  }

  std::vector<int32_t> sorted() const {
    std::vector<int32_t> order(problem_.values.size());
    std::iota(order.begin(), order.end(), 0);
    std::vector<double> bound;
    for (const PrefetchValue& value : problem_.values) bound.push_back(boundedness(value));
    const auto priority = [&](int32_t v) {
      return hints_.priority.empty() ? 0 : hints_.priority[static_cast<size_t>(v)];
    };
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
      if (priority(a) != priority(b)) return priority(a) < priority(b);
      const double bound_a = bound[static_cast<size_t>(a)], bound_b = bound[static_cast<size_t>(b)];
      if (bound_a != bound_b) return bound_a > bound_b;
      const PrefetchValue &x = value_of(a), &y = value_of(b);
      if (x.bytes != y.bytes) return x.bytes > y.bytes;
      const int32_t life_x = x.uses.back().position - x.made_at, life_y = y.uses.back().position - y.made_at;
      if (life_x != life_y) return life_x > life_y;
      return x.uses.back().position < y.uses.back().position;
    });
    return order;
  }

  // ── parameters that the run before brings ──

  void prefetch_across_programs() {
    const auto entry = static_cast<int32_t>(problem_.regions.size()) - 1;
    std::vector<int32_t> candidates;
    int64_t bytes = 0;
    for (const int32_t v : sorted()) {
      const PrefetchValue& value = value_of(v);
      const bool all_on_chip =
          std::ranges::all_of(value.uses, [](const PrefetchUse& use) { return use.bit >= 0; });
      if (!value.is_parameter || value.region != entry || !all_on_chip || value.uses[0].position == 0 ||
          (value.looks_like_activation && !knobs_.enable_permissive_cross_program_prefetch))
        continue;
      candidates.push_back(v);
      bytes += size_of(value);
    }
    if (!knobs_.default_cross_program_prefetch_heuristic)
      std::stable_sort(candidates.begin(), candidates.end(),
                       [&](int32_t a, int32_t b) { return value_of(a).bytes > value_of(b).bytes; });
    for (const int32_t v : candidates) {
      const auto count = static_cast<int64_t>(out_.cross_program.size());
      if (count >= knobs_.max_cross_program_prefetches) break;
      if (problem_.max_prefetches >= 0 && count >= problem_.max_prefetches) break;
      const PrefetchValue& value = value_of(v);
      ValuePlan plan;
      plan.copies.push_back({0, 0, static_cast<int32_t>(value.uses.size()) - 1});
      const auto steps = static_cast<int32_t>(problem_.steps.size());
      // Given up after its last use where others could use the room for most of the time.
      const Stay used = in_steps(problem_, entry, {0, value.uses.back().position});
      const bool freed = knobs_.enable_cross_program_prefetch_freeing && bytes > problem_.capacity &&
                         used.last + 1 < 0.6 * steps;
      const TimeSpan time{0, freed ? used.last : steps - 1};
      if (!complete(value, problem_, plan) || !take(v, {time})) continue;
      out_.plans[static_cast<size_t>(v)] = plan;
      out_.cross_program.push_back(v);
    }
  }

  TimeSpan span_of(const PrefetchValue& value, Stay stay) const {
    const Stay at = in_steps(problem_, value.region, stay);
    return {at.first, at.last};
  }
  bool take(int32_t v, const std::vector<TimeSpan>& times) {
    if (!chip_.take(times, size_of(value_of(v)))) return false;
    owners_.insert(owners_.end(), times.size(), v);
    return true;
  }

  // ── one value ──

  struct Attempt {
    ValuePlan plan;
    bool lacked_room = false;  // somewhere it was only the room that was missing
  };

  void assign(int32_t v) {
    const PrefetchValue& value = value_of(v);
    bool repacked = false;
    for (int64_t retry = 0; retry < knobs_.max_retries + 1; ++retry) {
      // The last try leaves the value where it is made by default.
      const bool may_be_made = value.made_bit >= 0 && retry < knobs_.max_retries;
      Attempt attempt;
      walk(v, may_be_made, attempt);
      const bool done = finish(value, attempt);
      if (attempt.lacked_room && !repacked && repacks_ < knobs_.max_repacks) {
        // Once for each value; where all else could move, it is tried again as if for the first time.
        repacked = true, ++repacks_;
        if (chip_.repack()) {
          drop(value, attempt.plan, done);
          --retry;
          continue;
        }
      }
      if (done && !is_inefficient(value, attempt.plan)) return keep(v, attempt.plan);
      drop(value, attempt.plan, done);
      if (done) return;  // on the chip it would cost more than it saves
    }
  }

  void keep(int32_t v, const ValuePlan& plan) {
    const PrefetchValue& value = value_of(v);
    std::vector<TimeSpan> times;
    for (const Stay stay : stays(value, plan)) times.push_back(span_of(value, stay));
    if (!take(v, times)) return drop(value, plan, true);
    if (plan.replaced) replaced_.push_back(v);
    out_.plans[static_cast<size_t>(v)] = plan;
  }

  /// What the loop optimizer wants, if there is room after all. Copies that the books have no time for are
  /// made where it found that idle HBM covers enough of them.
  void take_decision(const LoopDecision& decision) {
    const int32_t v = decision.value;
    const PrefetchValue& value = value_of(v);
    if (!out_.plans[static_cast<size_t>(v)].empty()) return;
    if (decision.plan.empty()) return assign(v);
    CopySlots& book = prefetches_[static_cast<size_t>(value.region)];
    Attempt attempt{decision.plan, false};
    for (const PlannedCopy& copy : decision.plan.copies) {
      const int32_t done = value.uses[static_cast<size_t>(copy.first)].position;
      if (knobs_.enforce_prefetch_fifo_order && !book.in_order(copy.start, done)) return;
      if (problem_.max_prefetches >= 0 &&
          book.under_way(copy.start, done) + across_under_way(value.region, copy.start) >=
              problem_.max_prefetches)
        return;
    }
    if (!finish(value, attempt)) return;
    for (const PlannedCopy& copy : decision.plan.copies)
      book.add(copy.start, value.uses[static_cast<size_t>(copy.first)].position, value.copy_in);
    keep(v, attempt.plan);
  }

  /// The copies of a plan that isn't taken leave the books.
  void drop(const PrefetchValue& value, const ValuePlan& plan, bool with_eviction) {
    const auto r = static_cast<size_t>(value.region);
    for (const PlannedCopy& copy : plan.copies)
      prefetches_[r].remove(copy.start, value.uses[static_cast<size_t>(copy.first)].position, value.copy_in);
    if (with_eviction && plan.evict_done >= 0)
      evictions_[r].remove(plan.evict_start, plan.evict_done, value.copy_out);
  }

  bool room_for(const PrefetchValue& value, Stay stay) {
    return chip_.fits(span_of(value, stay), size_of(value));
  }

  /// Copies of parameters that the run before brings count as long as they are waited for.
  int32_t across_under_way(int32_t region, int32_t start) const {
    int32_t count = 0;
    for (const int32_t v : out_.cross_program)
      count += value_of(v).region == region && start < value_of(v).uses[0].position;
    return count;
  }

  /// A copy takes the place of the step that makes the value, if its operand isn't on the chip for that.
  bool replace(int32_t v, double longest, Attempt& attempt) {
    const PrefetchValue& value = value_of(v);
    if (value.replace_from < 0 || reads_chip(value.region, value.made_at)) return false;
    const auto uses = static_cast<int32_t>(value.uses.size());
    int32_t covered = -1;
    attempt.plan.replaced = true;
    prefetch(v, 0, uses - 1, longest, attempt, covered);
    if (covered == uses - 1) return true;
    attempt.plan = {};
    return false;
  }
  /// Some operand of a step is on the chip so far.
  bool reads_chip(int32_t region, int32_t position) const {
    for (size_t v = 0; v < out_.plans.size(); ++v) {
      const PrefetchValue& value = problem_.values[v];
      const ValuePlan& plan = out_.plans[v];
      if (value.region != region || plan.empty()) continue;
      for (size_t i = 0; i < value.uses.size(); ++i) {
        const auto use = static_cast<int32_t>(i);
        const bool there =
            use <= plan.kept_until || std::ranges::any_of(plan.copies, [&](const PlannedCopy& copy) {
              return copy.first <= use && use <= copy.last;
            });
        if (there && value.uses[i].bit >= 0 && value.uses[i].position == position) return true;
      }
    }
    return false;
  }
  bool is_gone(int32_t region, int32_t position) const {
    return std::ranges::any_of(replaced_, [&](int32_t v) {
      return value_of(v).region == region && value_of(v).made_at == position;
    });
  }

  void walk(int32_t v, bool may_be_made, Attempt& attempt) {
    const PrefetchValue& value = value_of(v);
    const auto uses = static_cast<int32_t>(value.uses.size());
    const double longest = knobs_.max_overlap_to_mem_size_async_copy_ratio * copy_of_all_;
    if (may_be_made && replace(v, longest, attempt)) return;
    const auto& passed = passed_[static_cast<size_t>(value.region)];
    const auto elapsed = [&](int32_t from, int32_t to) {
      return passed[static_cast<size_t>(std::max(to, from))] - passed[static_cast<size_t>(std::max(from, 0))];
    };
    int32_t last_on_chip = uses - 1;
    while (last_on_chip > 0 && value.uses[static_cast<size_t>(last_on_chip)].bit < 0) --last_on_chip;
    int32_t covered = -1;
    for (int32_t i = 0; i < uses; ++i) {
      const PrefetchUse& use = value.uses[static_cast<size_t>(i)];
      if (i <= covered || use.bit < 0 || is_gone(value.region, use.position)) continue;
      // Where it is made, for as long as possible; else up to this use.
      if (i == 0 && may_be_made && elapsed(value.made_at, use.position) < longest) {
        const int32_t until = knobs_.always_spill_to_default_memory ? -1 : last_on_chip;
        for (const int32_t last : {until, i}) {
          const int32_t end = last < 0 ? value.made_at : value.uses[static_cast<size_t>(last)].position;
          if (!room_for(value, {value.made_at, end})) continue;
          attempt.plan.made_on_chip = true;
          attempt.plan.kept_until = covered = last;
          break;
        }
        if (i <= covered) continue;
        attempt.lacked_room |= !attempt.plan.made_on_chip;
      }
      prefetch(v, i, last_on_chip, longest, attempt, covered);
    }
  }

  void prefetch(int32_t v, int32_t i, int32_t last_on_chip, double longest, Attempt& attempt,
                int32_t& covered) {
    const PrefetchValue& value = value_of(v);
    const int32_t position = value.uses[static_cast<size_t>(i)].position;
    const auto r = static_cast<size_t>(value.region);
    CopySlots& book = prefetches_[r];
    const PrefetchStep& step = problem_.step(value.region, position);
    const double saved = problem_.cost(step, 0).time -
                         problem_.cost(step, uint32_t{1} << value.uses[static_cast<size_t>(i)].bit).time;
    int32_t preferred = -1;
    if (!hints_.preferred_starts.empty()) {
      const auto& starts = hints_.preferred_starts[static_cast<size_t>(v)];
      if (!starts.empty()) preferred = starts[static_cast<size_t>(i)];
    }
    // What was on the chip before has to have reached HBM.
    const int32_t least = attempt.plan.replaced       ? value.replace_from
                          : attempt.plan.made_on_chip ? value.made_at + 2
                                                      : value.made_at + 1;
    const int32_t most = problem_.max_prefetches + (attempt.plan.replaced ? problem_.extra_prefetches : 0);
    IntervalPicker picker(passed_[r], {position, least, value.copy_in, saved, longest, preferred}, knobs_);
    int32_t no_room_at = -1;
    for (int32_t start = picker.next(); start >= 0; start = picker.next()) {
      if (start <= no_room_at || (start < least)) continue;
      if (knobs_.enforce_prefetch_fifo_order && !book.in_order(start, position)) continue;
      if (problem_.max_prefetches >= 0 &&
          book.under_way(start, position) + across_under_way(value.region, start) >= most)
        continue;
      const bool once = knobs_.always_spill_to_default_memory && !attempt.plan.replaced;
      int32_t last = once ? i : last_on_chip;
      const auto end = [&] { return value.uses[static_cast<size_t>(last)].position; };
      if (!room_for(value, {start, end()})) {
        last = i;
        if (attempt.plan.replaced || !room_for(value, {start, end()})) {
          no_room_at = start;  // earlier ones need more
          attempt.lacked_room = true;
          continue;
        }
      }
      if (!book.add(start, position, value.copy_in)) continue;
      attempt.plan.copies.push_back({start, i, last});
      covered = last;
      return;
    }
  }

  /// Written back, if it has to be: there has to be room, and time for the copy.
  bool finish(const PrefetchValue& value, Attempt& attempt) {
    ValuePlan& plan = attempt.plan;
    if (!complete(value, problem_, plan)) return false;
    for (const Stay stay : stays(value, plan))
      if (!room_for(value, stay)) {
        attempt.lacked_room = true;
        return false;
      }
    if (plan.evict_done < 0) return true;
    CopySlots& book = evictions_[static_cast<size_t>(value.region)];
    if (problem_.max_evictions >= 0 &&
        book.under_way(plan.evict_start, plan.evict_done) >= problem_.max_evictions)
      return false;
    return book.add(plan.evict_start, plan.evict_done, value.copy_out);
  }

  /// Fewer bytes are used on the chip than it takes to bring them there.
  bool is_inefficient(const PrefetchValue& value, const ValuePlan& plan) const {
    if (plan.empty()) return false;
    double used = 0;
    const auto add = [&](int32_t position, int32_t bit) {
      if (bit < 0) return;
      const PrefetchStep& step = problem_.step(value.region, position);
      used += problem_.cost(step, 0).hbm - problem_.cost(step, uint32_t{1} << bit).hbm;
    };
    if (plan.made_on_chip) {
      add(value.made_at, value.made_bit);
      for (int32_t i = 0; i <= plan.kept_until; ++i)
        add(value.uses[static_cast<size_t>(i)].position, value.uses[static_cast<size_t>(i)].bit);
    }
    for (const PlannedCopy& copy : plan.copies)
      for (int32_t i = copy.first; i <= copy.last; ++i)
        add(value.uses[static_cast<size_t>(i)].position, value.uses[static_cast<size_t>(i)].bit);
    const double copied =
        static_cast<double>(plan.copies.size()) * value.hbm_in + (plan.evict_done >= 0 ? value.hbm_out : 0);
    return used < knobs_.inefficient_use_to_copy_ratio * copied;
  }

  const PrefetchProblem& problem_;
  const XlaKnobs& knobs_;
  const XlaHints& hints_;
  const std::function<bool()>& out_of_time_;
  ChipPlacement chip_;
  std::vector<int32_t> owners_;    // values, of the places on the chip
  std::vector<int32_t> replaced_;  // values whose steps are gone
  int64_t repacks_ = 0, looks_ = 0;
  std::vector<std::vector<double>> passed_;  // time before each gap, by region
  std::vector<CopySlots> prefetches_, evictions_;
  double copy_of_all_ = 0;
  XlaPlans out_;
};

}  // namespace

XlaPlans xla_prefetch(const PrefetchProblem& problem, const XlaKnobs& knobs, const XlaHints& hints,
                      const std::function<bool()>& out_of_time) {
  return XlaAssigner(problem, knobs, hints, out_of_time).run();
}

}  // namespace hlosim
