// Advice for people and for programs.
//
//   streams.out << advice_text(report, {.top = 20, .command = "hlosim advise step.hlo --device=v6e"});
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "advise/advise.h"
#include "base/paint.h"
#include "report/report_advice.h"

namespace hlosim {

struct AdviceTextOptions {
  size_t top = 20;  // pieces of advice; 0: all
  Paint paint{};
};

std::string advice_text(const AdviceReport& report, const AdviceTextOptions& options);
/// Everything, in base units.
std::string advice_json(const AdviceReport& report);

/// The same for the head of a report, the largest saving first.
std::vector<ReportAdvice> advice_of_report(const AdviceReport& report);

}  // namespace hlosim
