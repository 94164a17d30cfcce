// A report for people: its first screen, or all of it.
//
//   jit_train_step on TPU v6e, slice 2x4, 1 x 8 (replicas x partitions)
//   time            637.1 ms  (80 % interval 520 ms to 745 ms)
//   bottleneck      MXU 61.9 % | HBM 30.2 % | wait 4.1 %
//   utilization     52.3 % of the bf16 peak of 917.5 TFLOP/s, 58.1 % of HBM's 1.638 TB/s
//
// Every number has a unit; what isn't known is "unknown"; a section without content says why.
#pragma once

#include <string>

#include "base/paint.h"
#include "report/report.h"
#include "report/report_advice.h"

namespace hlosim {

struct ReportTextOptions {
  size_t top = 10;    // rows of the longest lists; 0: all
  bool full = false;  // every section, not the first screen alone
  Paint paint{};
  const std::vector<ReportAdvice>* advice = nullptr;  // null: not asked for
};

/// The first screen, or with `options.full` every section.
std::string to_text(const Report& report, const ReportTextOptions& options);
/// The first screen: the sections that concern at least 1 % of the time, the others in a line each.
std::string brief_text(const Report& report, const ReportTextOptions& options);

}  // namespace hlosim
