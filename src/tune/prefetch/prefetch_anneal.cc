#include <algorithm>
#include <cmath>
#include <random>

#include "prefetch/prefetch_order.h"
#include "prefetch/prefetch_search.h"
#include "prefetch/prefetch_state.h"

namespace hlosim {
namespace {

class Annealer {
 public:
  Annealer(const PrefetchProblem& problem, const PrefetchPlans& start, const PrefetchSearchOptions& options)
      : options_(options), state_(problem, options), problem_(state_.problem()), random_(options.seed) {
    for (size_t v = 0; v < problem.values.size(); ++v) {
      if (problem.values[v].sites() > 0) movable_.push_back(static_cast<int32_t>(v));
      if (!is_cut(v)) state_.put_back(static_cast<int32_t>(v), start.plans[v]);
    }
    best_ = start;
    best_.cut = cut_;
    if (cut_) return;  // nothing will be looked for
    best_score_ = state_.score();
    best_.time = state_.simulator().time(), best_.hbm = state_.simulator().hbm();
    index_neighbours();
    if (options.reorder) find_exchangeable();
  }

  PrefetchPlans run() {
    if (movable_.empty() || cut_) return best_;
    // From changes that cost a thousandth of all time down to a millionth of it.
    const double hot = state_.score() * 1e-3, cold = state_.score() * 1e-7;
    // Several rounds, each from the best so far.
    const int64_t rounds = 4, length = std::max<int64_t>(options_.moves / rounds, 1);
    for (int64_t move = 0; move < options_.moves && !is_cut(static_cast<size_t>(move)); ++move) {
      if (move % length == 0 && move > 0 && !restart()) break;
      const double part = static_cast<double>(move % length) / static_cast<double>(length);
      step(hot * std::pow(cold / hot, part));
    }
    best_.evaluations = state_.evaluations();
    best_.cut = cut_;
    return best_;
  }

 private:
  int32_t below(int64_t count) {  // not std::uniform_int_distribution: libraries differ
    return static_cast<int32_t>(random_() % static_cast<uint64_t>(count));
  }
  double fraction() { return static_cast<double>(random_() >> 11) * 0x1p-53; }

  void index_neighbours() {
    by_region_.resize(problem_.regions.size());
    for (const int32_t v : movable_)
      by_region_[static_cast<size_t>(problem_.values[static_cast<size_t>(v)].region)].push_back(v);
  }

  /// From the best so far. False: the time was over before.
  bool restart() {
    for (size_t i = 0; i < movable_.size() && !is_cut(i); ++i) clear(movable_[i]);
    if (!cut_ && !best_.order.empty()) state_.set_order(best_.order);
    for (size_t i = 0; i < movable_.size() && !is_cut(i); ++i)
      state_.put_back(movable_[i], best_.plans[static_cast<size_t>(movable_[i])]);
    return !cut_;
  }
  /// Asks for the time now and then.
  bool is_cut(size_t round) {
    if (!cut_ && (round & 255) == 0 && options_.out_of_time) cut_ = options_.out_of_time();
    return cut_;
  }
  void clear(int32_t v) { state_.put_back(v, {}); }

  /// Places in the order whose step may change places with the next one, whichever steps stand there.
  void find_exchangeable() {
    const PrefetchFreedom& freedom = problem_.freedom;
    is_exchangeable_.assign(problem_.steps.size(), 0);
    for (size_t i = 0; i + 1 < problem_.steps.size() && freedom.any(); ++i) {
      is_exchangeable_[i] = freedom.movable[i] && freedom.movable[i + 1] &&
                            problem_.steps[i].region == problem_.steps[i + 1].region;
      if (is_exchangeable_[i]) exchangeable_.push_back(static_cast<int32_t>(i));
    }
    if (!exchangeable_.empty()) best_.order = order_of(problem_);
  }

  /// A step moves past some of its neighbours.
  void move_step(double temperature) {
    int32_t at = exchangeable_[static_cast<size_t>(below(static_cast<int64_t>(exchangeable_.size())))];
    const int32_t direction = below(2) == 0 ? 1 : -1;
    const double before = state_.score();
    size_t count = 0;
    bool fits = true;
    do {
      const bool may = at >= 0 && is_exchangeable_[static_cast<size_t>(at)] &&
                       problem_.freedom.may_exchange(problem_.steps[static_cast<size_t>(at)].number,
                                                     problem_.steps[static_cast<size_t>(at) + 1].number);
      if (!may) break;
      if (exchanges_.size() == count) exchanges_.emplace_back();
      fits = state_.exchange(at, exchanges_[count++]);
      at += direction;
    } while (fits && below(2) == 0);
    if (count == 0) return;
    state_.update();
    undo_.clear();
    if (fits) follow(exchanges_[count - 1]);
    if (fits && is_taken(before, temperature)) return;
    for (auto changed = undo_.rbegin(); changed != undo_.rend(); ++changed)
      state_.put_back(changed->first, changed->second);
    while (count > 0) state_.take_back(exchanges_[--count]);
    state_.update();
  }

  /// Values that the moved steps make or use get better plans, if a few tries find any.
  void follow(const PrefetchState::Exchange& moved) {
    if (moved.plans.empty()) return;
    for (int i = 0; i < kTries; ++i) {
      const int32_t v =
          moved.plans[static_cast<size_t>(below(static_cast<int64_t>(moved.plans.size())))].first;
      const PrefetchValue& value = problem_.values[static_cast<size_t>(v)];
      if (value.sites() == 0) continue;
      const double before = state_.score();
      const ValuePlan plan = state_.plan(v);
      ValuePlan changed = plan;
      if (!change(value, changed) || !complete(value, problem_, changed) || changed == plan) continue;
      if (!state_.put(v, changed)) continue;
      if (state_.score() < before)
        undo_.emplace_back(v, plan);
      else
        state_.put_back(v, plan);
    }
  }

  /// Whether what was changed stays. The best so far is kept.
  bool is_taken(double before, double temperature) {
    const double after = state_.score();
    if (after > before && fraction() >= std::exp((before - after) / temperature)) return false;
    if (after < best_score_ - 1e-9 * std::abs(best_score_)) {
      best_score_ = after;
      best_.plans = state_.simulator().plans();
      best_.time = state_.simulator().time(), best_.hbm = state_.simulator().hbm();
      if (!exchangeable_.empty()) best_.order = order_of(problem_);
    }
    return true;
  }

  void step(double temperature) {
    if (!exchangeable_.empty() && below(kPlansPerOrder) == 0) return move_step(temperature);
    const int32_t v = movable_[static_cast<size_t>(below(static_cast<int64_t>(movable_.size())))];
    const double before = state_.score();
    ValuePlan changed = state_.plan(v);
    const PrefetchValue& value = problem_.values[static_cast<size_t>(v)];
    if (!change(value, changed) || !complete(value, problem_, changed) || changed == state_.plan(v)) return;
    undo_.clear();
    undo_.push_back({v, state_.plan(v)});
    if (!state_.put(v, changed) && !make_room(v, changed)) return take_back();
    if (!is_taken(before, temperature)) take_back();
  }

  void take_back() {
    for (const auto& [v, plan] : undo_) clear(v);
    for (auto at = undo_.rbegin(); at != undo_.rend(); ++at) state_.put_back(at->first, at->second);
  }

  /// Others make way, one after another; one of them may get another place afterwards.
  bool make_room(int32_t v, const ValuePlan& plan) {
    const PrefetchValue& value = problem_.values[static_cast<size_t>(v)];
    const std::vector<int32_t>& others = by_region_[static_cast<size_t>(value.region)];
    const std::vector<Stay> own = stays(value, plan);
    const auto first = below(static_cast<int64_t>(others.size()));
    int32_t moved = 0;
    for (size_t i = 0; i < others.size() && moved < 3; ++i) {
      const int32_t other = others[(static_cast<size_t>(first) + i) % others.size()];
      if (other == v || state_.plan(other).empty() || !meet(own, other)) continue;
      undo_.push_back({other, state_.plan(other)});
      clear(other);
      ++moved;
      if (!state_.put(v, plan)) continue;
      const PrefetchValue& out = problem_.values[static_cast<size_t>(other)];
      ValuePlan instead = undo_.back().second;
      if (change(out, instead) && complete(out, problem_, instead)) state_.put(other, instead);
      return true;
    }
    return false;
  }
  bool meet(const std::vector<Stay>& own, int32_t other) const {
    for (const Stay stay : stays(problem_.values[static_cast<size_t>(other)], state_.plan(other)))
      for (const Stay mine : own)
        if (stay.first <= mine.last && mine.first <= stay.last) return true;
    return false;
  }

  /// A random change of one plan.
  bool change(const PrefetchValue& value, ValuePlan& plan) {
    const auto uses = static_cast<int64_t>(value.uses.size());
    switch (below(8)) {
      case 0:  // made elsewhere
        plan.made_on_chip = !plan.made_on_chip;
        if (plan.made_on_chip && uses > 0) set_kept(plan, below(uses + 1) - 1);
        return true;
      case 1:  // kept longer or shorter
        if (!plan.made_on_chip || uses == 0) return add_copy(value, plan);
        set_kept(plan, below(uses + 1) - 1);
        return true;
      case 2:
        if (plan.copies.empty()) return add_copy(value, plan);
        plan.copies.erase(plan.copies.begin() + below(static_cast<int64_t>(plan.copies.size())));
        return true;
      case 3:
      case 4:
        return plan.copies.empty() ? add_copy(value, plan) : move_start(value, plan);
      case 5:
        return plan.copies.empty() ? add_copy(value, plan) : move_end(value, plan);
      case 6:  // everything at once
        if (value.made_bit < 0 || uses == 0) return add_copy(value, plan);
        plan = {};
        plan.made_on_chip = true, plan.kept_until = static_cast<int32_t>(uses) - 1;
        return true;
      default:
        return add_copy(value, plan);
    }
  }

  static void set_kept(ValuePlan& plan, int32_t until) {
    plan.kept_until = until;
    while (!plan.copies.empty() && plan.copies.front().first <= until) {
      plan.copies.front().first = until + 1;
      if (plan.copies.front().last <= until)
        plan.copies.erase(plan.copies.begin());
      else
        break;
    }
  }

  /// Also one that replaces those in its way.
  bool add_copy(const PrefetchValue& value, ValuePlan& plan) {
    const auto uses = static_cast<int64_t>(value.uses.size());
    if (uses == 0) return false;
    PlannedCopy copy;
    copy.first = below(uses);
    copy.last = copy.first;
    while (copy.last + 1 < uses && below(2) == 0) ++copy.last;
    if (value.uses[static_cast<size_t>(copy.first)].bit < 0) return false;
    copy.start = random_start(value, value.uses[static_cast<size_t>(copy.first)].position);
    std::erase_if(plan.copies, [&](const PlannedCopy& other) {
      return other.first <= copy.last && copy.first <= other.last;
    });
    if (plan.made_on_chip) plan.kept_until = std::min(plan.kept_until, copy.first - 1);
    plan.copies.insert(std::find_if(plan.copies.begin(), plan.copies.end(),
                                    [&](const PlannedCopy& other) { return other.first > copy.first; }),
                       copy);
    return true;
  }

  int32_t random_start(const PrefetchValue& value, int32_t position) {
    if (below(2) == 0)
      return start_for(state_.simulator(), value, position, value.copy_in * (0.5 + 2 * fraction()));
    int32_t distance = 1;
    while (below(4) != 0) distance += 1;
    return std::max(position - distance, value.made_at + 1);
  }

  bool move_start(const PrefetchValue& value, ValuePlan& plan) {
    PlannedCopy& copy = plan.copies[static_cast<size_t>(below(static_cast<int64_t>(plan.copies.size())))];
    const int32_t position = value.uses[static_cast<size_t>(copy.first)].position;
    int32_t& start = copy.second >= 0 && below(2) == 0 ? copy.second : copy.start;
    switch (below(value.has_halves() ? 4 : 3)) {
      case 0:
        start += 1;
        break;
      case 1:
        start -= 1;
        break;
      case 2:
        start = random_start(value, position);
        break;
      default:
        return cut_or_join(value, copy, position);
    }
    return copy.start > value.made_at && copy.start < position &&
           (copy.second < 0 || (copy.second > copy.start && copy.second < position));
  }

  /// In one piece, or in halves of which one starts another time.
  bool cut_or_join(const PrefetchValue& value, PlannedCopy& copy, int32_t position) {
    if (copy.second >= 0) {
      if (below(2) == 0) copy.start = copy.second;
      copy.second = -1;
      return true;
    }
    const int32_t other = random_start(value, position);
    copy.second = std::max(copy.start, other), copy.start = std::min(copy.start, other);
    return copy.second > copy.start && copy.second < position;
  }

  /// Kept for more uses or fewer; two copies become one.
  bool move_end(const PrefetchValue& value, ValuePlan& plan) {
    const auto which = static_cast<size_t>(below(static_cast<int64_t>(plan.copies.size())));
    PlannedCopy& copy = plan.copies[which];
    if (below(2) == 0) {
      if (copy.last == copy.first) return false;
      --copy.last;
      return true;
    }
    if (copy.last + 1 >= static_cast<int32_t>(value.uses.size())) return false;
    ++copy.last;
    if (which + 1 < plan.copies.size() && plan.copies[which + 1].first == copy.last) {
      copy.last = plan.copies[which + 1].last;
      plan.copies.erase(plan.copies.begin() + static_cast<std::ptrdiff_t>(which) + 1);
    }
    return true;
  }

  static constexpr int kTries = 4;              // guess
  static constexpr int64_t kPlansPerOrder = 4;  // one change in so many is one of the order (guess)
  const PrefetchSearchOptions& options_;
  PrefetchState state_;
  const PrefetchProblem& problem_;  // of the state
  std::mt19937_64 random_;
  std::vector<int32_t> movable_;
  std::vector<std::vector<int32_t>> by_region_;
  PrefetchPlans best_;
  double best_score_ = 0;
  bool cut_ = false;
  std::vector<std::pair<int32_t, ValuePlan>> undo_;
  std::vector<int32_t> exchangeable_;
  std::vector<uint8_t> is_exchangeable_;
  std::vector<PrefetchState::Exchange> exchanges_;
};

}  // namespace

PrefetchPlans improve_prefetch(const PrefetchProblem& problem, const PrefetchPlans& start,
                               const PrefetchSearchOptions& options) {
  return Annealer(problem, start, options).run();
}

}  // namespace hlosim
