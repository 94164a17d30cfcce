// Records the terms of one instruction's time: busy times of its units, its Kernel, what nothing hides, and
// the whole. The cost model calls these where the cost is complete; the keys are those that its provenance
// goes by (model/time_keys.h).
#pragma once

#include <vector>

#include "model/cost_details.h"
#include "model/fusion_summary.h"
#include "model/instruction_cost.h"
#include "model/kernel_time.h"
#include "model/terms.h"

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

void record_work(RecordedTerms& terms, const Device& device, const CostedWork& work);

/// What a start, done, loop, call or free instruction takes itself.
enum class IssueKind : uint8_t { kStart, kDone, kCaller, kFree };
void record_issue(RecordedTerms& terms, const Device& device, IssueKind kind, const InstructionCost& cost);

/// An instruction that waits for collectives of its own: puts their terms, `links`, and `launch` to those of
/// record_work(). `cost`: with them.
void record_links(RecordedTerms& terms, std::vector<Term> links, Picoseconds launch,
                  const InstructionCost& cost);
/// Puts the terms of what runs beside the instruction in front of the whole.
void record_beside(RecordedTerms& terms, std::vector<Term> beside);

/// The cost that cost_instructions() gives; `terms` gets the terms of its time, the last one the whole.
/// Requires: a verified module whose arrays carry their layouts. Errors: as cost_instructions().
Result<InstructionCost> cost_with_terms(const Module& module, const OpTable& table, const Device& device,
                                        const CostOptions& options, InstructionId id, RecordedTerms& terms);

}  // namespace hlosim
