#include "tune/prefetch_search.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <random>

#include "tune/prefetch_order.h"
#include "tune/prefetch_simulator.h"

namespace hlosim {
namespace {

/// Copies that are under way at a time, by region and gap, where there is a limit.
class UnderWay {
 public:
  explicit UnderWay(const PrefetchProblem& problem) : problem_(problem) {
    if (!limited()) return;
    for (const PrefetchRegion& region : problem.regions) {
      in_.emplace_back(region.steps.size() + 1);
      out_.emplace_back(region.steps.size() + 1);
    }
  }
  void add(const PrefetchValue& value, const ValuePlan& plan, int32_t sign) {
    if (!limited()) return;
    each(value, plan, [&](bool out, int32_t gap) {
      (out ? out_ : in_)[static_cast<size_t>(value.region)][static_cast<size_t>(gap)] += sign;
      return true;
    });
  }
  bool fits(const PrefetchValue& value, const ValuePlan& plan) {
    if (!limited()) return true;
    bool fits = true;
    add(value, plan, 1);
    each(value, plan, [&](bool out, int32_t gap) {
      const int32_t limit = out ? problem_.max_evictions : problem_.max_prefetches;
      const auto& count = (out ? out_ : in_)[static_cast<size_t>(value.region)];
      fits &= limit < 0 || count[static_cast<size_t>(gap)] <= limit;
      return fits;
    });
    add(value, plan, -1);
    return fits;
  }

 private:
  bool limited() const { return problem_.max_prefetches >= 0 || problem_.max_evictions >= 0; }
  template <class F>
  static void each(const PrefetchValue& value, const ValuePlan& plan, F&& f) {
    for (const PlannedCopy& copy : plan.copies)
      for (const int32_t start : {copy.start, copy.second}) {
        if (start < 0) continue;
        for (int32_t gap = start; gap < value.uses[static_cast<size_t>(copy.first)].position; ++gap)
          if (!f(false, gap)) return;
      }
    for (int32_t gap = plan.evict_start; gap < plan.evict_done; ++gap)
      if (!f(true, gap)) return;
  }
  const PrefetchProblem& problem_;
  std::vector<std::vector<int32_t>> in_, out_;
};

/// The present plans, their time and their space.
class State {
 public:
  State(const PrefetchProblem& problem, const PrefetchSearchOptions& options)
      : given_(problem),
        problem_(problem),
        options_(options),
        simulator_(problem_),
        space_(problem_),
        under_way_(problem_) {
    if (options.reorder && problem.freedom.any()) values_of_ = values_of_steps(problem);
  }

  const PrefetchProblem& problem() const { return problem_; }
  const PrefetchSimulator& simulator() const { return simulator_; }
  const ValuePlan& plan(int32_t v) const { return simulator_.plan(v); }
  double score() const { return simulator_.time() + options_.traffic_weight * simulator_.hbm(); }
  int64_t evaluations() const { return evaluations_; }

  /// Takes `plan` for `v` if there is room; the one before stays otherwise.
  bool put(int32_t v, const ValuePlan& plan) {
    const PrefetchValue& value = problem_.values[static_cast<size_t>(v)];
    const ValuePlan before = simulator_.plan(v);
    lift(value, before);
    if (!space_.fits(value, plan) || !under_way_.fits(value, plan)) {
      lay(value, before);
      return false;
    }
    lay(value, plan);
    simulator_.set(v, plan);
    ++evaluations_;
    return true;
  }
  /// Requires: there is room.
  void put_back(int32_t v, const ValuePlan& plan) {
    const PrefetchValue& value = problem_.values[static_cast<size_t>(v)];
    lift(value, simulator_.plan(v));
    lay(value, plan);
    simulator_.set(v, plan);
  }
  bool room_beside(int32_t v, const ValuePlan& plan) {
    const PrefetchValue& value = problem_.values[static_cast<size_t>(v)];
    const ValuePlan before = simulator_.plan(v);
    lift(value, before);
    const bool fits = space_.fits(value, plan) && under_way_.fits(value, plan);
    lay(value, before);
    return fits;
  }
  PrefetchPlans result() const {
    return {simulator_.plans(), simulator_.time(), simulator_.hbm(), evaluations_, false, {}};
  }

  // ── the order of steps ──

  /// Two neighbours that changed places, and plans as they were.
  struct Exchange {
    int32_t first = 0;
    std::vector<std::pair<int32_t, ValuePlan>> plans;
  };
  /// Steps `first` and `first` + 1 change places; plans follow. False: there is no room for one of them, and
  /// take_back() has to come. Times are right after settle().
  bool exchange(int32_t first, Exchange& done) {
    done.first = first;
    done.plans.clear();
    for (const int32_t v : concerned(first)) done.plans.emplace_back(v, simulator_.plan(v));
    lift_all(done);
    hlosim::exchange(problem_, first, concerned_);
    touch(first);
    bool fits = true;
    for (const auto& [v, before] : done.plans) {
      const PrefetchValue& value = problem_.values[static_cast<size_t>(v)];
      ValuePlan plan = before;
      adapt(value, problem_, plan);
      fits = fits && space_.fits(value, plan) && under_way_.fits(value, plan);
      if (!fits) plan = {};
      lay(value, plan);
      simulator_.lay(v, plan);
    }
    return fits;
  }
  /// Requires: nothing else has changed since.
  void take_back(const Exchange& done) {
    concerned(done.first);
    lift_all(done);
    hlosim::exchange(problem_, done.first, concerned_);
    touch(done.first);
    for (const auto& [v, before] : done.plans) {
      lay(problem_.values[static_cast<size_t>(v)], before);
      simulator_.lay(v, before);
    }
  }
  void settle() {
    simulator_.settle();
    ++evaluations_;
  }
  /// Requires: all plans are empty.
  void set_order(std::span<const int32_t> order) {
    hlosim::set_order(problem_, given_, order);
    for (const PrefetchStep& step : problem_.steps) simulator_.touch(step.region, step.position);
    simulator_.settle();
  }

 private:
  void lift(const PrefetchValue& value, const ValuePlan& plan) {
    space_.add(value, plan, -1);
    under_way_.add(value, plan, -1);
  }
  void lay(const PrefetchValue& value, const ValuePlan& plan) {
    space_.add(value, plan, 1);
    under_way_.add(value, plan, 1);
  }
  /// Values that one of two neighbours makes or uses.
  const std::vector<int32_t>& concerned(int32_t first) {
    const auto i = static_cast<size_t>(first);
    const std::vector<int32_t>& a = values_of_[static_cast<size_t>(problem_.steps[i].number)];
    const std::vector<int32_t>& b = values_of_[static_cast<size_t>(problem_.steps[i + 1].number)];
    concerned_.clear();
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(concerned_));
    return concerned_;
  }
  void lift_all(const Exchange& done) {
    for (const auto& [v, before] : done.plans) {
      lift(problem_.values[static_cast<size_t>(v)], simulator_.plan(v));
      simulator_.lift(v);
    }
  }
  void touch(int32_t first) {
    const PrefetchStep& step = problem_.steps[static_cast<size_t>(first)];
    simulator_.touch(step.region, step.position);
    simulator_.touch(step.region, step.position + 1);
  }

  const PrefetchProblem& given_;
  PrefetchProblem problem_;  // in the present order
  const PrefetchSearchOptions& options_;
  PrefetchSimulator simulator_;
  ChipSpace space_;
  UnderWay under_way_;
  int64_t evaluations_ = 0;
  std::vector<std::vector<int32_t>> values_of_;  // by number of the step
  std::vector<int32_t> concerned_;
};

/// The latest gap from which on HBM is free for `needed` up to `position`; the earliest possible one if there
/// is none.
int32_t start_for(const PrefetchSimulator& simulator, const PrefetchValue& value, int32_t position,
                  double needed) {
  const int32_t earliest = value.made_at + 1;
  int32_t start = position;
  for (double idle = 0; start > earliest && idle < needed;) idle += simulator.idle_of(value.region, --start);
  return start;
}

/// Bytes on the chip times steps.
double occupied(const PrefetchProblem& problem, const PrefetchValue& value, const ValuePlan& plan) {
  double sum = 0;
  for (const Stay stay : stays(value, plan)) {
    const Stay at = in_steps(problem, value.region, stay);
    sum += static_cast<double>(stay.bytes) * static_cast<double>(at.last - at.first + 1);
  }
  return sum;
}

/// Plans of one value that are worth a try: kept from where it is made, or copied for a run of uses.
std::vector<ValuePlan> candidates(const PrefetchProblem& problem, const PrefetchSimulator& simulator,
                                  const PrefetchValue& value) {
  std::vector<ValuePlan> found;
  const auto uses = static_cast<int32_t>(value.uses.size());
  const auto offer = [&](ValuePlan plan) {
    if (complete(value, problem, plan) && std::find(found.begin(), found.end(), plan) == found.end())
      found.push_back(std::move(plan));
  };
  std::vector<int32_t> on_chip;  // uses that may read the chip
  for (int32_t i = 0; i < uses; ++i)
    if (value.uses[static_cast<size_t>(i)].bit >= 0) on_chip.push_back(i);
  constexpr size_t kUses = 6;  // the first and the last of them
  const auto is_tried = [&](size_t k) { return k < kUses || k + kUses >= on_chip.size(); };
  if (value.made_bit >= 0) {
    ValuePlan plan;
    plan.made_on_chip = true;
    offer(plan);
    for (size_t k = 0; k < on_chip.size(); ++k)
      if (is_tried(k)) plan.kept_until = on_chip[k], offer(plan);
  }
  for (size_t k = 0; k < on_chip.size(); ++k) {
    if (!is_tried(k)) continue;
    const int32_t position = value.uses[static_cast<size_t>(on_chip[k])].position;
    for (const double part : {0.5, 1.0, 2.0}) {
      const int32_t start = start_for(simulator, value, position, part * value.copy_in);
      for (const size_t last : {k, k + 1, on_chip.size() - 1}) {
        if (last >= on_chip.size()) continue;
        ValuePlan plan;
        plan.copies.push_back({start, on_chip[k], on_chip[last]});
        offer(plan);
        // Kept for the uses before as well.
        if (value.made_bit < 0 || k == 0) continue;
        plan.made_on_chip = true, plan.kept_until = on_chip[k - 1];
        offer(plan);
      }
    }
  }
  return found;
}

class Greedy {
 public:
  Greedy(const PrefetchProblem& problem, const PrefetchSearchOptions& options)
      : problem_(problem), options_(options), state_(problem, options) {}

  PrefetchPlans run() {
    for (size_t v = 0; v < problem_.values.size() && !stopped(); ++v) consider(static_cast<int32_t>(v));
    while (!queue_.empty() && !stopped()) {
      const Offer offer = queue_.top();
      queue_.pop();
      if (offer.version != version_[static_cast<size_t>(offer.value)]) continue;
      if (offer.seen == changes_) {
        take(offer);
        continue;
      }
      // What it gains may have changed since.
      ++version_[static_cast<size_t>(offer.value)];
      consider(offer.value);
    }
    PrefetchPlans result = state_.result();
    result.cut = cut_;
    return result;
  }

 private:
  struct Offer {
    double density = 0;
    int32_t value = 0;
    int64_t version = 0, seen = 0;
    ValuePlan plan;
    bool operator<(const Offer& other) const {
      return density != other.density ? density < other.density : value > other.value;
    }
  };

  bool stopped() {
    if (!cut_ && options_.out_of_time && state_.evaluations() >= next_look_) {
      next_look_ = state_.evaluations() + 256;
      cut_ = options_.out_of_time();
    }
    return cut_;
  }

  /// The best plan for a value as things stand joins the queue.
  void consider(int32_t v) {
    if (version_.empty()) version_.resize(problem_.values.size());
    const PrefetchValue& value = problem_.values[static_cast<size_t>(v)];
    const ValuePlan before = state_.plan(v);
    const double now = state_.score();
    const double taken = occupied(problem_, value, before);
    Offer best;
    for (const ValuePlan& plan : candidates(problem_, state_.simulator(), value)) {
      if (plan == before || !state_.put(v, plan)) continue;
      const double gain = now - state_.score();
      state_.put_back(v, before);
      const double more = occupied(problem_, value, plan) - taken;
      if (gain <= kLeastGain * now) continue;
      const double density = gain / std::max(more, 1.0);
      if (density > best.density) best = {density, v, version_[static_cast<size_t>(v)], changes_, plan};
    }
    if (best.density > 0) queue_.push(std::move(best));
  }

  void take(const Offer& offer) {
    if (!state_.put(offer.value, offer.plan)) return;
    ++changes_;
    ++version_[static_cast<size_t>(offer.value)];
    consider(offer.value);
  }

  static constexpr double kLeastGain = 1e-12;  // of the whole: less is rounding
  const PrefetchProblem& problem_;
  const PrefetchSearchOptions& options_;
  State state_;
  std::priority_queue<Offer> queue_;
  std::vector<int64_t> version_;
  int64_t changes_ = 0, next_look_ = 0;
  bool cut_ = false;
};

class Annealer {
 public:
  Annealer(const PrefetchProblem& problem, const PrefetchPlans& start, const PrefetchSearchOptions& options)
      : options_(options), state_(problem, options), problem_(state_.problem()), random_(options.seed) {
    for (size_t v = 0; v < problem.values.size(); ++v) {
      if (problem.values[v].sites() > 0) movable_.push_back(static_cast<int32_t>(v));
      state_.put_back(static_cast<int32_t>(v), start.plans[v]);
    }
    best_ = start;
    best_score_ = state_.score();
    best_.time = state_.simulator().time(), best_.hbm = state_.simulator().hbm();
    index_neighbours();
    if (options.reorder) find_exchangeable();
  }

  PrefetchPlans run() {
    if (movable_.empty()) return best_;
    // From changes that cost a thousandth of all time down to a millionth of it.
    const double hot = state_.score() * 1e-3, cold = state_.score() * 1e-7;
    // Several rounds, each from the best so far.
    const int64_t rounds = 4, length = std::max<int64_t>(options_.moves / rounds, 1);
    for (int64_t move = 0; move < options_.moves; ++move) {
      if ((move & 255) == 0 && options_.out_of_time && options_.out_of_time()) {
        best_.cut = true;
        break;
      }
      if (move % length == 0 && move > 0) restart();
      const double part = static_cast<double>(move % length) / static_cast<double>(length);
      step(hot * std::pow(cold / hot, part));
    }
    best_.evaluations = state_.evaluations();
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

  void restart() {
    for (const int32_t v : movable_) clear(v);
    if (!best_.order.empty()) state_.set_order(best_.order);
    for (const int32_t v : movable_) state_.put_back(v, best_.plans[static_cast<size_t>(v)]);
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
    state_.settle();
    undo_.clear();
    if (fits) follow(exchanges_[count - 1]);
    if (fits && is_taken(before, temperature)) return;
    for (auto changed = undo_.rbegin(); changed != undo_.rend(); ++changed)
      state_.put_back(changed->first, changed->second);
    while (count > 0) state_.take_back(exchanges_[--count]);
    state_.settle();
  }

  /// Values that the moved steps make or use get better plans, if a few tries find any.
  void follow(const State::Exchange& moved) {
    if (moved.plans.empty()) return;
    for (int i = 0; i < kTries; ++i) {
      const int32_t v = moved.plans[static_cast<size_t>(below(static_cast<int64_t>(moved.plans.size())))].first;
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
  State state_;
  const PrefetchProblem& problem_;  // of the state
  std::mt19937_64 random_;
  std::vector<int32_t> movable_;
  std::vector<std::vector<int32_t>> by_region_;
  PrefetchPlans best_;
  double best_score_ = 0;
  std::vector<std::pair<int32_t, ValuePlan>> undo_;
  std::vector<int32_t> exchangeable_;
  std::vector<uint8_t> is_exchangeable_;
  std::vector<State::Exchange> exchanges_;
};

}  // namespace

PrefetchPlans greedy_prefetch(const PrefetchProblem& problem, const PrefetchSearchOptions& options) {
  return Greedy(problem, options).run();
}

PrefetchPlans improve_prefetch(const PrefetchProblem& problem, const PrefetchPlans& start,
                               const PrefetchSearchOptions& options) {
  return Annealer(problem, start, options).run();
}

}  // namespace hlosim
