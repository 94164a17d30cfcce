// Steps of whole models: how far they are off by generation and family, beside what the peak alone says.
//
//   const RunErrors errors = run_errors(accuracy);
//   errors.rows[0].model.median                    // of all: the simulated steps
//   errors.rows[0].share.median                    // a share of the peak, fitted on the other runs
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "study/accuracy.h"

namespace hlosim {

struct RunErrorRow {
  std::string generation, family;  // "all" where a row spans them
  size_t cases = 0;
  ErrorSummary model;
  ErrorSummary peak;   // the source's FLOPs over the peak in bf16
  ErrorSummary share;  // the same by the median share that the generation's other runs reach
};

/// Where the time goes, all runs of a generation together: parts of the sum of the measured times.
struct RunCategories {
  std::string generation;
  double measured = 0;                                    // seconds
  std::vector<std::pair<std::string, double>> simulated;  // by category
  std::vector<std::pair<std::string, double>> counted;    // the least that the pieces take
};

/// All runs that one repository published: what none of the others knows.
struct RunSourceRow {
  std::string source;
  ErrorSummary model;
  ErrorSummary others;  // of all other runs
};

struct RunErrors {
  std::vector<RunErrorRow> rows;  // all, by family, by generation, by both; none without such cases
  std::vector<RunSourceRow> sources;
  std::vector<RunCategories> categories;
};

RunErrors run_errors(const Accuracy& accuracy);

std::string runs_text(const RunErrors& errors);
std::string runs_markdown(const RunErrors& errors);

}  // namespace hlosim
