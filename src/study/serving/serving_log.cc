#include "serving/serving_log.h"

#include <algorithm>
#include <cmath>

namespace hlosim {

void ServingLog::first_tokens(size_t request, double at, int64_t tokens) {
  first_tokens_.emplace_back(at - arrivals_[request], 1);
  tokens_at_.emplace_back(at, tokens);
}

void ServingLog::tokens(double gap, double at, int64_t requests, int64_t tokens) {
  gaps_.emplace_back(gap, requests);
  tokens_at_.emplace_back(at, tokens);
}

void ServingLog::end(size_t request, double first, double last) {
  const Request& ended = requests_[request];
  const double each = ended.output > 1 ? (last - first) / static_cast<double>(ended.output - 1) : 0.0;
  if (ended.output > 1) per_token_.emplace_back(each, 1);
  const double ttft = first - arrivals_[request];
  good_ += (limits_.ttft_ms <= 0 || ttft * 1e3 <= limits_.ttft_ms) &&
           (limits_.tpot_ms <= 0 || each * 1e3 <= limits_.tpot_ms);
  ++finished_;
  input_ += ended.input, output_ += ended.output;
}

Latency latency_of(std::vector<Sample>& samples) {
  Latency made;
  int64_t count = 0;
  double sum = 0;
  for (const auto& [value, times] : samples) count += times, sum += value * static_cast<double>(times);
  if (count == 0) return made;
  std::sort(samples.begin(), samples.end());
  const auto at = [&](double part) {
    auto left = static_cast<int64_t>(part * static_cast<double>(count - 1));
    for (const auto& [value, times] : samples)
      if ((left -= times) < 0) return value * 1e3;
    return samples.back().first * 1e3;
  };
  made.mean = sum / static_cast<double>(count) * 1e3;
  made.median = at(0.5), made.p99 = at(0.99);
  return made;
}

void ServingLog::summarize(ServingRun& run) {
  run.requests = static_cast<int64_t>(finished_);
  run.input_tokens = input_, run.output_tokens = output_;
  run.ttft = latency_of(first_tokens_);
  run.tpot = latency_of(per_token_);
  run.itl = latency_of(gaps_);
  run.good_share = static_cast<double>(good_) / static_cast<double>(finished_);
  // Several engines log one after the other.
  if (!std::is_sorted(tokens_at_.begin(), tokens_at_.end())) std::sort(tokens_at_.begin(), tokens_at_.end());
  double second = 0, tokens = 0;
  for (const auto& [time, count] : tokens_at_) {
    if (std::floor(time) > second) second = std::floor(time), tokens = 0;
    tokens += static_cast<double>(count);
    run.peak_output_rate = std::max(run.peak_output_rate, tokens);
  }
}

}  // namespace hlosim
