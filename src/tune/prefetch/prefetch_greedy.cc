#include <algorithm>
#include <queue>

#include "prefetch/prefetch_search.h"
#include "prefetch/prefetch_state.h"

namespace hlosim {
namespace {

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
    for (size_t v = 0; v < problem_.values.size() && !stopped() && !late_; ++v)
      consider(static_cast<int32_t>(v));
    while (!queue_.empty() && !stopped()) {
      const Offer offer = queue_.top();
      queue_.pop();
      if (offer.version != version_[static_cast<size_t>(offer.value)]) continue;
      if (late_) {
        take_if_shorter(offer);
        continue;
      }
      if (offer.seen == changes_) {
        take(offer);
        continue;
      }
      // What it gains may have changed since.
      ++version_[static_cast<size_t>(offer.value)];
      consider(offer.value);
    }
    PrefetchPlans result = state_.result();
    result.cut = cut_ || late_;
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
    if (cut_ || state_.evaluations() < next_look_) return cut_;
    next_look_ = state_.evaluations() + 256;
    late_ = late_ || (options_.is_late && options_.is_late());
    cut_ = options_.out_of_time && options_.out_of_time();
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

  /// Without a look at what else there is.
  void take_if_shorter(const Offer& offer) {
    const ValuePlan before = state_.plan(offer.value);
    const double now = state_.score();
    if (state_.put(offer.value, offer.plan) && state_.score() > now) state_.put_back(offer.value, before);
  }

  static constexpr double kLeastGain = 1e-12;  // of the whole: less is rounding
  const PrefetchProblem& problem_;
  const PrefetchSearchOptions& options_;
  PrefetchState state_;
  std::priority_queue<Offer> queue_;
  std::vector<int64_t> version_;
  int64_t changes_ = 0, next_look_ = 0;
  bool cut_ = false, late_ = false;
};

}  // namespace

PrefetchPlans greedy_prefetch(const PrefetchProblem& problem, const PrefetchSearchOptions& options) {
  return Greedy(problem, options).run();
}

}  // namespace hlosim
