// What the cost of one instruction was calculated from, for those who record the terms of its time
// (terms/instruction_terms.h). Simulations cost instructions by the same code without a recorder.
//
//   class Shown : public CostRecorder { … };
//   Shown shown;
//   const Result<InstructionCost> cost = record_cost(module, table, device, {}, id, shown);
#pragma once

#include "model/cost_details.h"
#include "model/fusion_summary.h"
#include "model/instruction_cost.h"
#include "model/kernel_time.h"

namespace hlosim {

struct CustomCallCost;
struct CustomCallCostSource;
struct KernelOfCall;

/// One instruction with all that its cost was calculated from. At most one of the pointers is set: the blocks
/// of `kernel`, or of a custom call its body, the known kernel or author's estimate, or the user's figures.
struct CostedWork {
  const InstructionCost& cost;
  const ComputeSummary& compute;
  const FixedTime& fixed;
  const TimedKernel* kernel = nullptr;
  const KernelOfCall* body = nullptr;
  const CustomCallCostSource* known = nullptr;
  const CustomCallCost* given = nullptr;
};

/// Instructions without work of their own: what they start, wait for or call has times of its own.
enum class IssueKind : uint8_t { kStart, kDone, kCaller, kFree };

class CostRecorder {
 public:
  virtual ~CostRecorder() = default;
  /// The values live as long as the call.
  virtual void work(const CostedWork& work) = 0;
  virtual void issue(IssueKind kind, const InstructionCost& cost) = 0;
};

/// The cost that cost_instructions() gives. Requires: a verified module whose arrays carry their layouts.
/// Post: one of the recorder's functions was called once. Errors: as cost_instructions().
Result<InstructionCost> record_cost(const Module& module, const OpTable& table, const Device& device,
                                    const CostOptions& options, InstructionId id, CostRecorder& recorder);

/// The same for every instruction that cost_instructions() costs.
Result<void> record_costs(const Module& module, const OpTable& table, const Device& device,
                          const CostOptions& options, CostRecorder& recorder);

}  // namespace hlosim
