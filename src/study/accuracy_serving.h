// Servers of models: how far times between tokens and tokens per second are off, row by row and by group.
//
//   const ServingErrors errors = serving_errors(accuracy);
//   errors.groups[0].time.median                   // of all rows with a prediction
#pragma once

#include <string>
#include <vector>

#include "study/accuracy.h"

namespace hlosim {

struct ServingErrorGroup {
  std::string generation, what;  // "all" where a group spans them; "dense, 16 requests or more"
  size_t cases = 0;              // with and without a prediction
  ErrorSummary time;             // ITL, TPOT or TTFT
  ErrorSummary rate;             // tokens per second
};

struct ServingErrors {
  std::vector<ServingErrorGroup> groups;  // none without servers
  std::vector<size_t> cases;              // of accuracy.cases, in their order: the servers
};

ServingErrors serving_errors(const Accuracy& accuracy);

/// Groups, then each row with what was measured and predicted, or why there is no prediction.
std::string serving_text(const ServingErrors& errors, const Accuracy& accuracy);
std::string serving_markdown(const ServingErrors& errors, const Accuracy& accuracy);

}  // namespace hlosim
