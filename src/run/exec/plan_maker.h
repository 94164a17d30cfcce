// Makes the plans of a module's computations as they are asked for.
//
//   PlanMaker maker(module, table, pool, options, diagnostics);
//   const std::shared_ptr<const Plan> plan = maker.plan(module.entry);
//   plan->call(device, arguments, results);
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "exec/one_precision.h"
#include "exec/plan.h"
#include "exec/program.h"

namespace hlosim {

class PlanMaker final : public ProgramServices {
 public:
  /// Requires: all of them outlive the object. Errors go to `sink`.
  PlanMaker(Module& module, const OpTable& table, MemoryPool& pool, const ProgramOptions& options,
            DiagnosticList& sink)
      : module_(module), table_(table), pool_(pool), options_(options), sink_(sink) {}

  std::shared_ptr<const Plan> plan(ComputationId id);
  /// From the leaves of an instruction's operands to those of its result.
  std::shared_ptr<const Plan> plan(InstructionId id);

  std::shared_ptr<const Callable> callable(ComputationId id) override { return plan(id); }
  std::shared_ptr<const ElementProgram> element_program(ComputationId id) override;
  const CustomCallHandlers& custom_calls() const override {
    return options_.custom_calls ? *options_.custom_calls : no_handlers_;
  }
  bool has_twins() const override { return options_.twins; }
  const DeviceGrid* grid() const override { return options_.grid ? &*options_.grid : nullptr; }
  int64_t constant_bytes() const { return constant_bytes_; }

 private:
  std::shared_ptr<const Plan> plan(ComputationGraph graph);
  std::vector<int64_t> make_evaluations(ComputationGraph& graph);
  Conversions make(ComputationGraph& graph, GraphNode& node);
  bool make(EvaluateContext& op, const DiagnosticList& found, GraphNode& node);
  bool shows_values(ComputationId id) const;
  void note_callee(const Plan& callee);

  Module& module_;
  const OpTable& table_;
  MemoryPool& pool_;
  const ProgramOptions& options_;
  DiagnosticList& sink_;
  CustomCallHandlers no_handlers_;
  std::unordered_map<ComputationId, std::shared_ptr<const Plan>> plans_;
  std::unordered_map<ComputationId, std::shared_ptr<const ElementProgram>> element_programs_;
  int depth_ = 0;             // of computations called by the entry
  int64_t callee_bytes_ = 0;  // of the node at work
  int64_t constant_bytes_ = 0;
};

}  // namespace hlosim
