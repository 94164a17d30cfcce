// What the smallest instructions take: the latencies of a memory that has nothing else to do.
//
//   min_kernel_time({.written = Bytes(8192)}, core)          // one write in flight
//   unloaded_latency_credit({.written = Bytes(8192)}, core)  // less than the latencies of a long stream
#pragma once

#include "base/units.h"
#include "model/core.h"
#include "model/instruction_cost.h"

namespace hlosim {

/// Requires: traffic of an instruction with HBM.
Picoseconds min_kernel_time(const Traffic& hbm, const Core& core);

/// What a transfer of so many bytes is faster than the latencies of a loaded memory (dma.read_latency,
/// dma.write_latency) and the start of an instruction say: they come in with the bytes that are under way, in
/// proportion up to overhead.loaded_memory.
Picoseconds unloaded_latency_credit(const Traffic& hbm, const Core& core);

}  // namespace hlosim
