// A module that runs in place of custom calls: what somebody knows of a kernel whose code isn't here.
//
//   const auto attention = StandIn::make("attention.hlo", std::move(module), pool, {}, sink);
//   const auto is_meant = [](const Instruction& call) { return call.name == "splash.2"; };
//   handlers.add({is_meant, attention->evaluation()});
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "exec/program.h"

namespace hlosim {

/// For calls that somebody says do nothing else: the result's leaves are the first of the operands'. An error
/// where shapes differ.
Evaluation evaluate_first_operand_call(EvaluateContext& op);
/// As if the call weren't there: what shares an operand's memory is the operand, tokens are nothing. An error
/// where that leaves a result without a value.
Evaluation evaluate_ignored_call(EvaluateContext& op);

class StandIn {
 public:
  /// `file`: what messages call it. Nothing after errors in `sink`: the module can't be run. `pool` outlives
  /// what is made.
  static std::optional<StandIn> make(std::string file, std::unique_ptr<Module> module, MemoryPool& pool,
                                     const ProgramOptions& options, DiagnosticList& sink);

  /// Runs a call, whose operands and result have to be the module's parameters and root, layouts aside; else
  /// an error at the call says what differs.
  std::function<Evaluation(EvaluateContext&)> evaluation() const;
  int64_t peak_bytes() const;

 private:
  struct Kernel;
  explicit StandIn(std::shared_ptr<const Kernel> kernel) : kernel_(std::move(kernel)) {}
  std::shared_ptr<const Kernel> kernel_;
};

}  // namespace hlosim
