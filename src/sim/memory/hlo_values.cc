#include "memory/hlo_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <queue>

#include "memory/value_propagation.h"

namespace hlosim {

/// Fixed-point propagation of values through a module.
class ValueFinder {
 public:
  ValueFinder(const ModuleGraph& graph, const Places& places, Era era)
      : graph_(graph),
        module_(graph.module()),
        places_(places),
        era_(era),
        flow_(graph, places),
        priority_(module_.instructions.size(), 0),
        queued_(module_.instructions.size(), 0) {}

  Result<Values> run() {
    for (const ComputationId id : graph_.computations())
      if (is_called_both_ways(id)) {
        Diagnostic finding;
        finding.message = fmt::format(
            "computation {} is run as control flow and once per element: its values can't have one place",
            module_[id].name);
        finding.source = module_.source;
        finding.offset = module_[id].offset;
        return tl::unexpected(std::move(finding));
      }
    define_all();
    propagate();
    return finish();
  }

 private:
  bool is_called_both_ways(ComputationId id) const {
    bool flow = false, embedded = false;
    for (const InstructionId caller : graph_.callers(id)) {
      const CallRule how = dataflow(module_[caller].opcode).call;
      flow |= how == CallRule::kControlFlow;
      embedded |= how == CallRule::kEmbedded;
    }
    return flow && embedded;
  }

  void define_all() {
    if (era_ == Era::k2022) {
      for (const ComputationId id : graph_.computations())
        for (const InstructionId instruction : graph_.instructions(id)) flow_.define(instruction);
      return;
    }
    for (const ComputationId id : graph_.computations())
      for (const InstructionId instruction : graph_.post_order(id)) flow_.define(instruction);
  }

  // ── propagation ───────────────────────────────────────────────
  using Work = std::pair<int32_t, int32_t>;  // priority, instruction

  void propagate() {
    int32_t next = 0;
    IdMap<ComputationId, uint8_t> seen(module_.computations.size());
    rank(module_.entry, seen, next);
    for (const ComputationId id : graph_.computations())
      for (const InstructionId instruction : graph_.instructions(id)) enqueue(instruction);
    while (!work_.empty()) {
      const InstructionId id{work_.top().second};
      work_.pop();
      queued_[id] = 0;
      if (flow_.update(id)) enqueue_readers(id);
    }
  }

  /// Positions in a depth-first order through calls: what comes early feeds what comes late.
  void rank(ComputationId entry, IdMap<ComputationId, uint8_t>& seen, int32_t& next) {
    struct Frame {
      std::vector<InstructionId> order;
      size_t position = 0, called = 0;
    };
    std::vector<Frame> frames;
    seen[entry] = 1;
    frames.push_back({graph_.post_order(entry)});
    while (!frames.empty()) {
      Frame& frame = frames.back();
      if (frame.position == frame.order.size()) {
        frames.pop_back();
        continue;
      }
      const InstructionId id = frame.order[frame.position];
      std::vector<ComputationId> called;
      if (dataflow(module_[id].opcode).call == CallRule::kControlFlow) called = called_in_order(module_[id]);
      if (frame.called < called.size()) {
        const ComputationId callee = called[frame.called++];
        if (!seen[callee]) seen[callee] = 1, frames.push_back({graph_.post_order(callee)});
        continue;
      }
      priority_[id] = next++;
      frame.called = 0;
      ++frame.position;
    }
  }

  void enqueue(InstructionId id) {
    if (queued_[id]) return;
    queued_[id] = 1;
    work_.push({priority_[id], id.index});
  }

  void enqueue_parameters(ComputationId computation) {
    if (!computation.valid() || graph_.context(computation) != CallRule::kControlFlow) return;
    for (const InstructionId parameter : module_[computation].parameters) enqueue(parameter);
  }

  void enqueue_readers(InstructionId id) {
    for (const InstructionId user : graph_.users(id)) {
      enqueue(user);
      const ValueRule how = flow_.rule(user);
      if (how == ValueRule::kAsyncUpdate || how == ValueRule::kAsyncDone)
        enqueue_parameters(graph_.wrapped(user));
      for (const ComputationId called : called_in_order(module_[user])) enqueue_parameters(called);
    }
    if (!graph_.is_root(id)) return;
    for (const InstructionId caller : graph_.callers(module_[id].parent)) {
      if (dataflow(module_[caller].opcode).call != CallRule::kControlFlow) continue;
      enqueue(caller);
      enqueue_async_chain(caller);
      if (flow_.rule(caller) == ValueRule::kLoop)
        for (const ComputationId called : called_in_order(module_[caller])) enqueue_parameters(called);
    }
  }

  /// Updates and dones see the wrapped computation's result too.
  void enqueue_async_chain(InstructionId start) {
    for (const InstructionId user : graph_.users(start)) {
      const ValueRule how = flow_.rule(user);
      if (how != ValueRule::kAsyncUpdate && how != ValueRule::kAsyncDone) continue;
      enqueue(user);
      enqueue_async_chain(user);
    }
  }

  // ── result ────────────────────────────────────────────────────
  Values finish() {
    Values out;
    out.at_ = flow_.finish();
    const std::vector<HloValue>& all = flow_.all();
    // Phis that stand for another value leave gaps in the numbers.
    std::vector<ValueIndex> kept(all.size(), kNoValue);
    for (size_t i = 0; i < all.size(); ++i) {
      if (out.at(all[i].defined) != static_cast<ValueIndex>(i)) continue;
      kept[i] = static_cast<ValueIndex>(out.values_.size());
      out.values_.push_back(all[i]);
    }
    for (ValueIndex& value : out.at_)
      if (value != kNoValue) value = kept[static_cast<size_t>(value)];
    index_positions(out);
    index_slots(out);
    return out;
  }

  void index_slots(Values& out) const {
    out.first_slot_.reserve(module_.instructions.size() + 1);
    for (size_t i = 0; i < module_.instructions.size(); ++i) {
      out.first_slot_.push_back(out.element_slots_.size());
      const InstructionId id{static_cast<int32_t>(i)};
      if (!module_[id].shape->is_tuple()) continue;
      for (const OperandSlot slot : graph_.slots(id))
        if (dataflow(module_[slot.user].opcode).use == UseRule::kAll || graph_.is_root(slot.user))
          out.element_slots_.push_back(slot);
    }
    out.first_slot_.push_back(out.element_slots_.size());
  }

  void index_positions(Values& out) const {
    std::vector<size_t> next(out.values_.size() + 1, 0);
    for (const ValueIndex value : out.at_)
      if (value != kNoValue) ++next[static_cast<size_t>(value) + 1];
    for (size_t i = 1; i < next.size(); ++i) next[i] += next[i - 1];
    out.first_position_ = next;
    out.positions_.resize(next.back());
    for (size_t i = 0; i < out.values_.size(); ++i) out.positions_[next[i]++] = out.values_[i].defined;
    for (const ComputationId computation : graph_.computations())
      for (const InstructionId id : graph_.instructions(computation))
        for (Place place = places_.first(id); place < places_.end(places_.first(id)); ++place) {
          const ValueIndex value = out.at(place);
          if (value != kNoValue && out[value].defined != place)
            out.positions_[next[static_cast<size_t>(value)]++] = place;
        }
  }

  const ModuleGraph& graph_;
  const Module& module_;
  const Places& places_;
  const Era era_;
  ValueFlow flow_;
  IdMap<InstructionId, int32_t> priority_;
  IdMap<InstructionId, uint8_t> queued_;
  std::priority_queue<Work, std::vector<Work>, std::greater<Work>> work_;
};

Result<Values> Values::find(const ModuleGraph& graph, const Places& places, Era era) {
  return ValueFinder(graph, places, era).run();
}

bool Values::is_seen_at_root(const ModuleGraph& graph, const Places& places, ValueIndex value,
                             InstructionId root) const {
  if (!graph.is_root(root)) return false;
  const std::span<const Place> seen = positions(value);
  return std::any_of(seen.begin(), seen.end(),
                     [&](Place place) { return places.instruction(place) == root; });
}

}  // namespace hlosim
