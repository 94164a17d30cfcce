// What flows from place to place: the rule of each opcode, applied to one instruction at a time.
//
//   ValueFlow flow(graph, places);
//   for (const InstructionId id : order) flow.define(id);
//   while (changed) …flow.update(id);         // then flow.finish()
#pragma once

#include <initializer_list>
#include <vector>

#include "memory/hlo_values.h"
#include "memory/phi_graph.h"

namespace hlosim {

class ValueFlow {
 public:
  /// Requires: both outlive the object.
  ValueFlow(const ModuleGraph& graph, const Places& places)
      : graph_(graph),
        module_(graph.module()),
        places_(places),
        at_(static_cast<size_t>(places.size()), kNoValue) {}

  /// Makes the values that the instruction makes.
  void define(InstructionId id);
  /// Brings to the instruction's places what reaches them now. Has anything changed?
  bool update(InstructionId id);

  ValueRule rule(InstructionId id) const { return dataflow(module_[id].opcode).value; }
  /// Phis that turned out to be another value included.
  const std::vector<HloValue>& all() const { return all_; }
  /// The value at each place, after everything has been brought where it goes. Ends the object's life.
  std::vector<ValueIndex> finish();

 private:
  ValueIndex add_value(Place place, bool is_phi);
  bool set(Place place, ValueIndex value);
  /// Everything inside `to` is what lies inside `from`, for as far as both have the same parts.
  bool forward(Place from, Place to, bool leaves_only = false);
  bool forward_elements(Place from, Place to);
  bool update_collective_start(InstructionId id);
  bool update_async(InstructionId id);
  bool update_parameter(InstructionId id);
  /// Each part is the one value that reaches it, or a phi of those that do.
  bool phi(InstructionId id, const std::vector<Place>& inputs);

  Place top(InstructionId id) const { return places_.first(id); }
  Place top_of_operand(InstructionId id, size_t i) const;
  Place inside(Place place, std::initializer_list<int64_t> index) const;
  bool same_size(Place a, Place b) const;
  /// Operands of the start come first; those that an update or done binds, behind them.
  Place bound_operand(InstructionId part, int64_t number) const;

  const ModuleGraph& graph_;
  const Module& module_;
  const Places& places_;
  std::vector<HloValue> all_;
  std::vector<ValueIndex> at_;  // by place
  PhiGraph phis_;
};

}  // namespace hlosim
