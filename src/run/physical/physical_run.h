// Running a module on real bytes, each value where the buffer assignment put it.
//
//   analyse_buffers(module) → run_physically → outputs, or the first fault
//
// Every memory space is one range of bytes. A value lies there in its layout, padding and whatever isn't
// needed any more filled with poison. Instructions read their operands from those bytes and write their
// results to them, in the order of the schedule; what an asynchronous operation gives arrives at its done.
// Beside the bytes stands who wrote them, so that a read of anything else than what the program means is a
// fault that names the instruction and the step.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "exec/program.h"

namespace hlosim {

struct BufferAnalysis;  // buffers/buffer_analysis.h

enum class FaultKind : uint8_t {
  kReadBeforeDone,   // bytes that are still under way, or an instruction that stands before its operand
  kReadPoison,       // memory that wasn't written, or that was given up
  kReadOverwritten,  // something else was written there since
  kOverlap,          // written over what is still needed
  kWrongSpace,       // not in the memory space that its shape names
  kOperandChanged,   // written over or given up while an asynchronous operation reads it
  kNotANoOp,         // a bitcast whose elements lie elsewhere than the bytes say
  kMisplaced,        // values that are one piece of memory lie at two places
  kOutside,          // more bytes than there is room for
};
/// As in "read before done".
std::string_view to_text(FaultKind kind);

struct PhysicalFault {
  FaultKind kind{};
  InstructionId instruction;
  int32_t step = 0;       // of the flattened schedule; its end: when the results are taken
  Diagnostic diagnostic;  // at the instruction
};

struct PhysicalOptions {
  ProgramOptions program;
  std::map<int64_t, int64_t> capacities;  // bytes by number of the memory space; absent: no limit
};

struct PhysicalResult {
  std::vector<Array> outputs;  // leaves of the root; empty after a fault
  std::optional<PhysicalFault> fault;
  int64_t steps = 0;  // instructions run
  int64_t bytes_written = 0;
};

/// Bytes of memory that the run takes beside what its instructions need one at a time.
int64_t physical_bytes(const BufferAnalysis& analysis);

/// `analysis` is of `module`, with padded sizes where it has tiled layouts. `inputs`: one per leaf of the
/// parameters. Errors: layouts that no memory can have; what an instruction meets while running, as
/// Program::run() reports it.
Result<PhysicalResult> run_physically(Module& module, const OpTable& table, const BufferAnalysis& analysis,
                                      DeviceState& device, std::vector<Array> inputs,
                                      const PhysicalOptions& options);

}  // namespace hlosim
