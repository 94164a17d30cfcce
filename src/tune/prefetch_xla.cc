#include "tune/prefetch_xla.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "memory/taken_space.h"
#include "tune/copy_book.h"

namespace hlosim {
namespace {

/// Start gaps for a prefetch in the order in which they are tried.
class IntervalPicker {
 public:
  IntervalPicker(const std::vector<double>& passed, int32_t use, int32_t least, double copy, double saved,
                 double longest, const XlaKnobs& knobs, int32_t preferred)
      : passed_(passed), use_(use) {
    const double shortest = knobs.min_overlap_to_async_copy_ratio * copy - saved;
    last_ = use - 1;
    while (last_ >= least && elapsed(last_) < shortest) --last_;
    first_ = use;
    while (first_ > least && elapsed(first_ - 1) <= longest) --first_;
    if (first_ > last_) return;
    start_ = preferred >= 0 ? std::clamp(preferred, first_, last_) : nearest(knobs, copy);
  }

  /// -1: there are no more.
  int32_t next() {
    if (first_ > last_ || tried_ >= kMostTries) return -1;
    while (true) {
      const int32_t k = tried_turns_++;
      if (k == 0) return ++tried_, start_;
      const int32_t later = start_ + (k + 1) / 2, earlier = start_ - k / 2 * stride();
      if (k % 2 == 1 && later <= last_) return ++tried_, later;
      if (k % 2 == 0 && earlier >= first_) return ++tried_, earlier;
      if (start_ + (k + 1) / 2 > last_ && start_ - (k / 2 + 1) * stride() < first_) return -1;
    }
  }

 private:
  static constexpr int32_t kMostTries = 100;
  double elapsed(int32_t start) const {
    return passed_[static_cast<size_t>(use_)] - passed_[static_cast<size_t>(start)];
  }
  int32_t nearest(const XlaKnobs& knobs, double copy) const {
    const double wanted = knobs.preferred_overlap_to_async_copy_ratio * copy;
    int32_t best = last_;
    for (int32_t start = last_; start >= first_; --start)
      if (std::abs(elapsed(start) - wanted) < std::abs(elapsed(best) - wanted)) best = start;
    return best;
  }
  /// Earlier ones are skipped where there are many.
  int32_t stride() const { return std::max<int32_t>((start_ - first_) / (kMostTries / 2), 1); }

  const std::vector<double>& passed_;
  int32_t use_, first_ = 0, last_ = -1, start_ = 0, tried_ = 0, tried_turns_ = 0;
};

class XlaAssigner {
 public:
  XlaAssigner(const PrefetchProblem& problem, const XlaKnobs& knobs, const XlaHints& hints)
      : problem_(problem),
        knobs_(knobs),
        hints_(hints),
        space_(std::max<int32_t>(static_cast<int32_t>(problem.steps.size()), 1)) {
    out_.plans.resize(problem.values.size());
    for (size_t s = 0; s < problem.taken.size(); ++s)
      if (problem.taken[s] > 0) {
        const auto step = static_cast<int32_t>(s);
        space_.take({step, step}, {0, problem.taken[s]});
      }
    for (size_t r = 0; r < problem.regions.size(); ++r) {
      std::vector<double> offered, passed = {0};
      for (const int32_t s : problem.regions[r].steps) {
        const PrefetchStep& step = problem.steps[static_cast<size_t>(s)];
        offered.push_back(step.calls.empty() ? problem.cost(step, 0).time : 0);
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
    for (const int32_t v : sorted())
      if (out_.plans[static_cast<size_t>(v)].empty()) assign(v);
    return std::move(out_);
  }

 private:
  const PrefetchValue& value_of(int32_t v) const { return problem_.values[static_cast<size_t>(v)]; }
  int64_t size_of(const PrefetchValue& value) const {
    return (value.bytes + problem_.alignment - 1) / problem_.alignment * problem_.alignment;
  }

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
      if (!complete(value, problem_, plan) || !take(time, size_of(value))) continue;
      out_.plans[static_cast<size_t>(v)] = plan;
      out_.cross_program.push_back(v);
    }
  }

  bool free_place(TimeSpan time, int64_t size, SpaceRange& place) {
    const TimeSpan times[] = {time};
    const int64_t offset = space_.best_gap(times, size);
    place = {offset, offset + size};
    return place.end <= problem_.capacity;
  }
  bool take(TimeSpan time, int64_t size) {
    SpaceRange place;
    if (!free_place(time, size, place)) return false;
    space_.take(time, place);
    return true;
  }

  // ── one value ──

  struct Attempt {
    ValuePlan plan;
    std::vector<Stay> places;  // positions that are to be taken
  };

  void assign(int32_t v) {
    const PrefetchValue& value = value_of(v);
    for (int64_t retry = 0; retry < knobs_.max_retries + 1; ++retry) {
      // The last try leaves the value where it is made by default.
      const bool may_be_made = value.made_bit >= 0 && retry < knobs_.max_retries;
      Attempt attempt;
      const bool done = walk(v, may_be_made, attempt) && finish(value, attempt);
      if (done && !is_inefficient(value, attempt.plan)) {
        for (const Stay stay : stays(value, attempt.plan)) {
          const Stay at = in_steps(problem_, value.region, stay);
          if (!take({at.first, at.last}, size_of(value))) return drop(value, attempt.plan);
        }
        out_.plans[static_cast<size_t>(v)] = attempt.plan;
        return;
      }
      drop(value, attempt.plan);
      if (done) return;  // on the chip it would cost more than it saves
    }
  }

  /// The copies of a plan that isn't taken leave the books.
  void drop(const PrefetchValue& value, const ValuePlan& plan) {
    const auto r = static_cast<size_t>(value.region);
    for (const PlannedCopy& copy : plan.copies)
      prefetches_[r].remove(copy.start, value.uses[static_cast<size_t>(copy.first)].position, value.copy_in);
  }

  bool room_for(const PrefetchValue& value, Stay stay) {
    const Stay at = in_steps(problem_, value.region, stay);
    SpaceRange place;
    return free_place({at.first, at.last}, size_of(value), place);
  }

  /// Copies of parameters that the run before brings count as long as they are waited for.
  int32_t across_under_way(int32_t region, int32_t start) const {
    int32_t count = 0;
    for (const int32_t v : out_.cross_program)
      count += value_of(v).region == region && start < value_of(v).uses[0].position;
    return count;
  }

  bool walk(int32_t v, bool may_be_made, Attempt& attempt) {
    const PrefetchValue& value = value_of(v);
    const auto uses = static_cast<int32_t>(value.uses.size());
    const double longest = knobs_.max_overlap_to_mem_size_async_copy_ratio * copy_of_all_;
    const auto& passed = passed_[static_cast<size_t>(value.region)];
    const auto elapsed = [&](int32_t from, int32_t to) {
      return passed[static_cast<size_t>(std::max(to, from))] - passed[static_cast<size_t>(std::max(from, 0))];
    };
    int32_t last_on_chip = uses - 1;
    while (last_on_chip > 0 && value.uses[static_cast<size_t>(last_on_chip)].bit < 0) --last_on_chip;
    int32_t covered = -1;
    for (int32_t i = 0; i < uses; ++i) {
      const PrefetchUse& use = value.uses[static_cast<size_t>(i)];
      if (i <= covered || use.bit < 0) continue;
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
      }
      prefetch(v, i, last_on_chip, longest, attempt, covered);
    }
    return true;
  }

  void prefetch(int32_t v, int32_t i, int32_t last_on_chip, double longest, Attempt& attempt,
                int32_t& covered) {
    const PrefetchValue& value = value_of(v);
    const int32_t position = value.uses[static_cast<size_t>(i)].position;
    const auto r = static_cast<size_t>(value.region);
    CopyBook& book = prefetches_[r];
    const PrefetchStep& step = problem_.step(value.region, position);
    const double saved = problem_.cost(step, 0).time -
                         problem_.cost(step, uint32_t{1} << value.uses[static_cast<size_t>(i)].bit).time;
    int32_t preferred = -1;
    if (!hints_.preferred_starts.empty()) {
      const auto& starts = hints_.preferred_starts[static_cast<size_t>(v)];
      if (!starts.empty()) preferred = starts[static_cast<size_t>(i)];
    }
    // What was on the chip before has to have reached HBM.
    const int32_t least = value.made_at + (attempt.plan.made_on_chip ? 2 : 1);
    IntervalPicker picker(passed_[r], position, least, value.copy_in, saved, longest, knobs_, preferred);
    int32_t no_room_at = -1;
    for (int32_t start = picker.next(); start >= 0; start = picker.next()) {
      if (start <= no_room_at || (start < least)) continue;
      if (knobs_.enforce_prefetch_fifo_order && !book.in_order(start, position)) continue;
      if (problem_.max_prefetches >= 0 &&
          book.under_way(start, position) + across_under_way(value.region, start) >= problem_.max_prefetches)
        continue;
      int32_t last = knobs_.always_spill_to_default_memory ? i : last_on_chip;
      const auto end = [&] { return value.uses[static_cast<size_t>(last)].position; };
      if (!room_for(value, {start, end()})) {
        last = i;
        if (!room_for(value, {start, end()})) {
          no_room_at = start;  // earlier ones need more
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
      if (!room_for(value, stay)) return false;
    if (plan.evict_done < 0) return true;
    CopyBook& book = evictions_[static_cast<size_t>(value.region)];
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
  TakenSpace space_;
  std::vector<std::vector<double>> passed_;  // time before each gap, by region
  std::vector<CopyBook> prefetches_, evictions_;
  double copy_of_all_ = 0;
  XlaPlans out_;
};

}  // namespace

XlaPlans xla_prefetch(const PrefetchProblem& problem, const XlaKnobs& knobs, const XlaHints& hints) {
  return XlaAssigner(problem, knobs, hints).run();
}

}  // namespace hlosim
