#include "sim/memory_curve.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "base/check.h"
#include "base/saturating.h"
#include "hlo/graph.h"

namespace hlosim {
namespace {

/// Bytes times picoseconds: both are below 2^63.
__extension__ typedef __int128 ByteTime;

/// From `begin` to the next item, in the time of its node: one step, or another node several times in a row.
struct Item {
  Picoseconds begin{};
  int32_t step = 0;
  int32_t node = -1;
  int64_t times = 1;
};

/// One execution of a computation, or one iteration of a loop: items without gaps from 0 to its length.
struct Node {
  Picoseconds length{};
  std::vector<Item> items;

  Picoseconds end_of(size_t item) const { return item + 1 < items.size() ? items[item + 1].begin : length; }
};

/// A run as nodes, the same for all memory spaces.
class RunTree {
 public:
  RunTree(const Module& module, const Simulation& simulation, const Occupancy& occupancy)
      : simulation_(simulation),
        steps_(occupancy.steps),
        node_of_(module.computations.size(), -1),
        steps_of_(module.computations.size()) {
    for (size_t step = 0; step < steps_.size(); ++step)
      steps_of_[module[steps_[step]].parent].push_back(static_cast<int32_t>(step));
    for (const ComputationId id : callees_first(module))
      if (simulation.computations[id].executions > 0) add_computation(id);
    root_ = node_of_[module.entry];
    for (const InstructionId step : steps_) is_item_.push_back(node_of_[module[step].parent] >= 0);
  }

  /// Callees before callers.
  const std::vector<Node>& nodes() const { return nodes_; }
  /// -1: nothing takes time.
  int32_t root() const { return root_; }
  /// By step. The others belong to computations that take no time, are not executed, or run beside the
  /// TensorCore.
  const std::vector<bool>& is_item() const { return is_item_; }

 private:
  void add_computation(ComputationId id) {
    const ComputationTimeline& timeline = simulation_.computations[id];
    Node node;
    auto span = timeline.spans.begin();
    auto call = timeline.calls.begin();
    Picoseconds now{};
    for (const int32_t step : steps_of_[id]) {
      const InstructionId instruction = steps_[static_cast<size_t>(step)];
      node.items.push_back({now, step});
      const auto first = call;
      while (call != timeline.calls.end() && call->caller == instruction) ++call;
      if (span == timeline.spans.end() || span->lane != Lane::kTensorCore || span->instruction != instruction)
        continue;
      add_calls(node, {first, call}, *span, step);
      now = span->end;
      ++span;
    }
    node.length = now;
    node_of_[id] = static_cast<int32_t>(nodes_.size());
    nodes_.push_back(std::move(node));
  }

  /// The executions of what one instruction calls, within its span.
  void add_calls(Node& node, std::span<const CalledRun> calls, const Span& caller, int32_t step) {
    std::vector<CalledRun> run;
    for (const CalledRun& call : calls)
      if (call.times > 0 && node_of_[call.callee] >= 0) run.push_back(call);
    if (run.empty()) return;
    const bool is_loop = run.size() > 1 || run[0].period.count() > 0;
    const int32_t child = is_loop ? add_iteration(run, calls[0].offset, step) : node_of_[run[0].callee];
    const Picoseconds offset = is_loop ? calls[0].offset : run[0].offset;
    const Picoseconds begin = later(caller.start, offset);
    const Picoseconds end = add_node(node, begin, child, run[0].times, caller.end);
    if (end > begin) node.items.push_back({end, step});
  }

  /// What one iteration runs, one after the other; the rest of it is the loop's own.
  int32_t add_iteration(std::span<const CalledRun> calls, Picoseconds first, int32_t step) {
    Node node;
    node.length = calls[0].period;
    for (const CalledRun& call : calls) {
      const Picoseconds begin = call.offset - std::min(first, call.offset);
      if (node.items.empty() && begin.count() > 0) node.items.push_back({Picoseconds(0), step});
      const Picoseconds end = add_node(node, begin, node_of_[call.callee], 1, node.length);
      if (end > begin) node.items.push_back({end, step});
    }
    nodes_.push_back(std::move(node));
    return static_cast<int32_t>(nodes_.size() - 1);
  }

  /// As many times as fit before `end`: times of runs stop at the longest one. Returns where it ends.
  Picoseconds add_node(Node& into, Picoseconds begin, int32_t node, int64_t times, Picoseconds end) const {
    const Picoseconds length = nodes_[static_cast<size_t>(node)].length;
    // Once is as much as often where it takes no time.
    const int64_t fitting = begin > end           ? 0
                            : length.count() == 0 ? 1
                                                  : std::min(times, (end - begin).count() / length.count());
    if (fitting == 0) return begin;
    into.items.push_back({begin, 0, node, fitting});
    return begin + length * fitting;
  }

  const Simulation& simulation_;
  const std::vector<InstructionId>& steps_;
  std::vector<Node> nodes_;
  IdMap<ComputationId, int32_t> node_of_;
  IdMap<ComputationId, std::vector<int32_t>> steps_of_;
  std::vector<bool> is_item_;
  int32_t root_ = -1;
};

/// What a node comes to as a whole.
struct Summary {
  ByteTime bytes_times_time = 0;
  int64_t least = std::numeric_limits<int64_t>::max(), most = 0;  // of what takes time
  int64_t highest = 0;                                            // of everything
  int64_t points = 0;                                             // at most

  void add(int64_t level, Picoseconds time) {
    bytes_times_time += static_cast<ByteTime>(level) * time.count();
    least = std::min(least, level), most = std::max(most, level);
  }
  void add(const Summary& more, int64_t times) {
    bytes_times_time += more.bytes_times_time * times;
    least = std::min(least, more.least), most = std::max(most, more.most);
    highest = std::max(highest, more.highest);
    points = saturating_add(points, saturating_multiply(more.points, times));
  }
};

/// Takes levels in the order of time and keeps the points where they change.
class PointList {
 public:
  /// `high`: the most that there is at `begin` for no time.
  void level(Picoseconds begin, Picoseconds end, int64_t level, int64_t high) {
    high_ = std::max(high_, high);
    if (begin == end) return;
    const int64_t before = points_.empty() ? 0 : points_.back().value.count();
    if (high_ > std::max(before, level)) points_.push_back({begin, Bytes(high_)});
    if (points_.empty() || points_.back().value.count() != level) points_.push_back({begin, Bytes(level)});
    high_ = 0;
  }
  /// All of them one by one.
  int64_t whole(Picoseconds, Picoseconds, int64_t, const Summary&) { return 0; }

  MemoryCurve finish(Picoseconds end) {
    if (points_.empty() || high_ > points_.back().value.count()) points_.push_back({end, Bytes(high_)});
    return std::move(points_);
  }

 private:
  MemoryCurve points_;
  int64_t high_ = 0;
};

/// Takes levels in the order of time and keeps what each of equal intervals needs.
class IntervalList {
 public:
  IntervalList(Picoseconds end, int64_t intervals)
      : end_(end), intervals_(std::min(intervals, end.count())), until_(border(1)) {}

  void level(Picoseconds begin, Picoseconds end, int64_t level, int64_t high) {
    sum_.highest = std::max(sum_.highest, high);
    while (begin < end) {
      const Picoseconds part = std::min(end, until_) - begin;
      sum_.add(level, part);
      advance(begin += part);
    }
  }
  /// How many of the executions from `begin` on lie within the interval: they are taken as a whole.
  int64_t whole(Picoseconds begin, Picoseconds length, int64_t times, const Summary& summary) {
    const int64_t count =
        length.count() == 0 ? 0 : std::min(times, (until_ - begin).count() / length.count());
    if (count == 0) return 0;
    sum_.add(summary, count);
    advance(begin + length * count);
    return count;
  }

  MemoryCurve finish(Picoseconds end) {
    points_.level(end, end, 0, sum_.highest);
    return points_.finish(end);
  }

 private:
  Picoseconds border(int64_t number) const {
    return Picoseconds(static_cast<int64_t>(static_cast<ByteTime>(end_.count()) * number / intervals_));
  }

  void advance(Picoseconds now) {
    if (now < until_) return;
    flush();
    if (number_ < intervals_) from_ = until_, until_ = border(++number_);
  }

  /// The maximum first, and between both levels the rest that whole picoseconds leave.
  void flush() {
    points_.level(from_, from_, 0, sum_.highest);
    const int64_t range = sum_.most - sum_.least;
    if (range > 0) {
      const ByteTime above =
          sum_.bytes_times_time - static_cast<ByteTime>(sum_.least) * (until_ - from_).count();
      const Picoseconds high(static_cast<int64_t>(above / range));
      const auto rest = static_cast<int64_t>(above % range);
      points_.level(from_, from_ + high, sum_.most, sum_.most);
      from_ += high;
      if (rest > 0) {
        points_.level(from_, from_ + Picoseconds(1), sum_.least + rest, 0);
        from_ += Picoseconds(1);
      }
    }
    points_.level(from_, until_, sum_.least, 0);
    sum_ = {};
  }

  const Picoseconds end_;
  const int64_t intervals_;
  int64_t number_ = 1;
  Picoseconds from_{}, until_;
  Summary sum_;
  PointList points_;
};

/// One memory space of a run.
class SpaceCurve {
 public:
  SpaceCurve(const RunTree& tree, const SpaceOccupancy& space)
      : nodes_(tree.nodes()), root_(tree.root()), levels_(space.at_step), highs_(space.at_step) {
    Bytes high{};
    for (size_t step = 0; step < highs_.size(); ++step) {
      high = std::max(high, levels_[step]);
      if (!tree.is_item()[step]) continue;
      highs_[step] = high;
      high = Bytes(0);
    }
    for (const Node& node : nodes_) summaries_.push_back(summary_of(node));
  }

  MemoryCurve curve(int64_t most_points) const {
    if (root_ < 0) {
      const auto most = std::max_element(levels_.begin(), levels_.end());
      return {{Picoseconds(0), most == levels_.end() ? Bytes(0) : *most}};
    }
    const Picoseconds end = nodes_[static_cast<size_t>(root_)].length;
    if (summaries_[static_cast<size_t>(root_)].points <= most_points) return walk(PointList());
    return walk(IntervalList(end, std::max<int64_t>(1, (most_points - 1) / kPointsOfInterval)));
  }

 private:
  /// A maximum without time, one with, the rest, the minimum. One more may come at the end of the run.
  static constexpr int64_t kPointsOfInterval = 4;

  struct Frame {
    const Node* node = nullptr;
    Picoseconds offset{};
    size_t item = 0;
    int64_t done = 0;  // executions of the item
  };

  Summary summary_of(const Node& node) const {
    constexpr int64_t kAny = -1;
    Summary sum;
    int64_t before = kAny;  // the level so far
    for (size_t i = 0; i < node.items.size(); ++i) {
      const Item& item = node.items[i];
      if (item.node >= 0) {
        sum.add(summaries_[static_cast<size_t>(item.node)], item.times);
        before = kAny;
        continue;
      }
      const int64_t level = levels_[static_cast<size_t>(item.step)].count(),
                    high = highs_[static_cast<size_t>(item.step)].count();
      const Picoseconds time = node.end_of(i) - item.begin;
      sum.highest = std::max(sum.highest, high);
      if (high > before) ++sum.points;
      if (time.count() == 0) continue;
      sum.add(level, time);
      if (level != before) ++sum.points;
      before = level;
    }
    return sum;
  }

  /// Without recursion: modules may nest deeply.
  template <class List>
  MemoryCurve walk(List list) const {
    std::vector<Frame> frames = {{&nodes_[static_cast<size_t>(root_)]}};
    while (!frames.empty()) {
      Frame& frame = frames.back();
      if (frame.item == frame.node->items.size()) {
        frames.pop_back();
        continue;
      }
      const Item& item = frame.node->items[frame.item];
      const Picoseconds begin = frame.offset + item.begin;
      if (item.node < 0) {
        const auto step = static_cast<size_t>(item.step);
        list.level(begin, frame.offset + frame.node->end_of(frame.item), levels_[step].count(),
                   highs_[step].count());
        ++frame.item;
        continue;
      }
      const Node& inner = nodes_[static_cast<size_t>(item.node)];
      const Picoseconds now = begin + inner.length * frame.done;
      const int64_t left = item.times - frame.done;
      const int64_t whole = list.whole(now, inner.length, left, summaries_[static_cast<size_t>(item.node)]);
      frame.done += std::max<int64_t>(1, whole);
      if (frame.done == item.times) ++frame.item, frame.done = 0;
      if (whole == 0) frames.push_back({&inner, now});
    }
    return list.finish(nodes_[static_cast<size_t>(root_)].length);
  }

  const std::vector<Node>& nodes_;
  const int32_t root_;
  const std::vector<Bytes>& levels_;  // by step
  std::vector<Bytes> highs_;          // including the steps before that are no items
  std::vector<Summary> summaries_;    // by node
};

}  // namespace

std::vector<MemoryCurve> memory_curves(const Module& module, const Simulation& simulation,
                                       const Occupancy& occupancy, int64_t most_points) {
  const RunTree tree(module, simulation, occupancy);
  std::vector<MemoryCurve> curves;
  for (const SpaceOccupancy& space : occupancy.spaces)
    curves.push_back(SpaceCurve(tree, space).curve(most_points));
  return curves;
}

Bytes mean_of(const MemoryCurve& curve, Picoseconds end) {
  if (end.count() == 0) return peak_of(curve);
  ByteTime sum = 0;
  for (size_t i = 0; i < curve.size(); ++i) {
    const Picoseconds until = i + 1 < curve.size() ? curve[i + 1].time : end;
    sum += static_cast<ByteTime>(curve[i].value.count()) * (until - curve[i].time).count();
  }
  return Bytes(static_cast<int64_t>((sum + end.count() / 2) / end.count()));
}

Bytes peak_of(const MemoryCurve& curve) {
  Bytes peak{};
  for (const CurvePoint& point : curve) peak = std::max(peak, point.value);
  return peak;
}

}  // namespace hlosim
