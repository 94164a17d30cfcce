// Single instructions made ready to run, for callers that decide themselves when each runs and where its
// values lie.
//
//   InstructionPrograms programs(module, op_table(), pool, {});
//   const Result<std::shared_ptr<const Callable>> add = programs.make(id);
//   (*add)->call(device, arguments, results);
#pragma once

#include <memory>

#include "exec/program.h"

namespace hlosim {

class PlanMaker;

class InstructionPrograms {
 public:
  /// Requires: all of them outlive the object. `pool` holds the constants.
  InstructionPrograms(Module& module, const OpTable& table, MemoryPool& pool, const ProgramOptions& options);
  ~InstructionPrograms();

  /// From the leaves of all operands of `id` to those of its result; fusions, reducers and whatever else it
  /// calls are part of it. The results are the bits that Program gives. Errors: what isn't supported, as
  /// Program::make() reports it.
  Result<std::shared_ptr<const Callable>> make(InstructionId id);

 private:
  ProgramOptions options_;
  DiagnosticList sink_;
  std::unique_ptr<PlanMaker> maker_;
};

}  // namespace hlosim
