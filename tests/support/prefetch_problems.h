// Problems of on-chip memory without modules, for tests.
#pragma once

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "prefetch/prefetch_problem.h"

namespace hlosim::test {

/// One region whose steps take max(compute, bytes in HBM / rate).
class ProblemMaker {
 public:
  /// Bytes per second.
  explicit ProblemMaker(double rate) : rate_(rate) { problem_.regions.resize(1); }

  /// `bytes` always come from HBM or go there. Times in picoseconds.
  int32_t step(double compute, double bytes = 0) {
    PrefetchStep made;
    made.position = made.begin = static_cast<int32_t>(problem_.steps.size());
    problem_.regions[0].steps.push_back(made.position);
    problem_.steps.push_back(std::move(made));
    compute_.push_back(compute);
    always_.push_back(bytes);
    sites_.emplace_back();
    return problem_.steps.back().position;
  }

  /// `made_at` -1: a parameter. `uses`: positions; negative ones, -1 - position, always read HBM.
  int32_t value(int64_t bytes, int32_t made_at, std::vector<int32_t> uses, bool made_in_hbm = false) {
    PrefetchValue made;
    made.name = "value";
    made.bytes = bytes;
    made.made_at = made_at;
    made.is_parameter = made_at < 0;
    if (made_at >= 0 && !made_in_hbm) made.made_bit = site(made_at, bytes);
    for (const int32_t use : uses) {
      const int32_t position = use >= 0 ? use : -1 - use;
      const bool has_step = position < static_cast<int32_t>(sites_.size());
      if (use < 0 && has_step) always_[static_cast<size_t>(position)] += static_cast<double>(bytes);
      made.uses.push_back({position, use >= 0 ? site(position, bytes) : -1});
    }
    made.copy_in = made.copy_out = made.hbm_in = made.hbm_out = time_of(static_cast<double>(bytes));
    problem_.values.push_back(std::move(made));
    return static_cast<int32_t>(problem_.values.size()) - 1;
  }

  /// Copies of the last value may come in two parts.
  void cut(int64_t first) {
    PrefetchValue& value = problem_.values.back();
    const int64_t bytes[] = {first, value.bytes - first};
    for (const size_t half : {0, 1}) {
      const double time = time_of(static_cast<double>(bytes[half]));
      value.halves[half] = {bytes[half], time, time};
    }
  }

  PrefetchProblem make(int64_t capacity) {
    problem_.capacity = capacity;
    problem_.alignment = 1;
    problem_.costs.clear();
    for (size_t s = 0; s < sites_.size(); ++s) {
      PrefetchStep& step = problem_.steps[s];
      step.sites = static_cast<int32_t>(sites_[s].size());
      step.first_cost = static_cast<int32_t>(problem_.costs.size());
      for (int32_t entry = 0; entry < cost_entries(step.sites); ++entry)
        problem_.costs.push_back(cost(s, mask_of_entry(step.sites, entry)));
    }
    return problem_;
  }

  /// The step has as many sites as a step may have.
  bool is_full(int32_t step) const { return sites_[static_cast<size_t>(step)].size() >= kMostSites; }

 private:
  double time_of(double bytes) const { return bytes / rate_ * 1e12; }
  int32_t site(int32_t position, int64_t bytes) {
    std::vector<int64_t>& sites = sites_[static_cast<size_t>(position)];
    sites.push_back(bytes);
    return static_cast<int32_t>(sites.size()) - 1;
  }
  StepCost cost(size_t s, uint32_t mask) const {
    double bytes = always_[s];
    for (size_t i = 0; i < sites_[s].size(); ++i)
      if ((mask >> i & 1) == 0) bytes += static_cast<double>(sites_[s][i]);
    return {std::max(compute_[s], time_of(bytes)), time_of(bytes)};
  }

  double rate_;
  PrefetchProblem problem_;
  std::vector<double> compute_, always_;
  std::vector<std::vector<int64_t>> sites_;
};

/// `steps` steps and values with at most `sites` sites together. Bytes per picosecond is 1.
inline PrefetchProblem random_problem(uint64_t seed, int32_t steps, int32_t sites) {
  std::mt19937_64 random(seed);
  const auto below = [&](int64_t count) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(count));
  };
  ProblemMaker maker(1e12);
  for (int32_t s = 0; s < steps; ++s)
    maker.step(static_cast<double>(below(200)), static_cast<double>(below(3) == 0 ? below(100) : 0));
  int64_t all = 0;
  while (sites > 0) {
    const auto made_at = static_cast<int32_t>(below(2) == 0 ? -1 : below(steps - 1));
    const int64_t bytes = 10 + below(120);
    std::vector<int32_t> uses;
    const bool in_hbm = below(6) == 0;
    int32_t own = made_at >= 0 && !in_hbm;
    if (own > 0 && maker.is_full(made_at)) continue;
    for (int32_t p = made_at + 1; p < steps && own < std::min(sites, 4); ++p) {
      if (below(3) == 0 && !maker.is_full(p))
        uses.push_back(p), ++own;
      else if (below(12) == 0)
        uses.push_back(-1 - p);
    }
    if (uses.empty() || own > sites || own == 0) continue;
    if (made_at >= 0 && below(4) == 0) uses.push_back(-1 - steps);  // part of the result
    maker.value(bytes, made_at, uses, in_hbm);
    if (bytes % 3 == 0) maker.cut(bytes / 3);
    all += bytes;
    sites -= std::max(own, 1);
  }
  return maker.make(50 + below(std::max<int64_t>(all, 1)));
}

}  // namespace hlosim::test
