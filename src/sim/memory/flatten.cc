#include <algorithm>

#include "memory/flat_schedule.h"

namespace hlosim {
namespace {

class Flattener {
 public:
  Flattener(const ModuleGraph& graph, const InstructionOrder& order)
      : graph_(graph), module_(graph.module()), order_(order), opened_(module_.computations.size()) {
    schedule_.step_of = IdMap<InstructionId, int32_t>(module_.instructions.size(), -1);
    schedule_.span_of = IdMap<ComputationId, FlatSchedule::Span>(module_.computations.size());
    schedule_.async_context = IdMap<ComputationId, ComputationId>(module_.computations.size());
  }

  FlatSchedule run() {
    open(module_.entry, {});
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      const std::vector<InstructionId>& order = order_[frame.id];
      if (frame.position == order.size()) {
        schedule_.span_of[frame.id].end = schedule_.end();
        frames_.pop_back();
        continue;
      }
      const InstructionId id = order[frame.position];
      if (frame.called == 0) frame.callees = callees(id);
      if (frame.called < frame.callees.size()) {
        const ComputationId callee = frame.callees[frame.called++];
        const bool is_async = dataflow(module_[id].opcode).value == ValueRule::kAsyncStart || is_late(id);
        if (!opened_[callee]) open(callee, is_async ? callee : schedule_.async_context[frame.id]);
        continue;
      }
      frame.called = 0;
      ++frame.position;
      schedule_.step_of[id] = schedule_.end();
      schedule_.steps.push_back(id);
    }
    return std::move(schedule_);
  }

 private:
  struct Frame {
    ComputationId id;
    size_t position = 0, called = 0;
    std::vector<ComputationId> callees;  // of the instruction at `position`
  };

  void open(ComputationId id, ComputationId context) {
    opened_[id] = 1;
    schedule_.span_of[id].start = schedule_.end();
    schedule_.async_context[id] = context;
    frames_.push_back({id, 0, 0, {}});
  }

  bool is_late(InstructionId id) const {
    const ValueRule rule = dataflow(module_[id].opcode).value;
    return rule == ValueRule::kAsyncUpdate || rule == ValueRule::kAsyncDone;
  }

  std::vector<ComputationId> callees(InstructionId id) const {
    const Dataflow facts = dataflow(module_[id].opcode);
    if (facts.call != CallRule::kControlFlow) return {};
    if (facts.value == ValueRule::kAsyncStart || is_late(id)) {
      const ComputationId wrapped = graph_.wrapped(id);
      if (wrapped.valid() && is_bound(id, wrapped)) return {wrapped};
      return {};
    }
    return called_in_order(module_[id]);
  }

  /// Everything that the wrapped computation takes and gives is known at `id`; a done knows all.
  bool is_bound(InstructionId id, ComputationId wrapped) const {
    if (dataflow(module_[id].opcode).value == ValueRule::kAsyncDone) return true;
    const ShapeRef shape = module_[id].shape;
    if (!shape->is_tuple() || shape->elements.size() < 2) return true;
    return shape->elements[0]->elements.size() == module_[wrapped].parameters.size() &&
           leaf_count(shape->elements[1]) == leaf_count(module_.root(wrapped).shape);
  }

  const ModuleGraph& graph_;
  const Module& module_;
  const InstructionOrder& order_;
  IdMap<ComputationId, uint8_t> opened_;
  FlatSchedule schedule_;
  std::vector<Frame> frames_;
};

}  // namespace

FlatSchedule flatten(const ModuleGraph& graph, const InstructionOrder& order) {
  return Flattener(graph, order).run();
}

std::vector<ComputationId> control_flow_of(const ModuleGraph& graph) {
  const Module& module = graph.module();
  std::vector<ComputationId> found = {module.entry};
  IdMap<ComputationId, uint8_t> seen(module.computations.size());
  seen[module.entry] = 1;
  for (size_t i = 0; i < found.size(); ++i)
    for (const InstructionId id : graph.instructions(found[i])) {
      if (dataflow(module[id].opcode).call != CallRule::kControlFlow) continue;
      for (const ComputationId called : called_in_order(module[id])) {
        if (!seen[called]) found.push_back(called);
        seen[called] = 1;
      }
    }
  return found;
}

InstructionOrder text_order(const ModuleGraph& graph) {
  InstructionOrder order(graph.module().computations.size());
  for (const ComputationId id : control_flow_of(graph)) order[id] = graph.module()[id].instructions;
  return order;
}

}  // namespace hlosim
