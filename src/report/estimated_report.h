// The report of a module, simulated as commands do it.
//
//   Result<EstimatedReport> made = estimated_report(module, op_table(), device, options);
//   made->report.totals().makespan
#pragma once

#include "base/source.h"
#include "estimate/estimate.h"
#include "report/report.h"

namespace hlosim {

struct EstimatedReport {
  Estimate estimate;
  Report report;  // of `estimate`, with unspecified flags and keys without effect
};

/// Errors: as estimate(), with the module's name.
Result<EstimatedReport> estimated_report(const Module& module, const OpTable& table, const Device& device,
                                         const EstimateOptions& options);

}  // namespace hlosim
