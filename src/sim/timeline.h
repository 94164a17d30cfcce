// Who did what when: the spans of one run, as a profile shows them.
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
  kAsync,       // asynchronous computations
};
inline constexpr size_t kLaneCount = 6;
/// "TensorCore", "DMA in", "DMA out", "host", "ICI", "async"
std::string_view to_text(Lane lane);

struct Span {
  InstructionId instruction;
  Lane lane = Lane::kTensorCore;
  Picoseconds start{}, end{};
  bool waiting = false;  // the TensorCore stands still until a done's work is finished
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
