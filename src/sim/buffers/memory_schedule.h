// Orders of execution that need little memory, for modules that come without one.
//
//   const Schedulers schedulers(graph, places, values, buffers, sizes);
//   const ScheduleChoice best = schedulers.choose(ScheduleSource::kAuto);
//   schedulers.peak(best.order)                    // bytes
#pragma once

#include <span>

#include "memory/live_range.h"

namespace hlosim {

enum class ScheduleSource : uint8_t;

struct ScheduleChoice {
  InstructionOrder order;
  ScheduleSource source{};
};

class Schedulers {
 public:
  /// `sizes` by value. Requires: all of them outlive the object.
  Schedulers(const ModuleGraph& graph, const Places& places, const Values& values,
             const AliasedBuffers& buffers, std::span<const int64_t> sizes)
      : graph_(graph), places_(places), values_(values), buffers_(buffers), sizes_(sizes) {}

  /// kAuto: the module's own order if it is scheduled; else of list, depth first and post-order the one with
  /// the lowest peak, the first of equals.
  ScheduleChoice choose(ScheduleSource source) const;

  /// Always the ready instruction that frees most when run now; scalars first, then those with most users.
  /// `uses`: as of ListScheduler.
  std::vector<InstructionId> list(ComputationId id, std::span<int32_t> uses) const;
  /// Depth first from the results; of the operands the one whose inputs are needed most elsewhere.
  std::vector<InstructionId> depth_first(ComputationId id) const;

  /// Most bytes that are kept at one step.
  double peak(const InstructionOrder& order) const;

 private:
  InstructionOrder order_by(ScheduleSource source) const;

  const ModuleGraph& graph_;
  const Places& places_;
  const Values& values_;
  const AliasedBuffers& buffers_;
  std::span<const int64_t> sizes_;
};

}  // namespace hlosim
