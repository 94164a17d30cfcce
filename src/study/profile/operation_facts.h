// What a profiler of XLA says about the instructions of a module: category, text, FLOPs and bytes.
//
//   OperationFacts facts(module, op_table());
//   facts.category(id)  // "loop fusion"
//   facts.text(id)      // "%fusion.3 = f32[8]{0} fusion(f32[8]{0} %p), kind=kLoop, …"
#pragma once

#include <cstdint>
#include <string>

#include "hlo/module.h"
#include "hlo/op_def.h"
#include "ops/xla_cost.h"

namespace hlosim {

class OperationFacts {
 public:
  /// Requires: a verified module, which outlives it.
  OperationFacts(const Module& module, const OpTable& table);

  std::string category(InstructionId id) const;
  /// Without metadata, backend_config and frontend attributes.
  std::string text(InstructionId id) const;
  std::string shape(InstructionId id) const;
  /// As XLA's HloCostAnalysis counts them; a count that it doesn't know is 0.
  int64_t flops(InstructionId id) const;
  /// The same, but what an asynchronous copy moves counts once.
  int64_t bytes(InstructionId id) const;

 private:
  const Module& module_;
  const OpTable& table_;
  Module copy_;  // costs need one that shapes may be added to
  XlaCostContext costs_;
};

}  // namespace hlosim
