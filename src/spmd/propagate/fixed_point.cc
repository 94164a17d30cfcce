#include "propagate/fixed_point.h"

#include <algorithm>
#include <queue>

#include "base/saturating.h"
#include "loop_factors/sharding_trust.h"

namespace hlosim {
namespace {

/// What one place has to give: a part of its dimension's axes.
struct Offer {
  std::span<const uint8_t> axes;
  int32_t order = -1;
  int64_t elements = 0;
  InstructionId from;
};

class FixedPoint {
 public:
  FixedPoint(const Links& links, Arrays& arrays)
      : links_(links), arrays_(arrays), steps_(links.steps.size()) {
    index();
    std::vector<std::vector<int32_t>> by_priority(1);  // the arrays with cuts of that priority
    for (size_t i = 0; i < arrays_.size(); ++i) {
      const SharedArray& array = arrays_[static_cast<int32_t>(i)];
      if (array.used == 0) continue;
      by_priority[0].push_back(static_cast<int32_t>(i));
      for (int64_t dimension = 0; dimension < array.shape->rank() && !array.closed; ++dimension) {
        const size_t priority = arrays_.cut(array, dimension).priority;
        if (priority == 0) continue;
        by_priority.resize(std::max(by_priority.size(), priority + 1));
        by_priority[priority].push_back(static_cast<int32_t>(i));
      }
    }
    for (size_t priority = 0; priority < by_priority.size(); ++priority)
      if (!by_priority[priority].empty()) run_levels(static_cast<uint8_t>(priority), by_priority[priority]);
  }

 private:
  enum Side : uint8_t { kForward = 1, kBackward = 2 };
  struct State {
    uint8_t waiting = 0, parked = 0;       // sides
    uint8_t lowest = kNever, highest = 0;  // levels of its links
  };
  struct Use {
    int32_t step;
    uint8_t sides;  // that a change of the array concerns
  };
  using Queue = std::priority_queue<int32_t, std::vector<int32_t>, std::greater<>>;

  // ── who is concerned ──────────────────────────────────────────

  template <class F>
  void for_each_use(F&& f) {
    for (size_t s = 0; s < links_.steps.size(); ++s)
      for (const Link& link : links_.of(links_.steps[s])) {
        const bool sums = link.operands == link.count;
        const auto step = static_cast<int32_t>(s);
        for (const Place& place : links_.operands(link))
          f(place.array, Use{step, sums ? kBackward : kForward});
        for (const Place& place : links_.results(link))
          f(place.array, Use{step, static_cast<uint8_t>(link.count - link.operands > 1 ? kForward | kBackward
                                                                                       : kBackward)});
      }
  }

  void index() {
    begin_.assign(arrays_.size() + 1, 0);
    for_each_use([&](int32_t array, Use) { ++begin_[static_cast<size_t>(array) + 1]; });
    for (size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
    uses_.resize(begin_.back());
    std::vector<size_t> next(begin_.begin(), begin_.end() - 1);
    for_each_use([&](int32_t array, Use use) {
      size_t& at = next[static_cast<size_t>(array)];
      if (at > begin_[static_cast<size_t>(array)] && uses_[at - 1].step == use.step)
        uses_[at - 1].sides |= use.sides;  // of the same instruction: the places of one lie together
      else
        uses_[at++] = use;
    });
    end_.assign(next.begin(), next.end());
    for (size_t s = 0; s < steps_.size(); ++s)
      for (const Link& link : links_.of(links_.steps[s])) {
        State& state = steps_[s];
        const auto meet = [&](uint8_t level) {
          if (level == kNever) return;
          state.lowest = std::min(state.lowest, level);
          state.highest = std::max(state.highest, level);
        };
        meet(link.forward);
        meet(link.backward);
      }
  }

  /// All levels, once the cuts of that priority are offered too: those of `fresh`.
  void run_levels(uint8_t priority, const std::vector<int32_t>& fresh) {
    priority_ = priority;
    for (State& state : steps_) state.parked = 0;
    for (std::vector<int32_t>& parked : parked_) parked.clear();
    level_ = 0;
    for (const int32_t array : fresh) changed(array);
    for (int level = 0; level < kTrustLevels; ++level) {
      level_ = static_cast<uint8_t>(level);
      for (const int32_t step : parked_[level]) ask(step, steps_[static_cast<size_t>(step)].parked);
      while (!forward_.empty() || !backward_.empty()) {
        while (!forward_.empty()) run(pop(forward_), true);
        while (!backward_.empty()) run(-pop(backward_), false);
      }
    }
  }

  void changed(int32_t array) {
    const auto i = static_cast<size_t>(array);
    for (size_t at = begin_[i]; at < end_[i]; ++at) ask(uses_[at].step, uses_[at].sides);
  }

  /// The step's turn comes, at this level and, if it has links that come later, at those.
  void ask(int32_t step, uint8_t sides) {
    State& state = steps_[static_cast<size_t>(step)];
    if (state.highest > level_) {
      const uint8_t next = std::max<uint8_t>(state.lowest, static_cast<uint8_t>(level_ + 1));
      if ((state.parked & sides) != sides) {
        if (state.parked == 0)
          for (uint8_t level = next; level <= state.highest; ++level) parked_[level].push_back(step);
        state.parked |= sides;
      }
    }
    if (state.lowest > level_) return;
    const auto fresh = static_cast<uint8_t>(sides & ~state.waiting);
    state.waiting |= fresh;
    if ((fresh & kForward) != 0) forward_.push(step);
    if ((fresh & kBackward) != 0) backward_.push(-step);
  }

  static int32_t pop(Queue& queue) {
    const int32_t first = queue.top();
    queue.pop();
    return first;
  }

  // ── one instruction ───────────────────────────────────────────

  void run(int32_t number, bool is_forward) {
    const LinkedInstruction& step = links_.steps[static_cast<size_t>(number)];
    State& state = steps_[static_cast<size_t>(number)];
    state.waiting = static_cast<uint8_t>(state.waiting & ~(is_forward ? kForward : kBackward));
    order_.clear();
    const std::span<const Link> links = links_.of(step);
    for (size_t i = 0; i < links.size(); ++i) {
      const Link& link = links[i];
      if ((is_forward ? link.forward : link.backward) > level_) continue;
      const Offer offer = best(link, is_forward);
      if (!offer.axes.empty()) order_.push_back({offer.elements, i});
    }
    // Where two ranges want the same axes, that of the larger array comes first.
    std::stable_sort(order_.begin(), order_.end(),
                     [](const Turn& a, const Turn& b) { return a.elements > b.elements; });
    for (const Turn& turn : order_) {
      const Link& link = links[turn.link];
      const Offer offer = best(link, is_forward);
      // The list lives in the arrays' own lists, which may change below.
      CutList axes;
      for (const uint8_t axis : offer.axes) axes.axes[axes.count++] = axis;
      const auto give = [&](std::span<const Place> places) {
        for (const Place& place : places)
          if (extend(place, {axes.list(), offer.order, 0, offer.from}, link.parts)) {
            arrays_[place.array].decision = {is_forward ? Decider::kForward : Decider::kBackward, offer.from,
                                             step.id};
            changed(place.array);
          }
      };
      give(is_forward ? links_.results(link) : links_.operands(link));
    }
  }

  /// The longest list; of equally long ones that of the largest array, then the first.
  Offer best(const Link& link, bool is_forward) {
    Offer best;
    const auto look = [&](std::span<const Place> places) {
      for (const Place& place : places) {
        const Offer offer = offered(place);
        const size_t length = offer.axes.size();
        if (length > best.axes.size() || (length == best.axes.size() && offer.elements > best.elements))
          best = offer;
      }
    };
    const bool sums = link.operands == link.count;
    look(is_forward || sums ? links_.operands(link) : links_.results(link));
    if (is_forward && link.count - link.operands > 1) look(links_.results(link));
    return best;
  }

  /// Where the part of a dimension begins in its list of axes; nullopt: the axes before it don't fill what is
  /// before it.
  std::optional<size_t> begin_of(const Place& place, const CutList& list) const {
    int64_t filled = 1;
    size_t at = 0;
    while (filled < place.before && at < list.count) filled *= arrays_.axes().size(list.axes[at++]);
    if (filled != place.before) return std::nullopt;
    return at;
  }

  Offer offered(const Place& place) {
    const SharedArray& array = arrays_[place.array];
    if (array.closed) return {};
    const CutList& list = arrays_.cut(array, place.dimension);
    if (list.priority > priority_) return {};
    Offer offer{list.list(), array.order, array.shape->element_count(), list.from};
    if (place.alone || list.count == 0) return offer;
    const std::optional<size_t> begin = begin_of(place, list);
    if (!begin) {
      offer.axes = {};
      return offer;
    }
    int64_t parts = 1;
    size_t end = *begin;
    while (end < list.count) {
      const int64_t more = parts * arrays_.axes().size(list.axes[end]);
      if (place.size % more != 0) break;
      parts = more;
      ++end;
    }
    offer.axes = offer.axes.subspan(*begin, end - *begin);
    return offer;
  }

  bool extend(const Place& place, const Offer& offer, bool parts) {
    SharedArray& array = arrays_[place.array];
    if (array.closed || (array.order >= 0 && array.order != offer.order)) return false;
    if (array.stated && (place.dimension >= 64 || (array.open >> place.dimension & 1) == 0)) return false;
    CutList& list = arrays_.cut(array, place.dimension);
    const std::optional<size_t> begin = begin_of(place, list);
    if (!begin || list.count - *begin > offer.axes.size()) return false;
    int64_t count = 1;
    for (size_t i = *begin; i < list.count; ++i) {
      if (list.axes[i] != offer.axes[i - *begin]) return false;
      count *= arrays_.axes().size(list.axes[i]);
    }
    const bool fits = arrays_.length(offer.axes) <= place.size;
    const bool evenly = array.even || !place.alone || (parts && !fits);
    bool any = false;
    for (size_t i = list.count - *begin; i < offer.axes.size(); ++i) {
      const uint8_t axis = offer.axes[i];
      count *= arrays_.axes().size(axis);
      if ((array.used >> axis & 1) != 0 || list.count == CutList::kMost) break;
      if (count > place.size || (evenly && place.size % count != 0)) break;
      list.axes[list.count++] = axis;
      array.used |= AxisSet{1} << axis;
      array.order = offer.order;
      list.from = offer.from;
      any = true;
    }
    return any;
  }

  struct Turn {
    int64_t elements;
    size_t link;
  };

  const Links& links_;
  Arrays& arrays_;
  std::vector<State> steps_;
  std::vector<size_t> begin_, end_;  // of each array's uses
  std::vector<Use> uses_;
  std::vector<int32_t> parked_[kTrustLevels];
  Queue forward_, backward_;
  std::vector<Turn> order_;
  uint8_t level_ = 0, priority_ = 0;
};

}  // namespace

void to_fixed_point(const Links& links, Arrays& arrays) { FixedPoint(links, arrays); }

}  // namespace hlosim
