// Who did what when: the spans of one run, as a profile shows them.
//
//   for (const Span& span : result->timeline.spans())
//     if (span.lane == Lane::kIci) std::cout << to_text(span.start) << " to " << to_text(span.end);
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "hlo/module.h"

namespace hlosim {

/// What runs beside what. Spans of one lane never overlap.
enum class Lane : uint8_t {
  kTensorCore,  // instructions in program order
  kDmaIn,       // copies towards on-chip memory
  kDmaOut,      // copies from on-chip memory
  kHost,        // transfers over PCIe
  kIci,         // asynchronous collectives
  kIciBeside,   // a permute whose links those in flight leave free
  kAsync,       // asynchronous computations
};
inline constexpr size_t kLaneCount = 7;
constexpr bool is_of_links(Lane lane) { return lane == Lane::kIci || lane == Lane::kIciBeside; }
/// "TensorCore", "DMA in", "DMA out", "host", "ICI", "ICI, second permute", "async"
std::string_view to_text(Lane lane);

struct Span {
  InstructionId instruction;
  Lane lane = Lane::kTensorCore;
  Picoseconds start{}, end{};
  bool waiting = false;  // the TensorCore stands still until a done's work is finished
};

/// How often an instruction runs a computation it calls, and where in its own time the first time begins.
struct CalledRun {
  InstructionId caller;
  ComputationId callee;
  int64_t times = 0;     // 0: a branch that is not taken
  Picoseconds offset{};  // of the first execution, from the caller's start
  Picoseconds period{};  // from one execution to the next
  bool beside = false;   // runs beside the TensorCore: an async computation
};

/// One execution of one computation, in time that begins at 0.
struct ComputationTimeline {
  /// What takes time, and async starts and dones even if they don't. Transfers: by their start, in their
  /// lane.
  std::vector<Span> spans;
  std::vector<CalledRun> calls;
  int64_t executions = 0;
};

/// Invariant: spans of one lane are disjoint and in order of time.
class Timeline {
 public:
  void add(const Span& span);
  const std::vector<Span>& spans() const { return spans_; }
  /// End of the last span.
  Picoseconds makespan() const;
  Picoseconds busy(Lane lane) const;

 private:
  std::vector<Span> spans_;
  Picoseconds last_end_[kLaneCount]{};
  Picoseconds busy_[kLaneCount]{};
};

}  // namespace hlosim
