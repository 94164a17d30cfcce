// A report for programs: one JSON object (reports/report.schema.json describes it; integers in base units:
// picoseconds, bytes, cycles, operations; null where unknown) or rows of CSV (RFC 4180).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/report.h"
#include "report/report_advice.h"

namespace hlosim {

struct Metrics;  // report/figures.h

/// Ends in '\n'. `tool_version` is that of the program.
/// `advice`: changes that were tried and pay; null: not asked for.
std::string to_json(const Report& report, std::string_view tool_version,
                    const std::vector<ReportAdvice>* advice = nullptr);
/// The same with all that `hlosim diff` compares reports by: read_report_figures() gives these figures again.
std::string to_json(const Report& report, const Metrics& figures, std::string_view tool_version,
                    const std::vector<ReportAdvice>* advice = nullptr);

/// What a reader of to_json() may rely on, as JSON Schema: reports/report.schema.json. Ends in '\n'.
std::string report_json_schema();

/// One row per instruction that ran, of one module after the other, under one header line. The columns of
/// memory traffic are those of the device, which is the same for all reports.
std::string to_csv(std::span<const Report> reports);

}  // namespace hlosim
