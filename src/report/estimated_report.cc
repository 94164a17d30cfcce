#include "report/estimated_report.h"

#include <fmt/format.h>

#include <utility>

#include "hlo/module.h"

namespace hlosim {

Result<EstimatedReport> estimated_report(const Module& module, const OpTable& table, const Device& device,
                                         const EstimateOptions& options) {
  Result<Estimate> made = estimate(module, table, device, options);
  if (!made) {
    Diagnostic problem = std::move(made.error());
    if (!problem.source) problem.message = fmt::format("module {}: {}", module.name, problem.message);
    return tl::unexpected(std::move(problem));
  }
  Report report = make_report(module, table, device, *made);
  report.flags_not_given = flags_not_given(module, table, device, options, *made);
  report.unused_keys = keys_without_effect(module, table, device, options, *made);
  return EstimatedReport{std::move(*made), std::move(report)};
}

}  // namespace hlosim
