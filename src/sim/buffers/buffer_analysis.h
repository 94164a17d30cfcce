// Where every byte of a module lies and when: values, buffers, live ranges and allocations of one module.
//
//   Result<std::unique_ptr<BufferAnalysis>> analysis = analyse_buffers(module, op_table(), {});
//   for (const Allocation& allocation : (*analysis)->assignment.allocations) total += allocation.size;
#pragma once

#include <memory>
#include <optional>

#include "buffers/assignment.h"
#include "buffers/unique_names.h"

namespace hlosim {

/// Where the order of instructions comes from.
enum class ScheduleSource : uint8_t {
  kAuto,       // the module's own if it has one; else the best of the three below
  kText,       // as the instructions stand
  kList,       // what frees most first
  kDepth,      // depth first, the operands that need most first
  kPostOrder,  // operands first, in order
};

struct BufferOptions {
  int64_t alignment = 64;
  Era era = Era::k2026;
  /// Bytes of arrays as they lie in tiles, padding included; else elements × width, as XLA counts where no
  /// backend says otherwise.
  bool padded = false;
  ScheduleSource schedule = ScheduleSource::kAuto;
  KnownOrders orders;
};

struct BufferAnalysis {
  BufferAnalysis(const Module& module, const KnownOrders& orders)
      : graph(module, orders), places(module), users(module), names(unique_names(graph)) {}

  ModuleGraph graph;
  Places places;
  UserIndex users;
  Values values;
  std::optional<AliasedBuffers> buffers;
  FlatSchedule schedule;
  ScheduleSource scheduled_by = ScheduleSource::kText;
  std::vector<LiveRange> ranges;  // by value
  std::vector<int64_t> sizes;     // by value, in bytes
  std::vector<int64_t> spaces;    // by value, n of S(n)
  Assignment assignment;
  int32_t peak = 0;                         // step, see peak_step()
  int64_t least_bytes = 0;                  // most bytes needed at one time, everything included
  IdMap<InstructionId, std::string> names;  // as XLA would call them

  InstructionId definer(ValueIndex value) const { return places.instruction(values[value].defined); }
  ShapeRef shape(ValueIndex value) const { return places.shape(values[value].defined); }
};

/// The order that analyse_buffers() finds, without the work that follows from it. Errors: as there.
Result<FlatSchedule> find_schedule(const Module& module, const BufferOptions& options);

/// Requires: a verified module, which outlives the result. Errors: a computation that is run both as control
/// flow and once per element; sizes that don't fit 63 bits.
Result<std::unique_ptr<BufferAnalysis>> analyse_buffers(const Module& module, const OpTable& table,
                                                        const BufferOptions& options);

}  // namespace hlosim
