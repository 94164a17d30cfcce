#include "memory/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <queue>
#include <unordered_map>

#include "hlo/finding.h"
#include "memory/phi_graph.h"
#include "memory/value_makers.h"

namespace hlosim {

/// Fixed-point propagation of values through a module.
class ValueFinder {
 public:
  ValueFinder(const ModuleGraph& graph, const Places& places, Era era)
      : graph_(graph),
        module_(graph.module()),
        places_(places),
        era_(era),
        at_(static_cast<size_t>(places.size()), kNoValue),
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
    phis_.simplify();
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

  // ── definitions ───────────────────────────────────────────────
  void define_all() {
    if (era_ == Era::k2022) {
      for (const ComputationId id : graph_.computations())
        for (const InstructionId instruction : graph_.instructions(id)) define(instruction);
      return;
    }
    for (const ComputationId id : graph_.computations())
      for (const InstructionId instruction : graph_.post_order(id)) define(instruction);
  }

  void define(InstructionId id) {
    const Place first = places_.first(id);
    const int32_t count = places_.parts(id).size();
    for (int32_t part = 0; part < count; ++part)
      if (makes_value(graph_, places_, id, part))
        at_[static_cast<size_t>(first + part)] = add_value(first + part, false);
  }

  ValueIndex add_value(Place place, bool is_phi) {
    all_.push_back({static_cast<int64_t>(all_.size()), place, is_phi});
    return static_cast<ValueIndex>(all_.size() - 1);
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
      if (update(id)) enqueue_readers(id);
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
      const ValueRule how = rule(user);
      if (how == ValueRule::kAsyncUpdate || how == ValueRule::kAsyncDone)
        enqueue_parameters(graph_.wrapped(user));
      for (const ComputationId called : called_in_order(module_[user])) enqueue_parameters(called);
    }
    if (!graph_.is_root(id)) return;
    for (const InstructionId caller : graph_.callers(module_[id].parent)) {
      if (dataflow(module_[caller].opcode).call != CallRule::kControlFlow) continue;
      enqueue(caller);
      enqueue_async_chain(caller);
      if (rule(caller) == ValueRule::kLoop)
        for (const ComputationId called : called_in_order(module_[caller])) enqueue_parameters(called);
    }
  }

  /// Updates and dones see the wrapped computation's result too.
  void enqueue_async_chain(InstructionId start) {
    for (const InstructionId user : graph_.users(start)) {
      const ValueRule how = rule(user);
      if (how != ValueRule::kAsyncUpdate && how != ValueRule::kAsyncDone) continue;
      enqueue(user);
      enqueue_async_chain(user);
    }
  }

  ValueRule rule(InstructionId id) const { return dataflow(module_[id].opcode).value; }

  bool set(Place place, ValueIndex value) {
    ValueIndex& at = at_[static_cast<size_t>(place)];
    if (at == value || value == kNoValue) return false;
    at = value;
    return true;
  }

  /// Everything inside `to` is what lies inside `from`, for as far as both have the same parts.
  bool forward(Place from, Place to, bool leaves_only = false) {
    if (from == kNoPlace || to == kNoPlace) return false;
    const int32_t count = std::min(places_.end(from) - from, places_.end(to) - to);
    bool changed = false;
    for (int32_t i = 0; i < count; ++i)
      if (!leaves_only || !places_.shape(to + i)->is_tuple())
        changed |= set(to + i, at_[static_cast<size_t>(from + i)]);
    return changed;
  }

  Place top(InstructionId id) const { return places_.first(id); }
  Place top_of_operand(InstructionId id, size_t i) const {
    const auto operands = module_[id].operands;
    return i < operands.size() ? top(operands[i]) : kNoPlace;
  }
  Place inside(Place place, std::initializer_list<int64_t> index) const {
    for (const int64_t element : index)
      if (place != kNoPlace) place = places_.child(place, element);
    return place;
  }

  bool update(InstructionId id) {
    const Instruction& instruction = module_[id];
    const Place here = top(id), operand = top_of_operand(id, 0);
    switch (rule(id)) {
      case ValueRule::kMakesAll:
        return false;
      case ValueRule::kParameter:
        return update_parameter(id);
      case ValueRule::kTuple: {
        bool changed = false;
        for (size_t i = 0; i < instruction.operands.size(); ++i)
          changed |= forward(top_of_operand(id, i), inside(here, {static_cast<int64_t>(i)}));
        return changed;
      }
      case ValueRule::kShallowCopy:
        return forward_elements(operand, here);
      case ValueRule::kForwards:
        return forward(operand, here);
      case ValueRule::kElement:
        return forward(inside(operand, {instruction.find(AttrKey::kIndex)->integer()}), here);
      case ValueRule::kLoop:
        return phi(id, {top(module_[loop_body(instruction)].root), operand});
      case ValueRule::kConditional: {
        std::vector<Place> results;
        for (const ComputationId branch : called_in_order(instruction))
          results.push_back(top(module_[branch].root));
        return phi(id, results);
      }
      case ValueRule::kCall:
        return forward(top(module_[called_in_order(instruction)[0]].root), here);
      case ValueRule::kCopyStart:
        return forward(operand, inside(here, {1}));
      case ValueRule::kCopyDone:
        return forward(inside(operand, {0}), here);
      case ValueRule::kAsyncStart:
      case ValueRule::kAsyncUpdate:
      case ValueRule::kAsyncDone:
        return update_async(id);
      case ValueRule::kAllGatherStart:
      case ValueRule::kPermuteStart:
        return update_collective_start(id);
      case ValueRule::kAllGatherDone:
      case ValueRule::kPermuteDone:
        return forward(inside(operand, {1}), here, true);
      case ValueRule::kSend:
        return forward(operand, inside(here, {0}));
      case ValueRule::kRecvDone:
        return forward(inside(operand, {0}), inside(here, {0}));
    }
    return false;
  }

  bool forward_elements(Place from, Place to) {
    bool changed = false;
    for (Place at = to + 1; at < places_.end(to); ++at)
      changed |= set(at, at_[static_cast<size_t>(from + (at - to))]);
    return changed;
  }

  bool update_collective_start(InstructionId id) {
    const Place sources = inside(top(id), {0});
    const size_t count = module_[id].operands.size();
    const bool one =
        count == 1 || (count == 4 && places_.shape(sources) == module_[module_[id].operands[0]].shape);
    if (one || !places_.shape(sources)->is_tuple())
      return forward(top_of_operand(id, 0), sources, count == 1);
    bool changed = false;
    for (size_t i = 0; i < count; ++i)
      changed |= forward(top_of_operand(id, i), inside(sources, {static_cast<int64_t>(i)}), true);
    return changed;
  }

  bool update_async(InstructionId id) {
    const ValueRule how = rule(id);
    const ComputationId wrapped = graph_.wrapped(id);
    const Place here = top(id), before = top_of_operand(id, 0);
    const Place result = wrapped.valid() ? top(module_[wrapped].root) : kNoPlace;
    bool changed = false;
    if (how == ValueRule::kAsyncDone) {
      changed |= forward(inside(before, {1}), here, true);
      if (result != kNoPlace && same_size(result, here)) changed |= forward(result, here, true);
      return changed;
    }
    size_t bound = 0;
    if (how == ValueRule::kAsyncUpdate) {
      for (const int64_t element : {0, 1})
        changed |= forward(inside(before, {element}), inside(here, {element}), true);
      bound = places_.shape(inside(before, {0}))->elements.size();
    }
    const size_t first_new = how == ValueRule::kAsyncUpdate ? 1 : 0;
    for (size_t i = first_new; i < module_[id].operands.size(); ++i)
      changed |= forward(top_of_operand(id, i),
                         inside(here, {0, static_cast<int64_t>(bound + i - first_new)}), true);
    if (result != kNoPlace && same_size(result, inside(here, {1})))
      changed |= forward(result, inside(here, {1}), true);
    return changed;
  }

  bool same_size(Place a, Place b) const {
    return a != kNoPlace && b != kNoPlace && places_.end(a) - a == places_.end(b) - b;
  }

  bool update_parameter(InstructionId id) {
    const ComputationId computation = module_[id].parent;
    if (graph_.context(computation) != CallRule::kControlFlow) return false;
    const int64_t number = module_[id].parameter_number;
    std::vector<Place> inputs;
    bool meets = false;
    for (const InstructionId caller : graph_.callers(computation)) {
      switch (rule(caller)) {
        case ValueRule::kLoop: {
          inputs.push_back(top_of_operand(caller, 0));
          const InstructionId result = module_[loop_body(module_[caller])].root;
          if (result != id) inputs.push_back(top(result));
          meets = true;
          break;
        }
        case ValueRule::kConditional: {
          const std::vector<ComputationId> branches = called_in_order(module_[caller]);
          for (size_t i = 0; i < branches.size(); ++i)
            if (branches[i] == computation) inputs.push_back(top_of_operand(caller, i + 1));
          meets = true;
          break;
        }
        case ValueRule::kAsyncStart:
        case ValueRule::kAsyncUpdate:
        case ValueRule::kAsyncDone:
          inputs.push_back(bound_operand(caller, number));
          break;
        default:
          inputs.push_back(top_of_operand(caller, static_cast<size_t>(number)));
      }
    }
    inputs.erase(std::remove(inputs.begin(), inputs.end(), kNoPlace), inputs.end());
    if (meets) return phi(id, inputs);
    // Called from several places: each call brings its own, and the first one stands for all.
    return !inputs.empty() && forward(inputs[0], top(id));
  }

  /// Operands of the start come first; those that an update or done binds, behind them.
  Place bound_operand(InstructionId part, int64_t number) const {
    const size_t count = module_[part].operands.size();
    if (rule(part) == ValueRule::kAsyncStart) {
      if (number < static_cast<int64_t>(count)) return top_of_operand(part, static_cast<size_t>(number));
      for (const InstructionId user : graph_.users(part)) {
        const ValueRule how = rule(user);
        if (how == ValueRule::kAsyncUpdate || how == ValueRule::kAsyncDone)
          return bound_operand(user, number);
      }
      return kNoPlace;
    }
    const ShapeRef before = module_[module_[part].operands[0]].shape;
    const int64_t bound = static_cast<int64_t>(before->elements[0]->elements.size());
    if (number < bound) return inside(top_of_operand(part, 0), {0, number});
    if (number - bound + 1 < static_cast<int64_t>(count))
      return top_of_operand(part, static_cast<size_t>(number - bound + 1));
    for (const InstructionId user : graph_.users(part))
      if (rule(user) != ValueRule::kMakesAll) return bound_operand(user, number);
    return kNoPlace;
  }

  /// Each part is the one value that reaches it, or a phi of those that do.
  bool phi(InstructionId id, const std::vector<Place>& inputs) {
    bool changed = false;
    std::vector<ValueIndex> reaching;
    for (int32_t part = 0; part < places_.parts(id).size(); ++part) {
      const Place place = top(id) + part;
      reaching.clear();
      for (const Place input : inputs)
        if (input + part < places_.end(input))
          if (const ValueIndex value = at_[static_cast<size_t>(input + part)]; value != kNoValue)
            reaching.push_back(value);
      if (reaching.empty()) continue;
      const ValueIndex current = at_[static_cast<size_t>(place)];
      const bool own = current != kNoValue && all_[static_cast<size_t>(current)].defined == place;
      if (reaching.size() == 1) {
        if (reaching[0] == current) continue;
        at_[static_cast<size_t>(place)] = reaching[0];
        changed = true;
      } else if (!own) {
        const ValueIndex made = add_value(place, true);
        at_[static_cast<size_t>(place)] = made;
        phis_.set(made, reaching);
        changed = true;
      } else if (phis_.inputs(current) != reaching) {
        phis_.set(current, reaching);
        changed = true;
      }
    }
    return changed;
  }

  // ── result ────────────────────────────────────────────────────
  Values finish() {
    Values out;
    for (ValueIndex& value : at_)
      if (value != kNoValue) value = phis_.replacement(value);
    // Phis that stand for another value leave gaps in the numbers.
    std::vector<ValueIndex> kept(all_.size(), kNoValue);
    for (size_t i = 0; i < all_.size(); ++i) {
      if (at_[static_cast<size_t>(all_[i].defined)] != static_cast<ValueIndex>(i)) continue;
      kept[i] = static_cast<ValueIndex>(out.values_.size());
      out.values_.push_back(all_[i]);
    }
    for (ValueIndex& value : at_)
      if (value != kNoValue) value = kept[static_cast<size_t>(value)];
    out.at_ = std::move(at_);
    index_positions(out);
    return out;
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
        for (Place place = top(id); place < places_.end(top(id)); ++place) {
          const ValueIndex value = out.at(place);
          if (value != kNoValue && out[value].defined != place)
            out.positions_[next[static_cast<size_t>(value)]++] = place;
        }
  }

  const ModuleGraph& graph_;
  const Module& module_;
  const Places& places_;
  const Era era_;
  std::vector<Value> all_;
  std::vector<ValueIndex> at_;
  PhiGraph phis_;
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
