// Whether two values may lie in the same memory.
//
//   const Interference interference(graph, places, values, ranges, overwrites, Era::k2026);
//   if (!interference.interfere(a, b)) …           // one memory is enough for both
#pragma once

#include <span>
#include <vector>

#include "memory/live_range.h"
#include "memory/overwrite.h"

namespace hlosim {

class Interference {
 public:
  /// Requires: all of them outlive the object.
  Interference(const ModuleGraph& graph, const Places& places, const Values& values,
               std::span<const LiveRange> ranges, const Overwrites& overwrites, Era era)
      : graph_(graph),
        places_(places),
        values_(values),
        ranges_(ranges),
        overwrites_(overwrites),
        era_(era) {}

  const ModuleGraph& graph() const { return graph_; }
  const Places& places() const { return places_; }
  const Values& values() const { return values_; }
  const LiveRange& range(ValueIndex value) const { return ranges_[static_cast<size_t>(value)]; }
  const Instruction& definer(ValueIndex value) const {
    return graph_.module()[places_.instruction(values_[value].defined)];
  }

  /// Temporary memory may be taken over from an operand: not in 2022.
  bool takes_over_temporaries() const { return era_ != Era::k2022; }

  /// Needed at the same time, and neither is made from the other by writing over it.
  bool interfere(ValueIndex a, ValueIndex b) const;
  /// `user` is made by an instruction that reads `operand` where it is seen, and may write over it.
  bool takes_over(ValueIndex user, ValueIndex operand) const;
  /// The same, for an operand that is read where it is made.
  bool takes_over_directly(ValueIndex user, ValueIndex operand) const;

 private:
  bool takes_over_at(ValueIndex user, Place place) const;
  bool reads(InstructionId user, InstructionId operand) const;

  const ModuleGraph& graph_;
  const Places& places_;
  const Values& values_;
  std::span<const LiveRange> ranges_;
  const Overwrites& overwrites_;
  Era era_;
};

}  // namespace hlosim
