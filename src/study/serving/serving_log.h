// When requests arrived, got their tokens and ended, and the latencies of these.
//
//   ServingLog log(requests, limits);
//   log.arrive(0.5);                               // the first request
//   log.first_tokens(0, 0.6, 1), log.tokens(0.02, 0.62, 1, 1), log.end(0, 0.6, 0.62);
//   log.summarize(run);
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "serving/server.h"

namespace hlosim {

/// A value and how often it came.
using Sample = std::pair<double, int64_t>;
/// Of samples in seconds, which it sorts.
Latency latency_of(std::vector<Sample>& samples);

class ServingLog {
 public:
  /// Requires: `requests` outlives it.
  ServingLog(const std::vector<Request>& requests, const LatencyLimits& limits)
      : requests_(requests), limits_(limits) {}

  /// The next request arrives. Requires: some are left.
  void arrive(double at) { arrivals_.push_back(at); }
  size_t arrived() const { return arrivals_.size(); }
  size_t finished() const { return finished_; }
  const Request& next() const { return requests_[arrivals_.size()]; }
  bool all_arrived() const { return arrivals_.size() == requests_.size(); }
  bool all_finished() const { return finished_ == requests_.size(); }

  /// A request gets its first tokens: one, and accepted drafts.
  void first_tokens(size_t request, double at, int64_t tokens);
  /// So many requests get so many tokens together, `gap` seconds after those before.
  void tokens(double gap, double at, int64_t requests, int64_t tokens);
  /// The request has its last token.
  void end(size_t request, double first, double last);

  /// Sets requests, tokens, latencies, good_share and peak_output_rate.
  void summarize(ServingRun& run);

 private:
  const std::vector<Request>& requests_;
  LatencyLimits limits_;
  std::vector<double> arrivals_;  // by request
  size_t finished_ = 0;
  int64_t good_ = 0, input_ = 0, output_ = 0;
  std::vector<Sample> first_tokens_, per_token_, gaps_, tokens_at_;
};

}  // namespace hlosim
