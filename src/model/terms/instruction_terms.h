// The terms of one instruction's time: busy times of its units, its Kernel, what nothing hides, and the
// whole,
// as the cost model hands them to its recorder.
//
//   RecordedTerms terms;
//   const Result<InstructionCost> cost = cost_with_terms(module, table, device, {}, id, terms);
//   terms.all().back().value                       // cost->time()
#pragma once

#include <vector>

#include "model/cost_recorder.h"
#include "terms/terms.h"

namespace hlosim {

/// An instruction that waits for collectives of its own: puts their terms, `links`, and `launch` to those of
/// cost_with_terms(). `cost`: with them.
void record_links(RecordedTerms& terms, std::vector<Term> links, Picoseconds launch,
                  const InstructionCost& cost);
/// Puts the terms of what runs beside the instruction in front of the whole.
void record_beside(RecordedTerms& terms, std::vector<Term> beside);

/// The cost that cost_instructions() gives; `terms` gets the terms of its time, the last one the whole.
/// Requires: a verified module whose arrays carry their layouts. Errors: as cost_instructions().
Result<InstructionCost> cost_with_terms(const Module& module, const OpTable& table, const Device& device,
                                        const CostOptions& options, InstructionId id, RecordedTerms& terms);

}  // namespace hlosim
