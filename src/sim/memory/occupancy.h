// What each memory space holds when: live ranges of the values of a scheduled module, in steps of its
// flattened schedule.
//
// Values that share memory are one buffer: through tuples, get-tuple-element, bitcast, while loops, calls,
// async pairs and in-place updates. What an instruction may write over an operand that nobody needs any more
// (memory/overwrite.h) counts once in its step. What a loop carries needs no memory between the last read of
// one iteration and the write for the next. Sizes are array sizes, padding included. Tuples have no size
// here.
//
//   const Occupancy occupancy = memory_occupancy(module, device.config, order);
//   for (const SpaceOccupancy& space : occupancy.spaces)
//     std::cout << "S(" << space.number << "): " << to_text(space.peak) << " at step " << space.peak_step;
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/source.h"
#include "base/units.h"
#include "memory/flat_schedule.h"
#include "model/device.h"

namespace hlosim {

/// Steps, both ends included.
struct StepRange {
  int32_t first = 0, last = 0;
};

/// One array that memory is needed for.
struct LiveBuffer {
  InstructionId instruction;   // that defines it
  std::vector<int64_t> index;  // in its shape
  int64_t space = 0;           // S(n)
  Bytes size{};
  int32_t first = 0, last = 0;  // steps, both included
  bool is_parameter = false, is_output = false, is_constant = false;
  bool is_handed_over = false;  // what begins in its last step is written over it
  std::vector<StepRange> gaps;  // between `first` and `last`, by step: when no value is in it

  /// Its bytes are in use then, and by nothing that is written over it.
  bool counts_at(int32_t step) const {
    if (step < first || step > last - (is_handed_over ? 1 : 0)) return false;
    for (const StepRange& gap : gaps)
      if (gap.first <= step && step <= gap.last) return false;
    return true;
  }
};

struct SpaceOccupancy {
  int64_t number = 0;                  // S(n)
  const MemorySpace* space = nullptr;  // null: the device doesn't know it
  Bytes peak{};
  int32_t peak_step = 0;          // the first one with the peak
  std::optional<Bytes> capacity;  // of the whole device
  std::optional<Bytes> reserved;  // VMEM: what each instruction may use as scratch, not in `peak`
  std::vector<Bytes> at_step;     // one per step
};

struct Occupancy {
  std::vector<InstructionId> steps;    // the flattened schedule
  std::vector<SpaceOccupancy> spaces;  // those that are used, by number
  std::vector<LiveBuffer> buffers;
  std::string unknown;  // why nothing is known of the module's memory; empty: it is
  /// Spaces that overflow, the worst first: "VMEM: 144.00 MiB needed at step 12 (fusion.3), 128.00 MiB
  /// there".
  std::vector<Diagnostic> findings;
};

/// Mean of the bytes there over time: step i takes `times[i]`, all executions together. Over the steps where
/// none takes any.
Bytes mean_over_time(const SpaceOccupancy& space, std::span<const Picoseconds> times);

/// `order`: the instructions of each computation that runs as control flow (sim/schedule.h). `reach`: with
/// kAll the same comes out, later.
Occupancy memory_occupancy(const Module& module, const DeviceConfig& device, const InstructionOrder& order,
                           GraphReach reach = GraphReach::kControlFlow);

}  // namespace hlosim
