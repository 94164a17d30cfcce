#include "prefetch/prefetch_order.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace hlosim {

bool PrefetchFreedom::may_exchange(int32_t first, int32_t second) const {
  const auto a = static_cast<size_t>(first), b = static_cast<size_t>(second);
  return movable[a] && movable[b] && !std::binary_search(after[b].begin(), after[b].end(), first);
}

std::vector<int32_t> order_of(const PrefetchProblem& problem) {
  std::vector<int32_t> order;
  order.reserve(problem.steps.size());
  for (const PrefetchStep& step : problem.steps) order.push_back(step.number);
  return order;
}

namespace {

/// What belongs to the step and not to its place.
void exchange_contents(PrefetchStep& a, PrefetchStep& b) {
  std::swap(a.sites, b.sites);
  std::swap(a.first_cost, b.first_cost);
  std::swap(a.name, b.name);
  std::swap(a.number, b.number);
}

}  // namespace

void set_order(PrefetchProblem& problem, const PrefetchProblem& given, std::span<const int32_t> order) {
  std::vector<int32_t> place(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    const PrefetchStep& from = given.steps[static_cast<size_t>(order[i])];
    PrefetchStep& to = problem.steps[i];
    to.sites = from.sites, to.first_cost = from.first_cost, to.name = from.name, to.number = order[i];
    place[static_cast<size_t>(order[i])] = static_cast<int32_t>(i);
  }
  for (size_t v = 0; v < given.values.size(); ++v) {
    const PrefetchValue& from = given.values[v];
    PrefetchValue& to = problem.values[v];
    const auto now = [&](int32_t position) {
      if (position < 0 || position >= given.size_of(from.region)) return position;
      const int32_t number =
          given.regions[static_cast<size_t>(from.region)].steps[static_cast<size_t>(position)];
      return problem.steps[static_cast<size_t>(place[static_cast<size_t>(number)])].position;
    };
    to.made_at = now(from.made_at);
    to.uses = from.uses;
    for (PrefetchUse& use : to.uses) use.position = now(use.position);
    std::stable_sort(to.uses.begin(), to.uses.end(),
                     [](const PrefetchUse& a, const PrefetchUse& b) { return a.position < b.position; });
  }
}

void exchange(PrefetchProblem& problem, int32_t first, std::span<const int32_t> values) {
  PrefetchStep& a = problem.steps[static_cast<size_t>(first)];
  exchange_contents(a, problem.steps[static_cast<size_t>(first) + 1]);
  const int32_t p = a.position;
  const auto move = [p](int32_t& position) {
    if (position == p)
      position = p + 1;
    else if (position == p + 1)
      position = p;
  };
  for (const int32_t v : values) {
    PrefetchValue& value = problem.values[static_cast<size_t>(v)];
    move(value.made_at);
    for (size_t i = 0; i < value.uses.size(); ++i) {
      move(value.uses[i].position);
      if (i > 0 && value.uses[i].position < value.uses[i - 1].position)
        std::swap(value.uses[i], value.uses[i - 1]);
    }
  }
}

void adapt(const PrefetchValue& value, const PrefetchProblem& problem, ValuePlan& plan) {
  for (PlannedCopy& copy : plan.copies) {
    if (plan.replaced) break;  // it begins before the step that it takes the place of
    copy.start = std::max(copy.start, value.made_at + 1);
    if (copy.second >= 0 &&
        (copy.second <= copy.start || copy.second >= value.uses[static_cast<size_t>(copy.first)].position))
      copy.second = -1;
  }
  std::erase_if(plan.copies, [&](const PlannedCopy& copy) {
    return copy.start >= value.uses[static_cast<size_t>(copy.first)].position ||
           value.uses[static_cast<size_t>(copy.first)].bit < 0;
  });
  if (!complete(value, problem, plan)) plan = {};
}

std::vector<std::vector<int32_t>> values_of_steps(const PrefetchProblem& problem) {
  std::vector<std::vector<int32_t>> values(problem.steps.size());
  for (size_t v = 0; v < problem.values.size(); ++v) {
    const PrefetchValue& value = problem.values[v];
    const auto add = [&](int32_t position) {
      if (position < 0 || position >= problem.size_of(value.region)) return;
      std::vector<int32_t>& list = values[static_cast<size_t>(problem.step(value.region, position).number)];
      if (list.empty() || list.back() != static_cast<int32_t>(v)) list.push_back(static_cast<int32_t>(v));
    };
    add(value.made_at);
    for (const PrefetchUse& use : value.uses) add(use.position);
  }
  return values;
}

namespace {

class Orders {
 public:
  Orders(const PrefetchProblem& problem, size_t most)
      : problem_(problem), most_(most), placed_(problem.steps.size(), 0) {}

  std::vector<std::vector<int32_t>> run() {
    place(0);
    if (found_.size() > most_) found_.clear();
    return std::move(found_);
  }

 private:
  bool movable(size_t i) const { return problem_.freedom.any() && problem_.freedom.movable[i]; }
  /// Neighbours that may all move, as far as they go.
  bool same_run(size_t a, size_t b) const {
    for (size_t i = a; i <= b; ++i)
      if (!movable(i) || problem_.steps[i].region != problem_.steps[a].region) return false;
    return true;
  }
  void place(size_t i) {
    if (found_.size() > most_) return;
    if (i == placed_.size()) {
      found_.push_back(order_);
      return;
    }
    size_t first = i;
    while (first > 0 && same_run(first - 1, i)) --first;
    for (size_t k = first; k < placed_.size() && (k == i || k < i || same_run(i, k)); ++k) {
      if (placed_[k] || (k != i && !movable(i))) continue;
      const bool ready = !movable(k) || std::ranges::all_of(problem_.freedom.after[k], [&](int32_t before) {
        return placed_[static_cast<size_t>(before)] != 0;
      });
      if (!ready) continue;
      placed_[k] = 1;
      order_.push_back(static_cast<int32_t>(k));
      place(i + 1);
      order_.pop_back();
      placed_[k] = 0;
    }
  }

  const PrefetchProblem& problem_;
  size_t most_;
  std::vector<uint8_t> placed_;
  std::vector<int32_t> order_;
  std::vector<std::vector<int32_t>> found_;
};

}  // namespace

std::vector<std::vector<int32_t>> all_orders(const PrefetchProblem& problem, size_t most) {
  return Orders(problem, most).run();
}

}  // namespace hlosim
